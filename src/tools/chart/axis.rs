//! Where a value lies on an axis, and what its ticks say.

mod clock;

use jiff::tz::TimeZone;

use crate::sink::console::text::grouped;
use crate::tools::plot::{LogAxis, readable};

/// A place on an axis with a line, and a label if there is room for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Tick {
    /// From 0 to 1.
    pub share: f64,
    /// In words.
    pub label: Option<String>,
}

/// An axis.
#[derive(Debug, Clone)]
pub struct Axis {
    scale: Scale,
    /// Ascending.
    pub ticks: Vec<Tick>,
    /// The share of it that is before all values.
    before: f64,
}

#[derive(Debug, Clone, Copy)]
enum Scale {
    Durations(LogAxis),
    Linear {
        from: f64,
        to: f64,
    },
    /// Logarithmic, and one has a place above its foot.
    Counts {
        decades: f64,
    },
}

/// Half of one, as a logarithm: a scale of counts begins there.
const HALF: f64 = -std::f64::consts::LOG10_2;
/// Space above the greatest count, in decades: for the number over its bar.
const ABOVE: f64 = 0.35;
/// Powers of ten that are all named; of more, every second one.
const TENS: usize = 9;

/// Space beside the first and the last point in time, as a share of what is between them: marks stand clear of the edge.
const BESIDE: f64 = 0.02;

/// Steps of an axis of numbers, at most.
const STEPS_OF_NUMBERS: i64 = 6;

impl Axis {
    /// Of durations in ms, logarithmic; labels are at least `apart` from each other, as a share of the axis. None without
    /// any.
    pub fn durations(values: impl Iterator<Item = f64> + Clone, apart: f64) -> Option<Axis> {
        let log = LogAxis::around(values.clone())?;
        let is_low = values.clone().any(|ms| log.is_below(ms));
        let share = |ms: &f64| log.share(*ms);
        let labelled = log.ticks(|ticks| {
            let pairs = ticks.windows(2);
            pairs
                .map(|pair| share(&pair[1]) - share(&pair[0]))
                .all(|distance| distance >= apart)
        });
        let label = |index: usize, ms: f64| match index {
            // only the very lowest axis has something below it, and that begins with a tick
            0 if is_low => format!("≤ {}", readable(ms)),
            _ => readable(ms),
        };
        let tick = |(index, ms): (usize, f64)| Tick {
            share: log.share(ms),
            label: labelled.contains(&ms).then(|| label(index, ms)),
        };
        Some(Axis {
            before: 0.0,
            scale: Scale::Durations(log),
            ticks: log
                .ticks(|_| true)
                .into_iter()
                .enumerate()
                .map(tick)
                .collect(),
        })
    }

    /// The same with a place before it, so wide as a share, for what is shorter than all of it.
    pub fn with_place_before(self, width: f64, label: String) -> Axis {
        let shifted = |share: f64| width + share * (1.0 - width);
        let ticks = self.ticks.into_iter().map(|tick| Tick {
            share: shifted(tick.share),
            // the place before ends there, and says so
            label: tick.label.filter(|_| tick.share > 0.0),
        });
        let before = Tick {
            share: width / 2.0,
            label: Some(label),
        };
        Axis {
            scale: self.scale,
            ticks: std::iter::once(before).chain(ticks).collect(),
            before: width,
        }
    }

    /// Of points in time, µs since 1970, that are named where `zone` is. None where there is no time between them.
    pub fn times(from: i64, to: i64, zone: &TimeZone) -> Option<Axis> {
        let span = to.checked_sub(from).filter(|span| *span > 0)?;
        let space = span as f64 * BESIDE;
        let scale = Scale::Linear {
            from: from as f64 - space,
            to: to as f64 + space,
        };
        let tick = |(at, label)| Tick {
            share: scale.share(at as f64),
            label: Some(label),
        };
        Some(Axis {
            before: 0.0,
            scale,
            ticks: clock::ticks(from, to, zone).into_iter().map(tick).collect(),
        })
    }

