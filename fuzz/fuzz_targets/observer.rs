//! The whole observer: whatever the relay tells it, a record comes out that holds together, in bounded memory, and how the
//! body was cut is not in it. With `SHOW=1` in the environment it prints the exchange in words.

#![no_main]

use dripline_fuzz::exchange::{Cut, Exchange};
use dripline_fuzz::memory::live;
use dripline_fuzz::observe::record::{End, Flag, GapStats, RequestRecord};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

/// Most that an observer may hold, besides the rows of a timeline.
const HELD: usize = 1024 * 1024;

/// The windows of a body's codings come on top: at most three, brotli's are the largest (16 MiB and what belongs to it).
const WINDOWS: usize = 3 * 20 * 1024 * 1024;

fuzz_target!(|program: &[u8]| {
    let Some(exchange) = Exchange::of(program) else {
        return;
    };
    if std::env::var_os("SHOW").is_some() {
        eprintln!("{exchange:#?}");
    }
    let before = live();
    let record = exchange.observe(Cut::Not, || {
        let held = live() - before;
        let most = HELD + if exchange.is_encoded() { WINDOWS } else { 0 };
        assert!(held <= most, "{held} bytes are held");
    });
    let json = serde_json::to_value(&record).unwrap();
    check(&record, &exchange);
    no_figure_is_below_zero(&json);
    let again: RequestRecord = serde_json::from_value(json).unwrap();
    let written = RequestRecord {
        distributions: None, // stay beside the JSON
        ..record.clone()
    };
    assert_eq!(again, written, "read back");

    if is_damaged(&record) {
        return; // what is left of it depends on how it came
    }
    assert_same(&exchange.observe(Cut::Pieces, || {}), &record);
    let chunks = exchange.observe(Cut::Chunks, || {});
    assert_same(&without_reads(chunks), &without_reads(record));
});

/// Whether the body was not of its encoding.
fn is_damaged(record: &RequestRecord) -> bool {
    let is_encoded = record.response.content_encoding.is_some();
    is_encoded && record.flags.contains(&Flag::ObserverStopped)
}

/// What must hold for every record.
fn check(record: &RequestRecord, exchange: &Exchange) {
    let (at, counts) = (&record.at, &record.counts);
    assert_eq!(counts.bytes, exchange.body_bytes());
    let (events, tokens) = (counts.events, counts.token_events);
    assert_eq!(events.is_some(), tokens.is_some());
    assert!(tokens <= events);
    let (events, tokens) = (events.unwrap_or(0), tokens.unwrap_or(0));
    assert_eq!(record.api.is_some(), exchange.has_header());
    assert_eq!(record.response.status.is_some(), exchange.has_header());

    in_order(&[at.header_ms, at.end_ms]);
    in_order(&[at.first_byte_ms, at.first_event_ms, at.done_ms, at.end_ms]);
    in_order(&[
        at.first_byte_ms,
        at.first_event_ms,
        at.first_token_ms,
        at.last_token_ms,
        at.end_ms,
    ]);
    assert!(at.end_ms.is_some());
    assert_eq!(at.first_event_ms.is_some(), events > 0);
    assert_eq!(at.first_token_ms.is_some(), tokens > 0);
    let firsts = [at.first_reasoning_ms, at.first_content_ms, at.first_tool_ms];
    let first = firsts.into_iter().flatten().min_by(f64::total_cmp);
    assert_eq!(first, at.first_token_ms);

    assert_eq!(record.ttft_ms, at.first_token_ms);
    assert_eq!(record.ttfa_ms, at.first_content_ms);
    assert!(record.ttft_ms.is_some() != record.ttft_null.is_some());
    assert!(record.ttft_after_request_ms.is_none() || record.ttft_ms.is_some());
    assert_eq!(record.tail_ms.is_some(), at.last_token_ms.is_some());
    assert_eq!(record.stamps.is_some(), at.first_byte_ms.is_some());

    for (gaps, n) in [
        (&record.gaps.chunk, counts.chunks),
        (&record.gaps.event, events),
        (&record.gaps.token, tokens),
    ] {
        assert_eq!(gaps.n, n.saturating_sub(1));
        check_gaps(gaps);
    }
    assert!(record.stalls.len() <= 5);
    let bursts = &record.coalescing;
    let none = Vec::new();
    let in_events = bursts.burst_events.as_ref().unwrap_or(&none);
    let in_bytes = bursts.burst_bytes.as_ref().unwrap_or(&none);
    assert_eq!(in_events.len(), in_bytes.len());
    assert!(in_events.len() <= 16);
    assert!(in_events.iter().sum::<u64>() <= events);
    assert!(in_bytes.iter().sum::<u64>() <= counts.bytes);
    assert!(bursts.events_per_chunk_max.unwrap_or(0) <= events);

    assert!(record.flags.is_sorted_by(|a, b| a < b), "each flag once");
    if let Some(verdict) = &record.verdict {
        assert!((0.0..=1.0).contains(&verdict.confidence));
        assert!(!verdict.summary.is_empty());
        assert!(verdict.evidence.values().all(|number| number.is_finite()));
    }
    let failed = matches!(
        record.end,
        End::Refused | End::UpstreamUnreachable | End::InBandError | End::HttpError
    );
    assert!(record.error.is_some() || !failed);
    assert_eq!(record.timeline.is_some(), exchange.options.timeline);
    for rows in record.timeline.iter() {
        assert_eq!(rows.len() as u64, counts.chunks);
        assert_eq!(rows.iter().map(|row| row.2).sum::<u64>(), counts.bytes);
        assert!(rows.iter().map(|row| row.3).sum::<u64>() <= events);
        assert!(rows.is_sorted_by_key(|row| row.0));
        assert!(rows.iter().all(|row| row.1.is_none_or(|at| at >= row.0)));
    }
}

fn check_gaps(gaps: &GapStats) {
    let figures = [gaps.p50_ms, gaps.p90_ms, gaps.p99_ms, gaps.max_ms];
    for figure in figures.iter().chain([&gaps.mean_ms, &gaps.max_at_ms]) {
        assert_eq!(figure.is_some(), gaps.n > 0);
    }
    in_order(&figures);
    in_order(&[gaps.mean_ms, gaps.max_ms]);
}

/// Of the points in time that are there, none comes before the one before it.
fn in_order(points: &[Option<f64>]) {
    assert!(points.iter().flatten().is_sorted(), "{points:?}");
}

fn no_figure_is_below_zero(json: &Value) {
    match json {
        Value::Number(number) => assert!(number.as_f64().is_some_and(|figure| figure >= 0.0)),
        Value::Array(items) => items.iter().for_each(no_figure_is_below_zero),
        Value::Object(fields) => fields.values().for_each(no_figure_is_below_zero),
        _ => {}
    }
}

/// What a record says apart from how the body was read from the socket.
fn without_reads(mut record: RequestRecord) -> RequestRecord {
    record.counts.chunks = 0;
    record.gaps.chunk = GapStats::default();
    record.coalescing = Default::default();
    record.rates = Default::default();
    record.hold = Default::default();
    record.verdict = None;
    record.timeline = None;
    record
}

/// Tells where two records differ: they are long.
fn assert_same(cut: &RequestRecord, whole: &RequestRecord) {
    let [Value::Object(cut), Value::Object(whole)] =
        [cut, whole].map(|record| serde_json::to_value(record).unwrap())
    else {
        unreachable!("a record is an object");
    };
    for (field, value) in whole {
        assert_eq!(cut[&field], value, "{field}");
    }
}
