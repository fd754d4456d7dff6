//! Every metric there is: its name, kind, labels, bounds and help. What is written and what
//! `docs/metrics.md` says are both made of this.

use std::fmt::Write as _;

use prometheus_client::metrics::MetricType::{self, Counter, Gauge, Histogram};
use prometheus_client::registry::Unit;

use crate::observe::distribution::{EVENTS_BOUNDS, GAP_BOUNDS, HOLD_BOUNDS};
use crate::observe::stats::Us;

/// One metric.
#[derive(Debug)]
pub struct About {
    /// Its name, without its unit and without the ending of its kind.
    pub name: &'static str,
    /// The unit of its values.
    pub unit: Option<Unit>,
    /// What Prometheus calls its kind.
    pub kind: MetricType,
    /// The names of its labels.
    pub labels: &'static [&'static str],
    /// Upper bounds of a histogram's buckets: µs where the unit is seconds.
    pub bounds: &'static [u64],
    /// What it is.
    pub help: &'static str,
}

/// OpenTelemetry's bounds for all durations of clients, 10 ms to 82 s.
const CLIENT_BOUNDS: [Us; 14] = [
    10_000, 20_000, 40_000, 80_000, 160_000, 320_000, 640_000, 1_280_000, 2_560_000, 5_120_000,
    10_240_000, 20_480_000, 40_960_000, 81_920_000,
];

/// OpenTelemetry's bounds for `gen_ai.server.time_to_first_token`, and what vLLM has beyond them.
const FIRST_BOUNDS: [Us; 22] = [
    1_000,
    5_000,
    10_000,
    20_000,
    40_000,
    60_000,
    80_000,
    100_000,
    250_000,
    500_000,
    750_000,
    1_000_000,
    2_500_000,
    5_000_000,
    7_500_000,
    10_000_000,
    20_000_000,
    40_000_000,
    80_000_000,
    160_000_000,
    640_000_000,
    2_560_000_000,
];

const CALL: &[&str] = &[
    "gen_ai_operation_name",
    "gen_ai_provider_name",
    "gen_ai_request_model",
    "gen_ai_response_model",
    "server_address",
    "server_port",
];
const CALL_AND_ERROR: &[&str] = &[
    "gen_ai_operation_name",
    "gen_ai_provider_name",
    "gen_ai_request_model",
    "gen_ai_response_model",
    "server_address",
    "server_port",
    "error_type",
];
const MODEL: &[&str] = &["upstream", "model"];
const MODEL_AND_COLD: &[&str] = &["upstream", "model", "cold"];

/// A histogram of durations.
const fn seconds(
    name: &'static str,
    labels: &'static [&'static str],
    bounds: &'static [u64],
    help: &'static str,
) -> About {
    About {
        name,
        unit: Some(Unit::Seconds),
        kind: Histogram,
        labels,
        bounds,
        help,
    }
}

/// A number of something.
const fn number(
    name: &'static str,
    kind: MetricType,
    labels: &'static [&'static str],
    help: &'static str,
) -> About {
    About {
        name,
        unit: None,
        kind,
        labels,
        bounds: &[],
        help,
    }
}

