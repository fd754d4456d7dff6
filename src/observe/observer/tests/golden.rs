//! Whole records, as they stand in the log.

use super::support::*;
use crate::observe::distribution::GAP_BOUNDS;
use crate::observe::observer::{Cause, Observer, Options, RequestHead, ResponseHead, Stamp};
use crate::observe::record::{Framing, Load, RequestRecord, ServerSays, Upstream};

fn assert_golden(name: &str, record: &RequestRecord) {
    let json = serde_json::to_string(record).unwrap();
    let back: RequestRecord = serde_json::from_str(&json).unwrap();
    let written = RequestRecord {
        distributions: None,
        ..record.clone()
    };
    assert_eq!(back, written, "a record must survive the log");
    insta::assert_json_snapshot!(name, record);
}

#[test]
fn a_steady_stream_with_everything() {
    let head = RequestHead {
        id: "01JE2X3Y4Z".into(),
        started_at: "2026-12-02T12:03:44.125Z".into(),
        label: Some("flush on".into()),
        instance: "edge-1".into(),
        method: "POST".into(),
        path: "/v1/chat/completions".into(),
        request_id: Some("r-1".into()),
        trace_id: Some("4bf92f3577b34da6a3ce929d0e0e4736".into()),
        parent: None,
        accept_encoding: Some("gzip, br".into()),
        http: "1.1",
        client_addr: None,
        expect_continue: false,
        load: Load {
            in_flight: 2,
            cold: false,
            idle_before_ms: None,
        },
    };
    let mut observer = Observer::new(
        head,
        Options {
            timeline: true,
            ..Options::default()
        },
    );
    observer.on_request_body(
        br#"{"model":"m","stream":true,"tools":[{"type":"function"}],"messages":[]}"#,
    );
    observer.on_request_end(time(0.4));
    observer.on_upstream(Upstream {
        name: Some("127.0.0.1:8000".into()),
        addr: Some("127.0.0.1:8000".into()),
        http: Some("1.1".into()),
        tls: Some(false),
        reused: Some(false),
        attempts: 1,
        connect_ms: Some(0.12),
        ..Upstream::default()
    });
    observer.on_sent(time(0.9));
    observer.on_header(
        time(59.5),
        ResponseHead {
            status: 200,
            http: "1.1",
            content_type: Some("text/event-stream; charset=utf-8".into()),
            framing: Some(Framing::Chunked),
            server: Some("uvicorn".into()),
            server_says: ServerSays {
                processing_ms: Some(57.0),
                ..ServerSays::default()
            },
            ..ResponseHead::default()
        },
    );
    let thought = || delta(r#"{"reasoning_content":"hm "}"#, None);
    let chunks = [
        (60.0, role()),
        (110.25, thought()),
        (135.5, thought()),
        (160.0, word()),
        (185.125, word()),
        (210.0, joined([word(), finish()])),
        (212.0, joined([usage(5), done()])),
    ];
    for (i, (ms, bytes)) in chunks.iter().enumerate() {
        observer.on_body(time(*ms), Stamp::Kernel, true, bytes);
        observer.on_flushed(i as u64 + 1, time(ms + 0.04 + 0.01 * i as f64));
    }
    assert_golden("steady", &observer.finish(time(212.3), Cause::Whole));
}

#[test]
fn a_whole_body_at_the_end() {
    let all = joined(
        [role()]
            .into_iter()
            .chain((0..30).map(|_| word()))
            .chain([finish(), done()]),
    );
    let mut script = chat().header(8.0).at(2_000.0, all);
    script.options.timeline = false;
    assert_golden("whole_body_burst", &script.end(2_000.2));
}

#[test]
fn a_request_that_was_never_answered() {
    let mut script = chat().silent().asking("");
    script.options.timeline = false;
    assert_golden("client_gone", &script.cut(500.0, Cause::ClientGone));
}

/// What the log leaves out agrees with what it has.
#[test]
fn the_distributions_count_what_the_quantiles_are_of() {
    let record = chat()
        .at(50.0, role())
        .every(60.0, 20.0, 10, |_| word())
        .at(640.0, joined([word(), word(), finish(), done()]))
        .end(641.0);
    let all = record.distributions.as_deref().unwrap();
    let gaps = &all.token_gaps;
    // Nine of 20 ms, one of 400 ms, one of none at all.
    assert_eq!((gaps.n, gaps.sum), (record.gaps.token.n, 580_000));
    let up_to = |us| gaps.up_to(GAP_BOUNDS.iter().position(|bound| *bound == us).unwrap());
    assert_eq!(
        [500, 10_000, 20_000, 320_000, 400_000].map(up_to),
        [1, 1, 10, 10, 11]
    );
    assert_eq!((all.stalls, record.stalls.len()), (1, 1));
    assert_eq!(all.chunk_gaps.n, record.gaps.chunk.n);
    assert_eq!(all.event_gaps.n, record.gaps.event.n);
    // Eleven chunks with one event, one with four.
    let crowds = &all.events_per_chunk;
    assert_eq!((crowds.n, crowds.sum), (12, 15));
    assert_eq!([0, 1, 2, 3].map(|i| crowds.up_to(i)), [0, 11, 11, 12]);
}

#[test]
fn a_body_that_is_no_stream_has_no_events_per_chunk() {
    let record = chat()
        .typed(Some("application/json"))
        .asking("{}")
        .at(50.0, "{}")
        .end(51.0);
    let all = record.distributions.unwrap();
    assert_eq!((all.events_per_chunk.n, record.counts.chunks), (0, 1));
}
