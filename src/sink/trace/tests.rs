//! Traces held against what the format asks for.

mod check;

use proptest::prelude::*;

use super::*;
use crate::observe::record::{Cut, CutKind, End, Row, Side, Stall, TtftNull};
use crate::tools::logs::sample;
use check::checked;

/// The trace of records.
fn trace(records: &[RequestRecord]) -> String {
    let mut text = Vec::new();
    let mut trace = Trace::begin(&mut text).unwrap();
    for record in records {
        trace.request(record).unwrap();
    }
    trace.end().unwrap();
    String::from_utf8(text).unwrap()
}

/// The sample with a timeline: the second chunk waits behind the first, and the last is never taken.
fn with_timeline() -> RequestRecord {
    let mut record = sample();
    record.timeline = Some(vec![
        Row(80_890, Some(81_500), 374, 3, 1),
        Row(81_000, Some(81_700), 180, 1, 1),
        Row(1_480_847, Some(1_480_901), 90, 0, 0),
        Row(1_860_903, None, 179, 1, 1),
    ]);
    record
}

fn failed() -> RequestRecord {
    let mut record = sample();
    record.id = "01M8TN7W27".to_owned();
    record.started_at = "2026-12-02T05:57:04Z".to_owned();
    record.request.model = Some("\u{1b}[2J\"quoted\" \u{202e}".to_owned());
    (record.end, record.verdict) = (End::HttpError, None);
    (record.ttft_ms, record.ttft_null) = (None, Some(TtftNull::HttpError));
    record.at.first_token_ms = None;
    record.stalls.clear();
    record
}

fn cut() -> RequestRecord {
    let mut record = sample();
    record.id = "01M8TN7W28".to_owned();
    record.instance = "gateway".to_owned();
    record.end = End::ClientGone;
    record.upstream.dns_ms = Some(0.5);
    record.at.sent_ms = Some(0.0);
    record.at.first_token_ms = None;
    record.at.done_ms = None;
    record.verdict.as_mut().unwrap().cut = Some(Cut {
        kind: CutKind::Idle,
        after_ms: 2000.0,
        side: Side::Downstream,
    });
    record
}

#[test]
fn a_trace() {
    let text = trace(&[with_timeline(), failed(), cut()]);
    checked(&text);
    insta::assert_snapshot!(text.replace(env!("CARGO_PKG_VERSION"), "VERSION"));
}

#[test]
fn no_record_is_a_trace_too() {
    let text = trace(&[]);
    assert!(checked(&text).is_empty());
    assert!(text.starts_with(str::from_utf8(MAGIC).unwrap()));
}

#[test]
fn what_has_no_place_in_time_is_left_out() {
    let mut trace = Trace::begin(Vec::new()).unwrap();
    for started in [
        "",
        "yesterday",
        "1969-12-31T23:59:59Z",
        "9999-01-01T00:00:00Z",
    ] {
        let mut record = sample();
        record.started_at = started.to_owned();
        assert!(!trace.request(&record).unwrap(), "{started}");
    }
    assert!(trace.is_empty);
}

#[test]
fn instances_without_number_are_told_together() {
    let mut trace = Trace::begin(Vec::new()).unwrap();
    for i in 0..MOST_INSTANCES + 50 {
        let mut record = sample();
        record.instance = i.to_string();
        trace.request(&record).unwrap();
    }
    assert_eq!(trace.processes.len(), MOST_INSTANCES + 1);
    let mut known = sample();
    known.instance = "7".to_owned();
    trace.request(&known).unwrap();
    let text = String::from_utf8(trace.to).unwrap();
    assert_eq!(text.matches("process_name").count(), MOST_INSTANCES + 1);
    assert_eq!(text.matches("(others)").count(), 1);
    assert!((FIRST_TRACK as usize) > MOST_INSTANCES + 1);
}

/// A number as a damaged or hostile log may have it, and as others have it.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        8 => 0.0..3000.0,
        1 => prop::sample::select(vec![0.0, -1.0, 1e300, -1e300, 1e13, 0.0004]),
    ]
}

fn mark() -> impl Strategy<Value = Option<f64>> {
    prop::option::weighted(0.8, number())
}

fn count() -> impl Strategy<Value = u64> {
    prop_oneof![9 => 0u64..3_000_000, 1 => Just(u64::MAX)]
}

prop_compose! {
    fn record()(
        marks in prop::array::uniform9(mark()),
        steps in prop::array::uniform4(mark()),
        stalls in prop::collection::vec((number(), number()), 0..6),
        rows in prop::collection::vec((count(), prop::option::of(count())), 0..8),
        minute in 0u8..3,
        has_verdict: bool,
        instance in 0u8..3,
    ) -> RequestRecord {
        let mut record = sample();
        record.instance = instance.to_string();
        record.started_at = format!("2026-12-02T05:5{minute}:00Z");
        let at = &mut record.at;
        [
            at.request_end_ms, at.sent_ms, at.header_ms, at.first_byte_ms, at.first_token_ms, at.first_content_ms,
            at.last_token_ms, at.done_ms, at.end_ms,
        ] = marks;
        let upstream = &mut record.upstream;
        [upstream.retry_ms, upstream.dns_ms, upstream.connect_ms, upstream.tls_ms] = steps;
        let stall = |(at_ms, gap_ms)| Stall { at_ms, gap_ms, after_token: 1, catch_up_events: None };
        record.stalls = stalls.into_iter().map(stall).collect();
        record.timeline = Some(rows.into_iter().map(|(arrived, flushed)| Row(arrived, flushed, 9, 1, 1)).collect());
        if !has_verdict {
            record.verdict = None;
        }
        record
    }
}

proptest! {
    #[test]
    fn whatever_a_log_says_the_trace_is_one(records in prop::collection::vec(record(), 0..5)) {
        let events = checked(&trace(&records));
        let requests = events.iter().filter(|event| event["cat"] == "request").count();
        prop_assert_eq!(requests, records.len());
    }
}
