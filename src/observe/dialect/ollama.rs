//! Ollama's own chat and generate: JSON lines (API reference, "Generate a chat completion" and
//! "Generate a completion").
//!
//! | key | carries |
//! |---|---|
//! | `message.content`, `response` | output: an answer |
//! | `message.thinking`, `thinking` | output: reasoning |
//! | `message.tool_calls` | output: whole tool calls |
//! | `done: true` | the end, with counts and durations in ns |
//! | `error` | an error |

use super::chat::Tools;
use super::error::InBandError;
use super::lenient::{Lenient, Sum, object};
use super::parse::parse;
use super::text::Text;
use super::{Channel, Payload};
use crate::observe::record::{ServerSays, Tokens};

#[derive(Default)]
struct Line<'a> {
    model: Lenient<Text<'a>>,
    message: Lenient<Message<'a>>,
    response: Lenient<Text<'a>>,
    thinking: Lenient<Text<'a>>,
    done: Lenient<bool>,
    done_reason: Lenient<Text<'a>>,
    error: Lenient<InBandError>,
    prompt_eval_count: Lenient<u64>,
    eval_count: Lenient<u64>,
    total_duration: Lenient<u64>,
    load_duration: Lenient<u64>,
    prompt_eval_duration: Lenient<u64>,
    eval_duration: Lenient<u64>,
}

object!(Line<'a> {
    b"model" => model,
    b"message" => message,
    b"response" => response,
    b"thinking" => thinking,
    b"done" => done,
    b"done_reason" => done_reason,
    b"error" => error,
    b"prompt_eval_count" => prompt_eval_count,
    b"eval_count" => eval_count,
    b"total_duration" => total_duration,
    b"load_duration" => load_duration,
    b"prompt_eval_duration" => prompt_eval_duration,
    b"eval_duration" => eval_duration,
});

#[derive(Default)]
struct Message<'a> {
    content: Lenient<Text<'a>>,
    thinking: Lenient<Text<'a>>,
    tool_calls: Lenient<Sum<Tools>>,
}

object!(Message<'a> {
    b"content" => content,
    b"thinking" => thinking,
    b"tool_calls" => tool_calls,
});

/// Reads one line.
pub fn read(data: &[u8]) -> Payload<'_> {
    let Some(line) = parse::<Line<'_>>(data) else {
        return Payload::not_json();
    };
    let mut payload = Payload {
        done: line.done.0 == Some(true),
        server_says: line.times(),
        usage: line.tokens(),
        ..Payload::default()
    };
    let message = line.message.0.unwrap_or_default();
    payload.add(Channel::Reasoning, message.thinking.0.as_ref());
    payload.add(Channel::Reasoning, line.thinking.0.as_ref());
    payload.add(Channel::Answer, message.content.0.as_ref());
    payload.add(Channel::Answer, line.response.0.as_ref());
    message
        .tool_calls
        .0
        .unwrap_or_default()
        .0
        .add_to(&mut payload);
    let texts = [
        &message.content,
        &message.thinking,
        &line.response,
        &line.thinking,
    ];
    payload.empty_delta =
        !payload.is_token() && !payload.done && texts.iter().any(|text| text.0.is_some());
    payload.add_choice(None, line.done_reason);
    payload.model = line.model.non_empty();
    payload.error = line.error.0;
    payload
}

impl Line<'_> {
    fn times(&self) -> Option<ServerSays> {
        let ms = |ns: &Lenient<u64>| ns.0.map(|ns| (ns as f64 / 1e3).round() / 1e3);
        self.total_duration.0.or(self.eval_duration.0)?;
        Some(ServerSays {
            load_ms: ms(&self.load_duration),
            prompt_ms: ms(&self.prompt_eval_duration),
            generation_ms: ms(&self.eval_duration),
            processing_ms: ms(&self.total_duration),
            ..ServerSays::default()
        })
    }

    fn tokens(&self) -> Option<Tokens> {
        let (prompt, completion) = (self.prompt_eval_count.0, self.eval_count.0);
        (prompt.is_some() || completion.is_some()).then(|| Tokens {
            prompt,
            completion,
            ..Tokens::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_channel_and_nothing_else_is_output() {
        let chars = |line: &'static str| {
            let payload = read(line.as_bytes());
            (
                payload.reasoning.chars,
                payload.answer.chars,
                payload.tool.chars,
            )
        };
        assert_eq!(
            chars(r#"{"message":{"role":"assistant","content":"Hi"},"done":false}"#),
            (0, 2, 0)
        );
        assert_eq!(
            chars(r#"{"message":{"content":"","thinking":"Hm."},"done":false}"#),
            (3, 0, 0)
        );
        assert_eq!(
            chars(r#"{"response":"Hi","thinking":"Hm.","done":false}"#),
            (3, 2, 0)
        );
        let tool = r#"{"message":{"content":"","tool_calls":[{"function":{"name":"f","arguments":{"a":1}}}]},"done":false}"#;
        let payload = read(tool.as_bytes());
        assert!(payload.tool.present && payload.whole_tool_call);
        let load = read(br#"{"message":{"role":"assistant","content":""},"done":false}"#);
        assert!(load.empty_delta && !load.is_token() && !load.done);
        let error = read(br#"{"error":"model runner has stopped"}"#).error;
        assert_eq!(error, Some(InBandError { kind: None }));
    }

    #[test]
    fn the_last_line_tells_counts_and_times() {
        let payload = read(
            br#"{"model":"m","message":{"content":""},"done":true,"done_reason":"stop","total_duration":4883583458,
            "load_duration":1334875,"prompt_eval_count":26,"prompt_eval_duration":342546000,"eval_count":282,"eval_duration":4535599000}"#,
        );
        let (says, tokens) = (payload.server_says.unwrap(), payload.usage.unwrap());
        assert!(payload.done && payload.finished == 1 && !payload.empty_delta);
        assert_eq!((says.load_ms, says.prompt_ms), (Some(1.335), Some(342.546)));
        assert_eq!(
            (says.generation_ms, says.processing_ms),
            (Some(4535.599), Some(4883.583))
        );
        assert_eq!((tokens.prompt, tokens.completion), (Some(26), Some(282)));
        assert_eq!(read(br#"{"response":"a","done":false}"#).server_says, None);
    }
}
