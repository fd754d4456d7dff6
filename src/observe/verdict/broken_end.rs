//! The stream ended, and not by its protocol. Its pacing is judged all the same: this only keeps
//! anyone from reading `steady` as "all went well".

use super::facts::Facts;
use super::words::{count, time};
use super::{Fired, Rule};
use crate::observe::record::{End, Side};
use crate::observe::stats::{Us, in_ms};

/// The rule.
pub const RULE: Rule = Rule {
    code: "broken_end",
    timing: None,
    about: "an end that is not the protocol's: a cut, a reset, an error in the stream, no end marker",
    rests_on: &["end", "error", "flags"],
    check,
};

fn check(facts: &Facts<'_>) -> Option<Fired> {
    let (what, side, hint) = match facts.end {
        End::Truncated => (
            "the upstream side closed the connection in the middle",
            Side::Upstream,
            "look at the log of the server and of each hop before this proxy at that time: a crash, a limit, \
             a restart",
        ),
        End::UpstreamReset => (
            "the upstream side reset the connection",
            Side::Upstream,
            "look at the log of the server and of each hop before this proxy at that time: a crash, a killed \
             worker, a firewall that forgot the connection",
        ),
        End::UpstreamInvalid => (
            "its HTTP framing broke",
            Side::Upstream,
            "two programs write to one connection, or a hop changed the body and not its framing",
        ),
        End::UpstreamTimeout => (
            "the time limit that was set for this proxy struck",
            Side::Upstream,
            "raise or drop `--read-timeout` if the server may be silent for so long",
        ),
        End::InBandError => (
            "an error came inside the stream",
            Side::Upstream,
            "look at `error.type`, and at the server's log at that time",
        ),
        End::EndedWithoutDone => (
            "the body ended without an end marker or a finish reason",
            Side::Upstream,
            "a client takes this for a whole answer and may be missing the rest: look at the server's log, and \
             for a hop that turns a cut into a clean end",
        ),
        _ => return None,
    };
    let end = facts.summary.at.end?;
    Some(Fired {
        side,
        at_ms: Some(in_ms(end)),
        confidence: 1.0,
        sentence: format!(
            "The stream did not end by its protocol: {what}, after {} and {}.",
            time(end as Us),
            count(facts.n(), "event")
        ),
        hint: hint.into(),
        evidence: Vec::new(),
    })
}
