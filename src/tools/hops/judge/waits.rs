//! The verdict from both timelines: how long each piece waited in the hop, and what it waited for.
//!
//! - All waited for the end: the whole body.
//! - Each waited as long as the next gap: one behind.
//! - Several left together: what of their bytes, period and number is constant names the buffer, by the same measure as for
//!   one vantage point (`observe/verdict/rhythm.rs`). Besides, a timer lets go at any moment, a buffer that fills and a
//!   counter only when something comes: so the newest byte's wait tells them apart.
//! - None waited: passed, or a constant delay.

mod groups;

use super::{CONSTANT, Judgement, LATE, SLOW, Word, in_ms, of, sure};
use crate::observe::stats::{Us, percentile};
use crate::observe::timeline::LEAST_STALL;
use crate::observe::verdict::hints;
use crate::observe::verdict::rhythm::AT_ONCE;
use crate::observe::verdict::whole_body_burst::BLOCKS;
use crate::observe::verdict::words::{count, time};
use crate::tools::hops::align::{Aligned, Entry, Unit, wait};
use crate::tools::hops::compare::Figures;

/// A hop holds if it makes one piece in so many late.
const ONE_IN: usize = 10;

/// The stream must have lasted so long that a hop can be said to have held all of it, µs.
const LEAST_SPAN: Us = 2 * LATE;

/// The first byte waited for so much of the stream, in percent: the rest is one last event after the end.
const WHOLE: Us = 90;

/// Gaps below this do not show what a piece waits for, µs.
const LEAST_GAP: Us = 8_000;

/// Pieces of 5 of which 4 must do what a rule says.
const MOST: (usize, usize) = (4, 5);

/// The verdict.
pub fn judge(aligned: &Aligned, figures: &Figures) -> Judgement {
    let entries = &aligned.entries;
    let (late, worst) = (n_late(entries), of(entries.iter().map(|e| e.wait), 100));
    let verdict = if let Some(verdict) = whole_body(aligned, figures) {
        verdict
    } else if let Some(verdict) = one_behind(entries) {
        verdict
    } else if late * ONE_IN >= entries.len().max(1) && late > 0 {
        groups::grouped(aligned).unwrap_or_else(|| uneven(entries))
    } else if worst >= LEAST_STALL {
        held_once(entries, late, worst)
    } else {
        free(aligned)
    };
    verdict.evidence([
        ("pieces", entries.len() as f64),
        ("floor_ms", aligned.floor as f64 / 1000.0),
        ("wait_p50_ms", in_ms(of(entries.iter().map(|e| e.wait), 50))),
        ("wait_p90_ms", in_ms(of(entries.iter().map(|e| e.wait), 90))),
        ("wait_max_ms", in_ms(worst)),
    ])
}

fn n_late(entries: &[Entry]) -> usize {
    entries.iter().filter(|entry| entry.wait > LATE).count()
}

fn whole_body(aligned: &Aligned, figures: &Figures) -> Option<Judgement> {
    let (first_in, last_in) = (aligned.entries.first()?, aligned.entries.last()?);
    let (first_out, last_out) = (aligned.releases.first()?, aligned.releases.last()?);
    let span_in = last_in.at.saturating_sub(first_in.at);
    let span_out = last_out.at.saturating_sub(first_out.at);
    let is_whole = span_in >= LEAST_SPAN
        && aligned.entries.len() > 2
        && first_out.oldest >= span_in / 100 * WHOLE
        && span_out <= LATE.max(span_in / 10);
    if !is_whole {
        return None;
    }
    let at_once = match aligned.releases.len() {
        1 => "in one piece".to_owned(),
        _ => format!("within {}", time(span_out)),
    };
    let mut sentence = format!(
        "The hop let go of nothing before the answer was whole: {} went in over {}, the first waited {}, and all left \
         {at_once}.",
        count(aligned.entries.len() as u64, "chunk"),
        time(span_in),
        time(first_out.oldest),
    );
    let is_small = figures.bytes.inner < BLOCKS;
    if is_small {
        sentence += " So short an answer cannot tell a whole body from a block that never filled.";
    }
    let confidence = sure(aligned.entries.len()).min(if is_small { 0.85 } else { 1.0 });
    Some(
        Judgement::new(Word::HeldWholeBody, confidence, sentence)
            .hint(format!(
                "look between the two instances for {}",
                hints::WHOLE_BODY
            ))
            .evidence([
                ("span_in_ms", in_ms(span_in)),
                ("span_out_ms", in_ms(span_out)),
            ]),
    )
}

