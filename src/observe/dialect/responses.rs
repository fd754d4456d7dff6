//! OpenAI's Responses API: typed events (API reference, "Streaming events").
//!
//! | event | carries |
//! |---|---|
//! | `response.*.delta` | output: see [`DELTAS`]; what is not in it is an answer |
//! | `response.image_generation_call.partial_image` | output: a picture so far |
//! | `response.completed`, `response.incomplete` | the end, usage |
//! | `response.failed`, `error` | an error |
//! | `response.created`, `.in_progress`, `.queued`, `*.added`, `*.done`, calls' progress | no output |

use super::error::{Code, InBandError};
use super::lenient::{Lenient, object};
use super::parse::parse;
use super::text::Text;
use super::usage::Usage;
use super::{Channel, Payload, kind_or_name};

/// What the `delta` of an event is.
const DELTAS: [(&[u8], Channel); 12] = [
    (b"response.output_text.delta", Channel::Answer),
    (b"response.refusal.delta", Channel::Answer),
    (b"response.audio.delta", Channel::Data),
    (b"response.output_audio.delta", Channel::Data),
    (b"response.reasoning_text.delta", Channel::Reasoning),
    (b"response.reasoning_summary_text.delta", Channel::Reasoning),
    (b"response.reasoning.delta", Channel::Reasoning),
    (b"response.reasoning_summary.delta", Channel::Reasoning),
    (b"response.function_call_arguments.delta", Channel::Tool),
    (b"response.mcp_call_arguments.delta", Channel::Tool),
    (b"response.custom_tool_call_input.delta", Channel::Tool),
    (b"response.code_interpreter_call_code.delta", Channel::Tool),
];

#[derive(Default)]
struct Event<'a> {
    kind: Lenient<Text<'a>>,
    delta: Lenient<Text<'a>>,
    partial_image: Lenient<Text<'a>>,
    response: Lenient<Response<'a>>,
    error: Lenient<InBandError>,
    code: Lenient<Code>,
    // A whole reply is the response itself.
    id: Lenient<Text<'a>>,
    model: Lenient<Text<'a>>,
    usage: Lenient<Usage>,
}

object!(Event<'a> {
    b"type" => kind,
    b"delta" => delta,
    b"partial_image_b64" => partial_image,
    b"response" => response,
    b"error" => error,
    b"code" => code,
    b"id" => id,
    b"model" => model,
    b"usage" => usage,
});

#[derive(Default)]
struct Response<'a> {
    id: Lenient<Text<'a>>,
    model: Lenient<Text<'a>>,
    usage: Lenient<Usage>,
    error: Lenient<InBandError>,
}

