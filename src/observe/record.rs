//! The record: one [`RequestRecord`] per request, one line of JSON each.
//!
//! This is the product's contract: the log, the live page, the reports and the exporters all read
//! this one type. Fields may be added; none is renamed or dropped without raising [`SCHEMA`].
//!
//! - Every object is always there; a value in it that was not measured is `null`, never 0.
//! - `_ms` are milliseconds with µs resolution, `_us` microseconds, none is ever negative.
//! - Times count from `t0`, the arrival of the last byte of the request head (monotonic clock).
//! - No prompt, answer, key, cookie or query string has a place in here.

mod ends;
mod legs;
mod row;
mod verdict;

use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use ends::{End, ErrorInfo, ErrorKind, Flag, TtftNull};
pub use legs::{Framing, Origin, Parent, Request, Response, Upstream};
pub use row::{Row, token_gaps};
pub use verdict::{Cut, CutKind, Finding, Side, Timing, Verdict};

pub use super::dialect::Api;
use super::distribution::Distributions;

/// Version of the record's shape.
pub const SCHEMA: u32 = 1;

/// A duration as the record shows it: milliseconds with µs resolution.
pub fn ms(duration: Duration) -> f64 {
    duration.as_micros() as f64 / 1000.0
}

/// Everything known about one request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RequestRecord {
    /// Version of this shape, [`SCHEMA`].
    pub schema: u32,
    /// Unique, and sortable by start.
    pub id: String,
    /// Wall clock of the start, RFC 3339 UTC: a label, never used for a duration.
    pub started_at: String,
    /// Free text of the run.
    pub label: Option<String>,
    /// Name of the proxy that made the record.
    pub instance: String,
    /// What was asked.
    pub request: Request,
    /// The connection to the upstream.
    pub upstream: Upstream,
    /// What the response head and its body said.
    pub response: Response,
    /// Which API the body speaks; `null` while no response came.
    pub api: Option<Api>,
    /// Marks from `t0`.
    pub at: Marks,
    /// First token event, from `t0`.
    pub ttft_ms: Option<f64>,
    /// First token event, from `at.request_end_ms`; `null` when the token came first.
    pub ttft_after_request_ms: Option<f64>,
    /// First answer token (content, refusal, audio; no reasoning, no tool call), from `t0`.
    pub ttfa_ms: Option<f64>,
    /// Why `ttft_ms` is `null`.
    pub ttft_null: Option<TtftNull>,
    /// Distances in time.
    pub gaps: Gaps,
    /// The worst stalls, at most 5, worst first.
    pub stalls: Vec<Stall>,
    /// Times without any byte from the upstream.
    pub silence: Silence,
    /// Last token event to the end of the body.
    pub tail_ms: Option<f64>,
    /// What was counted.
    pub counts: Counts,
    /// How events shared reads.
    pub coalescing: Coalescing,
    /// The server's own token counts.
    pub tokens: Tokens,
    /// Speeds, where they mean something.
    pub rates: Rates,
    /// Where the arrival times come from; `null` when no body byte came.
    pub stamps: Option<Stamps>,
    /// The proxy's own delay.
    pub hold: Hold,
    /// What the upstream was doing when the request came.
    pub load: Load,
    /// What the server itself reported.
    pub server_says: ServerSays,
    /// How it ended.
    pub end: End,
    /// What else is to be known, in the order of [`Flag`].
    pub flags: Vec<Flag>,
    /// What failed; `null` when nothing did.
    pub error: Option<ErrorInfo>,
    /// Who held the stream back; `null` where there is no stream.
    pub verdict: Option<Verdict>,
    /// One row per chunk, when asked for.
    pub timeline: Option<Vec<Row>>,
    /// How all values lie, for the metrics. No part of the JSON: `None` where the record comes from a log.
    #[serde(skip)]
    pub distributions: Option<Box<Distributions>>,
}

