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
pub fn percentile(sorted: &[Us], p: usize) -> Option<Us> {
    Some(sorted[rank(sorted.len(), p)?])
}

/// Where the percentile `p` of `n` sorted values stands; `None` without values.
fn rank(n: usize, p: usize) -> Option<usize> {
    Some((p * n.checked_sub(1)? + 50) / 100)
}

/// Values of one kind: exact up to a limit, then a histogram of 3 digits. `n`, mean and maximum
/// are always exact.
#[derive(Debug)]
pub struct Samples {
    limit: usize,
    exact: Vec<u32>,
    /// Those that fit in no `u32`, which is 71 minutes. Few streams have any, so the rest stays small.
    long: Vec<Us>,
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
            long: Vec::new(),
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
        } else if self.exact.len() + self.long.len() == self.limit {
            self.spill(value);
        } else if let Ok(short) = u32::try_from(value) {
            self.exact.push(short);
        } else {
            self.long.push(value);
        }
    }

    fn spill(&mut self, value: Us) {
        let Ok(mut histogram) = Histogram::new_with_bounds(1, HISTOGRAM_MAX, 3) else {
            return;
        };
        let exact = std::mem::take(&mut self.exact);
        let long = std::mem::take(&mut self.long);
        for kept in exact.into_iter().map(Us::from).chain(long) {
            histogram.saturating_record(kept);
        }
        histogram.saturating_record(value);
        self.histogram = Some(histogram);
    }

    /// Sorts what is kept, so that percentiles can be read.
    pub fn into_sorted(mut self) -> Sorted {
        self.exact.sort_unstable();
        self.long.sort_unstable();
        Sorted(self)
    }

    /// Value number `i` in rising order, of those that are kept one by one.
    fn nth(&self, i: usize) -> Option<Us> {
        match self.exact.get(i) {
            Some(&short) => Some(short.into()),
            None => self.long.get(i - self.exact.len()).copied(),
        }
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
            None => self.0.nth(rank(self.0.exact.len() + self.0.long.len(), p)?),
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
            None => {
                let Samples { exact, long, .. } = &self.0;
                let zeros = exact.partition_point(|&gap| gap == 0);
                let above = exact.len() + long.len() - zeros;
                self.0.nth(zeros + rank(above, 50)?)
            }
        }
    }

    /// How many values are at most `bound`; those of a histogram as near as it tells them apart.
    pub fn up_to(&self, bound: Us) -> u64 {
        match &self.0.histogram {
            Some(histogram) => histogram.count_between(0, bound),
            None => {
                let Samples { exact, long, .. } = &self.0;
                let short = exact.partition_point(|&value| Us::from(value) <= bound);
                (short + long.partition_point(|&value| value <= bound)) as u64
            }
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
                let Samples { exact, long, .. } = &self.0;
                let above = exact.partition_point(|&gap| Us::from(gap) <= bound);
                let long = long.iter().filter(|&&gap| gap > bound).sum::<Us>();
                exact[above..].iter().map(|&gap| Us::from(gap)).sum::<Us>() + long
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
        let ten: Vec<Us> = (1..=10).collect();
        let at = |p| percentile(&ten, p);
        // (p·9+50)/100: p50 → 5, p90 → 8, p99 → 9
        assert_eq!((at(50), at(90), at(99)), (Some(6), Some(9), Some(10)));
        assert_eq!(percentile(&[7], 99), Some(7));
        assert_eq!(percentile(&[], 50), None);
    }

    fn sorted(limit: usize, values: &[Us]) -> Sorted {
        let mut samples = Samples::new(limit);
        values.iter().for_each(|&value| samples.push(value));
        samples.into_sorted()
    }

    #[test]
    fn the_median_of_what_is_above_zero() {
        let median = |values: &[Us]| sorted(99, values).median_non_zero();
        assert_eq!(median(&[0, 4, 0, 9, 0]), Some(9));
        assert_eq!(median(&[0, 0]), None);
        assert_eq!(median(&[]), None);
    }

    /// 71 minutes are all that a `u32` holds.
    #[test]
    fn hours_are_as_exact_as_milliseconds() {
        const HOUR: Us = 3_600_000_000;
        let hours = sorted(99, &[3 * HOUR, 20, 2 * HOUR, 0, 5 * HOUR]);
        assert!(hours.is_exact());
        let at = |p| hours.percentile(p);
        assert_eq!(
            (at(0), at(25), at(50), at(75), at(99)),
            (
                Some(0),
                Some(20),
                Some(2 * HOUR),
                Some(3 * HOUR),
                Some(5 * HOUR)
            )
        );
        assert_eq!(hours.median_non_zero(), Some(3 * HOUR));
        assert_eq!(hours.sum_above(2 * HOUR), 8 * HOUR);
        assert_eq!(hours.sum_above(10), 10 * HOUR + 20);

        let all_long = sorted(99, &[3 * HOUR, 2 * HOUR]);
        assert_eq!(
            (all_long.percentile(50), all_long.median_non_zero()),
            (Some(3 * HOUR), Some(3 * HOUR))
        );

        let rough = sorted(3, &[3 * HOUR, 20, 2 * HOUR, 2 * HOUR, 5 * HOUR]);
        assert!(!rough.is_exact());
        let p50 = rough.percentile(50).unwrap() as f64;
        assert!((p50 / (2 * HOUR) as f64 - 1.0).abs() < 0.001, "{p50}");
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
