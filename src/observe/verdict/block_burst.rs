//! Bursts of constant size: a buffer fills and then lets go.

use super::count_burst::AS_CONSTANT;
use super::facts::Facts;
use super::hints::{BLOCKS, with_clues};
use super::rhythm::Constant;
use super::words::{bytes, time};
use super::{Fired, Rule};
use crate::observe::record::{Side, Timing};

/// The rule.
pub const RULE: Rule = Rule {
    code: "block_burst",
    timing: Some(Timing::BlockBurst),
    about: "four full bursts or more, with pauses between them, of equal bytes (within 10 % and one event)",
    rests_on: &[
        "coalescing.burst_bytes",
        "coalescing.burst_events",
        "coalescing.burst_period_ms",
        "coalescing.events_split_over_chunks",
    ],
    check,
};

fn check(facts: &Facts<'_>) -> Option<Fired> {
    let (rhythm, found) = facts.constant(Constant::Bytes)?;
    let buffer = match rhythm.block() {
        Some(block) => format!("a buffer of {block} KiB"),
        None => "a buffer of that size".to_owned(),
    };
    let apart = match rhythm.bytes.range() {
        0.0 => "equal to the byte".to_owned(),
        range => format!("no more than {} apart", bytes(range)),
    };
    let also = match found.rival {
        Some(Constant::Period) => format!(
            " The period is as constant ({} %), so a timer fits as well.",
            rhythm.period_percent()
        ),
        Some(_) => AS_CONSTANT.to_owned(),
        None => String::new(),
    };
    let doubt = found.doubt();
    Some(Fired {
        side: Side::Upstream,
        at_ms: None,
        confidence: found.confidence,
        sentence: format!(
            "Bursts of {} each ({} full ones, {apart}; an event has {}), one every {}: \
             {buffer} before this proxy fills, and then lets go.{also}{doubt}",
            bytes(rhythm.bytes.mean),
            rhythm.n,
            bytes(rhythm.event_bytes()),
            time(rhythm.period.mean as u64),
        ),
        hint: with_clues(
            facts,
            &format!("look before this proxy for a buffer of this size: {BLOCKS}"),
        )
        .into(),
        evidence: rhythm.evidence(),
    })
}
