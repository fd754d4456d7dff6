//! Which API an event is of, by its shape alone: gateways serve one API under the path of another,
//! and many paths say nothing.

use serde::de::IgnoredAny;

use super::lenient::{Add, Lenient, Sum, object};
use super::parse::parse;
use super::text::Text;
use super::{Api, kind_or_name};

#[derive(Default)]
struct Shape<'a> {
    kind: Lenient<Text<'a>>,
    object: Lenient<Text<'a>>,
    choices: Lenient<Sum<Choices>>,
    candidates: Option<IgnoredAny>,
    feedback: Option<IgnoredAny>,
    message: Option<IgnoredAny>,
    response: Option<IgnoredAny>,
    role: Option<IgnoredAny>,
    done: Lenient<bool>,
}

object!(Shape<'a> {
    b"type" => kind,
    b"object" => object,
    b"choices" => choices,
    b"candidates" => candidates,
    b"promptFeedback" => feedback,
    b"message" => message,
    b"response" => response,
    b"role" => role,
    b"done" => done,
});

#[derive(Default)]
struct Choices {
    chat: bool,
    text: bool,
}

#[derive(Default)]
struct Choice {
    delta: Option<IgnoredAny>,
    message: Option<IgnoredAny>,
    text: Option<IgnoredAny>,
}

object!(Choice { b"delta" => delta, b"message" => message, b"text" => text });

impl Add<'_> for Choices {
    type Item = Choice;

    fn add(&mut self, choice: Choice) {
        self.chat |= choice.delta.is_some() || choice.message.is_some();
        self.text |= choice.text.is_some();
    }
}

/// The API whose shape the event has, where that is unmistakable.
pub fn of(name: &[u8], data: &[u8]) -> Option<Api> {
    let shape = parse::<Shape<'_>>(data)?;
    let choices = shape.choices.0.as_ref().map(|Sum(choices)| choices);
    match (kind_or_name(&shape.kind, name), shape.object.bytes()) {
        (kind, _) if kind.starts_with(b"response.") => return Some(Api::Responses),
        (
            b"message_start"
            | b"message_delta"
            | b"message_stop"
            | b"content_block_start"
            | b"content_block_delta"
            | b"content_block_stop",
            _,
        ) if choices.is_none() => return Some(Api::Messages),
        // A whole reply. (Without a type of its own every event of SSE is called so.)
        _ if shape.kind.is("message") && shape.role.is_some() => return Some(Api::Messages),
        (_, b"response") => return Some(Api::Responses),
        (_, b"chat.completion.chunk" | b"chat.completion") => return Some(Api::Chat),
        (_, b"text_completion") => return Some(Api::Completions),
        _ => {}
    }
    match choices {
        Some(choices) if choices.chat => Some(Api::Chat),
        Some(choices) if choices.text => Some(Api::Completions),
        Some(_) => None,
        None if shape.candidates.is_some() || shape.feedback.is_some() => Some(Api::Gemini),
        None if shape.done.0.is_none() => None,
        None if shape.message.is_some() => Some(Api::OllamaChat),
        None => shape.response.map(|_| Api::OllamaGenerate),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_api_is_told_where_its_shape_is_unmistakable() {
        for (data, api) in [
            (
                r#"{"object":"chat.completion.chunk","choices":[]}"#,
                Api::Chat,
            ),
            (r#"{"choices":[{"delta":{}}]}"#, Api::Chat),
            (r#"{"choices":[{"message":{}}]}"#, Api::Chat),
            (
                r#"{"object":"text_completion","choices":[]}"#,
                Api::Completions,
            ),
            (r#"{"choices":[{"text":""}]}"#, Api::Completions),
            (r#"{"type":"response.created"}"#, Api::Responses),
            (r#"{"object":"response"}"#, Api::Responses),
            (r#"{"type":"message_start"}"#, Api::Messages),
            (
                r#"{"type":"message","role":"assistant","content":[]}"#,
                Api::Messages,
            ),
            (
                r#"{"message":{"content":"a"},"done":false}"#,
                Api::OllamaChat,
            ),
            (r#"{"response":"","done":true}"#, Api::OllamaGenerate),
            (r#"{"candidates":[]}"#, Api::Gemini),
        ] {
            assert_eq!(of(b"", data.as_bytes()), Some(api), "{data}");
        }
        assert_eq!(of(b"content_block_stop", b"{}"), Some(Api::Messages));
        assert_eq!(of(b"message", br#"{"status":"queued"}"#), None);
        assert_eq!(of(b"message", br#"{"candidates":[]}"#), Some(Api::Gemini));
        for data in [
            "{}",
            "[DONE]",
            "plain words",
            r#"{"type":"ping"}"#,
            r#"{"text":"a"}"#,
            r#"{"type":"message","text":"a"}"#,
            r#"{"choices":[],"id":""}"#,
            r#"{"message":"a line of a log"}"#,
            r#"{"response":"a","code":200}"#,
        ] {
            assert_eq!(of(b"", data.as_bytes()), None, "{data}");
        }
    }
}
