//! One long pause in the middle. What came after it tells its kind: gaps as usual, then nothing
//! was held and work stopped; a lump of what was missing, then bytes were held.

use super::facts::{Facts, Unit};
use super::words::{count, time};
use super::{Fired, transport_coalesced};
use crate::observe::record::{Flag, Side, Timing};
use crate::observe::stats::Us;

/// How sure one is of the kind of a pause when it is not known what came after it.
const UNKNOWN: f64 = 0.4;

/// The lump after a pause has at least this part of what would have come in it, were it held.
const PART_OF_MISSING: u64 = 4;

/// And at least so many events per choice: two in one read are chance.
const LEAST_LUMP: u64 = 3;

pub fn check(facts: &Facts<'_>) -> Option<Fired> {
    let stall = facts.summary.stalls.first()?;
    if facts.unit() != Unit::Token || transport_coalesced::is_grouped(facts) {
        return None;
    }
    // An event too large to look into may have been what came then, if bytes went on coming.
    let longest_silence = facts.summary.silence.longest_ms.unwrap_or(0.0);
    if facts.has(Flag::EventTooLarge) && 2.0 * longest_silence < stall.gap_ms {
        return None;
    }
    let usual = facts.gaps().median_non_zero().unwrap_or(0).max(1);
    let gap = (stall.gap_ms * 1000.0) as Us;
    let missing = gap / usual;
    // Not all events: what ends a stream often shares the last token's write, and was not missing.
    let lump = facts.lump_after(stall);
    let least = (missing / PART_OF_MISSING).max(LEAST_LUMP * facts.choices());
    let caught_up = lump.filter(|&lump| lump >= least);
    let pause = format!(
        "No output for {} after token event {}; usual gaps are {}.",
        time(gap),
        stall.after_token,
        time(usual)
    );
    let mut evidence = vec![
        ("gap_ms", stall.gap_ms),
        ("after_token", stall.after_token as f64),
        ("missing_events", missing as f64),
        ("stalls", facts.summary.stalls.len() as f64),
    ];
    evidence.extend(lump.map(|lump| ("catch_up_events", lump as f64)));
    // A pause that ended with the stream's own usual gap leaves no doubt; a histogram would.
    let confidence = match lump {
        None => UNKNOWN,
        Some(_) if facts.n() >= 20 => 0.9,
        Some(_) => 0.6,
    };
    let (timing, code, sentence, hint) = if let Some(lump) = caught_up {
        (
            Timing::StallWithCatchUp,
            "stall_with_catch_up",
            format!(
                "{pause} Then {} came at once: they had been made and were held.",
                count(lump, "event")
            ),
            "look for what holds bytes before this proxy: a buffer that waits to fill, a network that \
             lost packets, a paused container; a server that does not flush",
        )
    } else {
        let (after, hint) = if lump.is_some() {
            (
                "Nothing was made up for afterwards: work stopped, no bytes were held.",
                "look at the server's scheduler, not at buffers: another request's long prompt (chunked \
                 prefill), preemption, swapping, a paused process",
            )
        } else {
            (
                "So late in a stream it is not known whether it was made up for afterwards.",
                "look at the server's scheduler, and for what holds bytes before this proxy",
            )
        };
        (
            Timing::StallNoCatchUp,
            "stall_no_catch_up",
            format!("{pause} {after}"),
            hint,
        )
    };
    let at_ms = Some(stall.at_ms);
    Some(Fired {
        timing,
        code,
        side: Side::Upstream,
        at_ms,
        confidence,
        sentence,
        hint: hint.into(),
        evidence,
    })
}
