//! What the API says of a request: a row of what has ended, and of what is open.

use serde::Serialize;

use super::recent::Ended;
use crate::observe::drip::Tick;
use crate::observe::phases::Phase;
use crate::observe::record::{End, Side, Timing};
use crate::observe::stats::Us;
use crate::relay::running::{Open, Seen};

/// When a tick's first chunk came (ms from `t0`), and events in it; where it is of several chunks, also when the last came.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(untagged)]
pub enum JsonTick {
    /// One chunk.
    One(f64, u32),
    /// Several.
    Several(f64, u32, f64),
}

impl From<&Tick> for JsonTick {
    fn from(tick: &Tick) -> Self {
        match tick.at == tick.last {
            true => JsonTick::One(tick.at_ms(), tick.events),
            false => JsonTick::Several(tick.at_ms(), tick.events, tick.last_ms()),
        }
    }
}

/// A part of a request, ms from its start.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JsonPhase {
    name: &'static str,
    from_ms: f64,
    to_ms: f64,
    /// It ended because the request did: what was waited for never came.
    in_vain: bool,
}

impl From<&Phase> for JsonPhase {
    fn from(phase: &Phase) -> Self {
        JsonPhase {
            name: phase.name,
            from_ms: ms(phase.from),
            to_ms: ms(phase.to),
            in_vain: phase.is_vain,
        }
    }
}

fn ms(us: Us) -> f64 {
    us as f64 / 1000.0
}

/// A request that has ended. Names are those of the record; what was not measured is `null`.
#[derive(Debug, Serialize)]
pub struct EndedRow<'a> {
    /// Its number in this process, from 1.
    pub number: u64,
    id: &'a str,
    started_at: &'a str,
    method: Option<&'a str>,
    path: Option<&'a str>,
    model: Option<&'a str>,
    upstream: Option<&'a str>,
    status: Option<u16>,
    end: End,
    timing: Option<Timing>,
    #[serde(rename = "where")]
    side: Option<Side>,
    confidence: Option<f64>,
    cold: bool,
    in_flight: u64,
    ttft_ms: Option<f64>,
    gap_p50_ms: Option<f64>,
    gap_p99_ms: Option<f64>,
    gap_max_ms: Option<f64>,
    end_ms: Option<f64>,
    token_events: Option<u64>,
    chunks: u64,
    bytes: u64,
    /// When each of the worst ended, and how long it was, ms; the longest first.
    stalls: Vec<(f64, f64)>,
    hold_p99_us: Option<u64>,
    /// `null` where they were not asked for.
    ticks: Option<Vec<JsonTick>>,
}

impl<'a> EndedRow<'a> {
    /// The row of a request, with its ticks or not.
    pub fn of(ended: &'a Ended, with_ticks: bool) -> Self {
        let record = &*ended.record;
        let verdict = record.verdict.as_ref();
        EndedRow {
            number: ended.number,
            id: &record.id,
            started_at: &record.started_at,
            method: record.request.method.as_deref(),
            path: record.request.path.as_deref(),
            model: record.request.model.as_deref(),
            upstream: record.upstream.name.as_deref(),
            status: record.response.status,
            end: record.end,
            timing: verdict.map(|verdict| verdict.timing),
            side: verdict.and_then(|verdict| verdict.side),
            confidence: verdict.map(|verdict| verdict.confidence),
            cold: record.load.cold,
            in_flight: record.load.in_flight,
            ttft_ms: record.ttft_ms,
            gap_p50_ms: record.gaps.token.p50_ms,
            gap_p99_ms: record.gaps.token.p99_ms,
            gap_max_ms: record.gaps.token.max_ms,
            end_ms: record.at.end_ms,
            token_events: record.counts.token_events,
            chunks: record.counts.chunks,
            bytes: record.counts.bytes,
            stalls: record
                .stalls
                .iter()
                .map(|stall| (stall.at_ms, stall.gap_ms))
                .collect(),
            hold_p99_us: record.hold.p99_us,
            ticks: with_ticks.then(|| ended.drip.ticks().iter().map(JsonTick::from).collect()),
        }
    }
}

/// What an open request waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Waits {
    /// The upstream has not taken the request yet.
    Sending,
    /// No response header yet.
    Header,
    /// No token yet.
    FirstToken,
    /// More.
    Stream,
}

/// A request that is open. Times are ms.
#[derive(Debug, Serialize)]
pub struct OpenRow {
    id: String,
    started_at: String,
    method: String,
    path: String,
    model: Option<String>,
    cold: bool,
    in_flight: u64,
    waits_for: Waits,
    age_ms: f64,
    /// Since the upstream last gave a sign of life, or took the request.
    silence_ms: Option<f64>,
    ttft_ms: Option<f64>,
    chunks: u64,
    events: u64,
    token_events: u64,
    /// Ticks that were given before and still stand.
    ticks_before: usize,
    ticks: Vec<JsonTick>,
}

impl OpenRow {
    /// How far it is, with its ticks but for so many.
    pub fn of(open: &Open, seen: Seen, ticks_before: usize) -> OpenRow {
        // looked at after what was seen, so that no silence is negative
        let age_us = u64::try_from(open.age().as_micros()).unwrap_or(u64::MAX);
        let at = &seen.progress;
        let last = match at.last_us {
            0 => at.sent_us,
            last => Some(last),
        };
        OpenRow {
            id: open.id.clone(),
            started_at: open.started_at.clone(),
            method: open.method.clone(),
            path: open.path.clone(),
            model: seen.model,
            cold: open.cold,
            in_flight: open.in_flight,
            waits_for: match at {
                _ if at.first_token_us.is_some() => Waits::Stream,
                _ if at.header_us.is_some() => Waits::FirstToken,
                _ if at.sent_us.is_some() => Waits::Header,
                _ => Waits::Sending,
            },
            age_ms: ms(age_us),
            silence_ms: last.map(|last| ms(age_us.saturating_sub(last))),
            ttft_ms: at.first_token_us.map(ms),
            chunks: at.chunks,
            events: at.events,
            token_events: at.tokens,
            ticks_before,
            ticks: seen.drip.ticks()[ticks_before..]
                .iter()
                .map(JsonTick::from)
                .collect(),
        }
    }
}
