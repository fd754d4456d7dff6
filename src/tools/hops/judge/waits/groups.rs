//! Several that went in apart left together: what of their bytes, period and number is constant names the buffer.

use super::LEAST_GAP;
use crate::observe::bursts::Burst;
use crate::observe::stats::Us;
use crate::observe::verdict::hints;
use crate::observe::verdict::rhythm::{AT_ONCE, Constant, Found, Rhythm};
use crate::observe::verdict::spread::Spread;
use crate::observe::verdict::words::{bytes, count, time};
use crate::tools::hops::align::{Aligned, Release};
use crate::tools::hops::judge::{Judgement, Word, in_ms, of};

/// Fewer pieces out than in by this factor were merged.
const MERGED: f64 = 1.5;

/// How sure the way in which groups are let go makes one, and their number if nothing else is as constant.
const BY_TRIGGER: f64 = 0.8;
const BY_COUNT: f64 = 0.7;

/// Waits that deviate by no more, in µs or as a part of the stream's gaps, are constant.
const EXACT_WAIT: f64 = 2_000.0;
const PART_OF_GAP: f64 = 0.1;
const FAR_MORE: f64 = 3.0;

/// Groups whose bytes differ by so much of an event are no equal blocks if their number of events is always the same.
const UNLIKE: f64 = 0.3;

/// Runs of things that came at once.
fn runs<T: Copy>(things: &[T], at: impl Fn(T) -> Us) -> Vec<Vec<T>> {
    let mut runs: Vec<Vec<T>> = Vec::new();
    for &thing in things {
        match runs.last_mut() {
            Some(run)
                if run
                    .last()
                    .is_some_and(|&last| at(thing).saturating_sub(at(last)) <= AT_ONCE) =>
            {
                run.push(thing)
            }
            _ => runs.push(vec![thing]),
        }
    }
    runs
}

/// Several that went in apart left together.
pub(super) fn grouped(aligned: &Aligned) -> Option<Judgement> {
    let went_in = runs(&aligned.entries, |entry| entry.at);
    let came_out = runs(&aligned.releases, |release| release.at);
    if (went_in.len() as f64) < came_out.len() as f64 * MERGED {
        return None;
    }
    let bursts: Vec<Burst> = came_out.iter().map(|run| burst(run)).collect();
    let gap = of(
        went_in
            .windows(2)
            .map(|two| two[1][0].at.saturating_sub(two[0][0].at)),
        50,
    );
    // the last group leaves because the stream ends
    let full = &came_out[..came_out.len() - 1];
    let newest: Vec<Us> = full
        .iter()
        .filter_map(|run| Some(run.last()?.newest))
        .collect();
    let first_waits = Spread::of(
        full.iter()
            .filter_map(|run| Some(run.first()?.oldest as f64)),
    );
    let found = Rhythm::of_any(&bursts).and_then(|rhythm| {
        if is_timed_from_first(&rhythm, &first_waits, gap) {
            return Some((rhythm, Lets::AfterFirst, BY_TRIGGER, None));
        }
        let found = rhythm.constant(false)?;
        let (constant, confidence) = told(&rhythm, found, gap, &newest);
        let rival = [Some(found.constant), found.rival]
            .into_iter()
            .flatten()
            .find(|rival| *rival != constant);
        Some((rhythm, Lets::of(constant), confidence, rival))
    });
    let oldest = of(aligned.releases.iter().map(|release| release.oldest), 50);
    let waited = format!(
        "in half of them the oldest byte had waited {} or more, at most {}",
        time(oldest),
        time(of(
            aligned.releases.iter().map(|release| release.oldest),
            100
        ))
    );
    let Some((rhythm, lets, confidence, rival)) = found else {
        return Some(coalesced(aligned, came_out.len(), &waited));
    };
    let period = time(rhythm.period.mean as Us);
    let (word, what, hint) = match lets {
        Lets::Bytes => (
            Word::HeldBlocks,
            format!(
                "lets go of {} at a time ({} full blocks, {}), one every {period}",
                bytes(rhythm.bytes.mean),
                rhythm.n,
                apart(&rhythm.bytes)
            ),
            format!("a buffer of this size: {}", hints::BLOCKS),
        ),
        Lets::Period => (
            Word::HeldTicks,
            format!(
                "lets go every {period} ({} times, the period varies by {} %) of what has come since",
                rhythm.n,
                rhythm.period_percent()
            ),
            format!("a timer of this period: {}", hints::TICKS),
        ),
        Lets::AfterFirst => (
            Word::HeldTicks,
            format!(
                "lets go {} after the first of what it holds has come ({} times, no more than {} apart)",
                time(first_waits.mean as Us),
                rhythm.n,
                time(first_waits.range() as Us)
            ),
            format!("a timer of this length: {}", hints::TICKS),
        ),
        Lets::Count => (
            Word::HeldCounts,
            format!(
                "lets go of {:.0} events at a time ({} times), one group every {period}",
                rhythm.steps.mean, rhythm.n
            ),
            format!("what gathers so many events: {}", hints::COUNTS),
        ),
    };
    Some(
        Judgement::new(
            word,
            confidence,
            format!("The hop {what}: {waited}.{}", also(rival)),
        )
        .hint(format!("look between the two instances for {hint}"))
        .evidence(rhythm.evidence())
        .evidence([("newest_wait_p50_ms", in_ms(of(newest.into_iter(), 50)))]),
    )
}

