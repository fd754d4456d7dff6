//! The names of figures: `ttft_p95`, `gap_p99`, `gap_p99_p50`, `tps`, `stalls`, `errors`, `stalled`, `verdict`.

use super::SHAPE;

/// A time that each run has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// First token event.
    Ttft,
    /// First token event of the answer.
    Ttfa,
    /// End of the body.
    Total,
    /// Between token events: each run has its own percentiles and its own longest.
    Gap(Of),
}

/// A part of all runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Share {
    /// Those that failed.
    Errors,
    /// Those with a stall.
    Stalled,
}

/// Which of many values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Of {
    /// The least.
    Min,
    /// A percentile: 1 to 99.
    Percentile(usize),
    /// The greatest.
    Max,
}

/// What a name stands for, without which of the runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Named {
    Time(Quantity),
    Tps,
    Stalls,
    Share(Share),
    Verdict,
}

/// Percentiles that a record has of its gaps.
const OF_GAPS: [Of; 4] = [
    Of::Percentile(50),
    Of::Percentile(90),
    Of::Percentile(99),
    Of::Max,
];

/// What `text` stands for, and which of the runs it says, if it says so.
pub(super) fn name(text: &str) -> Result<(Named, Option<Of>), String> {
    let unknown = || format!("'{text}' is no figure; {SHAPE}");
    let (first, rest) = text.split_once('_').unwrap_or((text, ""));
    let over = |rest: &str| match rest {
        "" => Ok(None),
        rest => of(rest).map(Some).ok_or_else(unknown),
    };
    let alone = |named| match rest {
        "" => Ok((named, None)),
        _ => Err(unknown()),
    };
    let time = |quantity| match over(rest)? {
        None => Err(format!(
            "which {text} of several? write {text}_p95, {text}_p50 or {text}_max"
        )),
        over => Ok((Named::Time(quantity), over)),
    };
    match first {
        "ttft" => time(Quantity::Ttft),
        "ttfa" => time(Quantity::Ttfa),
        "total" => time(Quantity::Total),
        "gap" => {
            let (own, rest) = rest.split_once('_').unwrap_or((rest, ""));
            let own = of(own)
                .filter(|own| OF_GAPS.contains(own))
                .ok_or("a record has gap_p50, gap_p90, gap_p99 and gap_max; write one of these")?;
            Ok((Named::Time(Quantity::Gap(own)), over(rest)?))
        }
        "tps" => Ok((Named::Tps, over(rest)?)),
        "stalls" => alone(Named::Stalls),
        "errors" => alone(Named::Share(Share::Errors)),
        "stalled" => alone(Named::Share(Share::Stalled)),
        "verdict" => alone(Named::Verdict),
        _ => Err(unknown()),
    }
}

fn of(text: &str) -> Option<Of> {
    match text {
        "max" => Some(Of::Max),
        "min" => Some(Of::Min),
        _ => {
            let percentile = text.strip_prefix('p')?.parse().ok()?;
            (1..=99)
                .contains(&percentile)
                .then_some(Of::Percentile(percentile))
        }
    }
}