impl RequestRecord {
    /// Whether this may have been a generation (a `POST`), a stream or an upgraded connection; else
    /// it was a model list, a health poll and the like.
    pub fn is_generation_or_stream(&self) -> bool {
        self.request.method.as_deref() == Some("POST")
            || self.verdict.is_some()
            || self.end == End::Upgraded
    }
}

/// Marks in ms from `t0`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Marks {
    /// Last byte of the request body in.
    pub request_end_ms: Option<f64>,
    /// Last byte of the request written upstream.
    pub sent_ms: Option<f64>,
    /// Final response header in.
    pub header_ms: Option<f64>,
    /// First byte of the body.
    pub first_byte_ms: Option<f64>,
    /// First event of any kind.
    pub first_event_ms: Option<f64>,
    /// First token event.
    pub first_token_ms: Option<f64>,
    /// First token event with reasoning.
    pub first_reasoning_ms: Option<f64>,
    /// First token event with an answer.
    pub first_content_ms: Option<f64>,
    /// First token event with a tool call.
    pub first_tool_ms: Option<f64>,
    /// Last token event.
    pub last_token_ms: Option<f64>,
    /// Protocol end marker.
    pub done_ms: Option<f64>,
    /// End of the body, or the cut.
    pub end_ms: Option<f64>,
}

/// Distances in time, of three kinds that must not be mixed up.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Gaps {
    /// Between chunks (socket reads).
    pub chunk: GapStats,
    /// Between events of any kind.
    pub event: GapStats,
    /// Between token events.
    pub token: GapStats,
}

/// One series of gaps.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct GapStats {
    /// How many gaps.
    pub n: u64,
    /// Mean.
    pub mean_ms: Option<f64>,
    /// Median.
    pub p50_ms: Option<f64>,
    /// 90th percentile.
    pub p90_ms: Option<f64>,
    /// 99th percentile.
    pub p99_ms: Option<f64>,
    /// The longest gap.
    pub max_ms: Option<f64>,
    /// When the longest gap ended.
    pub max_at_ms: Option<f64>,
    /// Whether the percentiles are exact; else they come from a histogram of 3 digits.
    pub exact: bool,
}

/// A pause between token events that was far longer than usual.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stall {
    /// When it ended.
    pub at_ms: f64,
    /// How long it was.
    pub gap_ms: f64,
    /// Token events before it.
    pub after_token: u64,
    /// Events of the first burst after it; `null` late in a very long stream.
    pub catch_up_events: Option<u64>,
}

/// Times without any byte from the upstream, headers included, from `at.sent_ms` on.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Silence {
    /// The longest.
    pub longest_ms: Option<f64>,
    /// When it ended.
    pub longest_at_ms: Option<f64>,
    /// The one before the end.
    pub before_end_ms: Option<f64>,
}

/// What was counted. All but chunks and bytes are `null` where the body was not read as events.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Counts {
    /// Socket reads that brought body bytes.
    pub chunks: u64,
    /// SSE dispatches, NDJSON lines, or items of a JSON array.
    pub events: Option<u64>,
    /// Events that carried generated output.
    pub token_events: Option<u64>,
    /// Comments, pings, and events whose data is empty or only a comment.
    pub keepalives: Option<u64>,
    /// Events with an empty text and nothing else.
    pub empty_deltas: Option<u64>,
    /// Protocol end markers.
    pub done_markers: Option<u64>,
    /// Events that should have been JSON and were not.
    pub parse_errors: Option<u64>,
    /// Body bytes, de-framed.
    pub bytes: u64,
    /// Unicode scalars of output on all channels.
    pub chars: Option<u64>,
}

