//! A pause, and then gaps as usual: nothing was held, work stopped.

use super::facts::Facts;
use super::stall::Pause;
use super::{Fired, Rule};
use crate::observe::record::{Side, Timing};

/// The rule.
pub const RULE: Rule = Rule {
    code: "stall_no_catch_up",
    timing: Some(Timing::StallNoCatchUp),
    about: "one pause of 250 ms or more, and gaps as usual after it",
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
    if pause.is_caught_up() {
        return None;
    }
    let (after, hint) = if pause.lump.is_some() {
        (
            "Nothing was made up for afterwards: work stopped, no bytes were held.",
            "look at the server's scheduler, not at buffers: another request's long prompt (chunked \
             prefill), preemption, swapping, a paused process; a tool that the server itself calls \
             (a search, say) looks the same",
        )
    } else {
        (
            "So late in a stream it is not known whether it was made up for afterwards.",
            "look at the server's scheduler, and for what holds bytes before this proxy",
        )
    };
    Some(Fired {
        side: Side::Upstream,
        at_ms: pause.at_ms(),
        confidence: pause.confidence(facts),
        sentence: format!("{} {after}", pause.sentence()),
        hint: hint.into(),
        evidence: pause.evidence(facts),
    })
}
