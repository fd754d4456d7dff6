//! The stream of an engine that makes several tokens a step, as one that speculates does.

use super::engine::{self, DRAFT, LONGEST_STEP, MOST_PER_STEP};
use super::evenness::{PART_IN_LARGE, SPREAD};
use super::facts::Facts;
use super::rhythm::{self, Rhythm};
use super::spread::Spread;
use super::words::time;
use crate::observe::bursts::{self, Burst};
use crate::observe::stats::{self, Us};

/// A hop that gathers hardly ever lets go of so few, when it lets go of this many more as well.
const FEW: f64 = 2.0;

/// An engine's steps that show that it has them.
const LEAST_STEPS: usize = 3;

/// Whether such an engine made it: a few events at once, never more than a draft, at even times no
/// further apart than its steps are. These may be long if the drafts that were accepted are of many
/// lengths. One long pause may be in it, whatever came at once when that ended.
pub fn is_in_steps(facts: &Facts<'_>) -> bool {
    let mut bursts = facts.bursts();
    if bursts.len() < LEAST_STEPS || !facts.is_kept_whole() {
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
    let late: Us = gaps.iter().filter(|&&gap| gap > SPREAD * period).sum();
    let steps = |burst: &Burst| facts.unit().steps(burst);
    let spread = |bursts: &[Burst]| Spread::of(bursts.iter().map(|burst| steps(burst) as f64));
    let choices = facts.choices() as f64;
    let (all, of_full) = (spread(&bursts), spread(full));
    let is_drafted = engine::could_draft(all.max / choices, period as f64)
        && of_full.min <= FEW * choices
        && of_full.range() >= FEW * choices;
    all.max <= DRAFT * choices
        && all.mean < MOST_PER_STEP * choices
        && (period < LONGEST_STEP || is_drafted)
        && stats::percentile(&gaps, 90).unwrap_or(0) <= SPREAD * period
        && late * PART_IN_LARGE <= gaps.iter().sum()
        && !rhythm::are_cut(full, steps)
}

/// What else the steps of an engine may be, if they are as exact as a timer's, and round or long.
pub fn timer_as_well(facts: &Facts<'_>) -> Option<String> {
    let rhythm = Rhythm::of_any(&facts.bursts())?;
    let is_long = rhythm.period.mean >= LONGEST_STEP as f64;
    (rhythm.is_exact() && (is_long || rhythm.has_round_period())).then(|| {
        format!(
            " But they come each {} to the percent, as a timer or a delayed ACK lets go of what it held.",
            time(rhythm.period.mean as Us)
        )
    })
}
