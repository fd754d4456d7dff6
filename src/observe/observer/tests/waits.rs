//! Pauses, waits and late ends, and a client that does not take what is ready.

use super::support::*;
use crate::observe::observer::{Cause, Observer, Stamp};
use crate::observe::record::{Side, Timing};

#[test]
fn a_pause_without_catch_up_is_work_that_stopped() {
    for pause in [1_000.0, 10_000.0] {
        let resume = 80.0 + pause;
        let record = chat()
            .every(100.0, 20.0, 50, |_| word())
            .every(1_000.0 + resume, 20.0, 50, |_| word())
            .at(2_000.0 + resume, joined([finish(), done()]))
            .end(2_000.0 + resume);
        assert_eq!(timing(&record), Timing::StallNoCatchUp);
        let [stall] = &record.stalls[..] else {
            panic!("{:?}", record.stalls)
        };
        assert_eq!(
            (stall.gap_ms, stall.after_token, stall.catch_up_events),
            (pause, 50, Some(1))
        );
        assert_eq!(
            (stall.at_ms, record.gaps.token.max_at_ms),
            (1_000.0 + resume, Some(1_000.0 + resume))
        );
    }
}

#[test]
fn a_pause_with_a_lump_after_it_was_a_hold() {
    let record = chat()
        .every(100.0, 20.0, 50, |_| word())
        .at(2_080.0, joined((0..50).map(|_| word())))
        .every(2_100.0, 20.0, 50, |_| word())
        .at(3_100.0, joined([finish(), done()]))
        .end(3_100.0);
    assert_eq!(timing(&record), Timing::StallWithCatchUp);
    assert_eq!(record.stalls[0].catch_up_events, Some(50));
}

#[test]
fn one_event_with_everything_is_the_producer_s() {
    let text = text("The whole answer, with every word of it, in one event.");
    let record = chat()
        .at(3_000.0, joined([text, finish(), done()]))
        .end(3_000.0);
    assert_eq!(
        (record.ttft_ms, timing(&record)),
        (Some(3_000.0), Timing::ProducerBatched)
    );

    let call = r#"{"tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]}"#;
    let record = chat()
        .at(50.0, role())
        .at(
            1_320.0,
            joined([delta(call, None), delta("{}", Some("tool_calls")), done()]),
        )
        .end(1_320.0);
    assert_eq!(
        (record.ttft_ms, record.counts.token_events.unwrap()),
        (Some(1_320.0), 1)
    );
    assert_eq!(timing(&record), Timing::ProducerBatched);
}

#[test]
fn waits_before_a_steady_body() {
    let early = chat()
        .header(5.0)
        .at(3_000.0, role())
        .at(3_000.4, word())
        .at(3_000.8, finish())
        .at(3_001.2, done())
        .end(3_001.2);
    assert_eq!(
        (early.at.header_ms, early.at.first_byte_ms, early.ttft_ms),
        (Some(5.0), Some(3_000.0), Some(3_000.4))
    );
    assert_eq!(
        (timing(&early), side(&early)),
        (Timing::LateFirstToken, Some(Side::Upstream))
    );

    let late = chat()
        .at(3_600.0, role())
        .every(3_660.0, 30.0, 30, |_| word())
        .at(4_600.0, done())
        .end(4_600.0);
    assert_eq!(
        (timing(&late), late.at.header_ms),
        (Timing::LateHeader, Some(3_600.0))
    );
}

#[test]
fn an_end_long_after_the_text() {
    let record = chat()
        .every(100.0, 30.0, 64, |_| word())
        .at(2_030.0, finish())
        .at(14_030.0, done())
        .end(14_030.0);
    assert_eq!(
        (record.tail_ms, record.gaps.token.max_ms),
        (Some(12_040.0), Some(30.0))
    );
    assert_eq!(
        (timing(&record), record.stalls.len()),
        (Timing::LateTail, 0)
    );

    let big = |_| text(&"x".repeat(4_100));
    let record = chat()
        .every(200.0, 200.0, 10, big)
        .at(7_000.0, joined([finish(), done()]))
        .end(7_000.0);
    assert_eq!(
        (record.tail_ms, timing(&record)),
        (Some(5_000.0), Timing::LateTail)
    );
    let record = chat()
        .every(200.0, 200.0, 10, big)
        .at(
            2_000.0,
            joined([finish(), done(), comment(&" ".repeat(4_094))]),
        )
        .end(2_000.0);
    assert_eq!(
        (
            record.tail_ms,
            timing(&record),
            record.counts.keepalives.unwrap()
        ),
        (Some(0.0), Timing::Steady, 1)
    );
}

