//! What was seen of the likely cause of a burst, before what its rule has to say.

use super::facts::Facts;
use crate::observe::record::Flag;

/// `hint` after what the stream itself gives as a clue.
pub fn with_clues(facts: &Facts<'_>, hint: &str) -> String {
    let mut text = String::new();
    if let Some(encoding) = facts.encoding() {
        text += &format!(
            "the body has `content-encoding: {encoding}`: a compressor that does not flush after each event \
             holds it (switch compression off for event streams, or compare with `Accept-Encoding: identity`); \
             else "
        );
    }
    if facts.has(Flag::AzureFilter) {
        text += "fields of Azure's content filter were seen: its default mode checks text in groups (try the \
                 asynchronous filter); else ";
    }
    text + hint
}