/// What a hop waits for.
enum Lets {
    Bytes,
    Period,
    Count,
    AfterFirst,
}

impl Lets {
    fn of(constant: Constant) -> Lets {
        match constant {
            Constant::Bytes => Lets::Bytes,
            Constant::Period => Lets::Period,
            Constant::Count => Lets::Count,
        }
    }
}

/// A timer that starts with the first byte that is held, as a cork does: the groups have no constant period, but their first
/// bytes all waited as long.
fn is_timed_from_first(rhythm: &Rhythm, first_waits: &Spread, gap: Us) -> bool {
    let is_unlike = rhythm.bytes.range() >= UNLIKE * rhythm.event_bytes();
    // where the number is constant as well, the waits must be far more so than the times between the groups
    let is_the_constant =
        rhythm.steps.range() > 0.0 || rhythm.period.deviation >= FAR_MORE * first_waits.deviation;
    let allowed = EXACT_WAIT.max(gap as f64 * PART_OF_GAP);
    is_unlike
        && is_the_constant
        && first_waits.mean > 2.0 * gap as f64
        && first_waits.deviation <= allowed
}

fn also(rival: Option<Constant>) -> &'static str {
    match rival {
        None => "",
        Some(Constant::Bytes) => " Their size is as constant, so a buffer that fills fits as well.",
        Some(Constant::Period) => " The period is as constant, so a timer fits as well.",
        Some(Constant::Count) => {
            " Their number of events is as constant, so what counts them fits as well."
        }
    }
}

/// What else speaks for one constant where several fit: how the groups were let go, which one vantage point cannot see.
fn told(rhythm: &Rhythm, found: Found, gap: Us, newest: &[Us]) -> (Constant, f64) {
    let fits = |what| found.constant == what || found.rival == Some(what);
    let wait = |p| of(newest.iter().copied(), p);
    // a timer lets go at any moment between two events, the others when one comes
    let is_timed = gap >= LEAST_GAP && wait(75) - wait(25) >= gap / 4;
    let is_prompt = gap >= LEAST_GAP && wait(75) <= AT_ONCE;
    if is_timed && fits(Constant::Period) {
        return (Constant::Period, found.confidence.max(BY_TRIGGER));
    }
    // a buffer that fills would have one event more or less now and then
    let is_counted =
        rhythm.steps.range() == 0.0 && rhythm.bytes.range() >= UNLIKE * rhythm.event_bytes();
    if is_prompt && is_counted && fits(Constant::Bytes) {
        return (Constant::Count, BY_COUNT);
    }
    match (found.constant, found.rival) {
        (Constant::Period, Some(rival)) if is_prompt && found.confidence < BY_TRIGGER => {
            (rival, found.confidence)
        }
        (constant, Some(Constant::Period)) if is_prompt => {
            (constant, found.confidence.max(BY_TRIGGER))
        }
        (constant, _) => (constant, found.confidence),
    }
}

fn burst(run: &[Release]) -> Burst {
    Burst {
        start: run.first().map_or(0, |release| release.at),
        end: run.last().map_or(0, |release| release.at),
        events: run.iter().map(|release| release.events).sum(),
        tokens: 0,
        bytes: run.iter().map(|release| release.bytes).sum(),
    }
}

fn apart(bytes_each: &Spread) -> String {
    match bytes_each.range() {
        0.0 => "equal to the byte".to_owned(),
        range => format!("no more than {} apart", bytes(range)),
    }
}

fn coalesced(aligned: &Aligned, groups: usize, waited: &str) -> Judgement {
    let sentence = format!(
        "The hop merged {} into {}, of which neither size nor period nor number of events is constant: {waited}.",
        count(aligned.entries.len() as u64, "chunk"),
        count(groups as u64, "group")
    );
    let confidence = if groups >= 4 { 0.8 } else { 0.6 };
    Judgement::new(Word::Coalesced, confidence, sentence)
        .hint(format!(
            "look between the two instances for {}",
            hints::COALESCED
        ))
        .evidence([("groups", groups as f64)])
}
