//! Bursts of constant size: a buffer fills and then lets go.

use super::Fired;
use super::facts::Facts;
use super::hints::{BLOCKS, with_clues};
use super::rhythm::Constant;
use super::words::{bytes, time};
use crate::observe::record::{Side, Timing};

pub fn check(facts: &Facts<'_>) -> Option<Fired> {
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
        Some(_) => {
            " So is their number of events, which fits a guard or a batcher as well.".to_owned()
        }
        None => String::new(),
    };
    Some(Fired {
        timing: Timing::BlockBurst,
        code: "block_burst",
        side: Side::Upstream,
        at_ms: None,
        confidence: found.confidence,
        sentence: format!(
            "Bursts of {} each ({} full ones, {apart}; an event has {}), one every {}: \
             {buffer} before this proxy fills, and then lets go.{also}",
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
