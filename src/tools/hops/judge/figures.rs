//! The verdict without timelines, from the figures of both records. Nothing makes tokens closer together on average
//! without having held some: where gaps fall and TTFT rises while the end stays, the hop held. What it waited for is told
//! by the rhythm that each side's own verdict found. All of it is less sure than what timelines show.

use super::{CONSTANT, Judgement, LATE, SLOW, Word, in_ms};
use crate::observe::record::{RequestRecord, Timing};
use crate::observe::stats::Us;
use crate::observe::verdict::hints;
use crate::observe::verdict::words::time;
use crate::tools::hops::compare::Figures;
use crate::tools::hops::ends::Ending;

/// What figures alone can make sure.
const SURE: f64 = 0.6;
/// What they only suggest.
const LIKELY: f64 = 0.4;

/// What tells more.
const RECORD: &str =
    "a --timeline on both sides shows each wait, where the bodies have bytes or events in common";

/// The hop held the first token by so much of the stream's length, at least.
const PART: f64 = 0.1;

/// The verdict.
pub fn judge(
    inner: &RequestRecord,
    outer: &RequestRecord,
    figures: &Figures,
    reason: &str,
) -> Judgement {
    let verdict = found(inner, outer, figures, reason);
    let numbers = [
        ("ttft_added_ms", figures.ttft_added_ms),
        ("last_token_added_ms", figures.last_token_added_ms),
        ("end_added_ms", figures.end_added_ms),
    ];
    verdict.evidence(
        numbers
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?))),
    )
}

fn found(
    inner: &RequestRecord,
    outer: &RequestRecord,
    figures: &Figures,
    reason: &str,
) -> Judgement {
    let ending = Ending::of(inner, outer);
    let first = figures.ttft_added_ms.or(figures.first_byte_added_ms);
    if ending.is_of_part(inner, outer) {
        return part(first, reason);
    }
    // a hop that ended first ended the same tokens
    let end = match ending {
        Ending::Before(_) => figures.last_token_added_ms,
        _ => figures.end_added_ms,
    };
    let (Some(first), Some(last), Some(end)) = (first, figures.last_token_added_ms.or(end), end)
    else {
        return unknown(format!(
            "It cannot be told: {reason}, and one side has no first or no last token."
        ));
    };
    let span = |record: &RequestRecord| {
        let first = record.ttft_ms.or(record.at.first_byte_ms)?;
        let last = record.at.last_token_ms.or(record.at.end_ms)?;
        Some(last - first)
    };
    let (span_in, span_out) = (span(inner).unwrap_or(0.0), span(outer).unwrap_or(0.0));
    let without =
        format!(" No byte's wait is known ({reason}), so this is as much as can be told.");
    let squeezed = first - last;
    if squeezed >= in_ms(LATE).max(span_in * PART) {
        return held(outer, inner, figures, span_in, span_out, &without);
    }
    // one event behind all the way: each waits for what follows it, and the end for nothing
    let gap = figures.gaps.inner.p50_ms.unwrap_or(0.0);
    let behind = first - end;
    let merged = match (
        figures.events_per_chunk.inner,
        figures.events_per_chunk.outer,
    ) {
        (Some(before), Some(after)) => after / before.max(1.0),
        _ => 1.0,
    };
    let median_fell = matches!(
        (figures.gaps.inner.p50_ms, figures.gaps.outer.p50_ms),
        (Some(before), Some(after)) if before >= in_ms(LATE) && after * 2.0 <= before
    );
    if merged >= 2.0 && median_fell {
        return held(outer, inner, figures, span_in, span_out, &without);
    }
    if gap >= in_ms(LATE) && (behind - gap).abs() <= (gap / 4.0).max(3.0) && merged < 1.5 {
        let sentence = format!(
            "The first token came later by {}, which is one gap ({}), and the end did not: each event seems to leave when \
             the next one comes.{without}",
            time(us(first)),
            time(us(gap))
        );
        return Judgement::new(Word::OneBehind, LIKELY, sentence).hint(
            "look for a loop that reads ahead by one; a --timeline on both sides shows each wait",
        );
    }
    if behind > in_ms(LATE) {
        return unknown(format!(
            "The first token came later by {}, the end by {}: the hop held the beginning, and it cannot be told how \
             far.{without}",
            time(us(first)),
            time(us(end))
        ))
        .hint(RECORD);
    }
    let longest = |of: crate::tools::hops::compare::GapFigures| of.max_ms.unwrap_or(0.0);
    let grew = longest(figures.gaps.outer) - longest(figures.gaps.inner);
    if grew > in_ms(SLOW) {
        return unknown(format!(
            "The longest gap grew by {}, and neither a wait for the end nor merged events explain it.{without}",
            time(us(grew))
        ))
        .hint(RECORD);
    }
    let least = first.min(end).max(0.0);
    if least >= in_ms(SLOW) {
        let sentence = format!(
            "First token and end both came later by {} or more, and the gaps are the same: a constant delay of the request, \
             of the answer or of both.{without}",
            time(us(least))
        );
        return Judgement::new(Word::ConstantDelay, SURE, sentence).hint(CONSTANT);
    }
    let sentence = format!(
        "First token ({:+.1} ms), end ({end:+.1} ms) and gaps are the same on both sides of the hop.{without}",
        first
    );
    Judgement::new(Word::Passed, SURE, sentence)
}

