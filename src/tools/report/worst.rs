//! The few requests to look at first: those that kept someone waiting longest, and the latest that failed.
//!
//! How long someone waited is one figure, not a weighting of several: the longest time without a token, be it the first
//! one's or a gap.

use std::collections::VecDeque;

use jiff::Timestamp;

use crate::observe::record::{End, RequestRecord, Timing};
use crate::observe::stats::Us;
use crate::sink::console::text::shown;

/// Requests that are kept of each kind.
pub const MOST: usize = 20;
/// Columns of an id or a name that are kept.
const NAME: usize = 48;

/// The few of all.
#[derive(Debug, Default)]
pub struct Worst {
    /// The longest wait first; of equal ones the first that was read.
    pub waits: Vec<Wait>,
    /// In the order in which they were read.
    pub failures: VecDeque<Failure>,
}

/// A stream in which someone waited.
#[derive(Debug, Clone, PartialEq)]
pub struct Wait {
    /// Which.
    pub request: Which,
    /// The longest time without a token, µs.
    pub longest: Us,
    /// What it was.
    pub what: What,
    /// First token, ms.
    pub ttft_ms: Option<f64>,
    /// 99th percentile of the gaps between token events, ms.
    pub gap_p99_ms: Option<f64>,
    /// Requests open at its start.
    pub in_flight: u64,
    /// First to its upstream, or first after a pause.
    pub cold: bool,
    /// How it came.
    pub timing: Timing,
}

/// What someone waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// The first token.
    FirstToken,
    /// The first token, and left before it came.
    InVain,
    /// The next token.
    Gap,
}

/// A request that failed.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    /// Which.
    pub request: Which,
    /// Status of the answer.
    pub status: Option<u16>,
    /// From the request to its end, ms.
    pub end_ms: Option<f64>,
}

/// A request, by what it is found again.
#[derive(Debug, Clone, PartialEq)]
pub struct Which {
    /// The record's id, safe to show.
    pub id: String,
    /// Start, wall clock.
    pub started: Option<Timestamp>,
    /// The model asked for, safe to show.
    pub model: Option<String>,
    /// How it ended.
    pub end: End,
}

impl Which {
    fn of(record: &RequestRecord, started: Option<Timestamp>) -> Which {
        let model = record.request.model.as_deref();
        Which {
            id: shown(&record.id, NAME),
            started,
            model: model.map(|model| shown(model, NAME)),
            end: record.end,
        }
    }
}

impl Worst {
    /// Keeps the request if it is one of the few.
    pub fn take(&mut self, record: &RequestRecord, started: Option<Timestamp>, failed: bool) {
        if failed {
            if self.failures.len() == MOST {
                self.failures.pop_front();
            }
            self.failures.push_back(Failure {
                request: Which::of(record, started),
                status: record.response.status,
                end_ms: record.at.end_ms,
            });
        }
        let Some(verdict) = &record.verdict else {
            return;
        };
        let Some((longest, what)) = longest(record) else {
            return;
        };
        let place = self.waits.partition_point(|wait| wait.longest >= longest);
        if place == MOST {
            return;
        }
        self.waits.truncate(MOST - 1);
        self.waits.insert(
            place,
            Wait {
                request: Which::of(record, started),
                longest,
                what,
                ttft_ms: record.ttft_ms,
                gap_p99_ms: record.gaps.token.p99_ms,
                in_flight: record.load.in_flight,
                cold: record.load.cold,
                timing: verdict.timing,
            },
        );
    }
}

/// The longest time without a token, µs.
fn longest(record: &RequestRecord) -> Option<(Us, What)> {
    // a cast stays within the type's range
    let us = |ms: f64| (ms * 1000.0).round() as Us;
    let left = record.end == End::ClientGone && record.ttft_ms.is_none();
    let in_vain = record.at.end_ms.filter(|_| left);
    let waits = [
        (record.ttft_ms, What::FirstToken),
        (in_vain, What::InVain),
        (record.gaps.token.max_ms, What::Gap),
    ];
    let known = waits
        .into_iter()
        .filter_map(|(ms, what)| Some((us(ms?), what)));
    // of equal ones the first
    known.reduce(|one, other| if other.0 > one.0 { other } else { one })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::tools::logs::sample;

    fn record(ttft: Option<f64>, gap: Option<f64>) -> RequestRecord {
        let mut record = sample();
        record.ttft_ms = ttft;
        record.gaps.token.max_ms = gap;
        record
    }

    #[test]
    fn a_wait_is_for_the_first_or_for_the_next_token_or_in_vain() {
        assert_eq!(
            longest(&record(Some(80.0), Some(1020.0))),
            Some((1_020_000, What::Gap))
        );
        assert_eq!(
            longest(&record(Some(80.0), None)),
            Some((80_000, What::FirstToken))
        );
        let mut left = record(None, None);
        left.at.end_ms = Some(9000.0);
        assert_eq!(longest(&left), None);
        left.end = End::ClientGone;
        assert_eq!(longest(&left), Some((9_000_000, What::InVain)));
    }

    #[test]
    fn the_latest_failures_are_kept() {
        let mut worst = Worst::default();
        for i in 0..25 {
            let mut failed = record(None, None);
            failed.id = i.to_string();
            failed.verdict = None;
            worst.take(&failed, None, true);
        }
        assert!(worst.waits.is_empty());
        assert_eq!(worst.failures.len(), MOST);
        assert_eq!(worst.failures[0].request.id, "5");
    }

    proptest! {
        #[test]
        fn the_longest_waits_are_those_of_a_sorted_list(waits in prop::collection::vec(0u64..60, 0..80)) {
            let mut worst = Worst::default();
            for (i, wait) in waits.iter().enumerate() {
                let mut record = record(Some(*wait as f64), None);
                record.id = i.to_string();
                worst.take(&record, None, false);
            }
            let mut sorted: Vec<_> = waits.iter().copied().enumerate().collect();
            sorted.sort_by_key(|&(_, wait)| std::cmp::Reverse(wait));
            let expected: Vec<_> = sorted.iter().take(MOST).map(|(i, wait)| (i.to_string(), wait * 1000)).collect();
            let kept: Vec<_> = worst.waits.iter().map(|wait| (wait.request.id.clone(), wait.longest)).collect();
            prop_assert_eq!(kept, expected);
        }
    }
}
