//! Anthropic's Messages API: typed events (API reference, "Streaming messages").
//!
//! | event | carries |
//! |---|---|
//! | `content_block_delta` with `text_delta` | output: an answer |
//! | … with `thinking_delta` | output: reasoning |
//! | … with `input_json_delta` | output: arguments of a tool call |
//! | … with `signature_delta`, `citations_delta` | no output |
//! | `message_start` | id, model, prompt's usage |
//! | `message_delta` | the stop reason, usage |
//! | `message_stop` | the end |
//! | `error` | an error |
//! | `content_block_start`, `content_block_stop`, `ping` | no output |

use super::error::InBandError;
use super::lenient::{Lenient, object};
use super::parse::parse;
use super::text::Text;
use super::usage::Usage;
use super::{Channel, Payload, kind_or_name};

#[derive(Default)]
struct Event<'a> {
    kind: Lenient<Text<'a>>,
    delta: Lenient<Delta<'a>>,
    message: Lenient<Message<'a>>,
    usage: Lenient<Usage>,
    error: Lenient<InBandError>,
    // A whole reply is the message itself.
    id: Lenient<Text<'a>>,
    model: Lenient<Text<'a>>,
}

object!(Event<'a> {
    b"type" => kind,
    b"delta" => delta,
    b"message" => message,
    b"usage" => usage,
    b"error" => error,
    b"id" => id,
    b"model" => model,
});

#[derive(Default)]
struct Delta<'a> {
    text: Lenient<Text<'a>>,
    thinking: Lenient<Text<'a>>,
    partial_json: Lenient<Text<'a>>,
    stop_reason: Lenient<Text<'a>>,
}

object!(Delta<'a> {
    b"text" => text,
    b"thinking" => thinking,
    b"partial_json" => partial_json,
    b"stop_reason" => stop_reason,
});

#[derive(Default)]
struct Message<'a> {
    id: Lenient<Text<'a>>,
    model: Lenient<Text<'a>>,
    usage: Lenient<Usage>,
}

object!(Message<'a> { b"id" => id, b"model" => model, b"usage" => usage });

/// Reads one event.
pub fn read<'a>(name: &[u8], data: &'a [u8]) -> Payload<'a> {
    let Some(event) = parse::<Event<'_>>(data) else {
        return Payload::not_json();
    };
    let kind = kind_or_name(&event.kind, name);
    let delta = event.delta.0.unwrap_or_default();
    let mut payload = Payload::default();
    match kind {
        b"content_block_delta" => {
            payload.add(Channel::Answer, delta.text.0.as_ref());
            payload.add(Channel::Reasoning, delta.thinking.0.as_ref());
            payload.add(Channel::Tool, delta.partial_json.0.as_ref());
            let texts = [&delta.text, &delta.thinking, &delta.partial_json];
            payload.empty_delta = !payload.is_token() && texts.iter().any(|text| text.0.is_some());
        }
        b"message_delta" => payload.add_choice(None, delta.stop_reason),
        b"message_stop" => payload.done = true,
        b"ping" => payload.keepalive = true,
        _ => {}
    }
    payload.error = event
        .error
        .0
        .or_else(|| (kind == b"error").then(InBandError::default));
    let message = event.message.0.unwrap_or_default();
    let usage = [message.usage.0, event.usage.0].into_iter().flatten();
    payload.usage = usage.filter_map(|usage| usage.tokens()).next();
    payload.model = message.model.non_empty().or(event.model.non_empty());
    payload.id = message.id.non_empty().or(event.id.non_empty());
    payload
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delta(delta: &str) -> String {
        format!(r#"{{"type":"content_block_delta","index":0,"delta":{delta}}}"#)
    }

    #[test]
    fn deltas_are_output_of_their_channel_and_a_signature_is_none() {
        let channels = |data: &str| {
            let payload = read(b"", data.as_bytes());
            let (reasoning, answer, tool) = (payload.reasoning, payload.answer, payload.tool);
            (
                reasoning.chars,
                answer.chars,
                tool.chars,
                payload.empty_delta,
            )
        };
        let text = delta(r#"{"type":"text_delta","text":"Hi"}"#);
        assert_eq!(channels(&text), (0, 2, 0, false));
        let thinking = delta(r#"{"type":"thinking_delta","thinking":"Hm."}"#);
        assert_eq!(channels(&thinking), (3, 0, 0, false));
        let json = delta(r#"{"type":"input_json_delta","partial_json":"{\"a\""}"#);
        assert_eq!(channels(&json), (0, 0, 4, false));
        let empty = delta(r#"{"type":"input_json_delta","partial_json":""}"#);
        assert_eq!(channels(&empty), (0, 0, 0, true));
        for none in [
            delta(r#"{"type":"signature_delta","signature":"c2ln"}"#),
            delta(r#"{"type":"citations_delta","citation":{"cited_text":"x"}}"#),
            r#"{"type":"content_block_start","content_block":{"type":"text","text":""}}"#.into(),
            r#"{"type":"content_block_start","content_block":{"type":"tool_use","name":"f","input":{}}}"#.into(),
            r#"{"type":"content_block_stop","index":0}"#.into(),
            r#"{"type":"message","content":[{"type":"text","text":"all of it"}]}"#.into(),
        ] {
            assert_eq!(channels(&none), (0, 0, 0, false), "{none}");
        }
    }

    #[test]
    fn the_frame_of_a_message() {
        let start = br#"{"type":"message_start","message":{"id":"msg_1","model":"m","usage":
            {"input_tokens":3,"cache_read_input_tokens":10,"cache_creation_input_tokens":4,"output_tokens":1}}}"#;
        let payload = read(b"", start);
        let tokens = payload.usage.unwrap();
        assert_eq!(
            (tokens.prompt, tokens.cached, tokens.completion),
            (Some(17), Some(10), Some(1))
        );
        assert_eq!(payload.id.unwrap().to_label(9), "msg_1");
        let end = br#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":15}}"#;
        let payload = read(b"", end);
        let tokens = payload.usage.unwrap();
        assert_eq!(
            (tokens.prompt, tokens.completion, payload.finished),
            (None, Some(15), 1)
        );
        assert!(read(b"message_stop", b"{}").done && read(b"", br#"{"type":"message_stop"}"#).done);
        assert!(read(b"", br#"{"type":"ping"}"#).keepalive);
        let error = br#"{"type":"error","error":{"type":"overloaded_error","message":"busy"}}"#;
        let kind = read(b"", error).error.unwrap().kind;
        assert_eq!(kind.as_deref(), Some("overloaded_error"));
    }
}
