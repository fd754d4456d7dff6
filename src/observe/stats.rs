//! Figures over gaps and bursts: free functions on slices, and two bounded collectors.
//!
//! Percentiles are nearest-rank on the sorted values, at index `(p·(n−1)+50)/100` in integers, so
//! that every tool that reads the log can repeat them exactly. All values are µs.

use hdrhistogram::Histogram;

/// Microseconds, from `t0` where it is a point in time.
pub type Us = u64;

/// Microseconds as the record shows them: milliseconds.
pub fn in_ms(us: Us) -> f64 {
    us as f64 / 1000.0
}

/// Gaps of one series that are kept one by one; past this a histogram takes over.
pub const EXACT_LIMIT: usize = 65_536;

/// Longest value that the histogram tells apart: a day.
const HISTOGRAM_MAX: Us = 86_400_000_000;

/// The percentile `p` of `sorted`; `None` when it is empty.
pub fn percentile(sorted: &[u32], p: usize) -> Option<u32> {
    let last = sorted.len().checked_sub(1)?;
    Some(sorted[(p * last + 50) / 100])
}

/// The median of the values above zero; `None` when there is none. `sorted` is in rising order.
pub fn median_non_zero(sorted: &[u32]) -> Option<u32> {
    percentile(&sorted[sorted.partition_point(|&gap| gap == 0)..], 50)
}

/// Values of one kind: exact up to a limit, then a histogram of 3 digits. `n`, mean and maximum
/// are always exact.
#[derive(Debug)]
pub struct Samples {
    limit: usize,
    exact: Vec<u32>,
    histogram: Option<Histogram<u32>>,
    n: u64,
    sum: Us,
    max: Us,
}

impl Samples {
    /// An empty collector that keeps up to `limit` values one by one.
    pub fn new(limit: usize) -> Self {
        Samples {
            limit,
            exact: Vec::new(),
            histogram: None,
            n: 0,
            sum: 0,
            max: 0,
        }
    }

    /// Takes a value.
    pub fn push(&mut self, value: Us) {
        self.n += 1;
        self.sum += value;
        self.max = self.max.max(value);
        if let Some(histogram) = &mut self.histogram {
            histogram.saturating_record(value);
        } else if self.exact.len() < self.limit {
            self.exact.push(u32::try_from(value).unwrap_or(u32::MAX));
        } else {
            self.spill(value);
        }
    }

    fn spill(&mut self, value: Us) {
        let Ok(mut histogram) = Histogram::new_with_bounds(1, HISTOGRAM_MAX, 3) else {
            return;
        };
        for kept in std::mem::take(&mut self.exact) {
            histogram.saturating_record(kept.into());
        }
        histogram.saturating_record(value);
        self.histogram = Some(histogram);
    }

    /// Sorts what is kept, so that percentiles can be read.
    pub fn into_sorted(mut self) -> Sorted {
        self.exact.sort_unstable();
        Sorted(self)
    }
}

/// [`Samples`] after the last value.
#[derive(Debug)]
pub struct Sorted(Samples);

impl Sorted {
    /// How many values there were.
    pub fn n(&self) -> u64 {
        self.0.n
    }

    /// The sum of all values.
    pub fn sum(&self) -> Us {
        self.0.sum
    }

    /// The largest value.
    pub fn max(&self) -> Option<Us> {
        (self.0.n > 0).then_some(self.0.max)
    }

    /// Whether percentiles are exact.
    pub fn is_exact(&self) -> bool {
        self.0.histogram.is_none()
    }

    /// The percentile `p`.
    pub fn percentile(&self, p: usize) -> Option<Us> {
        match &self.0.histogram {
            Some(histogram) => Some(histogram.value_at_percentile(p as f64)),
            None => percentile(&self.0.exact, p).map(Us::from),
        }
    }

    /// The median of the values above zero.
    pub fn median_non_zero(&self) -> Option<Us> {
        match &self.0.histogram {
            Some(histogram) => {
                let zeros = histogram.count_between(0, 0);
                let rank = zeros + (histogram.len() - zeros) / 2;
                let value =
                    histogram.value_at_quantile((rank as f64 / histogram.len() as f64).min(1.0));
                (value > 0).then_some(value)
            }
            None => median_non_zero(&self.0.exact).map(Us::from),
        }
    }

