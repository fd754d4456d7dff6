//! The columns of a request's row: one definition each, for all forms that have rows.

use std::borrow::Cow;

use serde::Serialize;

use crate::observe::record::RequestRecord;
use crate::sink::console::text::word;

/// A column.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    /// Its name; durations have their unit in it.
    pub name: &'static str,
    /// Its type, and where its value is in a record: `None` where it was not measured.
    pub of: Of,
}

/// What is in a column, and how it is had from a record.
#[derive(Debug, Clone, Copy)]
pub enum Of {
    /// Text, of the record or from outside.
    Text(fn(&RequestRecord) -> Option<Cow<'_, str>>),
    /// A point in time, RFC 3339.
    Time(fn(&RequestRecord) -> &str),
    /// A number with a fraction: a duration in ms, a confidence.
    Number(fn(&RequestRecord) -> Option<f64>),
    /// How many.
    Count(fn(&RequestRecord) -> Option<u64>),
    /// Whether.
    Flag(fn(&RequestRecord) -> Option<bool>),
}

use Of::{Count, Flag, Number, Text, Time};

/// All of them, in their order.
pub const COLUMNS: [Column; 33] = [
    of("id", Text(|record| Some(record.id.as_str().into()))),
    of("started_at", Time(|record| &record.started_at)),
    of("label", Text(|record| known(&record.label))),
    of(
        "instance",
        Text(|record| Some(record.instance.as_str().into())),
    ),
    of("method", Text(|record| known(&record.request.method))),
    of("path", Text(|record| known(&record.request.path))),
    of("model", Text(|record| known(&record.request.model))),
    of("upstream", Text(|record| known(&record.upstream.name))),
    of(
        "status",
        Count(|record| record.response.status.map(u64::from)),
    ),
    of("api", Text(|record| said(record.api.as_ref()))),
    of("end", Text(|record| said(Some(&record.end)))),
    of(
        "error_type",
        Text(|record| known(&record.error.as_ref()?.server_type)),
    ),
    of("ttft_ms", Number(|record| record.ttft_ms)),
    of("ttft_null", Text(|record| said(record.ttft_null.as_ref()))),
    of("ttfa_ms", Number(|record| record.ttfa_ms)),
    of("end_ms", Number(|record| record.at.end_ms)),
    of("gaps", Count(|record| Some(record.gaps.token.n))),
    of("gap_p50_ms", Number(|record| record.gaps.token.p50_ms)),
    of("gap_p90_ms", Number(|record| record.gaps.token.p90_ms)),
    of("gap_p99_ms", Number(|record| record.gaps.token.p99_ms)),
    of("gap_max_ms", Number(|record| record.gaps.token.max_ms)),
    of("stalls", Count(|record| Some(record.stalls.len() as u64))),
    of("token_events", Count(|record| record.counts.token_events)),
    of("chunks", Count(|record| Some(record.counts.chunks))),
    of("bytes", Count(|record| Some(record.counts.bytes))),
    of("prompt_tokens", Count(|record| record.tokens.prompt)),
    of(
        "completion_tokens",
        Count(|record| record.tokens.completion),
    ),
    of("in_flight", Count(|record| Some(record.load.in_flight))),
    of("cold", Flag(|record| Some(record.load.cold))),
    of(
        "verdict",
        Text(|record| said(record.verdict.as_ref().map(|verdict| &verdict.timing))),
    ),
    of(
        "where",
        Text(|record| said(record.verdict.as_ref()?.side.as_ref())),
    ),
    of(
        "confidence",
        Number(|record| Some(record.verdict.as_ref()?.confidence)),
    ),
    of(
        "cut_after_ms",
        Number(|record| Some(record.verdict.as_ref()?.cut.as_ref()?.after_ms)),
    ),
];

const fn of(name: &'static str, of: Of) -> Column {
    Column { name, of }
}

fn known(text: &Option<String>) -> Option<Cow<'_, str>> {
    text.as_deref().map(Cow::Borrowed)
}

/// The record's word.
fn said<T: Serialize>(value: Option<&T>) -> Option<Cow<'static, str>> {
    value.map(|value| Cow::Owned(word(value)))
}
