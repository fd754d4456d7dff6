//! What chat and legacy completions share: the chunk around the choices.
//!
//! Valid JSON of an unexpected shape is "no token" and never an error: providers send `null` or
//! nothing where others send a list.

use serde::Deserialize;
use serde::de::{IgnoredAny, MapAccess, SeqAccess};
use serde_json::Value;

use super::chat::Delta;
use super::lenient::{Leaf, Lenient, object};
use super::text::{Text, repaired};
use super::{Api, InBandError, Payload, as_code, completions};
use crate::observe::record::{ServerSays, Tokens};

#[derive(Default)]
struct Chunk<'a> {
    id: Lenient<Text<'a>>,
    model: Lenient<Text<'a>>,
    object: Lenient<Text<'a>>,
    kind: Lenient<Text<'a>>,
    choices: Lenient<Choices<'a>>,
    text: Lenient<Text<'a>>,
    code: Lenient<Code>,
    error: Lenient<ServerError>,
    usage: Option<Value>,
    x_groq: Option<Value>,
    timings: Option<Value>,
    prompt_progress: Option<IgnoredAny>,
    prompt_filter_results: Option<IgnoredAny>,
}

object!(Chunk {
    b"id" => id,
    b"model" => model,
    b"object" => object,
    b"type" => kind,
    b"choices" => choices,
    b"text" => text,
    b"code" => code,
    b"error" => error,
    b"usage" => usage,
    b"x_groq" => x_groq,
    b"timings" => timings,
    b"prompt_progress" => prompt_progress,
    b"prompt_filter_results" => prompt_filter_results,
});

/// All choices of one event. Added up as they are read: a list of empty ones costs no memory.
#[derive(Default)]
struct Choices<'a> {
    payload: Payload<'a>,
    empty: bool,
}

impl<'a> Leaf<'a> for Choices<'a> {
    fn of_list<A: SeqAccess<'a>>(mut list: A) -> Result<Option<Self>, A::Error> {
        let mut all = Choices::default();
        while let Some(Lenient(choice)) = list.next_element::<Lenient<Choice<'a>>>()? {
            if let Some(choice) = choice {
                all.empty |= choice.add_to(&mut all.payload);
            }
        }
        Ok(Some(all))
    }
}

#[derive(Default)]
struct Choice<'a> {
    index: Lenient<Index>,
    delta: Lenient<Delta<'a>>,
    text: Lenient<Text<'a>>,
    finish_reason: Lenient<Text<'a>>,
    content_filter_results: Option<IgnoredAny>,
    content_filter_offsets: Option<IgnoredAny>,
}

object!(Choice {
    b"index" => index,
    b"delta" => delta,
    b"text" => text,
    b"finish_reason" => finish_reason,
    b"content_filter_results" => content_filter_results,
    b"content_filter_offsets" => content_filter_offsets,
});

/// A choice's number; a negative one is taken as 0.
struct Index(u64);

impl<'a> Leaf<'a> for Index {
    fn of_text(text: Text<'a>) -> Option<Self> {
        let text = std::str::from_utf8(text.as_bytes()).ok()?;
        text.parse().ok().map(Index)
    }

    fn of_number(number: f64) -> Option<Self> {
        Some(Index(number as u64))
    }
}

/// An error's type or code, if it looks like one.
struct Code(Option<String>);

impl<'a> Leaf<'a> for Code {
    fn of_text(text: Text<'a>) -> Option<Self> {
        let text = std::str::from_utf8(text.as_bytes()).ok()?;
        Some(Code(as_code(text)))
    }

    fn of_number(number: f64) -> Option<Self> {
        Some(Code(as_code(&number.to_string())))
    }
}

/// What stands under `error`, unless it says that there is none: anything that is neither null,
/// false, 0 nor empty is an error. Only its code is kept.
#[derive(Default)]
struct ServerError {
    kind: Option<String>,
}

impl<'a> Leaf<'a> for ServerError {
    fn of_text(text: Text<'a>) -> Option<Self> {
        (!text.is_empty()).then(ServerError::default)
    }

    fn of_number(number: f64) -> Option<Self> {
        let kind = Code::of_number(number)?.0;
        (number != 0.0).then_some(ServerError { kind })
    }

    fn of_bool(is_error: bool) -> Option<Self> {
        is_error.then(ServerError::default)
    }

