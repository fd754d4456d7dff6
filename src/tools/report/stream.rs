//! What is kept of one measured stream, and all gaps of a timeline.

use jiff::Timestamp;

use crate::observe::record::{End, RequestRecord, Timing};
use crate::observe::stats::Us;

/// One measured stream, in µs: it came whole, and its first token is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stream {
    /// Start, wall clock.
    pub started: Option<i64>,
    /// First token.
    pub ttft: Us,
    /// Median gap between token events.
    pub gap_p50: Option<u32>,
    /// Their 99th percentile.
    pub gap_p99: Option<u32>,
    /// From first to last token, for each token but the first, as the server counts them.
    pub per_token: Option<u32>,
    /// End.
    pub end: Us,
    /// Requests open at its start.
    pub in_flight: u32,
    /// Which group.
    pub group: u32,
    /// First to its upstream, or first after a pause.
    pub cold: bool,
    /// How it came.
    pub timing: Timing,
}

impl Stream {
    /// The record's figures, if it is a stream that came whole: failures, cuts and whole replies have no place beside them.
    pub fn of(record: &RequestRecord, started: Option<Timestamp>, group: u32) -> Option<Stream> {
        let verdict = record.verdict.as_ref();
        let verdict = verdict.filter(|_| record.end == End::Complete)?;
        let gaps = &record.gaps.token;
        let (first, last) = (record.at.first_token_ms, record.at.last_token_ms);
        let steps = record.tokens.completion.and_then(|n| n.checked_sub(1));
        let per_token = match (first.zip(last), steps) {
            (Some((first, last)), Some(steps @ 1..)) => {
                Some((last - first).max(0.0) / steps as f64)
            }
            _ => None,
        };
        Some(Stream {
            started: started.map(Timestamp::as_microsecond),
            ttft: us(record.ttft_ms?),
            gap_p50: gaps.p50_ms.map(short),
            gap_p99: gaps.p99_ms.map(short),
            per_token: per_token.map(short),
            end: us(record.at.end_ms.unwrap_or(0.0)),
            in_flight: u32::try_from(record.load.in_flight).unwrap_or(u32::MAX),
            group,
            cold: record.load.cold,
            timing: verdict.timing,
        })
    }
}

/// Milliseconds in whole µs. Logs may hold anything; what is no duration becomes 0.
pub(super) fn us(ms: f64) -> Us {
    // a cast stays within the type's range
    (ms * 1000.0).round() as Us
}

/// The same; what is longer than 71 minutes becomes that.
fn short(ms: f64) -> u32 {
    (ms * 1000.0).round() as u32
}
