//! A pause, and then what was missing at once: it had been made, and was held.

use super::facts::Facts;
use super::stall::Pause;
use super::words::count;
use super::{Fired, Rule};
use crate::observe::record::{Side, Timing};

/// The rule.
pub const RULE: Rule = Rule {
    code: "stall_with_catch_up",
    timing: Some(Timing::StallWithCatchUp),
    about: "one pause of 250 ms or more, and a lump of what was missing after it",
    rests_on: &[
        "stalls",
        "stalls.0.catch_up_events",
        "gaps.token.p50_ms",
        "gaps.token.p90_ms",
    ],
    check,
};

fn check(facts: &Facts<'_>) -> Option<Fired> {
    let pause = Pause::of(facts)?;
    let lump = pause.lump.filter(|_| pause.is_caught_up())?;
    Some(Fired {
        side: Side::Upstream,
        at_ms: pause.at_ms(),
        confidence: pause.confidence(facts),
        sentence: format!(
            "{} Then {} came at once: they had been made and were held.",
            pause.sentence(),
            count(lump, "event")
        ),
        hint: "look for what holds bytes before this proxy: a buffer that waits to fill, a network that \
               lost packets, a paused container; a server that does not flush"
            .into(),
        evidence: pause.evidence(facts),
    })
}
