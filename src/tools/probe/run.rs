//! One run: a request, its record, and the few figures that rows and tables are made of.

use crate::observe::record::{End, RequestRecord, Timing, token_gaps};

/// Which way a request went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// To the URL itself.
    Direct,
    /// Through the proxy of `--via`.
    Through,
}

impl Side {
    pub fn name(self) -> &'static str {
        match self {
            Side::Direct => "direct",
            Side::Through => "through",
        }
    }
}

/// A request that was sent, and what became of it.
#[derive(Debug, Clone)]
pub(super) struct Run {
    /// From 1; `None` for a warm-up.
    pub number: Option<u64>,
    pub side: Side,
    pub record: RequestRecord,
    /// Between token events, ms.
    pub gaps: Vec<f64>,
}

impl Run {
    /// Takes the gaps out of the record's timeline, and the timeline too unless it is to be kept.
    pub fn new(number: Option<u64>, side: Side, mut record: RequestRecord, keep: bool) -> Run {
        let gaps = token_gaps(record.timeline.as_deref().unwrap_or_default()).collect();
        if !keep {
            record.timeline = None;
        }
        Run {
            number,
            side,
            record,
            gaps,
        }
    }

    /// A warm-up, or the first request after a long pause: never beside the warm ones.
    pub fn is_cold(&self) -> bool {
        self.number.is_none() || self.record.load.cold
    }

    /// Whether the answer came whole.
    pub fn is_whole(&self) -> bool {
        self.record.end == End::Complete
    }

    /// What it is called in a row, such as `3` or `warm-up`.
    pub fn name(&self) -> String {
        match self.number {
            None => "warm-up".to_owned(),
            Some(number) if self.is_cold() => format!("{number} cold"),
            Some(number) => number.to_string(),
        }
    }

    /// The record's [`tps_after_first`].
    pub fn tps_after_first(&self) -> Option<f64> {
        tps_after_first(&self.record)
    }
}

/// (Token events − 1) ÷ (last − first token), per second. Nothing where all came as one burst: a
/// speed means nothing there.
pub(in crate::tools) fn tps_after_first(record: &RequestRecord) -> Option<f64> {
    let in_one_piece = |timing| timing == Timing::WholeBodyBurst;
    if record
        .verdict
        .as_ref()
        .is_some_and(|v| in_one_piece(v.timing))
    {
        return None;
    }
    let events = record.counts.token_events?.checked_sub(1)?;
    let ms = record.at.last_token_ms? - record.at.first_token_ms?;
    (events > 0 && ms > 0.0).then(|| rounded(events as f64 / ms * 1000.0, 3))
}

/// Milliseconds of a record as seconds, to the µs.
pub(super) fn seconds(ms: Option<f64>) -> Option<f64> {
    ms.map(|ms| rounded(ms / 1000.0, 6))
}

fn rounded(value: f64, digits: i32) -> f64 {
    let scale = 10_f64.powi(digits);
    (value * scale).round() / scale
}

/// Runs to try things on: so many ms to the first token, made of the simulated server's stall.
#[cfg(test)]
pub(super) fn sample(number: Option<u64>, ttft_ms: f64) -> Run {
    let mut record = crate::tools::logs::sample();
    let later = ttft_ms - record.ttft_ms.unwrap();
    record.ttft_ms = Some(ttft_ms);
    for mark in [
        &mut record.at.first_token_ms,
        &mut record.at.last_token_ms,
        &mut record.at.end_ms,
    ] {
        *mark = mark.map(|ms| rounded(ms + later, 3));
    }
    record.load.cold = false;
    record.upstream.name = Some("127.0.0.1:8000".to_owned());
    Run {
        number,
        side: Side::Direct,
        record,
        gaps: vec![20.0, 20.5, 1020.0],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warm_ups_and_cold_starts_are_marked() {
        assert!(sample(None, 80.0).is_cold());
        let mut run = sample(Some(1), 80.0);
        assert!(!run.is_cold() && run.name() == "1");
        run.record.load.cold = true;
        assert!(run.is_cold() && run.name() == "1 cold");
    }

    #[test]
    fn a_speed_is_of_what_came_after_the_first_and_of_no_burst() {
        let mut run = sample(Some(1), 80.89);
        let (events, at) = (run.record.counts.token_events, run.record.at.clone());
        let expected = (events.unwrap() - 1) as f64
            / (at.last_token_ms.unwrap() - at.first_token_ms.unwrap())
            * 1000.0;
        assert!((run.tps_after_first().unwrap() - expected).abs() < 0.001);
        run.record.counts.token_events = Some(1);
        assert_eq!(run.tps_after_first(), None);
        let mut run = sample(Some(1), 80.89);
        run.record.verdict.as_mut().unwrap().timing = Timing::WholeBodyBurst;
        assert_eq!(run.tps_after_first(), None);
    }

    #[test]
    fn seconds_are_exact_to_the_microsecond() {
        assert_eq!(seconds(Some(80.891)), Some(0.080891));
        assert_eq!(seconds(None), None);
    }
}
