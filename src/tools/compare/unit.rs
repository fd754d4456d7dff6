//! Values, differences and intervals in words.

use super::estimate::Estimate;
use crate::sink::console::text::NONE;
use crate::tools::plot::readable;

/// What a figure is measured in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Milliseconds.
    Ms,
    /// Per second.
    PerSecond,
    /// A share from 0 to 1, its differences in percentage points.
    Share,
}

impl Unit {
    /// Its name for programs.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Ms => "ms",
            Unit::PerSecond => "per_s",
            Unit::Share => "share",
        }
    }

    /// A value: `1.21 s`, `44.1`, `12.5 %`.
    pub fn value(self, value: Option<f64>) -> String {
        let Some(value) = value else {
            return NONE.to_owned();
        };
        match self {
            Unit::Ms => readable(value),
            Unit::PerSecond => digits(value),
            Unit::Share => format!("{} %", digits(value * 100.0)),
        }
    }

    /// A difference with its sign: `−1.03 s`, `+2.5 pp`. Nothing has no sign.
    pub fn signed(self, difference: f64) -> String {
        let size = match self {
            Unit::Share => format!("{} pp", digits(difference.abs() * 100.0)),
            _ => self.value(Some(difference.abs())),
        };
        format!("{}{size}", sign(difference, &size))
    }

    /// Both ends of an interval: `−1.1 s to −900 ms`. Ends that lie close have as many digits as tell them apart.
    pub fn interval(self, (low, high): (f64, f64)) -> String {
        let [from, to] = [low, high].map(|end| self.signed(end));
        if from != to || low == high {
            return format!("{from} to {to}");
        }
        if from == self.signed(0.0) {
            let unit = from.trim_start_matches('0');
            return format!("within ±0.01{unit}");
        }
        let exact = |end: f64| {
            let (value, unit) = match (self, end.abs()) {
                (Unit::Ms, 999.5..) => (end / 1000.0, " s"),
                (Unit::Ms, _) => (end, " ms"),
                (Unit::PerSecond, _) => (end, ""),
                (Unit::Share, _) => (end * 100.0, " pp"),
            };
            let places = if unit == " s" { 3 } else { 1 };
            let size = format!("{:.places$}{unit}", value.abs());
            format!("{}{size}", sign(value, &size))
        };
        format!("{} to {}", exact(low), exact(high))
    }
}

/// The difference as a part of what it was: `−85 %`.
pub fn relative(estimate: &Estimate) -> Option<String> {
    let percent = estimate.relative()? * 100.0;
    let size = match percent.abs() {
        // ten times as much and more is no matter of percent
        1000.0.. => format!("×{}", digits(percent / 100.0 + 1.0)),
        size => format!("{} %", digits(size)),
    };
    match size.starts_with('×') {
        true => Some(size),
        false => Some(format!("{}{size}", sign(percent, &size))),
    }
}

/// The sign of a difference that is shown as `size`.
fn sign(difference: f64, size: &str) -> &'static str {
    let is_nothing = !size.contains(|c: char| ('1'..='9').contains(&c));
    match difference {
        _ if is_nothing => "",
        ..0.0 => "−",
        _ => "+",
    }
}

/// Three digits at most, without zeros at the end.
fn digits(value: f64) -> String {
    let places = match value.abs() {
        ..9.995 => 2,
        ..99.95 => 1,
        _ => 0,
    };
    let text = format!("{value:.places$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_differences_read_well() {
        assert_eq!(Unit::Ms.value(Some(1210.4)), "1.21 s");
        assert_eq!(Unit::PerSecond.value(Some(44.149)), "44.1");
        assert_eq!(Unit::Share.value(Some(0.125)), "12.5 %");
        assert_eq!(Unit::Share.value(Some(1.0)), "100 %");
        assert_eq!(Unit::Ms.value(None), "–");
        assert_eq!(Unit::Ms.signed(-1030.0), "−1.03 s");
        assert_eq!(Unit::Share.signed(0.025), "+2.5 pp");
        assert_eq!(Unit::Ms.signed(-0.001), "0 ms");
        assert_eq!(Unit::PerSecond.signed(0.0), "0");
        assert_eq!(Unit::Ms.interval((-1100.0, -900.0)), "−1.1 s to −900 ms");
        assert_eq!(Unit::Ms.interval((169.61, 170.2)), "+169.6 ms to +170.2 ms");
        assert_eq!(
            Unit::Ms.interval((-1032.4, -1031.2)),
            "−1.032 s to −1.031 s"
        );
        assert_eq!(Unit::Ms.interval((0.0, 0.0)), "0 ms to 0 ms");
        assert_eq!(Unit::Share.interval((-7e-6, 7e-6)), "within ±0.01 pp");
        assert_eq!(Unit::PerSecond.interval((-0.001, 0.001)), "within ±0.01");
    }

    #[test]
    fn parts_of_what_it_was() {
        let part = |before: u64, after: u64| {
            relative(&Estimate::of_percentile(&[before], &[after], 50, 1))
        };
        assert_eq!(part(1_200_000, 180_000).unwrap(), "−85 %");
        assert_eq!(part(1000, 1001).unwrap(), "+0.1 %");
        assert_eq!(part(1000, 1000).unwrap(), "0 %");
        assert_eq!(part(1000, 500_000).unwrap(), "×500");
        assert_eq!(part(0, 5), None);
    }
}
