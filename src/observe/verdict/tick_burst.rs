//! Bursts at constant times: a timer lets go of what has come since.

use super::count_burst::AS_CONSTANT;
use super::facts::Facts;
use super::hints::{TICKS, of_tcp_timer, with_clues};
use super::rhythm::{Constant, Rhythm};
use super::words::{bytes, range, time};
use super::{Fired, Rule};
use crate::observe::record::{Side, Timing};
use crate::observe::stats::Us;

/// The rule.
pub const RULE: Rule = Rule {
    code: "tick_burst",
    timing: Some(Timing::TickBurst),
    about: "four full bursts or more, with pauses between them, at an equal period (within 10 %)",
    rests_on: &["coalescing.burst_period_ms", "coalescing.burst_events"],
    check,
};

fn check(facts: &Facts<'_>) -> Option<Fired> {
    let (rhythm, found) = facts.constant(Constant::Period)?;
    let also = match found.rival {
        Some(Constant::Bytes) => format!(
            " Their size is as constant ({}), so a buffer that fills fits as well.",
            bytes(rhythm.bytes.mean)
        ),
        Some(_) => AS_CONSTANT.to_owned(),
        None => String::new(),
    };
    // It waits for its first event before it counts, so its period is longer by a part of a gap.
    let timer = match rhythm.timer_from_event() {
        Some(timer) => format!(
            "a timer of {}, started by the first event it holds back,",
            time(timer as u64)
        ),
        None => "a timer".to_owned(),
    };
    let doubt = found.doubt();
    Some(Fired {
        side: Side::Upstream,
        at_ms: None,
        confidence: found.confidence,
        sentence: format!(
            "A burst every {} ({} full ones, the period varies by {} %), of {} events and {}: {timer} \
             lets go of what has come since, in a hop before this proxy or in the server.{also}{doubt}",
            time(rhythm.period.mean as u64),
            rhythm.n,
            rhythm.period_percent(),
            range(rhythm.steps.min.to_string(), rhythm.steps.max.to_string()),
            range(bytes(rhythm.bytes.min), bytes(rhythm.bytes.max)),
        ),
        hint: with_clues(facts, &hint(rhythm)).into(),
        evidence: rhythm.evidence(),
    })
}

/// What to look for: first what is known to have such a period.
fn hint(rhythm: &Rhythm) -> String {
    let period = rhythm.timer_from_event().unwrap_or(rhythm.period.mean);
    match of_tcp_timer(period as Us) {
        Some(known) => format!("{known}; else {TICKS}"),
        None => format!("look before this proxy for a timer of this period: {TICKS}"),
    }
}
