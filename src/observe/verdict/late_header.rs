//! A long wait for the header, then a steady body: nothing was gathered, so the wait was before
//! the work or a hop held the header alone.

use super::facts::Facts;
use super::words::time;
use super::{Fired, Rule, evenness};
use crate::observe::record::{Side, Timing};
use crate::observe::stats::{Us, in_ms};

/// From here a wait is worth a word: ordinary prompts are read in less, µs.
pub const LONG_WAIT: Us = 2_000_000;

/// The rule.
pub const RULE: Rule = Rule {
    code: "late_header",
    timing: Some(Timing::LateHeader),
    about: "a wait of 2 s or more for the header, and an even body then",
    rests_on: &["at.sent_ms", "at.header_ms"],
    check,
};

fn check(facts: &Facts<'_>) -> Option<Fired> {
    let wait = facts.summary.at.header?.saturating_sub(facts.began());
    if wait < LONG_WAIT || !evenness::is_even(facts) || facts.n() == 0 {
        return None;
    }
    Some(Fired {
        side: Side::Upstream,
        at_ms: facts.summary.at.header.map(in_ms),
        confidence: evenness::confidence(facts),
        sentence: format!(
            "The header came after {}{}.",
            time(wait),
            evenness::steady_then(facts)
        ),
        hint: "a cold start (the model was being loaded), a queue, or a hop that holds the header until \
               there is a body: this place cannot tell them apart"
            .into(),
        evidence: vec![
            ("header_wait_ms", in_ms(wait)),
            ("wait_ms", in_ms(facts.wait())),
        ],
    })
}
