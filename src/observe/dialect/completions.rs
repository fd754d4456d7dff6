//! Legacy completions: `choices[].text`, or a bare `text` as some servers' own endpoints send it.
//! That bare text often repeats all that came before.

use super::Payload;
use super::text::Text;

/// Adds a completion's text to `payload`. True when it is there but empty.
pub fn add_to<'a>(text: Option<Text<'a>>, payload: &mut Payload<'a>) -> bool {
    let Some(text) = text else { return false };
    payload.answer.add(Some(&text));
    let empty = text.is_empty();
    if !empty {
        payload.text = Some(text);
    }
    empty
}