#[test]
fn pings_count_for_silence_and_not_for_gaps() {
    // The scale is 1/50: pings each 300 ms, 40 s of thinking are 800 ms.
    let record = chat()
        .header(1.0)
        .every(300.0, 300.0, 3, |_| comment("ping"))
        .every(1_040.0, 20.0, 10, |_| word())
        .every(1_520.0, 300.0, 2, |_| comment("ping"))
        .every(2_020.0, 20.0, 10, |_| word())
        .at(2_210.0, done())
        .end(2_210.0);
    assert_eq!(
        (record.ttft_ms, record.gaps.token.max_ms),
        (Some(1_040.0), Some(800.0))
    );
    assert_eq!(
        (record.silence.longest_ms, record.counts.keepalives.unwrap()),
        (Some(300.0), 5)
    );
    assert_eq!(
        (timing(&record), record.stalls[0].after_token),
        (Timing::StallNoCatchUp, 10)
    );
}

/// A steady stream of 4 s of which 200 kB wait for the client from 1 s to 3 s.
fn unread(by_window_ms: Option<f64>) -> crate::observe::record::RequestRecord {
    let mut observer = Observer::new(chat().head, chat().options);
    observer.on_request_body(chat().body.as_bytes());
    observer.on_sent(time(1.0));
    observer.on_header(time(50.0), chat().response.unwrap());
    for i in 0..200 {
        let at = 100.0 + 20.0 * f64::from(i);
        observer.on_body(time(at), Stamp::Read, true, &word());
        observer.on_flushed(i as u64 + 1, time(at + 0.1));
        let waits = (1_000.0..3_000.0).contains(&at);
        observer.on_unacknowledged(time(at), 200_000, if waits { 200_000 } else { 300 });
    }
    if let Some(ms) = by_window_ms {
        observer.on_rwnd_limited(time(ms));
    }
    observer.finish(time(4_100.0), Cause::Whole)
}

#[test]
fn a_client_that_stops_reading_while_no_write_waits() {
    let record = unread(Some(1_950.0));
    assert_eq!(
        (timing(&record), side(&record)),
        (Timing::DownstreamBackpressure, Some(Side::Downstream))
    );
    assert_eq!(record.hold.unacked_max_bytes, Some(200_000));
    let verdict = record.verdict.unwrap();
    assert_eq!(
        verdict.summary,
        "For 1.98 s the client did not take what was sent to it: up to 195.3 KiB were unacknowledged and became no \
         less. Its receive window was what held them for 1.95 s."
    );
    assert_eq!(timing(&unread(None)), Timing::DownstreamBackpressure);
    // It is the way that is long, or loses packets.
    assert_eq!(timing(&unread(Some(100.0))), Timing::Steady);
}

#[test]
fn a_client_that_does_not_take_it() {
    let mut observer = Observer::new(chat().head, chat().options);
    observer.on_request_body(chat().body.as_bytes());
    observer.on_sent(time(1.0));
    observer.on_header(time(50.0), chat().response.unwrap());
    for i in 0..100 {
        let at = 100.0 + 20.0 * f64::from(i);
        observer.on_body(time(at), Stamp::Read, true, &word());
        match i {
            40 => observer.on_blocked(time(at + 0.1)),
            41..=89 => {}
            90 => {
                observer.on_unblocked(time(at + 0.1));
                observer.on_flushed(91, time(at + 0.1));
            }
            _ => observer.on_flushed(i as u64 + 1, time(at + 0.1)),
        }
    }
    let record = observer.finish(time(2_100.0), Cause::Whole);
    assert_eq!(
        (timing(&record), side(&record)),
        (Timing::DownstreamBackpressure, Some(Side::Downstream))
    );
    assert_eq!(
        (record.hold.blocked_ms, record.hold.p50_us),
        (Some(1_000.0), Some(100))
    );
    assert!(record.hold.max_us.unwrap() <= 100);
}