    /// Of whole numbers from 0 to `most`, with half a step of space at both ends.
    pub fn numbers(most: u64) -> Axis {
        let most = most.max(1) as f64;
        let (from, to) = (-0.5, most + 0.5);
        let step = (0..)
            .flat_map(|power| [1.0, 2.0, 5.0].map(|digit| digit * 10f64.powi(power)))
            .find(|step| most / step <= STEPS_OF_NUMBERS as f64)
            .unwrap_or(most);
        let tick = |number: f64| Tick {
            share: (number - from) / (to - from),
            label: Some(number.to_string()),
        };
        let numbers = (0..=STEPS_OF_NUMBERS).map(|i| i as f64 * step);
        Axis {
            before: 0.0,
            scale: Scale::Linear { from, to },
            ticks: numbers.filter(|number| *number <= most).map(tick).collect(),
        }
    }

    /// Of counts up to `most`, logarithmic: one is above the foot, and nothing is at it.
    pub fn counts(most: u64) -> Axis {
        let decades = (most.max(1) as f64).log10() + ABOVE - HALF;
        let scale = Scale::Counts { decades };
        // a u64 has 20 digits at most
        let every = most.max(1).ilog10() as usize / TENS + 1;
        let tens = (0..20)
            .step_by(every)
            .map(|power| 10u64.pow(power))
            .take_while(|tens| *tens <= most);
        let tick = |count: u64| Tick {
            share: scale.share(count as f64),
            label: Some(grouped(count)),
        };
        Axis {
            before: 0.0,
            scale,
            ticks: tens.map(tick).collect(),
        }
    }

    /// Where `value` lies, from 0 to 1; what lies outside is at an end, what is no number at the first.
    pub fn share(&self, value: f64) -> f64 {
        self.before + (1.0 - self.before) * self.scale.share(value)
    }
}

impl Scale {
    fn share(self, value: f64) -> f64 {
        let share = match self {
            Scale::Durations(log) => log.share(value),
            Scale::Linear { from, to } => (value - from) / (to - from),
            Scale::Counts { decades } => (value.max(0.0).log10() - HALF) / decades,
        };
        // what is no number is at the foot
        if share > 0.0 { share.min(1.0) } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    fn labels(axis: &Axis) -> Vec<&str> {
        let labels = axis.ticks.iter().filter_map(|tick| tick.label.as_deref());
        labels.collect()
    }

    #[test]
    fn durations_have_a_line_at_each_round_one_and_labels_where_there_is_room() {
        let axis = Axis::durations([3.0, 900.0].into_iter(), 0.15).unwrap();
        assert_eq!(labels(&axis), ["10 ms", "100 ms", "1 s"]);
        assert_eq!(axis.ticks.len(), 9);
        let few = Axis::durations([60.0, 300.0].into_iter(), 0.15).unwrap();
        assert_eq!(labels(&few), ["50 ms", "100 ms", "200 ms", "500 ms"]);
        let low = Axis::durations([0.0, 4.0].into_iter(), 0.1).unwrap();
        assert_eq!(labels(&low)[0], "≤ 0.1 ms");
        assert!(Axis::durations(std::iter::empty(), 0.1).is_none());
    }

    #[test]
    fn the_widest_range_of_time_has_few_ticks_and_none_fails() {
        let ends = [
            Timestamp::MIN.as_microsecond(),
            Timestamp::MAX.as_microsecond(),
        ];
        let axis = Axis::times(ends[0], ends[1], &TimeZone::UTC).unwrap();
        assert!((1..=4).contains(&axis.ticks.len()), "{axis:?}");
        assert!(Axis::times(i64::MIN, i64::MAX, &TimeZone::UTC).is_none());
        assert!(Axis::times(5, 5, &TimeZone::UTC).is_none());
    }

    #[test]
    fn one_of_a_million_is_well_above_the_foot() {
        let axis = Axis::counts(1_000_000);
        assert_eq!(labels(&axis)[5..], ["100,000", "1,000,000"]);
        assert!(axis.share(1.0) > 0.04, "{}", axis.share(1.0));
        assert!(axis.share(1e6) < 0.96);
        assert_eq!(axis.share(0.0), 0.0);
        assert!(Axis::counts(u64::MAX).share(u64::MAX as f64) < 1.0);
    }

    #[test]
    fn numbers_stand_in_columns_of_their_own() {
        let axis = Axis::numbers(4);
        assert_eq!(labels(&axis), ["0", "1", "2", "3", "4"]);
        assert_eq!(axis.share(0.0), 0.1);
        assert_eq!(labels(&Axis::numbers(63)), ["0", "20", "40", "60"]);
        assert!(labels(&Axis::numbers(u64::MAX)).len() > 1);
        assert_eq!(axis.share(f64::NAN), 0.0);
    }
}
