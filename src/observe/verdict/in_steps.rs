//! The stream of an engine that makes several tokens a step, as one that speculates does.

use super::engine::{self, DRAFT, LONGEST_STEP, MOST_PER_STEP};
use super::facts::Facts;
use super::rhythm::{self, Rhythm};
use super::words::time;
use crate::observe::bursts::{self, Burst};
use crate::observe::stats::{self, Us};

/// Steps of a healthy engine differ, but nine of ten are below this many times the median.
const SPREAD: Us = 5;

/// Steps beyond that spread take at most this part of the stream's time.
const PART_IN_LARGE: Us = 4;

/// A hop that gathers hardly ever lets go of so few, when it lets go of this many more as well.
const FEW: u64 = 2;

/// An engine's steps that show that it has them.
const LEAST_STEPS: usize = 3;

/// Whether such an engine made it: a few events at once, never more than a draft, at even times no
/// further apart than its steps are. These may be long if the drafts that were accepted are of many
/// lengths.
pub fn is_in_steps(facts: &Facts<'_>) -> bool {
    facts.summary.stalls.is_empty() && is_but_for_a_pause(facts)
}

/// The same of a stream with a pause in it, whatever came at once when that ended.
pub fn is_but_for_a_pause(facts: &Facts<'_>) -> bool {
    let mut bursts = facts.bursts();
    if bursts.len() < LEAST_STEPS {
        return false;
    }
    let mut gaps: Vec<Us> = bursts::starts(&bursts).collect();
    if !facts.summary.stalls.is_empty() {
        let longest = (0..gaps.len()).max_by_key(|&i| gaps[i]).unwrap_or(0);
        gaps.remove(longest);
        bursts.remove(longest + 1);
    }
    let [_, full @ .., _] = &bursts[..] else {
        return false;
    };
    gaps.sort_unstable();
    let period = stats::percentile(&gaps, 50).unwrap_or(0);
    let (choices, unit) = (facts.choices(), facts.unit());
    let steps = |bursts: &[Burst]| -> Vec<u64> {
        let mut steps: Vec<u64> = bursts.iter().map(|burst| unit.steps(burst)).collect();
        steps.sort_unstable();
        steps
    };
    let all = steps(&bursts);
    let most = all[all.len() - 1] as f64 / choices as f64;
    let mean = all.iter().sum::<u64>() as f64 / all.len() as f64 / choices as f64;
    let full_steps = steps(full);
    let is_drafted = full_steps
        .first()
        .zip(full_steps.last())
        .is_some_and(|(&least, &most)| least <= FEW * choices && most - least >= FEW * choices)
        && engine::could_draft(most, period as f64);
    let late: Us = gaps.iter().filter(|&&gap| gap > SPREAD * period).sum();
    facts.is_kept_whole()
        && !rhythm::are_cut(full, |burst| unit.steps(burst))
        && (period < LONGEST_STEP || is_drafted)
        && mean < MOST_PER_STEP
        && most <= DRAFT
        && stats::percentile(&gaps, 90).unwrap_or(0) <= SPREAD * period
        && late * PART_IN_LARGE <= gaps.iter().sum()
}

/// What else the steps of an engine may be, if they are as exact as a timer's, and round or long.
pub fn timer_as_well(facts: &Facts<'_>) -> Option<String> {
    let rhythm = Rhythm::of_held(&facts.bursts())?;
    let is_long = rhythm.period.mean >= LONGEST_STEP as f64;
    (rhythm.is_exact() && (is_long || rhythm.has_round_period())).then(|| {
        format!(
            " But they come each {} to the percent, as a timer or a delayed ACK lets go of what it held.",
            time(rhythm.period.mean as Us)
        )
    })
}
