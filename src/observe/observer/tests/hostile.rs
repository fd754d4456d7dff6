//! Whatever comes: a record, without a panic, that counts every byte.

use super::support::*;
use crate::observe::observer::{Cause, ErrorKind, Observer, Stamp};

const CAUSES: [Cause; 10] = [
    Cause::Whole,
    Cause::UpstreamFin,
    Cause::UpstreamReset,
    Cause::UpstreamUnreachable(ErrorKind::Dns),
    Cause::UpstreamInvalid,
    Cause::UpstreamTimeout,
    Cause::ClientGone,
    Cause::ProxyStopped,
    Cause::Refused,
    Cause::Dropped,
];

/// Fragments of what streams are made of, whole and broken.
const FRAGMENTS: [&[u8]; 18] = [
    b"data: ",
    b"data: [DONE]\n\n",
    b"\n",
    b"\r",
    b"\r\n\r\n",
    b": c\n",
    b"event: error\n",
    b"\xEF\xBB\xBF",
    b"\xE9\x82\0\xFF",
    b"{\"choices\":[",
    b"{\"delta\":{\"content\":\"x\"}}",
    b"]}",
    b"{\"choices\":[{\"index\":99999,\"delta\":{\"content\":\"\\ud800\"},\"finish_reason\":\"stop\"}]}\n\n",
    b"data: {\"text\":\"abc\",\"usage\":{\"prompt_tokens\":-1,\"completion_tokens\":1e99}}\n\n",
    b"data: {\"error\":{}}\n\n",
    b"data: {\"choices\":[],\"usage\":{\"completion_tokens\":1,\"completion_tokens_details\":{\"reasoning_tokens\":9}}}\n\n",
    b"data: [[[[[[[[",
    b"{}\n",
];

#[test]
fn any_bytes_in_any_order_with_any_end() {
    let labels = [
        Some("text/event-stream"),
        Some("application/x-ndjson"),
        Some("application/json"),
        Some("audio/mpeg"),
        None,
    ];
    for seed in 1..3_000 {
        let mut noise = noise(seed);
        let mut below = |n: usize| (noise() * n as f64) as usize;
        let script = chat().typed(labels[below(labels.len())]);
        let mut observer = Observer::new(script.head, script.options);
        observer.on_request_body(script.body.as_bytes());
        if below(4) > 0 {
            observer.on_sent(time(below(100) as f64));
        }
        if below(10) > 0 {
            observer.on_header(time(below(100) as f64), script.response.unwrap());
        }
        let mut bytes = 0;
        for chunk in 0..below(40) as u64 {
            let piece = FRAGMENTS[below(FRAGMENTS.len())];
            bytes += piece.len() as u64;
            let at = time(below(20_000) as f64); // also backwards
            observer.on_body(at, Stamp::Read, below(3) > 0, piece);
            match below(6) {
                0 => observer.on_flushed(chunk, at),
                1 => observer.on_blocked(at),
                2 => observer.on_unblocked(at),
                _ => {}
            }
        }
        let record = observer.finish(time(below(20_000) as f64), CAUSES[below(CAUSES.len())]);
        assert_eq!(record.counts.bytes, bytes, "seed {seed}");
        let json = serde_json::to_string(&record).unwrap();
        assert!(!json.contains(":-"), "a figure below zero: seed {seed}");
    }
}

#[test]
fn a_flood_of_events_costs_bounded_memory_and_stays_exact_where_it_says_so() {
    let mut observer = Observer::new(chat().head, chat().options);
    observer.on_header(time(1.0), chat().response.unwrap());
    let word = word();
    for i in 0..70_000u32 {
        observer.on_body(time(10.0 + f64::from(i)), Stamp::Read, true, &word);
    }
    let record = observer.finish(time(70_010.0), Cause::Whole);
    let gaps = &record.gaps.token;
    assert_eq!(
        (gaps.n, gaps.exact, gaps.mean_ms, gaps.max_ms),
        (69_999, false, Some(1.0), Some(1.0))
    );
    assert_eq!(record.counts.token_events.unwrap(), 70_000);
}
