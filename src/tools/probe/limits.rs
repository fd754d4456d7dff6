//! `--fail-if` held against the runs.

use std::str::FromStr;

use anyhow::bail;
use serde::Deserialize;
use serde::de::IntoDeserializer;

use super::run::Run;
use crate::config::probe::{Figure, Of, Quantity, Threshold};
use crate::observe::record::{RequestRecord, Timing};
use crate::observe::stats::percentile;
use crate::sink::console::text::{NONE, duration, word};

/// A threshold, and what was measured.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Checked {
    /// As it was typed.
    pub condition: String,
    /// What was found, in words.
    pub found: String,
    /// The condition holds.
    pub crossed: bool,
}

/// Whether all thresholds can be checked at all.
///
/// # Errors
///
/// A verdict that there is none of.
pub(super) fn sound(thresholds: &[Threshold]) -> anyhow::Result<()> {
    for threshold in thresholds {
        if let Figure::Verdict(name) = &threshold.figure
            && timing(name).is_none()
        {
            bail!(
                "--fail-if '{threshold}': there is no verdict of that name; README.md lists them, steady is one"
            );
        }
    }
    Ok(())
}

/// Holds `threshold` against the warm runs. What no run has measured has not crossed it, and is told so.
pub(super) fn check(threshold: &Threshold, runs: &[&Run]) -> Checked {
    let comparison = threshold.comparison;
    let (found, crossed) = match &threshold.figure {
        Figure::Time(quantity, of, bound) => {
            let value = time(*quantity, *of, runs);
            let crossed = value.is_some_and(|value| comparison.holds(&value, bound));
            (duration(value), crossed)
        }
        Figure::Stalls(bound) => {
            let stalls: usize = runs.iter().map(|run| run.record.stalls.len()).sum();
            (
                stalls.to_string(),
                comparison.holds(&(stalls as f64), bound),
            )
        }
        Figure::Tps(bound) => {
            let slowest = runs
                .iter()
                .filter_map(|run| run.tps_after_first())
                .min_by(f64::total_cmp);
            let crossed = slowest.is_some_and(|tps| comparison.holds(&tps, bound));
            (
                slowest.map_or(NONE.to_owned(), |tps| format!("{tps:.1}")),
                crossed,
            )
        }
        Figure::Verdict(name) => verdicts(name, threshold, runs),
    };
    let found = match found.as_str() {
        NONE => "not measured".to_owned(),
        _ => found,
    };
    Checked {
        condition: threshold.text.clone(),
        found,
        crossed,
    }
}

/// The verdicts for which it holds, or else all.
fn verdicts(name: &str, threshold: &Threshold, runs: &[&Run]) -> (String, bool) {
    let (mut crossing, mut others) = (Vec::new(), Vec::new());
    for verdict in runs.iter().filter_map(|run| run.record.verdict.as_ref()) {
        let told = word(&verdict.timing);
        let list = match threshold.comparison.holds(told.as_str(), name) {
            true => &mut crossing,
            false => &mut others,
        };
        if !list.contains(&told) {
            list.push(told);
        }
    }
    let crossed = !crossing.is_empty();
    let told = if crossed { crossing } else { others };
    match told.is_empty() {
        true => (NONE.to_owned(), false),
        false => (told.join(", "), crossed),
    }
}

fn time(quantity: Quantity, of: Of, runs: &[&Run]) -> Option<f64> {
    let figure = |record: &RequestRecord| match quantity {
        Quantity::Ttft => record.ttft_ms,
        Quantity::Ttfa => record.ttfa_ms,
        Quantity::Total => record.at.end_ms,
        Quantity::Gap => match of {
            Of::Percentile(50) => record.gaps.token.p50_ms,
            Of::Percentile(90) => record.gaps.token.p90_ms,
            Of::Percentile(_) => record.gaps.token.p99_ms,
            Of::Max => record.gaps.token.max_ms,
        },
    };
    let mut us: Vec<u64> = runs
        .iter()
        .filter_map(|run| figure(&run.record))
        .map(|ms| (ms * 1000.0).round() as u64)
        .collect();
    us.sort_unstable();
    let value = match (quantity, of) {
        (Quantity::Gap, _) | (_, Of::Max) => us.last().copied(),
        (_, Of::Percentile(p)) => percentile(&us, p),
    };
    value.map(|us| us as f64 / 1000.0)
}

fn timing(name: &str) -> Option<Timing> {
    let name: serde::de::value::StrDeserializer<'_, serde::de::value::Error> =
        name.into_deserializer();
    Timing::deserialize(name).ok()
}

/// Whether a text is a threshold that can be checked; for the README's test.
pub fn is_threshold(text: &str) -> bool {
    Threshold::from_str(text).is_ok_and(|threshold| sound(&[threshold]).is_ok())
}

#[cfg(test)]
mod tests {
    use super::super::run::sample;
    use super::*;

    fn checked(text: &str, runs: &[Run]) -> (String, bool) {
        let runs: Vec<_> = runs.iter().collect();
        let Checked { found, crossed, .. } = check(&text.parse().unwrap(), &runs);
        (found, crossed)
    }

    fn runs() -> Vec<Run> {
        (1..=5).map(|n| sample(Some(n), 100.0 * n as f64)).collect()
    }

    #[test]
    fn times_are_of_the_runs_and_gaps_of_the_worst() {
        let mut runs = runs();
        assert_eq!(
            checked("ttft_p50>300ms", &runs),
            ("300ms".to_owned(), false)
        );
        assert_eq!(
            checked("ttft_p50>=300ms", &runs),
            ("300ms".to_owned(), true)
        );
        assert_eq!(checked("ttft_p95>499ms", &runs), ("500ms".to_owned(), true));
        assert_eq!(checked("ttft_max>1s", &runs), ("500ms".to_owned(), false));
        runs[2].record.gaps.token.p99_ms = Some(2500.0);
        assert_eq!(checked("gap_p99>2s", &runs), ("2.50s".to_owned(), true));
    }

    #[test]
    fn stalls_are_of_all_runs_and_speeds_of_the_slowest() {
        assert_eq!(checked("stalls>4", &runs()), ("5".to_owned(), true));
        assert_eq!(checked("stalls>5", &runs()), ("5".to_owned(), false));
        assert_eq!(checked("tps<20", &runs()), ("21.9".to_owned(), false));
        assert_eq!(checked("tps<22", &runs()), ("21.9".to_owned(), true));
    }

    #[test]
    fn a_verdict_is_any_runs() {
        let mut runs = runs();
        let stall = "stall_no_catch_up".to_owned();
        assert_eq!(checked("verdict!=steady", &runs), (stall.clone(), true));
        assert_eq!(checked("verdict=steady", &runs), (stall, false));
        runs[4].record.verdict.as_mut().unwrap().timing = Timing::Steady;
        assert_eq!(
            checked("verdict=steady", &runs),
            ("steady".to_owned(), true)
        );
    }

    #[test]
    fn what_was_not_measured_has_crossed_nothing() {
        for text in ["ttft_p95<1h", "verdict!=steady", "tps<1000"] {
            assert_eq!(
                checked(text, &[]),
                ("not measured".to_owned(), false),
                "{text}"
            );
        }
    }

    #[test]
    fn verdicts_that_do_not_exist_are_told() {
        assert!(is_threshold("verdict!=steady") && !is_threshold("verdict!=steadyy"));
    }
}
