//! A log of many kinds of requests, and what is printed of it.

use std::fs;

use tempfile::TempDir;

use super::*;
use crate::observe::record::{Cut, CutKind, End, RequestRecord, Side, Timing, TtftNull};
use crate::tools::logs::sample;

/// A steady stream of its own second.
pub fn stream(i: u32, model: &str, ttft: f64) -> RequestRecord {
    let mut record = sample();
    record.id = format!("01M8TN7W26DEHEG7EQ9Z{i:06}");
    record.started_at = format!("2026-12-02T{:02}:{:02}:03.174978Z", 5 + i / 60, i % 60);
    record.request.model = Some(model.to_owned());
    record.ttft_ms = Some(ttft);
    record.at.first_token_ms = Some(ttft);
    record.ttft_after_request_ms = Some(ttft);
    record.load.cold = i == 0;
    record.load.in_flight = u64::from(i % 5);
    record.stalls.clear();
    record.gaps.token.p99_ms = Some(31.0 + f64::from(i % 3));
    record.gaps.token.max_ms = Some(40.0 + f64::from(i % 3));
    let verdict = record.verdict.as_mut().unwrap();
    (verdict.timing, verdict.side) = (Timing::Steady, None);
    verdict.findings.clear();
    record
}

pub fn failed(i: u32, end: End) -> RequestRecord {
    let mut record = stream(i, "llama-3.1-8b", 5.0);
    record.end = end;
    record
}

/// Healthy streams, one that stalls, a burst, failures, a whole reply, a cut, a hostile name.
pub fn records() -> Vec<RequestRecord> {
    let mut all: Vec<RequestRecord> = (0..40)
        .map(|i| stream(i, "llama-3.1-8b", 120.0 + f64::from(i * i % 97) * 4.0))
        .collect();
    let mut stall = sample();
    stall.id = "01M8TN7W26DEHEG7EQ9Z000100".to_owned();
    stall.load.cold = false;
    all.push(stall);
    let mut refused = failed(41, End::HttpError);
    refused.response.status = Some(429);
    (refused.ttft_ms, refused.ttft_null) = (None, Some(TtftNull::HttpError));
    refused.verdict = None;
    all.push(refused);
    let mut whole = failed(42, End::NotAStream);
    (whole.ttft_ms, whole.verdict) = (None, None);
    all.push(whole);
    let mut cut = failed(43, End::Truncated);
    cut.verdict.as_mut().unwrap().cut = Some(Cut {
        kind: CutKind::Idle,
        after_ms: 60_000.0,
        side: Side::Upstream,
    });
    all.push(cut);
    let mut hostile = stream(44, "\u{1b}[2J=cmd|' /C calc'!A0 \u{202e}", 900.0);
    hostile.label = Some("-1+1".to_owned());
    hostile.request.path = Some("/v1/messages".to_owned());
    all.push(hostile);
    let mut nameless = stream(45, "", 250.0);
    nameless.request.model = None;
    all.push(nameless);
    all
}

pub fn write(records: &[RequestRecord]) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let lines: Vec<_> = records
        .iter()
        .map(|record| serde_json::to_string(record).unwrap())
        .collect();
    let text = lines.join("\n") + "\nnot a record\n" + &lines[0][..400];
    fs::write(dir.path().join("a.jsonl"), text).unwrap();
    dir
}

pub fn options(dir: &TempDir, form: Form, width: u16) -> Options {
    Options {
        logs: vec![dir.path().join("*.jsonl")],
        form,
        choice: Choice::default(),
        follow: false,
        look: Look {
            width,
            ..Look::default()
        },
        zone: TimeZone::UTC,
    }
}

/// What is printed, without the folder's name.
pub fn printed(dir: &TempDir, options: &Options) -> String {
    let (mut out, mut notes) = (Vec::new(), Vec::new());
    run(options, &mut out, &mut notes).unwrap();
    let text = String::from_utf8(out).unwrap() + &String::from_utf8(notes).unwrap();
    let path = format!("{}/", dir.path().display());
    anstream::adapter::strip_str(&text.replace(&path, "").replace('\r', "")).to_string()
}
