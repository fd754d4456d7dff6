//! The difference between two shares, such as of requests that failed, with its interval.
//!
//! Wilson's interval of each (J. Am. Stat. Assoc. 22, 1927, p. 209), and of their difference Newcombe's hybrid score
//! interval (Statistics in Medicine 17, 1998, p. 873, method 10), which holds what it promises also for few requests and
//! for shares of none or all.

/// So many of so many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// Those that are meant.
    pub of: u64,
    /// All.
    pub all: u64,
}

impl Share {
    /// From 0 to 1; `None` of nothing.
    pub fn value(self) -> Option<f64> {
        (self.all > 0).then(|| self.of as f64 / self.all as f64)
    }

    /// Wilson's interval, `z` standard deviations to each side; `None` of nothing.
    fn interval(self, z: f64) -> Option<(f64, f64)> {
        let (p, n, zz) = (self.value()?, self.all as f64, z * z);
        let middle = 2.0 * n * p + zz;
        let reach = z * (zz + 4.0 * n * p * (1.0 - p)).sqrt();
        let end = |sum: f64| (sum / (2.0 * (n + zz))).clamp(0.0, 1.0);
        Some((end(middle - reach), end(middle + reach)))
    }
}

/// The interval of `after` less `before` that holds the truth in all but a share `alpha` of cases; `None` where one is of
/// nothing.
pub fn interval(before: Share, after: Share, alpha: f64) -> Option<(f64, f64)> {
    let z = z(alpha);
    let (p, q) = (after.value()?, before.value()?);
    let ((low, high), (low_before, high_before)) = (after.interval(z)?, before.interval(z)?);
    let difference = p - q;
    let down = ((p - low).powi(2) + (high_before - q).powi(2)).sqrt();
    let up = ((high - p).powi(2) + (q - low_before).powi(2)).sqrt();
    Some((difference - down, difference + up))
}

/// How many standard deviations of a normal distribution to each side leave a share `alpha` out. The error is below
/// 0.00045 (Abramowitz and Stegun, *Handbook of Mathematical Functions*, 26.2.23).
fn z(alpha: f64) -> f64 {
    let t = (-2.0 * (alpha / 2.0).ln()).sqrt();
    let over = 2.515_517 + t * (0.802_853 + t * 0.010_328);
    let under = 1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308));
    t - over / under
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::rngs::Xoshiro256PlusPlus;
    use rand::{RngExt, SeedableRng};

    use super::*;

    fn share(of: u64, all: u64) -> Share {
        Share { of, all }
    }

    #[test]
    fn deviations_are_those_of_the_tables() {
        for (alpha, known) in [(0.05, 1.959_964), (0.01, 2.575_829), (0.001, 3.290_527)] {
            assert!((z(alpha) - known).abs() < 0.0005, "{alpha}: {}", z(alpha));
        }
    }

    /// The examples (a) to (h) of Newcombe's table II, method 10. There the first less the second.
    #[test]
    fn intervals_are_those_of_the_paper() {
        for (first, second, low, high) in [
            ((56, 70), (48, 80), 0.0524, 0.3339),
            ((9, 10), (3, 10), 0.1705, 0.8090),
            ((6, 7), (2, 7), 0.0582, 0.8062),
            ((5, 56), (0, 29), -0.0381, 0.1926),
            ((0, 10), (0, 20), -0.1611, 0.2775),
            ((0, 10), (0, 10), -0.2775, 0.2775),
            ((10, 10), (0, 20), 0.6791, 1.0),
            ((10, 10), (0, 10), 0.6075, 1.0),
        ] {
            let [first, second] = [first, second].map(|(of, all)| share(of, all));
            let found = interval(second, first, 0.05).unwrap();
            assert!(
                (found.0 - low).abs() < 0.0002,
                "{first:?} {second:?}: {found:?}"
            );
            assert!(
                (found.1 - high).abs() < 0.0002,
                "{first:?} {second:?}: {found:?}"
            );
        }
    }

    #[test]
    fn intervals_hold_the_truth() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        for (from, to, n) in [
            (0.0, 0.1, [20, 20]),
            (0.02, 0.02, [50, 400]),
            (0.3, 0.9, [10, 10]),
            (0.5, 0.5, [100, 100]),
        ] {
            let mut drawn = |p: f64, n: u64| {
                let of = (0..n).filter(|_| random.random::<f64>() < p).count();
                share(of as u64, n)
            };
            let trials = 1000;
            let held = (0..trials).filter(|_| {
                let (before, after) = (drawn(from, n[0]), drawn(to, n[1]));
                let (low, high) = interval(before, after, 0.05).unwrap();
                low <= to - from && to - from <= high
            });
            let held = held.count() as f64 / f64::from(trials);
            assert!((0.92..1.0).contains(&held), "{from} {to} {n:?}: {held}");
        }
    }

    #[test]
    fn of_nothing_there_is_none() {
        assert_eq!(interval(share(0, 0), share(1, 2), 0.05), None);
        assert_eq!(interval(share(1, 2), share(0, 0), 0.05), None);
    }

    proptest! {
        #[test]
        fn the_difference_is_within_and_swapping_turns_it(a in 0u64..50, b in 0u64..50, n in 50u64..500, m in 50u64..500) {
            let (before, after) = (share(a, n), share(b, m));
            let (low, high) = interval(before, after, 0.05).unwrap();
            let difference = after.value().unwrap() - before.value().unwrap();
            prop_assert!(-1.0 <= low && low <= difference && difference <= high && high <= 1.0);
            let (back_low, back_high) = interval(after, before, 0.05).unwrap();
            prop_assert!((back_low + high).abs() < 1e-12 && (back_high + low).abs() < 1e-12);
        }
    }
}
