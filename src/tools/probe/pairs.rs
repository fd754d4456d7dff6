//! `--via`: what the path between adds, pair by pair.
//!
//! Both requests of a pair are sent one after the other, and which goes first changes from pair to pair, so that a
//! server that warms up or slows down favours neither side. What is added is the difference within a pair; of the pairs
//! the median is told with its spread, never an average. A pair with a cold or a failed run is none.

use super::run::{Run, Side};
use crate::sink::console::text::duration;

/// What a path adds, in ms.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Added {
    /// What is measured.
    pub what: &'static str,
    /// One difference for each pair that has the figure on both sides, sorted.
    pub ms: Vec<f64>,
}

/// How many pairs there are, and what each figure's differences are.
pub(super) fn added(runs: &[Run]) -> (usize, Vec<Added>) {
    let pairs = pairs(runs);
    let figure = |what, of: fn(&Run) -> Option<f64>| {
        let differences = pairs
            .iter()
            .filter_map(|(direct, through)| Some(of(through)? - of(direct)?));
        let mut ms: Vec<f64> = differences.collect();
        ms.sort_by(f64::total_cmp);
        Added { what, ms }
    };
    let added = vec![
        figure("TTFT", |run| run.record.ttft_ms),
        figure("gap p50", |run| run.record.gaps.token.p50_ms),
        figure("gap p99", |run| run.record.gaps.token.p99_ms),
        figure("gap max", |run| run.record.gaps.token.max_ms),
        figure("total", |run| run.record.at.end_ms),
    ];
    (pairs.len(), added)
}

/// Warm and whole runs of one number, the direct one first.
fn pairs(runs: &[Run]) -> Vec<(&Run, &Run)> {
    let good = |side| {
        let of_side = move |run: &&Run| run.side == side && !run.is_cold() && run.is_whole();
        runs.iter().filter(of_side)
    };
    good(Side::Direct)
        .filter_map(|direct| {
            let through = good(Side::Through).find(|run| run.number == direct.number)?;
            Some((direct, through))
        })
        .collect()
}

impl Added {
    /// The figure as a line: median, least, most; `None` where no pair has it.
    pub fn line(&self) -> Option<String> {
        let middle = self.ms.get(self.ms.len() / 2)?;
        let (least, most) = (self.ms.first()?, self.ms.last()?);
        let [middle, least, most] = [middle, least, most].map(|ms| signed(*ms));
        Some(format!("{middle:>9}  {least:>9}  {most:>9}"))
    }
}

/// A duration with its sign.
fn signed(ms: f64) -> String {
    let sign = if ms < 0.0 { '−' } else { '+' };
    format!("{sign}{}", duration(Some(ms.abs())))
}

#[cfg(test)]
mod tests {
    use super::super::run::sample;
    use super::*;
    use crate::observe::record::End;

    fn pair(number: u64, direct: f64, through: f64) -> [Run; 2] {
        let mut other = sample(Some(number), through);
        other.side = Side::Through;
        [sample(Some(number), direct), other]
    }

    #[test]
    fn differences_are_within_pairs() {
        let runs = [
            pair(1, 80.0, 83.0),
            pair(2, 180.0, 181.0),
            pair(3, 90.0, 89.5),
        ]
        .concat();
        let (pairs, added) = added(&runs);
        assert_eq!(pairs, 3);
        assert_eq!(added[0].what, "TTFT");
        assert_eq!(added[0].ms, [-0.5, 1.0, 3.0]);
        assert_eq!(added[0].line().unwrap(), "  +1.00ms    −0.50ms    +3.00ms");
    }

    #[test]
    fn a_pair_with_a_cold_or_failed_run_is_none() {
        let mut runs = [
            pair(1, 80.0, 900.0),
            pair(2, 80.0, 82.0),
            pair(3, 80.0, 81.0),
        ]
        .concat();
        runs[1].record.load.cold = true;
        runs[2].record.end = End::Truncated;
        let mut warm_up = pair(1, 1.0, 2.0);
        warm_up.iter_mut().for_each(|run| run.number = None);
        runs.extend(warm_up);
        let (pairs, added) = added(&runs);
        assert_eq!((pairs, added[0].ms.as_slice()), (1, &[1.0][..]));
    }

    #[test]
    fn no_pair_has_no_figure() {
        let (pairs, added) = added(&[]);
        assert!(pairs == 0 && added.iter().all(|added| added.line().is_none()));
    }
}
