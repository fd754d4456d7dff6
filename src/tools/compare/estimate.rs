//! A figure of two runs: what it was, what it is, the difference, and how sure that is.

use super::resample::{self, RESAMPLES};
use super::share::{self, Share};
use crate::observe::stats::percentile;

/// The share of cases in which an interval misses the truth: 95 % hold it.
pub const ALPHA: f64 = 0.05;

/// How sure it is that a figure differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Differs {
    /// Also when it is allowed for how many figures were looked at.
    Clear,
    /// By itself; among so many figures one may look so by chance.
    Perhaps,
    /// Nothing that so few could show.
    No,
    /// Too few for an answer.
    TooFew,
    /// One of the runs has not measured it.
    Unknown,
}

/// A figure of two runs, in its own unit.
#[derive(Debug, Clone)]
pub struct Estimate {
    /// Requests that have the figure, before and after.
    pub n: [u64; 2],
    /// What it was.
    pub before: Option<f64>,
    /// What it is.
    pub after: Option<f64>,
    /// By what chance all requests of one run would be beyond all of the other; where they mix there is none.
    pub apart: Option<f64>,
    spread: Spread,
}

/// What intervals are cut from.
#[derive(Debug, Clone)]
enum Spread {
    /// Differences, sorted, in the figure's unit.
    Drawn(Vec<f64>),
    /// Shares before and after.
    Shares([Share; 2]),
    /// Each of two runs would have to have so many requests.
    TooFew(usize),
    /// Not measured.
    Nothing,
}

impl Estimate {
    /// Of the percentile `p` of values in thousandths of the unit, each run's sorted.
    pub fn of_percentile(before: &[u64], after: &[u64], p: usize, seed: u64) -> Estimate {
        let n = [before.len(), after.len()];
        let unit = |thousandths: u64| thousandths as f64 / 1000.0;
        let spread = if n.contains(&0) {
            Spread::Nothing
        } else if resample::is_enough(n, p) {
            let mut drawn = resample::differences(before, after, p, seed, RESAMPLES);
            drawn
                .iter_mut()
                .for_each(|difference| *difference /= 1000.0);
            Spread::Drawn(drawn)
        } else {
            Spread::TooFew(resample::needed(p))
        };
        Estimate {
            n: n.map(|n| n as u64),
            before: percentile(before, p).map(unit),
            after: percentile(after, p).map(unit),
            apart: resample::apart(before, after),
            spread,
        }
    }

    /// Of a share.
    pub fn of_share(before: Share, after: Share) -> Estimate {
        Estimate {
            n: [before.all, after.all],
            before: before.value(),
            after: after.value(),
            apart: None,
            spread: Spread::Shares([before, after]),
        }
    }

    /// After less before.
    pub fn difference(&self) -> Option<f64> {
        Some(self.after? - self.before?)
    }

    /// The difference as a part of what it was; none where that was nothing.
    pub fn relative(&self) -> Option<f64> {
        let before = self.before.filter(|before| *before > 0.0)?;
        Some(self.difference()? / before)
    }

    /// What holds the true difference in all but a share `alpha` of cases. An end of it may be infinite where `alpha` is
    /// less than [`ALPHA`].
    pub fn interval(&self, alpha: f64) -> Option<(f64, f64)> {
        match &self.spread {
            Spread::Drawn(sorted) => resample::interval(sorted, alpha),
            Spread::Shares([before, after]) => share::interval(*before, *after, alpha),
            Spread::TooFew(_) | Spread::Nothing => None,
        }
    }

    /// Whether there is an interval or would be one with more requests.
    pub fn is_measured(&self) -> bool {
        self.difference().is_some()
    }

    /// Where there are too few: how many each of two runs would have to have.
    pub fn needed(&self) -> Option<usize> {
        match self.spread {
            Spread::TooFew(needed) => Some(needed),
            _ => None,
        }
    }

    /// Whether it differs, so sure that it would be wrong in a share `alpha` of cases; none where that cannot be told.
    pub fn differs(&self, alpha: f64) -> Option<bool> {
        if self.apart.is_some_and(|chance| chance <= alpha) {
            return Some(true);
        }
        let (low, high) = self.interval(alpha)?;
        Some(low > 0.0 || high < 0.0)
    }

    /// How sure it is that it differs, where so many figures were looked at (Bonferroni).
    pub fn judged(&self, looked_at: usize) -> Differs {
        let joint = self.differs(ALPHA / looked_at.max(1) as f64);
        match (self.differs(ALPHA), joint) {
            _ if !self.is_measured() => Differs::Unknown,
            (_, Some(true)) => Differs::Clear,
            (Some(true), _) => Differs::Perhaps,
            (Some(false), _) => Differs::No,
            (None, _) => Differs::TooFew,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(from: u64, n: u64) -> Vec<u64> {
        (0..n).map(|i| from + i * 1000).collect()
    }

    fn judged(before: &[u64], after: &[u64], p: usize) -> Differs {
        Estimate::of_percentile(before, after, p, 1).judged(12)
    }

    #[test]
    fn what_is_clear_what_may_be_and_what_is_not() {
        let before = times(100_000, 40);
        assert_eq!(judged(&before, &times(500_000, 40), 50), Differs::Clear);
        assert_eq!(judged(&before, &before, 50), Differs::No);
        let shifted = Estimate::of_percentile(&before, &times(111_000, 40), 50, 1);
        assert_eq!(shifted.judged(1), Differs::Clear);
        assert_eq!(shifted.judged(12), Differs::Perhaps);
        assert_eq!(shifted.difference(), Some(11.0));
        assert!((shifted.relative().unwrap() - 11.0 / 120.0).abs() < 1e-9);
    }

    #[test]
    fn few_are_told_unless_they_are_apart() {
        let five = times(100_000, 5);
        assert_eq!(judged(&five, &times(102_000, 5), 50), Differs::TooFew);
        assert_eq!(judged(&five, &times(900_000, 5), 50), Differs::Perhaps);
        assert_eq!(judged(&times(1, 6), &times(900_000, 6), 50), Differs::Clear);
        assert_eq!(judged(&five[..2], &times(900_000, 2), 50), Differs::TooFew);
        assert_eq!(judged(&times(1, 40), &times(2, 40), 95), Differs::TooFew);
        let estimate = Estimate::of_percentile(&five, &five, 95, 1);
        assert_eq!(
            (estimate.needed(), estimate.interval(ALPHA)),
            (Some(77), None)
        );
        assert_eq!(estimate.before, Some(104.0), "it is the greatest");
    }

    #[test]
    fn what_was_not_measured_is_no_zero() {
        let none = Estimate::of_percentile(&[], &times(1, 40), 50, 1);
        assert_eq!((none.before, none.difference()), (None, None));
        assert_eq!(none.judged(3), Differs::Unknown);
        let share = |of, all| Share { of, all };
        let none = Estimate::of_share(share(0, 0), share(1, 40));
        assert_eq!(none.judged(3), Differs::Unknown);
        let all = Estimate::of_share(share(0, 40), share(40, 40));
        assert_eq!((all.judged(12), all.relative()), (Differs::Clear, None));
    }

    #[test]
    fn of_the_same_run_twice_all_is_zero_and_the_interval_is_not() {
        let run = times(100_000, 30);
        let same = Estimate::of_percentile(&run, &run, 50, 1);
        let (low, high) = same.interval(ALPHA).unwrap();
        assert_eq!(same.difference(), Some(0.0));
        assert!(low < -1.0 && high > 1.0 && low == -high, "{low} {high}");
    }
}
