//! A logarithmic axis of durations that begins, ends and is labelled at round ones: 1, 2 and 5 of each power of ten, the
//! series that scopes and banknotes use because its steps are nearly equal on a logarithmic scale.

/// The round duration number `step`, in ms: 0 is 1 ms, 1 is 2 ms, 2 is 5 ms, 3 is 10 ms, -3 is 0.1 ms.
pub(super) fn round(step: i32) -> f64 {
    let digit = [1.0, 2.0, 5.0][step.rem_euclid(3) as usize];
    let decade = step.div_euclid(3);
    // dividing keeps 0.1 the very number that "0.1" is read as; multiplying by 10⁻¹ would not for all digits
    if decade < 0 {
        digit / 10f64.powi(-decade)
    } else {
        digit * 10f64.powi(decade)
    }
}

/// A duration for a person, in at most three digits: `0.4 ms`, `23 ms`, `1.25 s`.
pub fn readable(ms: f64) -> String {
    let (value, unit) = if ms < 999.5 {
        (ms, "ms")
    } else {
        (ms / 1000.0, "s")
    };
    let digits = match value {
        ..9.995 => 2,
        ..99.95 => 1,
        _ => 0,
    };
    let number = format!("{value:.digits$}");
    let number = match number.contains('.') {
        true => number.trim_end_matches('0').trim_end_matches('.'),
        false => &number,
    };
    format!("{number} {unit}")
}

/// A logarithmic axis between two round durations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogAxis {
    low: i32,
    high: i32,
}

impl LogAxis {
    /// Shortest duration that an axis can begin at, as a step: 0.1 ms. Shorter ones are drawn there: at that scale a
    /// scheduler is measured and no stream.
    pub const FLOOR: i32 = -3;
    /// Longest duration that an axis can end at, as a step: 100,000 s, more than a day.
    pub const CEILING: i32 = 24;

    /// The smallest axis that holds all `values` (ms), or none when there are none.
    pub fn around(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let (low, high) = values.into_iter().filter(|value| !value.is_nan()).fold(
            None,
            |range: Option<(f64, f64)>, value| {
                let (low, high) = range.unwrap_or((value, value));
                Some((low.min(value), high.max(value)))
            },
        )?;
        let low = (Self::FLOOR..Self::CEILING)
            .rev()
            .find(|&step| round(step) <= low)
            .unwrap_or(Self::FLOOR);
        let high = (low + 1..=Self::CEILING)
            .find(|&step| round(step) >= high)
            .unwrap_or(Self::CEILING);
        Some(LogAxis { low, high })
    }

    /// Where `ms` lies, from 0 to 1; what lies outside is at an end.
    pub fn share(&self, ms: f64) -> f64 {
        let (low, high) = (round(self.low).ln(), round(self.high).ln());
        ((ms.max(0.0).ln() - low) / (high - low)).clamp(0.0, 1.0)
    }

    /// In which of `cells` cells `ms` lies, from 0; what lies outside is in the outermost.
    pub fn cell(&self, ms: f64, cells: u16) -> u16 {
        (self.share(ms) * f64::from(cells.saturating_sub(1))).round() as u16
    }

    /// Whether `ms` is shorter than the axis can show.
    pub fn is_below(&self, ms: f64) -> bool {
        ms < round(self.low)
    }

    /// The round durations to name, in ms and ascending: as many as `fit` accepts.
    pub fn ticks(&self, fit: impl Fn(&[f64]) -> bool) -> Vec<f64> {
        let every = |digits: &[i32]| -> Vec<f64> {
            (self.low..=self.high)
                .filter(|step| digits.contains(&step.rem_euclid(3)))
                .map(round)
                .collect()
        };
        [&[0, 1, 2][..], &[0, 2], &[0]]
            .into_iter()
            .map(every)
            .find(|ticks| ticks.len() > 1 && fit(ticks))
            .unwrap_or_else(|| vec![round(self.low), round(self.high)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_round_durations_are_the_very_numbers_that_they_are_written_as() {
        let series: Vec<f64> = (-3..=4).map(round).collect();
        assert_eq!(series, [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0]);
    }

    #[test]
    fn durations_read_with_three_digits_at_most() {
        for (ms, text) in [
            (0.0, "0 ms"),
            (0.004, "0 ms"),
            (0.1, "0.1 ms"),
            (9.994, "9.99 ms"),
            (23.46, "23.5 ms"),
            (100.0, "100 ms"),
            (999.4, "999 ms"),
            (999.6, "1 s"),
            (1250.0, "1.25 s"),
            (100_000.0, "100 s"),
        ] {
            assert_eq!(readable(ms), text);
        }
    }

    #[test]
    fn an_axis_ends_at_the_round_durations_next_to_its_values() {
        let ends = |values: &[f64]| {
            let axis = LogAxis::around(values.iter().copied()).unwrap();
            (round(axis.low), round(axis.high))
        };
        assert_eq!(ends(&[83.0]), (50.0, 100.0));
        assert_eq!(ends(&[100.0]), (100.0, 200.0));
        assert_eq!(ends(&[0.0, 1200.0]), (0.1, 2000.0));
        assert_eq!(ends(&[3.0, f64::NAN]), (2.0, 5.0));
        assert_eq!(ends(&[1e9]), (50_000_000.0, 100_000_000.0));
        assert_eq!(LogAxis::around([]), None);
    }

    #[test]
    fn values_lie_between_the_ends() {
        let axis = LogAxis::around([1.0, 100.0]).unwrap();
        assert_eq!(axis.cell(1.0, 11), 0);
        assert_eq!(axis.cell(10.0, 11), 5);
        assert_eq!(axis.cell(100.0, 11), 10);
        assert_eq!(axis.cell(0.0, 11), 0);
        assert_eq!(axis.cell(1e9, 11), 10);
        assert!(axis.is_below(0.99) && !axis.is_below(1.0));
    }

    #[test]
    fn ticks_thin_out_until_they_fit() {
        let axis = LogAxis::around([1.0, 100.0]).unwrap();
        let at_most = |n| axis.ticks(|ticks| ticks.len() <= n);
        assert_eq!(at_most(9), [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0]);
        assert_eq!(at_most(5), [1.0, 5.0, 10.0, 50.0, 100.0]);
        assert_eq!(at_most(3), [1.0, 10.0, 100.0]);
        assert_eq!(at_most(0), [1.0, 100.0]);
    }
}