macro_rules! catalog {
    ($($(#[$doc:meta])* $id:ident = $about:expr;)*) => {
        $($(#[$doc])* pub static $id: About = $about;)*

        /// All of them, in the order of the text.
        pub static ALL: &[&About] = &[$(&$id),*];
    };
}

catalog! {
    /// `gen_ai.client.operation.duration`.
    DURATION = seconds("gen_ai_client_operation_duration", CALL_AND_ERROR, &CLIENT_BOUNDS,
        "Time from the request to the end of its response, or to what ended it before.");
    /// `gen_ai.client.operation.time_to_first_chunk`.
    FIRST_CHUNK = seconds("gen_ai_client_operation_time_to_first_chunk", CALL, &CLIENT_BOUNDS,
        "Time from the request to the first event that carries output, of streams.");
    /// `gen_ai.client.operation.time_per_output_chunk`.
    PER_CHUNK = seconds("gen_ai_client_operation_time_per_output_chunk", CALL, &CLIENT_BOUNDS,
        "Time from each event that carries output to the next, of streams.");
    /// How requests ended.
    REQUESTS = number("dripline_requests", Counter, &["upstream", "model", "end"],
        "Requests that left a record, by how they ended.");
    /// What streams were like.
    VERDICTS = number("dripline_verdicts", Counter, &["upstream", "model", "timing", "where"],
        "Streams, by their verdict and the side of this proxy that it names.");
    /// Time to first token.
    TTFT = seconds("dripline_ttft", MODEL_AND_COLD, &FIRST_BOUNDS,
        "Time from the request to its first token event.");
    /// Time to first answer.
    TTFA = seconds("dripline_ttfa", MODEL_AND_COLD, &FIRST_BOUNDS,
        "Time from the request to its first token event that is an answer, not reasoning or a tool call.");
    /// Gaps between token events.
    TOKEN_GAP = seconds("dripline_token_gap", MODEL, &GAP_BOUNDS,
        "Every gap between two token events of a stream.");
    /// Gaps between events.
    EVENT_GAP = seconds("dripline_event_gap", MODEL, &GAP_BOUNDS,
        "Every gap between two events of a stream, with or without output.");
    /// Gaps between chunks.
    CHUNK_GAP = seconds("dripline_chunk_gap", MODEL, &GAP_BOUNDS,
        "Every gap between two socket reads that brought a part of a body.");
    /// The longest of a request's gaps.
    LONGEST_GAP = seconds("dripline_longest_token_gap", MODEL, &GAP_BOUNDS,
        "The longest gap between two token events of each stream.");
    /// Stalls.
    STALLS = number("dripline_stalls", Counter, MODEL,
        "Gaps between token events of 250 ms or more that were also 5 times the stream's 90th percentile or more.");
    /// How events share socket reads.
    EVENTS_PER_CHUNK = About {
        name: "dripline_events_per_chunk",
        unit: None,
        kind: Histogram,
        labels: MODEL,
        bounds: &EVENTS_BOUNDS,
        help: "How many events each socket read completed.",
    };
    /// Tokens of prompts.
    PROMPT_TOKENS = number("dripline_prompt_tokens", Counter, MODEL,
        "Tokens of prompts, where the server counted them.");
    /// Tokens of completions.
    COMPLETION_TOKENS = number("dripline_completion_tokens", Counter, MODEL,
        "Tokens of completions, where the server counted them.");
    /// The proxy's own delay.
    HOLD = seconds("dripline_hold", &[], &HOLD_BOUNDS,
        "The proxy's own delay of each chunk: from its arrival until the client's socket took it, less the time in \
         which that socket was full.");
    /// The clients' delay.
    BLOCKED = About {
        name: "dripline_client_blocked",
        unit: Some(Unit::Seconds),
        kind: Counter,
        labels: &[],
        bounds: &[],
        help: "Time in which a client's socket was full, over all requests.",
    };
    /// Open requests.
    IN_FLIGHT = number("dripline_requests_in_flight", Gauge, &["upstream"],
        "Requests that are open now.");
    /// Records that got where they should.
    RECORDS_WRITTEN = number("dripline_records_written", Counter, &["sink"],
        "Records that got there.");
    /// Records that did not.
    RECORDS_DROPPED = number("dripline_records_dropped", Counter, &["sink"],
        "Records that did not get there: no room in the queue, a failed write, or a collector that did not take them.");
    /// Which dripline it is.
    BUILD = number("dripline_build", MetricType::Info, &["version"],
        "The version of dripline.");
}

impl About {
    /// A value or bound in the unit of the metric.
    pub fn shown(&self, value: u64) -> f64 {
        match self.unit {
            Some(_) => value as f64 / 1e6,
            None => value as f64,
        }
    }

    /// Its name in OpenTelemetry, from which its exporters for Prometheus make [`About::full_name`].
    pub fn otel_name(&self) -> String {
        match self.name.strip_prefix("gen_ai_client_operation_") {
            Some(rest) => format!("gen_ai.client.operation.{rest}"),
            None => self.name.replacen('_', ".", 1),
        }
    }

    /// What a label of ours is called there.
    pub fn otel_label(label: &'static str) -> &'static str {
        match label {
            "gen_ai_operation_name" => "gen_ai.operation.name",
            "gen_ai_provider_name" => "gen_ai.provider.name",
            "gen_ai_request_model" => "gen_ai.request.model",
            "gen_ai_response_model" => "gen_ai.response.model",
            "server_address" => "server.address",
            "server_port" => "server.port",
            "error_type" => "error.type",
            own => own,
        }
    }

    /// Its name in queries.
    pub fn full_name(&self) -> String {
        let unit = self.unit.as_ref().map(|unit| format!("_{}", unit.as_str()));
        let ending = match self.kind {
            Counter => "_total",
            MetricType::Info => "_info",
            _ => "",
        };
        format!("{}{}{ending}", self.name, unit.unwrap_or_default())
    }
}

/// All metrics as a table in Markdown: what `docs/metrics.md` shows.
pub fn table() -> String {
    let mut table = String::from("| metric | kind | labels | what it is |\n|---|---|---|---|\n");
    for about in ALL {
        let labels: Vec<String> = about
            .labels
            .iter()
            .map(|label| format!("`{label}`"))
            .collect();
        let kind = match about.kind {
            Counter => "counter",
            Gauge => "gauge",
            Histogram => "histogram",
            MetricType::Info => "info",
            MetricType::Unknown => "unknown",
        };
        let buckets = match about.bounds {
            [first, .., last] => format!(
                ", {} bounds from {} to {}{}",
                about.bounds.len(),
                about.shown(*first),
                about.shown(*last),
                about.unit.as_ref().map_or("", |_| " s"),
            ),
            _ => String::new(),
        };
        let _ = writeln!(
            // to a String it cannot fail
            table,
            "| `{}` | {kind}{buckets} | {} | {} |",
            about.full_name(),
            labels.join(", "),
            about.help
        );
    }
    table
}