fn one_behind(entries: &[Entry]) -> Option<Judgement> {
    let (last, before) = entries.split_last()?;
    if before.len() < 4 {
        return None;
    }
    let after_next: Vec<i64> = entries
        .windows(2)
        .map(|two| wait(two[0].out, two[1].at))
        .collect();
    let after_own: Vec<i64> = before
        .iter()
        .map(|entry| wait(entry.out, entry.at))
        .collect();
    let gap = of(
        entries
            .windows(2)
            .map(|two| two[1].at.saturating_sub(two[0].at)),
        50,
    );
    let tolerance = AT_ONCE.max(gap / 5) as i64;
    let together = entries
        .windows(2)
        .filter(|two| two[0].out == two[1].out)
        .count();
    let own = middle(&after_own);
    // even gaps are all alike: then the last one, which has no next to wait for, tells
    let last_is_early = own - wait(last.out, last.at) >= (gap / 2) as i64;
    let is_so = gap >= LEAST_GAP
        && together * MOST.1 <= before.len()
        && mostly(&after_next, tolerance)
        && (last_is_early || !mostly(&after_own, tolerance));
    is_so.then(|| {
        let sentence = format!(
            "Each piece leaves when the next one comes: {} waited as long as the gap after it (usually {}), the last one \
             did not.",
            count(before.len() as u64, "chunk"),
            time(gap)
        );
        Judgement::new(Word::OneBehind, sure(entries.len()).min(0.9), sentence)
            .hint(
                "look for a loop in the hop that reads ahead by one: a parser that yields an event at the start of the next \
                 instead of at its blank line, an iterator that looks for the last element, a line reader that wants one \
                 more line",
            )
            .evidence([("gap_ms", in_ms(gap))])
    })
}

/// The median.
fn middle(values: &[i64]) -> i64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).copied().unwrap_or(0)
}

/// Whether most values are within `tolerance` of their median.
fn mostly(values: &[i64], tolerance: i64) -> bool {
    let middle = middle(values);
    let near = values
        .iter()
        .filter(|value| (*value - middle).abs() <= tolerance)
        .count();
    near * MOST.1 >= values.len() * MOST.0
}

/// Late at times, and yet not merged.
fn uneven(entries: &[Entry]) -> Judgement {
    let waits = |p| time(of(entries.iter().map(|entry| entry.wait), p));
    let sentence = format!(
        "Chunks waited unevenly ({} at the median, {} at the 90th percentile, {} at most) and yet left one by one: no \
         buffer does that.",
        waits(50),
        waits(90),
        waits(100)
    );
    Judgement::new(Word::Unknown, 0.6, sentence).hint(
        "look for work in the hop for each event (a guard, a rewrite), for a hop that spaces events out, or for a busy \
         machine or network",
    )
}

fn held_once(entries: &[Entry], late: usize, worst: Us) -> Judgement {
    let sentence = format!(
        "The hop paused: {} of {} waited, at most {}; the others passed.",
        late,
        count(entries.len() as u64, "chunk"),
        time(worst)
    );
    Judgement::new(Word::Coalesced, 0.6, sentence).hint(
        "look at the hop at that time: a full connection, a garbage collection, a blocked event loop, a lost packet",
    )
}

fn free(aligned: &Aligned) -> Judgement {
    let n = aligned.entries.len();
    let mut waits: Vec<Us> = aligned.entries.iter().map(|entry| entry.wait).collect();
    waits.sort_unstable();
    let above = format!(
        "of {} 9 in 10 left within {} of that",
        count(n as u64, "chunk"),
        time(percentile(&waits, 90).unwrap_or(0))
    );
    let floor = aligned.floor.max(0) as Us;
    let by_events = match aligned.unit {
        Unit::Bytes => "",
        Unit::Events => " (the bytes differ, so events were compared)",
    };
    if floor >= SLOW {
        let sentence = format!(
            "The hop adds {} to everything, on the way of the request, of the answer or of both, and holds nothing else: \
             {above}{by_events}.",
            time(floor)
        );
        Judgement::new(Word::ConstantDelay, sure(n).min(0.9), sentence).hint(CONSTANT)
    } else {
        let sentence = format!(
            "Nothing was held: the way through the hop takes {}, and {above}{by_events}.",
            time(floor)
        );
        Judgement::new(Word::Passed, sure(n), sentence)
    }
}
