//! `--fail-if` held against two runs.
//!
//! A bound is held against the later run and means what it means for `dripline probe`. A change holds when it is as large as
//! was said and its 95 % interval excludes zero: what chance brings is no regression. What could not be measured, or is of
//! too few requests to be told from chance, is neither kept nor crossed.

use super::estimate::{ALPHA, Estimate};
use super::figures::{errors, stalled};
use super::share::Share;
use super::side::{Side, Stream};
use super::unit::{Unit, relative};
use crate::config::threshold::{By, Change, Compared, Condition, Figure, Share as Part, Threshold};
use crate::sink::console::text::word;
use crate::tools::probe::over_all;

/// Whether a condition holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Held {
    /// It does, so the run has failed.
    Holds,
    /// It does not.
    DoesNot,
    /// That cannot be told.
    Unknown,
}

/// A condition, and what was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// As it was typed.
    pub condition: String,
    /// What was found, in words.
    pub found: String,
    /// Whether it holds.
    pub held: Held,
}

/// Holds `condition` against both runs; intervals are drawn with `seed`.
pub fn check(condition: &Condition, before: &Side, after: &Side, seed: u64) -> Checked {
    let (found, held) = match condition {
        Condition::Bound(threshold) => bound(threshold, after),
        Condition::Change(change) => self::change(change, before, after, seed),
    };
    let held_told = match held {
        Held::Holds => "holds",
        Held::DoesNot => "does not hold",
        Held::Unknown => "could not be told",
    };
    Checked {
        condition: condition.to_string(),
        found: format!("{held_told}: {found}"),
        held,
    }
}

fn bound(threshold: &Threshold, side: &Side) -> (String, Held) {
    let comparison = threshold.comparison;
    let told = |unit: Unit, value: Option<f64>, bound: f64| match value {
        None => ("it was not measured".to_owned(), Held::Unknown),
        Some(value) => (
            format!("it is {}", unit.value(Some(value))),
            held(comparison.holds(&value, &bound)),
        ),
    };
    let over = |of: &dyn Fn(&Stream) -> Option<u64>, over| {
        over_all(&side.sorted(false, of), over).map(|thousandths| thousandths as f64 / 1000.0)
    };
    match &threshold.figure {
        Figure::Time(quantity, of, bound) => {
            let value = over(&|stream| stream.time(*quantity), *of);
            told(Unit::Ms, value, *bound)
        }
        Figure::Tps(of, bound) => {
            let value = over(&|stream| stream.tps.get(), *of);
            told(Unit::PerSecond, value, *bound)
        }
        Figure::Share(part, bound) => told(Unit::Share, share(*part, side).value(), *bound),
        Figure::Stalls(bound) => {
            let streams = side.streams(false);
            let stalls = streams.map(|stream| u64::from(stream.stalls)).sum::<u64>();
            match side.streams(false).next() {
                None => ("it was not measured".to_owned(), Held::Unknown),
                Some(_) => (
                    format!("there are {stalls}"),
                    held(comparison.holds(&(stalls as f64), bound)),
                ),
            }
        }
        Figure::Verdict(name) => {
            let words = side.verdicts.iter().map(|(timing, n)| (word(timing), n));
            let (crossing, others): (Vec<_>, Vec<_>) =
                words.partition(|(told, _)| comparison.holds(told.as_str(), name.as_str()));
            let holds = !crossing.is_empty();
            let listed = if holds { crossing } else { others };
            let listed: Vec<_> = listed
                .iter()
                .map(|(word, n)| format!("{word} {n}"))
                .collect();
            match listed.is_empty() {
                true => ("no warm stream has one".to_owned(), Held::Unknown),
                false => (format!("there are {}", listed.join(", ")), held(holds)),
            }
        }
    }
}

fn share(part: Part, side: &Side) -> Share {
    match part {
        Part::Errors => errors(side),
        Part::Stalled => stalled(side),
    }
}

fn held(holds: bool) -> Held {
    if holds { Held::Holds } else { Held::DoesNot }
}

fn change(change: &Change, before: &Side, after: &Side, seed: u64) -> (String, Held) {
    let percentile = |of: &dyn Fn(&Stream) -> Option<u64>, p| {
        let [before, after] = [before, after].map(|side| side.sorted(false, of));
        Estimate::of_percentile(&before, &after, p, seed)
    };
    let (unit, estimate) = match change.figure {
        Compared::Time(quantity, p) => (Unit::Ms, percentile(&|s| s.time(quantity), p)),
        Compared::Tps(p) => (Unit::PerSecond, percentile(&|s| s.tps.get(), p)),
        Compared::Share(part) => {
            let [before, after] = [before, after].map(|side| share(part, side));
            (Unit::Share, Estimate::of_share(before, after))
        }
    };
    let (size, wanted) = match change.by {
        By::Part(part) => (estimate.relative(), part),
        By::Own(own) => (estimate.difference(), own),
    };
    let (was, is) = (unit.value(estimate.before), unit.value(estimate.after));
    let Some(size) = size else {
        let why = match estimate.is_measured() {
            true => format!("it was {was}, of which nothing is a part"),
            false => format!("it was {was} and is {is}"),
        };
        return (why, Held::Unknown);
    };
    let by = match (change.by, relative(&estimate)) {
        (By::Part(_), Some(part)) => part,
        _ => unit.signed(estimate.difference().unwrap_or(0.0)),
    };
    let found = format!("it was {was} and is {is}, {by}");
    if !change.comparison.holds(&size, &wanted) {
        return (found, Held::DoesNot);
    }
    let interval = estimate.interval(ALPHA);
    let interval = interval.map_or(String::new(), |ends| unit.interval(ends));
    match estimate.differs(ALPHA) {
        Some(true) => (found, Held::Holds),
        Some(false) => (
            format!("{found}, but that may be chance: the 95% CI is {interval}"),
            Held::DoesNot,
        ),
        None => (
            format!(
                "{found}, but {} and {} are too few to tell it from chance, {} each are enough",
                estimate.n[0],
                estimate.n[1],
                estimate.needed().unwrap_or(0)
            ),
            Held::Unknown,
        ),
    }
}
