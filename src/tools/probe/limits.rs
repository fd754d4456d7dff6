//! `--fail-if` held against the runs.

use std::str::FromStr;

use anyhow::bail;
use serde::Deserialize;
use serde::de::IntoDeserializer;

use super::failure::failure;
use super::run::Run;
use crate::config::threshold::{Figure, Of, Quantity, Share, Threshold};
use crate::observe::record::{RequestRecord, Timing};
use crate::observe::stats::{in_ms, percentile};
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
pub(in crate::tools) fn sound(thresholds: &[Threshold]) -> anyhow::Result<()> {
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
        Figure::Tps(over, bound) => {
            // thousandths, so that the percentile is the same rule as of times
            let tps = runs.iter().filter_map(|run| run.tps_after_first());
            let sorted = sorted(tps.map(|tps| (tps * 1000.0).round() as u64));
            let tps = over_all(&sorted, *over).map(|tps| tps as f64 / 1000.0);
            let crossed = tps.is_some_and(|tps| comparison.holds(&tps, bound));
            let told = tps.map_or(NONE.to_owned(), |tps| format!("{tps:.1}"));
            (told, crossed)
        }
        Figure::Share(share, bound) => {
            let has = |run: &&&Run| match share {
                Share::Errors => failure(&run.record).is_some(),
                Share::Stalled => !run.record.stalls.is_empty(),
            };
            match runs.len() {
                0 => (NONE.to_owned(), false),
                n => {
                    let share = runs.iter().filter(has).count() as f64 / n as f64;
                    let told = format!("{:.1} %", share * 100.0);
                    (told, comparison.holds(&share, bound))
                }
            }
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

fn time(quantity: Quantity, over: Of, runs: &[&Run]) -> Option<f64> {
    let figure = |record: &RequestRecord| match quantity {
        Quantity::Ttft => record.ttft_ms,
        Quantity::Ttfa => record.ttfa_ms,
        Quantity::Total => record.at.end_ms,
        Quantity::Gap(Of::Percentile(50)) => record.gaps.token.p50_ms,
        Quantity::Gap(Of::Percentile(90)) => record.gaps.token.p90_ms,
        Quantity::Gap(Of::Max) => record.gaps.token.max_ms,
        Quantity::Gap(_) => record.gaps.token.p99_ms,
    };
    let ms = runs.iter().filter_map(|run| figure(&run.record));
    let sorted = sorted(ms.map(|ms| (ms * 1000.0).round() as u64));
    over_all(&sorted, over).map(in_ms)
}

fn sorted(values: impl Iterator<Item = u64>) -> Vec<u64> {
    let mut values: Vec<u64> = values.collect();
    values.sort_unstable();
    values
}

/// Which of the values of all runs is meant.
pub(in crate::tools) fn over_all(sorted: &[u64], over: Of) -> Option<u64> {
    match over {
        Of::Min => sorted.first().copied(),
        Of::Percentile(p) => percentile(sorted, p),
        Of::Max => sorted.last().copied(),
    }
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
        let middle = checked("gap_p99_p50>2s", &runs);
        assert_eq!(middle, ("1.02s".to_owned(), false));
    }

    #[test]
    fn stalls_are_of_all_runs_and_speeds_of_the_slowest() {
        assert_eq!(checked("stalls>4", &runs()), ("5".to_owned(), true));
        assert_eq!(checked("stalls>5", &runs()), ("5".to_owned(), false));
        assert_eq!(checked("tps<20", &runs()), ("21.9".to_owned(), false));
        assert_eq!(checked("tps<22", &runs()), ("21.9".to_owned(), true));
    }

    #[test]
    fn shares_are_of_the_runs() {
        let mut runs = runs();
        runs[0].record.stalls.clear();
        runs[1].record.end = crate::observe::record::End::Truncated;
        let told = |text: &str| checked(text, &runs);
        assert_eq!(told("stalled>80%"), ("80.0 %".to_owned(), false));
        assert_eq!(told("stalled>=80%"), ("80.0 %".to_owned(), true));
        assert_eq!(told("errors>0"), ("20.0 %".to_owned(), true));
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
        for text in ["ttft_p95<1h", "verdict!=steady", "tps<1000", "errors<50%"] {
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
