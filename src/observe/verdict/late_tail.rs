//! All the text is there, and the end comes much later.

use super::facts::{Facts, Unit};
use super::words::time;
use super::{Fired, Rule};
use crate::observe::record::{End, Side, Timing};
use crate::observe::stats::{Us, in_ms};

/// Usage and filter results need their time; a user notices from here, µs.
const LEAST: Us = 1_000_000;

/// And it is no gap like the others: so many times their 99th percentile.
const FACTOR: Us = 5;

/// The rule.
pub const RULE: Rule = Rule {
    code: "late_tail",
    timing: Some(Timing::LateTail),
    about: "an end that comes a second or more, and 5 times the usual gap, after the last output",
    rests_on: &["tail_ms", "gaps.token.p99_ms"],
    check,
};

fn check(facts: &Facts<'_>) -> Option<Fired> {
    let has_ended = matches!(
        facts.end,
        End::Complete | End::EndedWithoutDone | End::InBandError
    );
    let tail = facts.summary.tail()?;
    let usual = facts.gaps().percentile(99);
    let least = LEAST.max(FACTOR * usual.unwrap_or(0));
    if facts.unit() != Unit::Token || !has_ended || tail < least {
        return None;
    }
    let mut sentence = format!("The end came {} after the last output", time(tail));
    let mut evidence = vec![("tail_ms", in_ms(tail))];
    if let Some(usual) = usual {
        sentence += &format!(", while gaps before were at most {} (p99)", time(usual));
        evidence.push(("gap_p99_ms", in_ms(usual)));
    }
    Some(Fired {
        side: Side::Upstream,
        at_ms: facts.summary.at.last_token.map(in_ms),
        confidence: 0.9,
        sentence: sentence + ".",
        hint: "the server closes late (usage, checks, storage), or the last small piece sat in a buffer: \
               see whether a comment of 4 KB after it makes it come at once"
            .into(),
        evidence,
    })
}
