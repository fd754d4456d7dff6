//! Token counts and times that servers give of themselves, under the names in use.
//!
//! - `usage` of OpenAI (`prompt_tokens`, …; Responses: `input_tokens`, …) and of Anthropic, whose
//!   `input_tokens` leave out what came from a cache or went into one (API reference, "Prompt
//!   caching": the three together are the prompt);
//! - times in `usage` (Groq) or `time_info` (Cerebras), seconds;
//! - `timings` of llama.cpp's server, milliseconds.

use super::lenient::{Lenient, object};
use crate::observe::record::{ServerSays, Tokens};

/// Counts, and times where a server puts them beside.
#[derive(Default)]
pub struct Usage {
    prompt_tokens: Lenient<u64>,
    completion_tokens: Lenient<u64>,
    input_tokens: Lenient<u64>,
    output_tokens: Lenient<u64>,
    reasoning_tokens: Lenient<u64>,
    prompt_tokens_details: Lenient<Details>,
    completion_tokens_details: Lenient<Details>,
    input_tokens_details: Lenient<Details>,
    output_tokens_details: Lenient<Details>,
    prompt_cache_hit_tokens: Lenient<u64>,
    cache_read_input_tokens: Lenient<u64>,
    cache_creation_input_tokens: Lenient<u64>,
    queue_time: Lenient<f64>,
    prompt_time: Lenient<f64>,
    completion_time: Lenient<f64>,
    total_time: Lenient<f64>,
}

object!(Usage {
    b"prompt_tokens" => prompt_tokens,
    b"completion_tokens" => completion_tokens,
    b"input_tokens" => input_tokens,
    b"output_tokens" => output_tokens,
    b"reasoning_tokens" => reasoning_tokens,
    b"prompt_tokens_details" => prompt_tokens_details,
    b"completion_tokens_details" => completion_tokens_details,
    b"input_tokens_details" => input_tokens_details,
    b"output_tokens_details" => output_tokens_details,
    b"prompt_cache_hit_tokens" => prompt_cache_hit_tokens,
    b"cache_read_input_tokens" => cache_read_input_tokens,
    b"cache_creation_input_tokens" => cache_creation_input_tokens,
    b"queue_time" => queue_time,
    b"prompt_time" => prompt_time,
    b"completion_time" => completion_time,
    b"total_time" => total_time,
});

#[derive(Default)]
struct Details {
    cached_tokens: Lenient<u64>,
    reasoning_tokens: Lenient<u64>,
}

object!(Details { b"cached_tokens" => cached_tokens, b"reasoning_tokens" => reasoning_tokens });

impl Usage {
    /// The counts; `None` where there is neither a prompt nor an answer.
    pub fn tokens(&self) -> Option<Tokens> {
        let detail = |of: &Lenient<Details>, which: fn(&Details) -> Option<u64>| {
            of.0.as_ref().and_then(which)
        };
        let cached = |details: &Details| details.cached_tokens.0;
        let reasoning = |details: &Details| details.reasoning_tokens.0;
        let beside = [
            self.cache_read_input_tokens.0,
            self.cache_creation_input_tokens.0,
        ];
        let beside: u64 = beside.into_iter().flatten().sum();
        let tokens = Tokens {
            prompt: (self.prompt_tokens.0).or_else(|| Some(self.input_tokens.0? + beside)),
            completion: self.completion_tokens.0.or(self.output_tokens.0),
            reasoning: detail(&self.completion_tokens_details, reasoning)
                .or_else(|| detail(&self.output_tokens_details, reasoning))
                .or(self.reasoning_tokens.0),
            cached: detail(&self.prompt_tokens_details, cached)
                .or_else(|| detail(&self.input_tokens_details, cached))
                .or(self.prompt_cache_hit_tokens.0)
                .or(self.cache_read_input_tokens.0),
        };
        (tokens.prompt.is_some() || tokens.completion.is_some()).then_some(tokens)
    }

    /// The times; `None` where there are none.
    pub fn times(&self) -> Option<ServerSays> {
        let ms = |seconds: &Lenient<f64>| {
            let ms = |s: f64| (s * 1e6).round() / 1e3;
            seconds.0.map(ms).filter(is_time)
        };
        self.completion_time.0.is_some().then(|| ServerSays {
            queue_ms: ms(&self.queue_time),
            prompt_ms: ms(&self.prompt_time),
            generation_ms: ms(&self.completion_time),
            processing_ms: ms(&self.total_time),
            ..ServerSays::default()
        })
    }
}

/// llama.cpp's own times.
#[derive(Default)]
pub struct Timings {
    prompt_ms: Lenient<f64>,
    predicted_ms: Lenient<f64>,
    predicted_per_token_ms: Lenient<f64>,
}

object!(Timings {
    b"prompt_ms" => prompt_ms,
    b"predicted_ms" => predicted_ms,
    b"predicted_per_token_ms" => predicted_per_token_ms,
});

impl Timings {
    /// In the record's words.
    pub fn times(&self) -> ServerSays {
        ServerSays {
            prompt_ms: self.prompt_ms.0.filter(is_time),
            generation_ms: self.predicted_ms.0.filter(is_time),
            per_token_ms: self.predicted_per_token_ms.0.filter(is_time),
            ..ServerSays::default()
        }
    }
}

/// Servers that subtract one clock from another send negative times.
fn is_time(ms: &f64) -> bool {
    ms.is_finite() && *ms >= 0.0
}
