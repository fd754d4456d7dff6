//! Everything came at once, at the end: something before this proxy gathered the whole answer.

use super::engine::{DRAFT, FASTEST};
use super::facts::{Facts, SHARED};
use super::hints::{WHOLE_BODY, with_clues};
use super::words::{count, time};
use super::{Fired, Rule, producer_batched};
use crate::observe::record::{Flag, Side, Timing};
use crate::observe::stats::{Us, in_ms};

/// Steps of a stream that no live one brings at once after a long wait. After a short one it may be
/// all that an engine's one draft had.
const MANY: u64 = 4;

/// A wait in which more of a live stream would have come, µs.
const LONG_WAIT: Us = 1_000_000;

/// In a wait shorter than this hardly anything can have been held, µs.
const SHORT_WAIT: Us = 50_000;

/// The burst lasts at most this part of the wait before it; a fast engine takes longer.
const PART_OF_WAIT: Us = 10;

/// A hop that lets everything go write by write may need more than a burst's gaps. After a long
/// wait such a part of it is still "at once", if the steps are on average no further apart than
/// this, µs: a model that had to be loaded first goes on at its own pace. The nearer the steps are
/// to that, the longer the wait must have been.
const PART_AND_PACE: [(Us, Us); 2] = [(50, 500), (200, 1_500)];

/// How sure the pace alone makes one: less where an engine is known that is as fast.
const SURE_OF_PACE: f64 = 0.6;
const SURE_OF_ENGINES_PACE: f64 = 0.3;

/// Steps from which it is no short stream.
const LONG: u64 = 20;

/// A body of so many bytes would have shown the blocks of most buffers.
pub(crate) const BLOCKS: u64 = 64 * 1024;

/// How sure one can be of a whole body where it may be a block that never filled.
const SURE_OF_SMALL: f64 = 0.85;

/// The rule.
pub const RULE: Rule = Rule {
    code: "whole_body_burst",
    timing: Some(Timing::WholeBodyBurst),
    about: "all output at once, within a tenth of the wait before it",
    rests_on: &[
        "at.sent_ms",
        "at.first_token_ms",
        "at.last_token_ms",
        "counts.token_events",
        "coalescing.events_per_chunk_max",
    ],
    check,
};

fn check(facts: &Facts<'_>) -> Option<Fired> {
    let (n, wait, span) = (facts.n(), facts.wait(), facts.span());
    // A producer that gives whole calls gives all of them when it has them.
    if n == 0 || producer_batched::check(facts).is_some() {
        return None;
    }
    let per_choice = n / facts.choices();
    let together = facts.steps_by_burst().count() == 1
        && (facts.steps_per_read() >= SHARED || span <= (n - 1) * FASTEST);
    let after_long_wait = wait >= LONG_WAIT
        && PART_AND_PACE
            .iter()
            .any(|(part, pace)| span * part <= wait && span <= (n - 1) * pace);
    let at_once = span * PART_OF_WAIT <= wait && (together || after_long_wait);
    let is_much = if wait >= LONG_WAIT {
        per_choice >= MANY || (per_choice >= 2 && together)
    } else {
        per_choice as f64 > DRAFT
    };
    if !at_once || !is_much {
        return None;
    }
    let is_engines_pace = !together && span >= (n - 1) * FASTEST;
    let by_pace = match (together, is_engines_pace) {
        (true, _) => 1.0,
        (false, true) => SURE_OF_ENGINES_PACE,
        (false, false) => SURE_OF_PACE,
    };
    let confidence: f64 = match (n, wait) {
        (_, ..SHORT_WAIT) => 0.4,
        (LONG.., LONG_WAIT..) => 0.95,
        (LONG.., _) => 0.8,
        (MANY.., LONG_WAIT..) => 0.7,
        _ => 0.5,
    };
    let mut sentence = format!(
        "All {} with output came within {} after a wait of {}, in {}: the whole answer was held until it was ready.",
        count(n, "event"),
        time(span),
        time(wait),
        count(facts.n_reads(), "read"),
    );
    if is_engines_pace {
        sentence += " A very fast engine after a queue would look the same.";
    }
    let is_small = facts.summary.bytes < BLOCKS;
    if is_small {
        sentence += " So short a stream cannot tell a whole body from a block that never filled.";
    }
    if facts.has(Flag::LengthKnownStream) {
        sentence += " Its length was known in advance, which a live stream never has.";
    }
    Some(Fired {
        side: Side::Upstream,
        at_ms: facts.first().map(in_ms),
        confidence: confidence
            .min(by_pace)
            .min(if is_small { SURE_OF_SMALL } else { 1.0 }),
        sentence,
        hint: with_clues(
            facts,
            &format!(
                "look at the hops before this proxy for {WHOLE_BODY}; then at the server: does it stream at all, \
                 and flush per event?"
            ),
        )
        .into(),
        evidence: vec![
            ("token_events", n as f64),
            ("reads", facts.n_reads() as f64),
            (
                "events_per_read",
                facts.steps_per_read() * facts.choices() as f64,
            ),
            ("wait_ms", in_ms(wait)),
            ("span_ms", in_ms(span)),
        ],
    })
}
