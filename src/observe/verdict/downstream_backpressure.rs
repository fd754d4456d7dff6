//! The client did not take the bytes.

use super::facts::Facts;
use super::words::time;
use super::{Fired, Rule};
use crate::observe::record::{Flag, Side, Timing};
use crate::observe::stats::{Us, in_ms};

/// A client's socket is full for moments in any bulk transfer; not for so long, µs.
const LEAST_BLOCKED: Us = 250_000;

/// Nor for such a part of the body's time.
const PART_OF_BODY: Us = 10;

const CODE: &str = "downstream_backpressure";

/// The client was so slow that this proxy stopped to read.
pub const RULE_OF_READING: Rule = Rule {
    code: CODE,
    timing: Some(Timing::DownstreamBackpressure),
    about: "a client that took so little that this proxy had to stop reading",
    rests_on: &["hold.blocked_ms", "flags"],
    check: when_reading_stopped,
};

/// The client was slow.
pub const RULE: Rule = Rule {
    code: CODE,
    timing: Some(Timing::DownstreamBackpressure),
    about: "a client whose socket was full for 250 ms or more, and a tenth of the body's time",
    rests_on: &["hold.blocked_ms", "at.first_byte_ms", "at.end_ms"],
    check: when_blocked,
};

/// The client was so slow that reading had to stop: arrivals after that are its doing as well. One
/// large event stops it too, for the moment that any client needs to take it.
pub fn when_reading_stopped(facts: &Facts<'_>) -> Option<Fired> {
    (facts.has(Flag::ArrivalUncertain) && blocked(facts) >= LEAST_BLOCKED)
        .then(|| fired(facts, 0.8))
}

/// The client was slow, and everything was read in time all the same.
fn when_blocked(facts: &Facts<'_>) -> Option<Fired> {
    let at = &facts.summary.at;
    let body = at.end?.saturating_sub(at.first_byte?);
    let blocked = blocked(facts);
    (blocked >= LEAST_BLOCKED && blocked * PART_OF_BODY >= body).then(|| fired(facts, 0.9))
}

fn fired(facts: &Facts<'_>, confidence: f64) -> Fired {
    let blocked = blocked(facts);
    Fired {
        side: Side::Downstream,
        at_ms: None,
        confidence,
        sentence: format!(
            "The client's socket was full for {}: it did not take what was ready.",
            time(blocked)
        ),
        hint: "look after this proxy: a client that does its work between reads, a slow network, a hop \
               that is overloaded"
            .into(),
        evidence: vec![("blocked_ms", in_ms(blocked))],
    }
}

fn blocked(facts: &Facts<'_>) -> Us {
    (facts.summary.hold.blocked_ms.unwrap_or(0.0) * 1000.0) as Us
}