    /// The sum of the values above `bound`.
    pub fn sum_above(&self, bound: Us) -> Us {
        match &self.0.histogram {
            Some(histogram) => histogram
                .iter_recorded()
                .map(|step| (step.value_iterated_to(), step.count_at_value()))
                .filter(|(value, _)| *value > bound)
                .map(|(value, count)| value * Us::from(count))
                .sum(),
            None => {
                let above = self.0.exact.partition_point(|&gap| Us::from(gap) <= bound);
                self.0.exact[above..].iter().map(|&gap| Us::from(gap)).sum()
            }
        }
    }
}

/// The gaps between points in time that come one after the other.
#[derive(Debug)]
pub struct Series {
    last: Option<Us>,
    gaps: Samples,
    max_at: Option<Us>,
}

impl Default for Series {
    fn default() -> Self {
        Series {
            last: None,
            gaps: Samples::new(EXACT_LIMIT),
            max_at: None,
        }
    }
}

impl Series {
    /// Takes the next point in time; gives the gap before it.
    pub fn push(&mut self, at: Us) -> Option<Us> {
        let gap = self.last.replace(at).map(|last| at.saturating_sub(last));
        if let Some(gap) = gap {
            if self.max_at.is_none() || gap > self.gaps.max {
                self.max_at = Some(at);
            }
            self.gaps.push(gap);
        }
        gap
    }

    /// The latest point in time.
    pub fn last(&self) -> Option<Us> {
        self.last
    }

    /// When the longest gap ended.
    pub fn max_at(&self) -> Option<Us> {
        self.max_at
    }

    /// The gaps, sorted.
    pub fn into_sorted(self) -> Sorted {
        self.gaps.into_sorted()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_follow_the_record_s_rule() {
        let ten: Vec<u32> = (1..=10).collect();
        let at = |p| percentile(&ten, p);
        // (p·9+50)/100: p50 → 5, p90 → 8, p99 → 9
        assert_eq!((at(50), at(90), at(99)), (Some(6), Some(9), Some(10)));
        assert_eq!(percentile(&[7], 99), Some(7));
        assert_eq!(percentile(&[], 50), None);
        assert_eq!(median_non_zero(&[0, 0, 0, 4, 9]), Some(9));
        assert_eq!(median_non_zero(&[0, 0]), None);
    }

    #[test]
    fn a_series_knows_its_gaps_and_where_the_longest_ended() {
        let mut series = Series::default();
        assert_eq!(
            [5, 25, 45, 95, 115].map(|at| series.push(at)),
            [None, Some(20), Some(20), Some(50), Some(20)]
        );
        assert_eq!(series.max_at(), Some(95));
        let gaps = series.into_sorted();
        assert_eq!(
            (gaps.n(), gaps.sum(), gaps.max(), gaps.percentile(50)),
            (4, 110, Some(50), Some(20))
        );
        assert_eq!(gaps.sum_above(20), 50);
    }

    #[test]
    fn exact_up_to_the_limit_and_within_a_thousandth_past_it() {
        let filled = |n: u64| {
            let mut samples = Samples::new(1_000);
            (0..n).for_each(|i| samples.push(i * 10));
            samples.into_sorted()
        };
        let exact = filled(1_000);
        assert!(exact.is_exact());
        assert_eq!(exact.percentile(90), Some(8_990));

        let rough = filled(10_001);
        assert!(!rough.is_exact());
        assert_eq!(
            (rough.n(), rough.sum(), rough.max()),
            (10_001, 500_050_000, Some(100_000))
        );
        let p90 = rough.percentile(90).unwrap() as f64;
        assert!((p90 / 90_000.0 - 1.0).abs() < 0.001, "{p90}");
        let median = rough.median_non_zero().unwrap() as f64;
        assert!((median / 50_000.0 - 1.0).abs() < 0.002, "{median}");
    }
}
