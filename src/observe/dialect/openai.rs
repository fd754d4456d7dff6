//! What chat and legacy completions share: the chunk around the choices.
//!
//! Valid JSON of an unexpected shape is "no token" and never an error: providers send `null` or
//! nothing where others send a list.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::chat::Delta;
use super::text::{Label, Text};
use super::{Api, InBandError, Payload, as_code, completions};
use crate::observe::record::{ServerSays, Tokens};

#[derive(Deserialize)]
struct Chunk<'a> {
    #[serde(borrow, default)]
    id: Label<'a>,
    #[serde(borrow, default)]
    model: Label<'a>,
    #[serde(borrow, default)]
    object: Label<'a>,
    #[serde(borrow, default, rename = "type")]
    kind: Label<'a>,
    #[serde(borrow)]
    choices: Option<Vec<Choice<'a>>>,
    #[serde(borrow)]
    text: Option<Text<'a>>,
    code: Option<Value>,
    error: Option<Value>,
    usage: Option<Value>,
    x_groq: Option<Value>,
    timings: Option<Value>,
    prompt_progress: Option<IgnoredAny>,
    prompt_filter_results: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct Choice<'a> {
    index: Option<u64>,
    #[serde(borrow)]
    delta: Option<Delta<'a>>,
    #[serde(borrow)]
    text: Option<Text<'a>>,
    #[serde(borrow, default)]
    finish_reason: Label<'a>,
    content_filter_results: Option<IgnoredAny>,
    content_filter_offsets: Option<IgnoredAny>,
}

/// Reads the data of one event, without blanks around it.
pub fn read(data: &[u8]) -> Payload<'_> {
    if data == b"[DONE]" {
        return Payload {
            done: true,
            ..Payload::default()
        };
    }
    match serde_json::from_slice::<Chunk<'_>>(data) {
        Ok(chunk) => chunk.into_payload(),
        Err(_) => {
            let not_json = serde_json::from_slice::<IgnoredAny>(data).is_err();
            Payload {
                not_json,
                ..Payload::default()
            }
        }
    }
}

impl<'a> Chunk<'a> {
    fn into_payload(self) -> Payload<'a> {
        let error = self.error();
        let mut payload = Payload {
            keepalive: self.kind.is("ping"),
            error,
            usage: self.usage().and_then(tokens),
            server_says: self.server_says(),
            model: self.model.non_empty(),
            id: self.id.non_empty(),
            azure_filter: self.prompt_filter_results.is_some(),
            ..Payload::default()
        };
        let mut empty = completions::add_to(self.text, &mut payload);
        for choice in self.choices.into_iter().flatten() {
            empty |= choice.add_to(&mut payload);
        }
        payload.empty_delta =
            empty && !payload.is_token() && payload.finished == 0 && self.prompt_progress.is_none();
        payload
    }

    /// `{"error":…}`, or an object that says of itself that it is one.
    fn error(&self) -> Option<InBandError> {
        let from = |value: &Value| match value {
            Value::String(text) => as_code(text),
            Value::Number(code) => Some(code.to_string()),
            _ => None,
        };
        match &self.error {
            Some(Value::Object(fields)) if !fields.is_empty() => {
                let kind = ["type", "code"]
                    .iter()
                    .find_map(|key| fields.get(*key).and_then(from));
                Some(InBandError { kind })
            }
            Some(Value::String(text)) if !text.is_empty() => Some(InBandError {
                kind: self.code.as_ref().and_then(from),
            }),
            _ if self.object.is("error") || self.kind.is("error") => {
                let own = self.kind.0.as_ref().filter(|_| !self.kind.is("error"));
                let own = own.and_then(|text| as_code(&text.to_label(64)));
                Some(InBandError {
                    kind: own.or_else(|| self.code.as_ref().and_then(from)),
                })
            }
            _ => None,
        }
    }

    fn usage(&self) -> Option<&Value> {
        let own = self.usage.as_ref().filter(|usage| usage.is_object());
        own.or_else(|| self.x_groq.as_ref()?.get("usage"))
    }

    fn server_says(&self) -> Option<ServerSays> {
        if let Some(timings) = &self.timings {
            let ms = |key| timings.get(key).and_then(Value::as_f64);
            return Some(ServerSays {
                prompt_ms: ms("prompt_ms"),
                generation_ms: ms("predicted_ms"),
                per_token_ms: ms("predicted_per_token_ms"),
                ..ServerSays::default()
            });
        }
        let usage = self.usage()?;
        let ms = |key| {
            usage
                .get(key)
                .and_then(Value::as_f64)
                .map(|s| (s * 1e6).round() / 1e3)
        };
        usage.get("completion_time").is_some().then(|| ServerSays {
            queue_ms: ms("queue_time"),
            prompt_ms: ms("prompt_time"),
            generation_ms: ms("completion_time"),
            per_token_ms: None,
            processing_ms: ms("total_time"),
        })
    }
}

impl<'a> Choice<'a> {
    /// Adds what it carries. True when it has an empty text and nothing else.
    fn add_to(self, payload: &mut Payload<'a>) -> bool {
        let bit = 1u64 << self.index.unwrap_or(0).min(63);
        payload.choices |= bit;
        if self.finish_reason.non_empty().is_some() {
            payload.finished |= bit;
        }
        payload.azure_filter |=
            self.content_filter_results.is_some() || self.content_filter_offsets.is_some();
        let empty = completions::add_to(self.text, payload);
        let Some(delta) = self.delta else {
            return empty;
        };
        payload.shape = Some(Api::Chat);
        delta.add_to(payload)
    }
}

fn tokens(usage: &Value) -> Option<Tokens> {
    let at = |pointer| usage.pointer(pointer).and_then(Value::as_u64);
    let tokens = Tokens {
        prompt: at("/prompt_tokens"),
        completion: at("/completion_tokens"),
        reasoning: at("/completion_tokens_details/reasoning_tokens")
            .or_else(|| at("/reasoning_tokens")),
        cached: at("/prompt_tokens_details/cached_tokens")
            .or_else(|| at("/prompt_cache_hit_tokens")),
    };
    (tokens.prompt.is_some() || tokens.completion.is_some()).then_some(tokens)
}
