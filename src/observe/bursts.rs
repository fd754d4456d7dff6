//! Bursts: maximal runs of events that came (almost) at once.
//!
//! What counts as "at once" is a gap of at most 1 ms, the noise of one write and one read, or a
//! tenth of the stream's own median gap, whichever is longer.

use super::stats::{Us, percentile};
use super::timeline::Logged;

/// Gaps up to this are "at once" in any stream, µs.
const AT_ONCE: Us = 1_000;

/// A burst of so many bytes may be the first part of a larger one: a read takes no more than 64 KiB.
const FULL_READ: u64 = 60_000;

/// The longest pause between the reads of what was let go at once, µs.
const COPYING: Us = 5_000;

/// A run of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Burst {
    /// Its first event, from the first event of the stream.
    pub start: Us,
    /// Its last event, likewise.
    pub end: Us,
    /// Its events.
    pub events: u64,
    /// Token events among them.
    pub tokens: u64,
    /// Body bytes.
    pub bytes: u64,
}

/// The longest gap within a burst, given the median of the event gaps above zero.
pub fn longest_gap_within(median_non_zero: Option<Us>) -> Us {
    AT_ONCE.max(median_non_zero.unwrap_or(0) / 10)
}

/// The bursts of `events`, whose gaps inside are at most `within`.
pub fn find(events: &[Logged], within: Us) -> Vec<Burst> {
    let mut bursts: Vec<Burst> = Vec::new();
    let mut at = 0;
    for (i, event) in events.iter().enumerate() {
        at += event.gap;
        let (tokens, bytes) = (u64::from(event.is_token), u64::from(event.bytes));
        match bursts.last_mut() {
            Some(burst) if i > 0 && event.gap <= within => {
                burst.end = at;
                burst.events += 1;
                burst.tokens += tokens;
                burst.bytes += bytes;
            }
            _ => bursts.push(Burst {
                start: at,
                end: at,
                events: 1,
                tokens,
                bytes,
            }),
        }
    }
    bursts
}

/// The same bursts, those that are at most `within` apart taken as one.
pub fn merged(bursts: &[Burst], within: Us) -> Vec<Burst> {
    join(bursts, |last, next| {
        next.start.saturating_sub(last.end) <= within
    })
}

fn join(bursts: &[Burst], is_one: impl Fn(&Burst, &Burst) -> bool) -> Vec<Burst> {
    let mut all: Vec<Burst> = Vec::new();
    for burst in bursts {
        match all.last_mut() {
            Some(last) if is_one(last, burst) => {
                last.end = burst.end;
                last.events += burst.events;
                last.tokens += burst.tokens;
                last.bytes += burst.bytes;
            }
            _ => all.push(*burst),
        }
    }
    all
}

/// The same bursts, each with the rest of what was let go with it: more than a read takes comes in
/// several, with the time of the copying between them.
pub fn with_rest_of_large(bursts: &[Burst]) -> Vec<Burst> {
    join(bursts, |last, next| {
        last.bytes >= FULL_READ && next.start.saturating_sub(last.end) <= COPYING
    })
}

/// Times from the start of a burst to the start of the next.
pub fn starts(bursts: &[Burst]) -> impl Iterator<Item = Us> + Clone {
    bursts
        .windows(2)
        .map(|pair| pair[1].start.saturating_sub(pair[0].start))
}

/// Median time from the start of a burst to the start of the next.
pub fn period(bursts: &[Burst]) -> Option<Us> {
    let mut periods: Vec<Us> = starts(bursts).collect();
    periods.sort_unstable();
    percentile(&periods, 50)
}

/// Events of the burst that begins with event number `first`; `None` past the log.
pub fn length_from(events: &[Logged], first: u64, within: Us) -> Option<u64> {
    let rest = events.get(usize::try_from(first).ok()?..)?;
    let (_, more) = rest.split_first()?;
    Some(1 + more.iter().take_while(|event| event.gap <= within).count() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(gaps: &[Us]) -> Vec<Logged> {
        gaps.iter()
            .map(|&gap| Logged {
                gap,
                bytes: 10,
                is_token: true,
            })
            .collect()
    }

    #[test]
    fn runs_of_small_gaps_are_bursts() {
        let events = events(&[0, 500, 1_000, 1_001, 0, 50_000]);
        let bursts = find(&events, longest_gap_within(None));
        let sizes: Vec<_> = bursts
            .iter()
            .map(|burst| (burst.start, burst.events, burst.bytes))
            .collect();
        assert_eq!(sizes, [(0, 3, 30), (2_501, 2, 20), (52_501, 1, 10)]);
        assert_eq!(period(&bursts), Some(50_000));
        let merged: Vec<_> = merged(&bursts, 1_001)
            .iter()
            .map(|burst| (burst.start, burst.end, burst.events, burst.bytes))
            .collect();
        assert_eq!(merged, [(0, 2_501, 5, 50), (52_501, 52_501, 1, 10)]);
        assert_eq!(length_from(&events, 3, 1_000), Some(2));
        assert_eq!(length_from(&events, 6, 1_000), None);
    }

    #[test]
    fn periods_of_hours_are_no_shorter_than_they_are() {
        let hour = 3_600_000_000;
        let bursts = find(&events(&[0, 2 * hour, 5, 2 * hour]), 1_000);
        assert_eq!(bursts.last().map(|burst| burst.start), Some(4 * hour + 5));
        assert_eq!(period(&bursts), Some(2 * hour + 5));
    }

    #[test]
    fn bursts_out_of_order_have_no_time_between_them() {
        let burst = |at| Burst {
            start: at,
            end: at,
            events: 1,
            tokens: 1,
            bytes: FULL_READ,
        };
        let bursts = [burst(u64::MAX), burst(5), burst(5_000_000)];
        assert_eq!(starts(&bursts).collect::<Vec<_>>(), [0, 4_999_995]);
        assert_eq!(merged(&bursts, 10).len(), 2);
        assert_eq!(with_rest_of_large(&bursts).len(), 2);
    }

    #[test]
    fn a_slow_stream_has_a_wider_measure() {
        assert_eq!(longest_gap_within(Some(2_000_000)), 200_000);
        assert_eq!(longest_gap_within(Some(5_000)), 1_000);
        assert!(find(&[], 1_000).is_empty() && period(&[]).is_none());
    }
}
