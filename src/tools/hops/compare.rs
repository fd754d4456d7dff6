//! Both records of a request side by side: durations, each from its own instance's start, and what else is not the same.
//!
//! A duration of the outer instance holds that of the inner one in it, and the hop's own way for the request besides.
//! So what is added can be told from two clocks that were never set alike; the wall clock's `started_at` is not used.

use serde::Serialize;

use super::changes::{Change, changes};
use super::ends::Ending;
use crate::observe::record::{GapStats, RequestRecord};

/// The same figure on both sides of the hop.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Both<T> {
    /// Between server and hop.
    pub inner: T,
    /// Between hop and app.
    pub outer: T,
}

/// What gaps are between.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GapsOf {
    /// Token events.
    Token,
    /// Events, where none is known to carry output.
    Event,
    /// Chunks, where there are no events.
    Chunk,
}

/// One series of gaps in a few figures.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct GapFigures {
    /// How many.
    pub n: u64,
    /// Mean.
    pub mean_ms: Option<f64>,
    /// Median.
    pub p50_ms: Option<f64>,
    /// 99th percentile.
    pub p99_ms: Option<f64>,
    /// The longest.
    pub max_ms: Option<f64>,
}

/// One request on both sides of the hop.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figures {
    /// First token event, from each instance's own start.
    pub ttft_ms: Both<Option<f64>>,
    /// What the hop added to it: its way for the request, and for the first token.
    pub ttft_added_ms: Option<f64>,
    /// What it added to the final header.
    pub header_added_ms: Option<f64>,
    /// What it added to the first byte of the body.
    pub first_byte_added_ms: Option<f64>,
    /// What it added to the last token event.
    pub last_token_added_ms: Option<f64>,
    /// What it added to the end of the body.
    pub end_added_ms: Option<f64>,
    /// What the gaps below are between.
    pub gaps_of: GapsOf,
    /// The gaps.
    pub gaps: Both<GapFigures>,
    /// Chunks.
    pub chunks: Both<u64>,
    /// Events.
    pub events: Both<Option<u64>>,
    /// Events per chunk, mean.
    pub events_per_chunk: Both<Option<f64>>,
    /// Body bytes, still encoded.
    pub bytes: Both<u64>,
    /// Whether the bytes of the body are others; `null` where a hash is missing and the lengths are equal, and
    /// where one side has only a part of the answer.
    pub bytes_changed: Option<bool>,
    /// What else is not the same.
    pub changes: Vec<Change>,
}

impl Figures {
    /// Of both records of one request.
    pub fn of(inner: &RequestRecord, outer: &RequestRecord) -> Figures {
        let both = |of: fn(&RequestRecord) -> Option<f64>| Both {
            inner: of(inner),
            outer: of(outer),
        };
        let gaps_of = match (inner, outer) {
            _ if inner.gaps.token.n > 0 && outer.gaps.token.n > 0 => GapsOf::Token,
            _ if inner.gaps.event.n > 0 && outer.gaps.event.n > 0 => GapsOf::Event,
            _ => GapsOf::Chunk,
        };
        let per_chunk = |record: &RequestRecord| {
            let events = record.counts.events?;
            (record.counts.chunks > 0).then(|| rounded(events as f64 / record.counts.chunks as f64))
        };
        Figures {
            ttft_ms: both(|record| record.ttft_ms),
            ttft_added_ms: added(both(|record| record.ttft_ms)),
            header_added_ms: added(both(|record| record.at.header_ms)),
            first_byte_added_ms: added(both(|record| record.at.first_byte_ms)),
            last_token_added_ms: added(both(|record| record.at.last_token_ms)),
            end_added_ms: added(both(|record| record.at.end_ms)),
            gaps_of,
            gaps: Both {
                inner: gaps(inner, gaps_of),
                outer: gaps(outer, gaps_of),
            },
            chunks: Both {
                inner: inner.counts.chunks,
                outer: outer.counts.chunks,
            },
            events: Both {
                inner: inner.counts.events,
                outer: outer.counts.events,
            },
            events_per_chunk: Both {
                inner: per_chunk(inner),
                outer: per_chunk(outer),
            },
            bytes: Both {
                inner: inner.counts.bytes,
                outer: outer.counts.bytes,
            },
            bytes_changed: bytes_changed(inner, outer),
            changes: changes(inner, outer),
        }
    }
}

/// What the outer side has more, in ms with µs resolution.
fn added(both: Both<Option<f64>>) -> Option<f64> {
    Some(rounded(both.outer? - both.inner?))
}

fn rounded(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

fn gaps(record: &RequestRecord, of: GapsOf) -> GapFigures {
    let GapStats {
        n,
        mean_ms,
        p50_ms,
        p99_ms,
        max_ms,
        ..
    } = *match of {
        GapsOf::Token => &record.gaps.token,
        GapsOf::Event => &record.gaps.event,
        GapsOf::Chunk => &record.gaps.chunk,
    };
    GapFigures {
        n,
        mean_ms,
        p50_ms,
        p99_ms,
        max_ms,
    }
}

fn bytes_changed(inner: &RequestRecord, outer: &RequestRecord) -> Option<bool> {
    let is_part = Ending::of(inner, outer).is_of_part(inner, outer);
    match (&inner.response.body_hash, &outer.response.body_hash) {
        (Some(a), Some(b)) if a == b => Some(false),
        _ if is_part => None,
        (Some(_), Some(_)) => Some(true),
        _ if inner.counts.bytes != outer.counts.bytes => Some(true),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::record::Framing;
    use crate::tools::logs::sample;

    #[test]
    fn what_is_added_and_what_is_changed() {
        let inner = sample();
        let mut outer = sample();
        outer.ttft_ms = Some(345.9);
        outer.at.end_ms = None;
        outer.response.framing = Some(Framing::Close);
        outer.response.content_encoding = Some("gzip".to_owned());
        outer.response.body_hash = Some("other".to_owned());
        outer.counts.chunks = 4;
        let figures = Figures::of(&inner, &outer);
        assert_eq!(figures.ttft_added_ms, Some(265.01));
        assert_eq!(figures.header_added_ms, Some(0.0));
        assert_eq!(figures.end_added_ms, None);
        assert_eq!(figures.events_per_chunk.outer, Some(11.0));
        assert_eq!(figures.bytes_changed, Some(true));
        let fields: Vec<_> = figures.changes.iter().map(|c| c.field).collect();
        assert_eq!(fields, ["content_encoding", "framing"]);
        assert_eq!(figures.changes[1].outer.as_deref(), Some("close"));
    }

    #[test]
    fn equal_lengths_without_a_hash_prove_nothing() {
        let inner = sample();
        let mut outer = sample();
        assert_eq!(Figures::of(&inner, &outer).bytes_changed, Some(false));
        outer.response.body_hash = None;
        assert_eq!(Figures::of(&inner, &outer).bytes_changed, None);
        outer.counts.bytes += 1;
        assert_eq!(Figures::of(&inner, &outer).bytes_changed, Some(true));
    }

    #[test]
    fn gaps_are_of_what_both_sides_have() {
        let mut inner = sample();
        let outer = sample();
        inner.gaps.token.n = 0;
        assert_eq!(Figures::of(&inner, &outer).gaps_of, GapsOf::Event);
        inner.gaps.event.n = 0;
        assert_eq!(Figures::of(&inner, &outer).gaps_of, GapsOf::Chunk);
    }
}