    /// The first that has a code stands for all.
    fn of_list<A: SeqAccess<'a>>(mut list: A) -> Result<Option<Self>, A::Error> {
        let mut all: Option<ServerError> = None;
        while let Some(Lenient(error)) = list.next_element::<Lenient<ServerError>>()? {
            let all = all.get_or_insert_default();
            all.kind = all.kind.take().or(error.and_then(|error| error.kind));
        }
        Ok(all)
    }

    fn of_object<A: MapAccess<'a>>(mut object: A) -> Result<Option<Self>, A::Error> {
        let (mut kind, mut code, mut empty) = (None, None, true);
        while let Some(Lenient(Some(key))) = object.next_key::<Lenient<Text<'a>>>()? {
            empty = false;
            match key.as_bytes() {
                b"type" => kind = object.next_value::<Lenient<Code>>()?.0,
                b"code" => code = object.next_value::<Lenient<Code>>()?.0,
                _ => drop(object.next_value::<IgnoredAny>()?),
            }
        }
        let kind = [kind, code].into_iter().flatten().find_map(|code| code.0);
        Ok((!empty).then_some(ServerError { kind }))
    }
}

/// Reads the data of one event, without blanks around it.
pub fn read(data: &[u8]) -> Payload<'_> {
    if data == b"[DONE]" {
        return Payload {
            done: true,
            ..Payload::default()
        };
    }
    let chunk = serde_json::from_slice::<Lenient<Chunk<'_>>>(data);
    match chunk.or_else(|_| read_repaired(data)) {
        Ok(chunk) => chunk.0.unwrap_or_default().into_payload(),
        Err(_) => {
            let not_json = serde_json::from_slice::<IgnoredAny>(data).is_err();
            Payload {
                not_json,
                ..Payload::default()
            }
        }
    }
}

/// From a reader, because what is read may not borrow from the repaired text.
fn read_repaired<'a>(data: &[u8]) -> serde_json::Result<Lenient<Chunk<'a>>> {
    let text = repaired(data);
    let mut json = serde_json::Deserializer::from_reader(text.as_bytes());
    let chunk = Lenient::deserialize(&mut json)?;
    json.end()?;
    Ok(chunk)
}

impl<'a> Chunk<'a> {
    fn into_payload(self) -> Payload<'a> {
        let error = self.error();
        let usage = self.usage().and_then(tokens);
        let server_says = self.server_says();
        let Choices { payload, mut empty } = self.choices.0.unwrap_or_default();
        let mut payload = Payload {
            keepalive: self.kind.is("ping"),
            error,
            usage,
            server_says,
            model: self.model.non_empty(),
            id: self.id.non_empty(),
            azure_filter: payload.azure_filter || self.prompt_filter_results.is_some(),
            ..payload
        };
        // The text of a typed event is that API's own, and often all of it once more.
        if self.kind.0.is_none() {
            empty |= completions::add_to(self.text.0, &mut payload);
        }
        payload.empty_delta =
            empty && !payload.is_token() && payload.finished == 0 && self.prompt_progress.is_none();
        payload
    }

    /// `{"error":…}`, or an object that says of itself that it is one.
    fn error(&self) -> Option<InBandError> {
        let kind = match &self.error.0 {
            Some(error) => error.kind.clone(),
            None if self.object.is("error") || self.kind.is("error") => {
                let own = self.kind.0.as_ref().filter(|_| !self.kind.is("error"));
                own.and_then(|text| as_code(&text.to_label(64)))
            }
            None => return None,
        };
        let code = || self.code.0.as_ref()?.0.clone();
        Some(InBandError {
            kind: kind.or_else(code),
        })
    }

    fn usage(&self) -> Option<&Value> {
        let own = self.usage.as_ref().filter(|usage| usage.is_object());
        own.or_else(|| self.x_groq.as_ref()?.get("usage"))
    }

    fn server_says(&self) -> Option<ServerSays> {
        if let Some(timings) = &self.timings {
            let ms = |key| timings.get(key).and_then(Value::as_f64).filter(is_time);
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
                .filter(is_time)
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
        let bit = 1u64 << self.index.0.map_or(0, |index| index.0.min(63));
        payload.choices |= bit;
        if self.finish_reason.non_empty().is_some() {
            payload.finished |= bit;
        }
        payload.azure_filter |=
            self.content_filter_results.is_some() || self.content_filter_offsets.is_some();
        if self.text.0.is_some() {
            payload.shape = Some(Api::Completions);
        }
        let empty = completions::add_to(self.text.0, payload);
        let Some(delta) = self.delta.0 else {
            return empty;
        };
        payload.shape = Some(Api::Chat);
        delta.add_to(payload)
    }
}

/// Servers that subtract one clock from another send negative times.
fn is_time(ms: &f64) -> bool {
    ms.is_finite() && *ms >= 0.0
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