/// How events shared reads; `null` where the body was not read as events.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Coalescing {
    /// Most events that one chunk completed.
    pub events_per_chunk_max: Option<u64>,
    /// Chunks that completed more than one event.
    pub chunks_with_many_events: Option<u64>,
    /// Events whose bytes came in more than one chunk.
    pub events_split_over_chunks: Option<u64>,
    /// Events of each of the first 16 bursts.
    pub burst_events: Option<Vec<u64>>,
    /// Bytes of each of the first 16 bursts.
    pub burst_bytes: Option<Vec<u64>>,
    /// Median time from the start of a burst to the start of the next.
    pub burst_period_ms: Option<f64>,
}

/// Token counts as the server gave them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Tokens {
    /// Tokens of the prompt.
    pub prompt: Option<u64>,
    /// Tokens of the completion, reasoning included where the server includes it.
    pub completion: Option<u64>,
    /// Tokens of reasoning.
    pub reasoning: Option<u64>,
    /// Tokens of the prompt that came from a cache.
    pub cached: Option<u64>,
}

impl Tokens {
    /// These on top of `earlier` ones: some servers count the prompt first and the answer last.
    pub fn over(self, earlier: Tokens) -> Tokens {
        Tokens {
            prompt: self.prompt.or(earlier.prompt),
            completion: self.completion.or(earlier.completion),
            reasoning: self.reasoning.or(earlier.reasoning),
            cached: self.cached.or(earlier.cached),
        }
    }
}

/// Speeds; `null` when the stream came as one burst, where a speed means nothing.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Rates {
    /// Chunks per second after the first.
    pub chunks_per_s_after_first: Option<f64>,
    /// Tokens (the server's count) per second after the first token event.
    pub tokens_per_s_after_first: Option<f64>,
}

/// Where arrival times come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stamps {
    /// The kernel's receive stamp.
    Kernel,
    /// The return of the read.
    Read,
    /// Some of each.
    Mixed,
}

/// The proxy's own delay: arrival to accepted by the client's socket, without the time in which
/// that socket was full. `null` where a write returns before the kernel has the bytes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Hold {
    /// Median.
    pub p50_us: Option<u64>,
    /// 99th percentile.
    pub p99_us: Option<u64>,
    /// The longest.
    pub max_us: Option<u64>,
    /// Time in which the client's socket was full.
    pub blocked_ms: Option<f64>,
    /// The most that the client's kernel had not acknowledged, sampled after writes; `null` where
    /// the system does not say.
    pub unacked_max_bytes: Option<u64>,
    /// Time in which more than 64 KiB of it waited and did not become less, from the samples.
    pub unacked_ms: Option<f64>,
    /// Time in which the client's receive window held the kernel back, as the kernel counts it.
    pub rwnd_limited_ms: Option<f64>,
}

/// What the upstream was doing when the request came.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Load {
    /// Other requests open at that time.
    pub in_flight: u64,
    /// The first request to this upstream, or the first after a pause.
    pub cold: bool,
    /// Time since the previous request ended; `null` if none did or they overlap.
    pub idle_before_ms: Option<f64>,
}

/// What the server itself reported.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct ServerSays {
    /// Wait in its queue.
    pub queue_ms: Option<f64>,
    /// Loading the model.
    pub load_ms: Option<f64>,
    /// Reading the prompt.
    pub prompt_ms: Option<f64>,
    /// Generating.
    pub generation_ms: Option<f64>,
    /// Generating, per token.
    pub per_token_ms: Option<f64>,
    /// All of it.
    pub processing_ms: Option<f64>,
}

impl ServerSays {
    /// These on top of `others`.
    pub fn over(self, others: ServerSays) -> ServerSays {
        ServerSays {
            queue_ms: self.queue_ms.or(others.queue_ms),
            load_ms: self.load_ms.or(others.load_ms),
            prompt_ms: self.prompt_ms.or(others.prompt_ms),
            generation_ms: self.generation_ms.or(others.generation_ms),
            per_token_ms: self.per_token_ms.or(others.per_token_ms),
            processing_ms: self.processing_ms.or(others.processing_ms),
        }
    }
}