/// An answer that is not whole on both sides: the tokens of one have none to be compared with.
fn part(first: Option<f64>, reason: &str) -> Judgement {
    let late = first.map_or(String::new(), |ms| {
        format!(" The first token came later by {}.", time(us(ms)))
    });
    unknown(format!(
        "One side has only a part of the answer, and no byte's wait is known ({reason}), so what the hop held cannot be \
         told.{late}"
    ))
    .hint(RECORD)
}

fn held(
    outer: &RequestRecord,
    inner: &RequestRecord,
    figures: &Figures,
    span_in: f64,
    span_out: f64,
    without: &str,
) -> Judgement {
    let timing = |record: &RequestRecord| record.verdict.as_ref().map(|verdict| verdict.timing);
    let behind = timing(outer).filter(|now| timing(inner) != Some(*now));
    let is_whole = span_out * 10.0 <= span_in;
    let (word, hint) = match behind {
        _ if is_whole => (Word::HeldWholeBody, hints::WHOLE_BODY.to_owned()),
        Some(Timing::BlockBurst) => (Word::HeldBlocks, hints::BLOCKS.to_owned()),
        Some(Timing::TickBurst) => (Word::HeldTicks, hints::TICKS.to_owned()),
        Some(Timing::CountBurst) => (Word::HeldCounts, hints::COUNTS.to_owned()),
        _ => (Word::Coalesced, hints::COALESCED.to_owned()),
    };
    let say = |ms: Option<f64>| ms.map_or("–".to_owned(), |ms| time(us(ms)));
    let mut sentence = format!(
        "The tokens span {} before the hop and {} behind it, the first came later by {}, the last by {}, and the median gap \
         went from {} to {}: the hop held them.",
        time(us(span_in)),
        time(us(span_out)),
        say(figures.ttft_added_ms.or(figures.first_byte_added_ms)),
        say(figures.last_token_added_ms.or(figures.end_added_ms)),
        say(figures.gaps.inner.p50_ms),
        say(figures.gaps.outer.p50_ms),
    );
    if let (false, Some(verdict)) = (is_whole, behind.and(outer.verdict.as_ref())) {
        sentence += &format!(" The outer verdict: {}", verdict.summary);
    }
    sentence += without;
    Judgement::new(word, SURE, sentence).hint(format!("look between the two instances for {hint}"))
}

fn unknown(sentence: String) -> Judgement {
    Judgement::new(Word::Unknown, 0.5, sentence)
}

fn us(ms: f64) -> Us {
    // saturates: below zero is zero
    (ms * 1000.0) as Us
}
