//! Bursts of a constant number of events: something that counts them lets go.

use super::Fired;
use super::facts::Facts;
use super::hints::{COUNTS, with_clues};
use super::rhythm::Constant;
use super::words::{bytes, range, time};
use crate::observe::record::{Side, Timing};

pub fn check(facts: &Facts<'_>) -> Option<Fired> {
    let (rhythm, found) = facts.constant(Constant::Count)?;
    Some(Fired {
        timing: Timing::CountBurst,
        code: "count_burst",
        side: Side::Upstream,
        at_ms: None,
        confidence: found.confidence,
        sentence: format!(
            "Bursts of {} events each ({} full ones), one every {}, of {}: neither a size nor a \
             time is constant, so something that counts events lets go of them together.",
            range(rhythm.steps.min.to_string(), rhythm.steps.max.to_string()),
            rhythm.n,
            time(rhythm.period.mean as u64),
            range(bytes(rhythm.bytes.min), bytes(rhythm.bytes.max)),
        ),
        hint: with_clues(
            facts,
            &format!("look for what gathers so many tokens: {COUNTS}"),
        )
        .into(),
        evidence: rhythm.evidence(),
    })
}
