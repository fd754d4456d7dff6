//! Bursts of a constant number of events: something that counts them lets go.

use super::facts::Facts;
use super::hints::{COUNTS, with_clues};
use super::rhythm::Constant;
use super::words::{bytes, range, time};
use super::{Fired, Rule};
use crate::observe::record::{Side, Timing};

/// What is said beside another rule where the number of events is as constant.
pub const AS_CONSTANT: &str =
    " The number of events is as constant, so a guard or a batcher fits as well.";

/// The rule.
pub const RULE: Rule = Rule {
    code: "count_burst",
    timing: Some(Timing::CountBurst),
    about: "four full bursts or more, with pauses between them, of an equal number of events (± 1)",
    rests_on: &["coalescing.burst_events"],
    check,
};

fn check(facts: &Facts<'_>) -> Option<Fired> {
    let (rhythm, found) = facts.constant(Constant::Count)?;
    Some(Fired {
        side: Side::Upstream,
        at_ms: None,
        confidence: found.confidence,
        sentence: format!(
            "Bursts of {} events each ({} full ones), one every {}, of {}: neither a size nor a \
             time is as constant, so something that counts events lets go of them together.{}",
            range(rhythm.steps.min.to_string(), rhythm.steps.max.to_string()),
            rhythm.n,
            time(rhythm.period.mean as u64),
            range(bytes(rhythm.bytes.min), bytes(rhythm.bytes.max)),
            found.doubt(),
        ),
        hint: with_clues(
            facts,
            &format!("look for what gathers so many tokens: {COUNTS}"),
        )
        .into(),
        evidence: rhythm.evidence(),
    })
}
