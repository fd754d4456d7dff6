//! The client did not take the bytes.

use super::facts::Facts;
use super::words::{bytes, time};
use super::{Fired, Rule};
use crate::observe::record::{Flag, Side, Timing};
use crate::observe::stats::{Us, in_ms};

/// A client's socket is full for moments in any bulk transfer; not for so long, µs.
const LEAST_BLOCKED: Us = 250_000;

/// Nor for such a part of the body's time.
const PART_OF_BODY: Us = 10;

/// A client may leave so much unacknowledged for so long after a lost packet, µs; no longer.
const LEAST_UNACKNOWLEDGED: Us = 500_000;

/// Where the kernel says why it waits, the client's window must be the reason for this part of that
/// time at least: else it is the way that is long.
const PART_BY_WINDOW: Us = 2;

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
    about: "a client whose socket was full for 250 ms or more, or that left what it was sent unacknowledged for 500 ms \
            or more, and for a tenth of the body's time",
    rests_on: &[
        "hold.blocked_ms",
        "hold.unacked_ms",
        "hold.rwnd_limited_ms",
        "at.first_byte_ms",
        "at.end_ms",
    ],
    check,
};

/// The client was so slow that reading had to stop: arrivals after that are its doing as well. One
/// large event stops it too, for the moment that any client needs to take it.
pub fn when_reading_stopped(facts: &Facts<'_>) -> Option<Fired> {
    (facts.has(Flag::ArrivalUncertain) && blocked(facts) >= LEAST_BLOCKED)
        .then(|| fired(facts, 0.8))
}

/// The client was slow, and everything was read in time all the same.
fn check(facts: &Facts<'_>) -> Option<Fired> {
    let at = &facts.summary.at;
    let body = at.end?.saturating_sub(at.first_byte?);
    let blocked = blocked(facts);
    if blocked >= LEAST_BLOCKED && blocked * PART_OF_BODY >= body {
        return Some(fired(facts, 0.9));
    }
    unread(facts, body)
}

/// The client stopped reading, and our own writes never waited: the send buffer took it all.
fn unread(facts: &Facts<'_>, body: Us) -> Option<Fired> {
    let hold = &facts.summary.hold;
    let unacknowledged = us(hold.unacked_ms?);
    let by_window = hold.rwnd_limited_ms.map(us);
    let is_client = by_window.is_none_or(|time| time * PART_BY_WINDOW >= unacknowledged);
    let is_long = unacknowledged >= LEAST_UNACKNOWLEDGED && unacknowledged * PART_OF_BODY >= body;
    if !is_long || !is_client {
        return None;
    }
    let most = hold.unacked_max_bytes.unwrap_or(0) as f64;
    let why = match by_window {
        Some(time_closed) => format!(
            " Its receive window was what held them for {}.",
            time(time_closed)
        ),
        None => String::new(),
    };
    let mut evidence = vec![
        ("unacked_ms", in_ms(unacknowledged)),
        ("unacked_max_bytes", most),
    ];
    evidence.extend(by_window.map(|time| ("rwnd_limited_ms", in_ms(time))));
    Some(Fired {
        sentence: format!(
            "For {} the client did not take what was sent to it: up to {} were unacknowledged and became no less.{why}",
            time(unacknowledged),
            bytes(most)
        ),
        evidence,
        // Without the kernel's word a network that loses packets looks the same.
        ..fired(facts, if by_window.is_some() { 0.85 } else { 0.6 })
    })
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
    us(facts.summary.hold.blocked_ms.unwrap_or(0.0))
}

fn us(ms: f64) -> Us {
    (ms * 1000.0) as Us
}