object!(Response<'a> { b"id" => id, b"model" => model, b"usage" => usage, b"error" => error });

/// Reads one event.
pub fn read<'a>(name: &[u8], data: &'a [u8]) -> Payload<'a> {
    let Some(event) = parse::<Event<'_>>(data) else {
        return Payload::not_json();
    };
    let kind = kind_or_name(&event.kind, name);
    let mut payload = Payload::default();
    match kind {
        b"ping" | b"keepalive" => payload.keepalive = true,
        b"response.completed" | b"response.incomplete" | b"response.done" => payload.done = true,
        b"response.image_generation_call.partial_image" => {
            payload.add(Channel::Data, event.partial_image.0.as_ref());
        }
        _ if kind.ends_with(b".delta") => {
            let known = DELTAS.iter().find(|(name, _)| *name == kind);
            let channel = known.map_or(Channel::Answer, |(_, channel)| *channel);
            payload.add(channel, event.delta.0.as_ref());
            payload.empty_delta = !payload.is_token();
        }
        _ => {}
    }
    let response = event.response.0.unwrap_or_default();
    let failed = matches!(kind, b"response.failed" | b"error");
    let error = event.error.0.or(response.error.0);
    let code = || InBandError {
        kind: event.code.code(),
    };
    payload.error = error.or_else(|| failed.then(code));
    let usage = [response.usage.0, event.usage.0].into_iter().flatten();
    payload.usage = usage.filter_map(|usage| usage.tokens()).next();
    payload.model = response.model.non_empty().or(event.model.non_empty());
    // An event's own id is that of an item.
    let own = event
        .kind
        .0
        .is_none()
        .then(|| event.id.non_empty())
        .flatten();
    payload.id = response.id.non_empty().or(own);
    payload
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(data: &str) -> Payload<'_> {
        read(b"", data.as_bytes())
    }

    #[test]
    fn deltas_are_output_of_their_channel() {
        for (kind, expected) in [
            ("output_text", (false, true, false)),
            ("refusal", (false, true, false)),
            ("audio", (false, true, false)),
            ("audio.transcript", (false, true, false)),
            ("reasoning_text", (true, false, false)),
            ("reasoning_summary_text", (true, false, false)),
            ("function_call_arguments", (false, false, true)),
            ("mcp_call_arguments", (false, false, true)),
            ("custom_tool_call_input", (false, false, true)),
            ("code_interpreter_call_code", (false, false, true)),
            ("a_kind_of_tomorrow", (false, true, false)),
        ] {
            let data = format!(r#"{{"type":"response.{kind}.delta","item_id":"i","delta":"ab"}}"#);
            let payload = event(&data);
            let channels = (
                payload.reasoning.present,
                payload.answer.present,
                payload.tool.present,
            );
            assert_eq!(channels, expected, "{kind}");
            let empty = data.replace("ab", "");
            assert!(
                event(&empty).empty_delta && !event(&empty).is_token(),
                "{kind}"
            );
        }
        assert_eq!(
            event(r#"{"type":"response.audio.delta","delta":"AAAA"}"#)
                .answer
                .chars,
            0
        );
        let named = read(b"response.output_text.delta", br#"{"delta":"ab"}"#);
        assert_eq!(named.answer.chars, 2);
        let image =
            r#"{"type":"response.image_generation_call.partial_image","partial_image_b64":"AA"}"#;
        assert!(event(image).is_token());
    }

    #[test]
    fn all_else_is_no_output() {
        for kind in [
            "response.created",
            "response.in_progress",
            "response.queued",
            "response.output_item.added",
            "response.output_item.done",
            "response.content_part.added",
            "response.output_text.done",
            "response.output_text.annotation.added",
            "response.function_call_arguments.done",
            "response.web_search_call.searching",
            "response.image_generation_call.generating",
        ] {
            let data = format!(
                r#"{{"type":"{kind}","text":"all of it","arguments":"{{}}","item":{{"content":[{{"text":"x"}}]}}}}"#
            );
            let payload = event(&data);
            assert!(
                !payload.is_token() && !payload.done && !payload.empty_delta,
                "{kind}"
            );
        }
    }

    #[test]
    fn the_end_tells_usage_and_a_failure_its_code() {
        let end = r#"{"type":"response.completed","response":{"id":"resp_1","model":"m","error":null,"usage":
            {"input_tokens":9,"input_tokens_details":{"cached_tokens":4},"output_tokens":5,"output_tokens_details":{"reasoning_tokens":2}}}}"#;
        let payload = event(end);
        let tokens = payload.usage.unwrap();
        assert!(payload.done && payload.error.is_none());
        assert_eq!((tokens.prompt, tokens.cached), (Some(9), Some(4)));
        assert_eq!((tokens.completion, tokens.reasoning), (Some(5), Some(2)));
        assert_eq!(payload.id.unwrap().to_label(9), "resp_1");
        assert!(event(r#"{"type":"response.incomplete","response":{}}"#).done);
        let kind = |data: &str| event(data).error.and_then(|error| error.kind);
        let failed = r#"{"type":"response.failed","response":{"error":{"code":"server_error","message":"x"}}}"#;
        assert_eq!(kind(failed).as_deref(), Some("server_error"));
        let error =
            r#"{"type":"error","code":"rate_limit_exceeded","message":"slow","param":null}"#;
        assert_eq!(kind(error).as_deref(), Some("rate_limit_exceeded"));
        assert!(event(r#"{"type":"response.failed"}"#).error.is_some());
    }
}
