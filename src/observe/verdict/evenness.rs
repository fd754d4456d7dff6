//! What no rule explains: steady where the gaps are even, else irregular.

use super::engine::FASTEST;
use super::facts::{Facts, Unit};
use super::in_steps;
use super::words::{count, range, time};
use crate::observe::record::{Side, Timing, Verdict};
use crate::observe::stats::{Us, in_ms};
use crate::observe::timeline::LEAST_STALL;

/// Gaps of a healthy stream differ (several tokens per event, a busy machine), but nine of ten are
/// below this many times the median.
pub const SPREAD: Us = 5;

/// Gaps beyond that spread take at most this part of the stream's time. Few large ones among many
/// tiny ones are groups, however their parts are spaced.
pub const PART_IN_LARGE: Us = 4;

/// Steps per burst and choice, on average. More is not one by one.
const ONE_BY_ONE: f64 = 1.5;

/// The same for a stream of few gaps, where one pair is already a good part of it.
const ONE_BY_ONE_OF_FEW: f64 = 1.2;

/// What few gaps are.
const FEW: u64 = 8;

/// Where usual gaps are not above the noise of a read, reads tell more than gaps, µs.
const FAST: Us = 3_000;

/// So many steps per choice in one burst were held, if making them takes as long as a stall. At the
/// start of a stream no gap tells of it.
const LUMP: u64 = 3;

/// Gaps from which a body can be called steady.
const LEAST_GAPS: u64 = 2;

/// How sure one can be of a stream of which only the beginning was kept step by step: groups in
/// the rest are seen in its gaps alone.
const SURE_OF_BEGINNING: f64 = 0.6;

/// How sure one can be of an engine whose steps are a timer's as well.
const OR_A_TIMER: f64 = 0.5;

/// Whether the gaps are even.
pub fn is_even(facts: &Facts<'_>) -> bool {
    let gaps = facts.gaps();
    if gaps.n() == 0 {
        return true;
    }
    let Some(usual) = gaps.median_non_zero() else {
        return false;
    };
    if !facts.summary.stalls.is_empty() {
        return false;
    }
    if facts.is_in_steps() {
        return true;
    }
    let few = gaps.n() < FEW;
    let is_fast = !few && usual <= FAST && gaps.sum() >= gaps.n() * FASTEST;
    let together = if is_fast {
        facts.steps_per_read()
    } else {
        facts.steps_per_burst()
    };
    let allowed = if few { ONE_BY_ONE_OF_FEW } else { ONE_BY_ONE };
    let p90 = gaps.percentile(90).unwrap_or(0);
    together <= allowed
        && p90 <= SPREAD * usual
        && gaps.sum_above(SPREAD * usual) * PART_IN_LARGE <= gaps.sum()
        && (is_fast || !has_lump(facts, usual))
}

fn has_lump(facts: &Facts<'_>, usual: Us) -> bool {
    let lump = facts.steps_by_burst().max().unwrap_or(0) / facts.choices();
    lump >= LUMP && lump * usual >= LEAST_STALL
}

/// What a sentence about the time before an even body says of the body.
pub fn steady_then(facts: &Facts<'_>) -> &'static str {
    if facts.gaps().n() >= LEAST_GAPS {
        ", and the body was steady then"
    } else {
        ""
    }
}

/// How sure so many gaps make one, those within a read not counted.
pub fn confidence(facts: &Facts<'_>) -> f64 {
    match facts.gaps().n().min(facts.n_reads().saturating_sub(1)) {
        0 => 0.2,
        1..4 => 0.4,
        4..8 => 0.6,
        _ if !facts.is_kept_whole() => SURE_OF_BEGINNING,
        8..20 => 0.9,
        _ => 0.95,
    }
}

fn shown(steps: Option<u64>) -> String {
    steps.unwrap_or(0).to_string()
}

/// The verdict where no rule fired.
pub fn judge(facts: &Facts<'_>) -> Verdict {
    let (gaps, n) = (facts.gaps(), facts.n());
    let unit = match facts.unit() {
        Unit::Token => "token event",
        Unit::Event => "event",
        Unit::Chunk => "chunk",
    };
    let even = is_even(facts);
    let figures = match (gaps.percentile(50), gaps.percentile(90), gaps.max()) {
        (Some(p50), Some(p90), Some(max)) => format!(
            "{}, gaps {} at the median, {} at the 90th percentile, {} at most",
            count(n, unit),
            time(p50),
            time(p90),
            time(max)
        ),
        _ => count(n, unit),
    };
    let (mut figures, mut doubt) = (figures, None);
    if even && facts.steps_per_burst() > ONE_BY_ONE {
        let at_once = facts.steps_by_burst();
        let (least, most) = (at_once.clone().min(), at_once.max());
        let range = range(shown(least), shown(most));
        figures += &format!(", {range} at a time as an engine that speculates gives them");
        doubt = in_steps::timer_as_well(facts);
    }
    let ending = match (even, gaps.n()) {
        _ if facts.n() > 1 && gaps.max() == Some(0) => ": all at once, and too few to tell more.",
        (_, 0..4) => ": too few to tell much.",
        (true, _) => ".",
        (false, _) => ": uneven, and no rule fits.",
    };
    let measured = [
        ("gap_p50_ms", gaps.percentile(50)),
        ("gap_p90_ms", gaps.percentile(90)),
        ("gap_max_ms", gaps.max()),
    ];
    let mut numbers = vec![("gaps", gaps.n() as f64)];
    numbers.extend(
        measured
            .into_iter()
            .filter_map(|(name, gap)| Some((name, in_ms(gap?)))),
    );
    Verdict {
        timing: if even {
            Timing::Steady
        } else {
            Timing::Irregular
        },
        side: match even {
            true => None,
            false if gaps.max() == Some(0) => Some(Side::Unknown),
            false => Some(Side::Upstream),
        },
        confidence: confidence(facts).min(match (even, &doubt) {
            (true, None) => 1.0,
            (true, Some(_)) => OR_A_TIMER,
            (false, _) => 0.7,
        }),
        summary: figures + ending + &doubt.unwrap_or_default(),
        evidence: super::evidence(numbers),
        cut: None,
        findings: Vec::new(),
    }
}
