//! Whole comparisons of made-up runs.

mod conditions;
mod pages;
mod properties;
mod warnings;

use std::fs;

use tempfile::TempDir;

use super::*;
use crate::observe::record::{End, RequestRecord, Timing};
use crate::tools::logs::sample;

/// A steady warm stream, whose times spread as those of a healthy server do.
fn stream(i: u32, ttft: f64, gap: f64) -> RequestRecord {
    let mut record = sample();
    let spread = f64::from(i * i % 23) / 23.0;
    record.id = format!("01M8TN7W26DEHEG7EQ9Z{i:06}");
    record.started_at = format!("2026-12-02T05:{:02}:03.174978Z", i % 60);
    record.request.model = Some("llama-3.1-8b".to_owned());
    record.response.model = record.request.model.clone();
    let first = ttft * (1.0 + 0.2 * spread);
    record.ttft_ms = Some(first);
    record.ttfa_ms = Some(first);
    record.at.first_token_ms = Some(first);
    record.at.last_token_ms = Some(first + 1000.0 + 100.0 * spread);
    record.at.end_ms = Some(first + 1010.0 + 100.0 * spread);
    record.load.cold = false;
    record.stalls.clear();
    let gaps = &mut record.gaps.token;
    gaps.p50_ms = Some(gap);
    gaps.p90_ms = Some(gap * 1.1);
    gaps.p99_ms = Some(gap * (1.2 + 0.1 * spread));
    gaps.max_ms = Some(gap * (1.4 + 0.1 * spread));
    let verdict = record.verdict.as_mut().unwrap();
    (verdict.timing, verdict.side) = (Timing::Steady, None);
    verdict.findings.clear();
    record
}

/// A healthy run: `n` warm streams and a cold one.
fn run_of(n: u32, ttft: f64, gap: f64) -> Vec<RequestRecord> {
    let mut cold = stream(0, 9.0 * ttft, gap);
    cold.load.cold = true;
    let warm = (1..=n).map(|i| stream(i, ttft, gap));
    [cold].into_iter().chain(warm).collect()
}

/// A run through a hop that lets go by a timer; some of its requests fail, and one has a stall.
fn held(n: u32) -> Vec<RequestRecord> {
    let mut run = run_of(n, 250.0, 210.0);
    for (i, record) in run.iter_mut().enumerate() {
        record.verdict.as_mut().unwrap().timing = match i % 8 {
            3 => Timing::TransportCoalesced,
            _ => Timing::TickBurst,
        };
        match i {
            5 => record.stalls = sample().stalls,
            6 | 14 => {
                record.end = End::HttpError;
                record.ttft_ms = Some(1.0);
                record.verdict = None;
            }
            _ => {}
        }
    }
    run
}

fn side(name: &str, records: &[RequestRecord]) -> Side {
    let mut side = Side::empty(name.to_owned());
    for record in records {
        side.read += 1;
        side.take(record);
    }
    side
}

fn compared(before: &[RequestRecord], after: &[RequestRecord]) -> Compared {
    let (before, after) = (side("before.jsonl", before), side("after.jsonl", after));
    Compared {
        figures: Figures::of(&before, &after, 1),
        before,
        after,
        seed: 1,
    }
}

fn write(dir: &TempDir, name: &str, records: &[RequestRecord]) -> PathBuf {
    let lines = records
        .iter()
        .map(|record| serde_json::to_string(record).unwrap() + "\n");
    let path = dir.path().join(name);
    fs::write(&path, lines.collect::<String>()).unwrap();
    path
}

/// What was typed.
fn typed(before: PathBuf, after: PathBuf) -> cli::Compare {
    cli::Compare {
        before,
        after,
        wanted: Vec::new(),
        wanted_before: Vec::new(),
        wanted_after: Vec::new(),
        fail_if: Vec::new(),
        seed: 1,
        markdown: false,
        json: false,
    }
}

/// How it ended, what was printed, and what was noted.
fn ran(typed: cli::Compare) -> (anyhow::Result<Ended>, String, String) {
    let options = Options::of(typed, Look::default()).unwrap();
    let (mut out, mut notes) = (Vec::new(), Vec::new());
    let ended = run(&options, &mut out, &mut notes);
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (ended, text(out), text(notes))
}
