//! The client did not take the bytes.

use super::Fired;
use super::facts::Facts;
use super::words::time;
use crate::observe::record::{Flag, Side, Timing};
use crate::observe::stats::{Us, in_ms};

/// A client's socket is full for moments in any bulk transfer; not for so long, µs.
const LEAST_BLOCKED: Us = 250_000;

/// Nor for such a part of the body's time.
const PART_OF_BODY: Us = 10;

/// The client was so slow that reading had to stop: arrivals after that are its doing as well. One
/// large event stops it too, for the moment that any client needs to take it.
pub fn when_reading_stopped(facts: &Facts<'_>) -> Option<Fired> {
    (facts.has(Flag::ArrivalUncertain) && blocked(facts) >= LEAST_BLOCKED)
        .then(|| fired(facts, 0.8))
}

/// The client was slow, and everything was read in time all the same.
pub fn when_blocked(facts: &Facts<'_>) -> Option<Fired> {
    let at = &facts.summary.at;
    let body = at.end?.saturating_sub(at.first_byte?);
    let blocked = blocked(facts);
    (blocked >= LEAST_BLOCKED && blocked * PART_OF_BODY >= body).then(|| fired(facts, 0.9))
}

fn fired(facts: &Facts<'_>, confidence: f64) -> Fired {
    let blocked = blocked(facts);
    Fired {
        timing: Timing::DownstreamBackpressure,
        code: "downstream_backpressure",
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
