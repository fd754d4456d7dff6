//! The stream of an engine that makes several tokens a step, as one that speculates does.

use super::engine::{self, DRAFT, LONGEST_STEP, MOST_PER_STEP};
use super::facts::Facts;
use super::rhythm::{self, Rhythm};
use super::words::time;
use crate::observe::bursts;
use crate::observe::stats::{self, Us};

/// Steps of a healthy engine differ, but nine of ten are below this many times the median.
const SPREAD: Us = 5;

/// Steps beyond that spread take at most this part of the stream's time.
const PART_IN_LARGE: Us = 4;

/// One token alone in at least one of so many steps.
const ALONE_NOW_AND_THEN: usize = 10;

/// An engine's steps that show that it has them.
const LEAST_STEPS: usize = 3;

/// Whether such an engine made it: a few events at once, never more than a draft, at even times no
/// further apart than its steps are. These may be long if it now and then makes one token alone,
/// which a hop that gathers hardly does.
pub fn is_in_steps(facts: &Facts<'_>) -> bool {
    let bursts = facts.bursts();
    let [_, full @ .., _] = &bursts[..] else {
        return false;
    };
    let period = bursts::period(&bursts).unwrap_or(0);
    let (choices, unit) = (facts.choices(), facts.unit());
    let most = bursts.iter().map(|burst| unit.steps(burst)).max();
    let most = most.unwrap_or(0) as f64 / choices as f64;
    let alone = full.iter().filter(|burst| unit.steps(burst) <= choices);
    let is_drafted =
        alone.count() * ALONE_NOW_AND_THEN > full.len() && engine::could_draft(most, period as f64);
    let mut gaps: Vec<Us> = bursts::starts(&bursts).collect();
    gaps.sort_unstable();
    let late: Us = gaps.iter().filter(|&&gap| gap > SPREAD * period).sum();
    bursts.len() >= LEAST_STEPS
        && facts.is_kept_whole()
        && !rhythm::are_cut(full, |burst| unit.steps(burst))
        && (period < LONGEST_STEP || is_drafted)
        && facts.steps_per_burst() < MOST_PER_STEP
        && most <= DRAFT
        && stats::percentile(&gaps, 90).unwrap_or(0) <= SPREAD * period
        && late * PART_IN_LARGE <= gaps.iter().sum()
        && facts.summary.stalls.is_empty()
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
