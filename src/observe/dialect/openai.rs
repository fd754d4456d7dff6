//! What chat and legacy completions share: the chunk around the choices.
//!
//! Valid JSON of an unexpected shape is "no token" and never an error: providers send `null` or
//! nothing where others send a list.

use serde::de::IgnoredAny;

use super::Payload;
use super::chat::Delta;
use super::completions;
use super::error::{Code, InBandError, as_code};
use super::lenient::{Add, Lenient, Sum, object};
use super::parse::parse;
use super::text::Text;
use super::usage::{Timings, Usage};

#[derive(Default)]
struct Chunk<'a> {
    id: Lenient<Text<'a>>,
    model: Lenient<Text<'a>>,
    object: Lenient<Text<'a>>,
    kind: Lenient<Text<'a>>,
    choices: Lenient<Sum<Choices<'a>>>,
    text: Lenient<Text<'a>>,
    code: Lenient<Code>,
    error: Lenient<InBandError>,
    usage: Lenient<Usage>,
    x_groq: Lenient<Groq>,
    time_info: Lenient<Usage>,
    timings: Lenient<Timings>,
    prompt_progress: Option<IgnoredAny>,
    prompt_filter_results: Option<IgnoredAny>,
}

object!(Chunk<'a> {
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
    b"time_info" => time_info,
    b"timings" => timings,
    b"prompt_progress" => prompt_progress,
    b"prompt_filter_results" => prompt_filter_results,
});

#[derive(Default)]
struct Groq {
    usage: Lenient<Usage>,
}

object!(Groq { b"usage" => usage });

#[derive(Default)]
struct Choice<'a> {
    index: Lenient<u64>,
    delta: Lenient<Delta<'a>>,
    text: Lenient<Text<'a>>,
    finish_reason: Lenient<Text<'a>>,
    content_filter_results: Option<IgnoredAny>,
    content_filter_offsets: Option<IgnoredAny>,
}

object!(Choice<'a> {
    b"index" => index,
    b"delta" => delta,
    b"text" => text,
    b"finish_reason" => finish_reason,
    b"content_filter_results" => content_filter_results,
    b"content_filter_offsets" => content_filter_offsets,
});

/// All choices of one event.
#[derive(Default)]
struct Choices<'a> {
    payload: Payload<'a>,
    empty: bool,
}

impl<'a> Add<'a> for Choices<'a> {
    type Item = Choice<'a>;

    fn add(&mut self, choice: Choice<'a>) {
        let payload = &mut self.payload;
        payload.add_choice(choice.index.0, choice.finish_reason);
        payload.azure_filter |=
            choice.content_filter_results.is_some() || choice.content_filter_offsets.is_some();
        self.empty |= completions::add_to(choice.text.0, payload);
        if let Some(delta) = choice.delta.0 {
            self.empty |= delta.add_to(payload);
        }
    }
}

/// Reads the data of one event.
pub fn read(data: &[u8]) -> Payload<'_> {
    match parse::<Chunk<'_>>(data) {
        Some(chunk) => chunk.into_payload(),
        None => Payload::not_json(),
    }
}

impl<'a> Chunk<'a> {
    fn into_payload(self) -> Payload<'a> {
        let error = self.error();
        let groq = self
            .x_groq
            .0
            .as_ref()
            .and_then(|groq| groq.usage.0.as_ref());
        let said = [self.usage.0.as_ref(), groq, self.time_info.0.as_ref()];
        let usage = said.into_iter().flatten().find_map(Usage::tokens);
        let times = || said.into_iter().flatten().find_map(Usage::times);
        let server_says = self.timings.0.as_ref().map(Timings::times).or_else(times);
        let Sum(Choices { payload, mut empty }) = self.choices.0.unwrap_or_default();
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
        let kind = kind.or_else(|| self.code.code());
        Some(InBandError { kind })
    }
}
