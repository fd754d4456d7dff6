//! How all values of one request lie: counts up to fixed bounds.
//!
//! Quantiles of requests cannot be added up, counts can. So the metrics get, beside each record, how
//! many of its gaps were no longer than each of [`GAP_BOUNDS`], made once at the end of the request from
//! the gaps that the observer keeps anyway.

use super::stats::{Sorted, Us};

/// Bounds of gaps, µs: 0.5 to 5 ms, then all that OpenTelemetry has for
/// `gen_ai.client.operation.time_per_output_chunk` and all that vLLM has for `vllm:inter_token_latency_seconds`.
pub const GAP_BOUNDS: [Us; 36] = [
    500, 1_000, 2_000, 5_000, 10_000, 20_000, 25_000, 40_000, 50_000, 75_000, 80_000, 100_000,
    150_000, 160_000, 200_000, 300_000, 320_000, 400_000, 500_000, 640_000, 750_000, 1_000_000,
    1_280_000, 2_500_000, 2_560_000, 5_000_000, 5_120_000, 7_500_000, 10_000_000, 10_240_000,
    20_000_000, 20_480_000, 40_000_000, 40_960_000, 80_000_000, 81_920_000,
];

/// Bounds of the proxy's own delay, µs.
pub const HOLD_BOUNDS: [Us; 14] = [
    10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 1_000_000,
];

/// Bounds of the number of events that one chunk completed.
pub const EVENTS_BOUNDS: [u64; 9] = [0, 1, 2, 4, 8, 16, 32, 64, 128];

/// How the values of one kind lie.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Distribution {
    /// How many values are at most each bound, up to the first that is above them all: few of many bounds.
    up_to: Box<[u64]>,
    /// How many values there are.
    pub n: u64,
    /// Their sum.
    pub sum: u64,
}

impl Distribution {
    /// How `values` lie among `bounds`. `n` and `sum` are exact; the counts are too as long as percentiles are.
    pub fn of(values: &Sorted, bounds: &[Us]) -> Self {
        let up_to = bounds.iter().map(|bound| values.up_to(*bound));
        Distribution::new(up_to, values.n(), values.sum())
    }

    /// `n` values whose sum is `sum`; `up_to` of them are at most each bound.
    pub fn new(up_to: impl Iterator<Item = u64>, n: u64, sum: u64) -> Self {
        Distribution {
            up_to: up_to.take_while(|up_to| *up_to < n).collect(),
            n,
            sum,
        }
    }

    /// How many values are at most the bound number `i`.
    pub fn up_to(&self, i: usize) -> u64 {
        self.up_to.get(i).copied().unwrap_or(self.n)
    }
}

/// What of a request only counts can tell once requests are added up.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Distributions {
    /// Gaps between chunks, by [`GAP_BOUNDS`].
    pub chunk_gaps: Distribution,
    /// Gaps between events, by [`GAP_BOUNDS`].
    pub event_gaps: Distribution,
    /// Gaps between token events, by [`GAP_BOUNDS`].
    pub token_gaps: Distribution,
    /// The proxy's own delay of each chunk, by [`HOLD_BOUNDS`].
    pub hold: Distribution,
    /// Events that each chunk completed, by [`EVENTS_BOUNDS`]; empty where the body was not read as events.
    pub events_per_chunk: Distribution,
    /// All stalls, also those past the worst five.
    pub stalls: u64,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::observe::stats::Samples;

    fn of(limit: usize, values: &[Us]) -> Distribution {
        let mut samples = Samples::new(limit);
        values.iter().for_each(|&value| samples.push(value));
        Distribution::of(&samples.into_sorted(), &GAP_BOUNDS)
    }

    #[test]
    fn bounds_rise_and_a_value_on_a_bound_is_within_it() {
        for bounds in [&GAP_BOUNDS[..], &HOLD_BOUNDS, &EVENTS_BOUNDS] {
            assert!(bounds.is_sorted_by(|a, b| a < b));
        }
        let three = of(9, &[500, 501, 90_000_000]);
        assert_eq!(
            [0, 1, GAP_BOUNDS.len() - 1].map(|i| three.up_to(i)),
            [1, 2, 2]
        );
        assert_eq!((three.n, three.sum), (3, 90_001_001));
        assert_eq!(of(9, &[]), Distribution::default());
    }

    proptest! {
        #[test]
        fn every_value_is_counted_where_it_lies(
            values in prop::collection::vec(prop_oneof![
                0..3_000u64,
                0..100_000_000u64,
                prop::sample::select(&GAP_BOUNDS[..]),
                4_000_000_000..9_000_000_000u64,
            ], 0..200),
        ) {
            let counted = of(1_000, &values);
            for (i, bound) in GAP_BOUNDS.iter().enumerate() {
                let naive = values.iter().filter(|value| *value <= bound).count() as u64;
                prop_assert_eq!(counted.up_to(i), naive);
            }
            prop_assert_eq!((counted.n, counted.sum), (values.len() as u64, values.iter().sum()));
        }

        /// Past the limit counts are as near as three digits are.
        #[test]
        fn past_the_limit_a_bound_is_off_by_a_thousandth_at_most(
            values in prop::collection::vec(0..100_000_000u64, 11..200),
        ) {
            let counted = of(10, &values);
            for (i, bound) in GAP_BOUNDS.into_iter().enumerate() {
                let up_to = counted.up_to(i);
                let within = |bound: u64| values.iter().filter(|&&value| value <= bound).count() as u64;
                prop_assert!(within(bound) <= up_to && up_to <= within(bound + bound / 1_000 + 1));
            }
            prop_assert_eq!(counted.n, values.len() as u64);
        }
    }
}
