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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::content::Content;
    use crate::observe::media::Media;
    use crate::observe::observer::{Cause, ResponseHead};
    use crate::observe::outcome::{Outcome, Reading};
    use crate::observe::record::{Api, End};
    use crate::observe::summary::Summary;
    use crate::observe::timeline::Timeline;

    fn hint(content_encoding: Option<&str>, flags: &[Flag]) -> String {
        let head = ResponseHead {
            content_encoding: content_encoding.map(str::to_owned),
            ..ResponseHead::default()
        };
        let outcome = Outcome {
            cause: Cause::Whole,
            response: Some(&head),
            media: Media::EventStream,
            reading: Reading::Events,
            asked: true,
            content: &Content::new(Api::Chat),
            n_events: 0,
            n_tokens: 0,
            partial: false,
            stopped: false,
        };
        let summary = Summary::of(Timeline::new(false));
        let facts = Facts::new(&summary, &outcome, End::Complete, flags);
        with_clues(&facts, "look there")
    }

    #[test]
    fn what_was_seen_comes_first() {
        for plain in [None, Some(""), Some("Identity")] {
            assert_eq!(hint(plain, &[]), "look there");
        }
        let compressed = hint(Some("br"), &[Flag::Encoded]);
        assert!(
            compressed.contains("`content-encoding: br`"),
            "{compressed}"
        );
        assert!(compressed.ends_with("look there"));
        assert!(hint(None, &[Flag::AzureFilter]).contains("Azure"));
    }
}
