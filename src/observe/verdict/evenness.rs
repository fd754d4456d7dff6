//! What no rule explains: steady where the gaps are even, else irregular.

use super::facts::{Facts, Unit};
use super::words::{count, time};
use crate::observe::record::{Side, Timing, Verdict};
use crate::observe::stats::{Us, in_ms};

/// Gaps of a healthy stream differ (several tokens per event, a busy machine), but nine of ten are
/// below this many times the median.
const SPREAD: Us = 5;

/// Gaps beyond that spread take at most this part of the stream's time. Few large ones among many
/// tiny ones are groups, however their parts are spaced.
const PART_IN_LARGE: Us = 4;

/// Steps per burst and choice, on average. More is not one by one.
const ONE_BY_ONE: f64 = 1.5;

/// The same for a stream of few gaps, where one pair is already a good part of it.
const ONE_BY_ONE_OF_FEW: f64 = 1.2;

/// What few gaps are.
const FEW: u64 = 8;

/// Where usual gaps are not above the noise of a read, reads tell more than gaps, µs.
const FAST: Us = 3_000;

/// No engine makes the steps of one stream faster than this, µs: at 4,000 a second and more they
/// are let go, not made.
pub const FASTEST: Us = 250;

/// Whether the gaps are even.
pub fn is_even(facts: &Facts<'_>) -> bool {
    let gaps = facts.gaps();
    if gaps.n() == 0 {
        return true;
    }
    let Some(usual) = gaps.median_non_zero() else {
        return false;
    };
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
        && facts.summary.stalls.is_empty()
}

/// How sure so many gaps make one.
pub fn confidence(facts: &Facts<'_>) -> f64 {
    match facts.gaps().n() {
        0 => 0.2,
        1..4 => 0.4,
        4..8 => 0.6,
        8..20 => 0.8,
        _ => 0.95,
    }
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
    let ending = match (even, gaps.n()) {
        (_, 0..4) => ": too few to tell much.",
        (true, _) => ".",
        (false, _) => ": uneven, and no rule fits.",
    };
    Verdict {
        timing: if even {
            Timing::Steady
        } else {
            Timing::Irregular
        },
        side: (!even).then_some(Side::Upstream),
        confidence: confidence(facts).min(if even { 1.0 } else { 0.7 }),
        summary: figures + ending,
        evidence: super::evidence(vec![
            ("gaps", gaps.n() as f64),
            ("gap_p50_ms", gaps.percentile(50).map_or(0.0, in_ms)),
            ("gap_p90_ms", gaps.percentile(90).map_or(0.0, in_ms)),
            ("gap_max_ms", gaps.max().map_or(0.0, in_ms)),
        ]),
        cut: None,
        findings: Vec::new(),
    }
}
