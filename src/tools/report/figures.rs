//! The figures of many streams: quantiles, never one blended average alone.
//!
//! Percentiles are nearest-rank, as those within a record are (`observe/stats.rs`).

use serde::Serialize;

use super::stream::Stream;
use super::tally::{Tally, Totals};
use crate::observe::stats::{Us, in_ms, percentile};

/// How a figure is spread over streams, ms; `null` without any.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Spread {
    /// Mean.
    pub mean_ms: Option<f64>,
    /// Standard deviation of all, not of a sample.
    pub std_ms: Option<f64>,
    /// Median.
    pub p50_ms: Option<f64>,
    /// 95th percentile.
    pub p95_ms: Option<f64>,
    /// 99th percentile.
    pub p99_ms: Option<f64>,
    /// The most.
    pub max_ms: Option<f64>,
}

impl Spread {
    /// Of these values in µs.
    pub fn of(values: impl Iterator<Item = Us>) -> Spread {
        let mut sorted: Vec<Us> = values.collect();
        sorted.sort_unstable();
        let Some(&max) = sorted.last() else {
            return Spread::default();
        };
        let n = sorted.len() as f64;
        let mean = sorted.iter().map(|&us| us as f64).sum::<f64>() / n;
        let square = |us: &Us| (*us as f64 - mean).powi(2);
        let deviation = (sorted.iter().map(square).sum::<f64>() / n).sqrt();
        let rounded = |us: f64| Some(us.round() / 1000.0);
        let at = |p| percentile(&sorted, p).map(in_ms);
        Spread {
            mean_ms: rounded(mean),
            std_ms: rounded(deviation),
            p50_ms: at(50),
            p95_ms: at(95),
            p99_ms: at(99),
            max_ms: Some(in_ms(max)),
        }
    }
}

/// The figures of some measured streams.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Figures {
    /// How many streams.
    pub n: u64,
    /// Time to first token.
    pub ttft: Spread,
    /// Each stream's median gap between token events.
    pub gap_p50: Spread,
    /// Each stream's 99th percentile of them.
    pub gap_p99: Spread,
    /// From first to last token, for each token but the first, where the server counts tokens.
    pub per_token: Spread,
    /// The whole.
    pub end: Spread,
    /// Mean of all gaps of all streams, ms.
    pub gap_mean_ms: Option<f64>,
    /// Gaps of all streams.
    pub gaps: u64,
    /// Prompt tokens as servers count them; `null` where none did.
    pub prompt_tokens: Option<u64>,
    /// Completion tokens.
    pub completion_tokens: Option<u64>,
}

impl Figures {
    /// Of all streams, the cold ones or the others.
    pub fn of_all(tally: &Tally, cold: bool) -> Figures {
        let streams = tally
            .streams
            .iter()
            .filter(move |stream| stream.cold == cold);
        let totals = tally.groups.iter().map(|group| group.totals(cold));
        Figures::of(streams, totals.fold(Totals::default(), plus))
    }

    /// Of the streams of one group.
    pub fn of_group(tally: &Tally, group: usize, cold: bool) -> Figures {
        let streams = tally.streams_of(group, cold).iter();
        Figures::of(streams, tally.groups[group].totals(cold))
    }

    fn of<'a>(streams: impl Iterator<Item = &'a Stream> + Clone, sums: Totals) -> Figures {
        let known = |(sum, of): (u64, u64)| (of > 0).then_some(sum);
        let short = |figure: fn(&Stream) -> Option<u32>| {
            Spread::of(streams.clone().filter_map(figure).map(Us::from))
        };
        let mean = |ms: f64| (ms / sums.gaps as f64 * 1000.0).round() / 1000.0;
        Figures {
            n: sums.n,
            ttft: Spread::of(streams.clone().map(|stream| stream.ttft)),
            gap_p50: short(|stream| stream.gap_p50),
            gap_p99: short(|stream| stream.gap_p99),
            per_token: short(|stream| stream.per_token),
            end: Spread::of(streams.clone().map(|stream| stream.end)),
            gap_mean_ms: (sums.gaps > 0).then(|| mean(sums.gaps_ms)),
            gaps: sums.gaps,
            prompt_tokens: known(sums.prompt),
            completion_tokens: known(sums.completion),
        }
    }
}

fn plus(one: Totals, other: Totals) -> Totals {
    let both =
        |one: (u64, u64), other: (u64, u64)| (one.0.saturating_add(other.0), one.1 + other.1);
    Totals {
        n: one.n + other.n,
        gaps: one.gaps.saturating_add(other.gaps),
        gaps_ms: one.gaps_ms + other.gaps_ms,
        prompt: both(one.prompt, other.prompt),
        completion: both(one.completion, other.completion),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn nothing_has_no_figures() {
        assert_eq!(Spread::of(std::iter::empty()), Spread::default());
    }

    proptest! {
        #[test]
        fn quantiles_are_those_of_a_naive_count(values in prop::collection::vec(0u64..5_000_000, 1..200)) {
            let spread = Spread::of(values.iter().copied());
            // the value that as many are below as its share says: counted, not sorted
            let naive = |p: usize| {
                let rank = (p * (values.len() - 1) + 50) / 100;
                let below = |value: u64| values.iter().filter(|&&other| other < value).count();
                let upto = |value: u64| values.iter().filter(|&&other| other <= value).count();
                let found = values.iter().find(|&&value| below(value) <= rank && rank < upto(value));
                found.map(|&us| us as f64 / 1000.0)
            };
            prop_assert_eq!(spread.p50_ms, naive(50));
            prop_assert_eq!(spread.p95_ms, naive(95));
            prop_assert_eq!(spread.p99_ms, naive(99));
            let sum: u64 = values.iter().sum();
            let mean = sum as f64 / values.len() as f64 / 1000.0;
            prop_assert!((spread.mean_ms.unwrap() - mean).abs() <= 0.001);
            prop_assert!(spread.p50_ms <= spread.p95_ms && spread.p99_ms <= spread.max_ms);
        }
    }
}
