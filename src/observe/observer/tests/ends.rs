//! Ends and flags.

use super::support::*;
use crate::observe::observer::{Cause, ErrorKind};
use crate::observe::record::{End, Flag, Framing, Origin, RequestRecord, Timing, TtftNull};

fn words(n: u32) -> Script {
    chat().at(20.0, role()).every(60.0, 20.0, n, |_| word())
}

/// End, reason and flags at one glance.
fn glance(record: &RequestRecord) -> (End, Option<TtftNull>, &[Flag]) {
    (record.end, record.ttft_null, &record.flags)
}

#[test]
fn without_a_marker_the_finish_reason_decides() {
    let record = words(5).at(160.0, finish()).end(160.0);
    assert_eq!(
        glance(&record),
        (End::Complete, None, &[Flag::NoDoneMarker][..])
    );
    let record = words(5).end(160.0);
    assert_eq!(glance(&record), (End::EndedWithoutDone, None, &[][..]));
}

#[test]
fn two_markers_and_bytes_after_them() {
    let record = words(5)
        .at(1_000.0, joined([finish(), done()]))
        .at(1_001.0, done())
        .at(1_500.0, comment("bye"))
        .end(1_500.0);
    assert_eq!(
        glance(&record),
        (
            End::Complete,
            None,
            &[Flag::DoneTwice, Flag::BytesAfterDone][..]
        )
    );
    assert_eq!(
        (record.counts.done_markers.unwrap(), record.at.done_ms),
        (2, Some(1_000.0))
    );
    assert_eq!(
        (record.at.end_ms, record.tail_ms),
        (Some(1_500.0), Some(1_360.0))
    );
}

#[test]
fn line_ends_after_the_marker_are_nothing() {
    let record = words(5)
        .at(200.0, joined([finish(), b"data: [DONE]\r\n\r".to_vec()]))
        .at(201.0, *b"\n")
        .end(201.0);
    assert_eq!(glance(&record), (End::Complete, None, &[][..]));
}

#[test]
fn a_last_event_without_its_blank_line_is_evidence() {
    for tail in ["data: [DONE]\n", "data: [DONE]"] {
        let record = words(5).at(160.0, finish()).at(160.0, tail).end(200.0);
        assert_eq!(
            glance(&record),
            (End::Complete, None, &[Flag::UnterminatedLastEvent][..])
        );
        assert_eq!(
            (record.counts.done_markers.unwrap(), record.at.done_ms),
            (1, Some(160.0))
        );
    }
    let cut = |keep: usize| {
        let mut last = finish();
        last.truncate(last.len() - 2 - keep);
        words(5).at(160.0, last).end(160.0)
    };
    let flags = [Flag::NoDoneMarker, Flag::UnterminatedLastEvent];
    assert_eq!(glance(&cut(0)), (End::Complete, None, &flags[..]));
    let record = cut(5);
    assert_eq!(
        glance(&record),
        (End::Truncated, None, &[Flag::UnterminatedLastEvent][..])
    );
    assert_eq!(
        (
            record.counts.parse_errors.unwrap(),
            record.counts.events.unwrap()
        ),
        (0, 6)
    );
}

#[test]
fn a_close_delimited_body_cut_anywhere_in_an_event_is_truncated() {
    let event = word();
    for length in 1..event.len() - 1 {
        let record = words(6)
            .reply(|head| head.framing = Some(Framing::Close))
            .at(200.0, &event[..length])
            .end(250.0);
        assert_eq!(record.end, End::Truncated, "{length}");
        assert!(
            record.flags.contains(&Flag::UnterminatedLastEvent),
            "{length}"
        );
    }
    let record = words(10)
        .reply(|head| head.framing = Some(Framing::Close))
        .at(260.0, done())
        .end(260.0);
    assert_eq!(glance(&record), (End::Complete, None, &[][..]));
}

#[test]
fn a_stream_without_an_event() {
    for body in ["", ": ok\n\n", "\n\n"] {
        let mut script = chat().header(5.0);
        if !body.is_empty() {
            script = script.at(900.0, body);
        }
        let record = script.end(900.0);
        assert_eq!(
            glance(&record),
            (End::EmptyStream, Some(TtftNull::NoToken), &[][..]),
            "{body:?}"
        );
        assert_eq!(
            (record.at.header_ms, record.at.end_ms),
            (Some(5.0), Some(900.0))
        );
        assert_eq!(timing(&record), Timing::Unmeasurable);
    }
}

#[test]
fn errors_in_the_stream_before_and_after_tokens() {
    let error =
        || event(r#"{"error":{"code":500,"message":"secret words","type":"server_error"}}"#);
    let record = words(3).at(140.0, error()).end(140.0);
    assert_eq!(
        (record.end, record.ttft_ms, record.response.status),
        (End::InBandError, Some(60.0), Some(200))
    );
    let info = record.error.as_ref().unwrap();
    assert_eq!(
        (info.kind, info.server_type.as_deref()),
        (ErrorKind::InBandError, Some("server_error"))
    );
    assert!(!serde_json::to_string(&record).unwrap().contains("secret"));

    let record = chat().at(140.0, error()).at(141.0, done()).end(141.0);
    assert_eq!(
        glance(&record),
        (End::InBandError, Some(TtftNull::InBandError), &[][..])
    );

    let pings = chat().every(2.0, 5_000.0, 5, |_| comment("ping"));
    let record = pings
        .at(23_200.0, event(r#"{"error":{"code":429}}"#))
        .end(23_200.0);
    assert_eq!(
        (record.end, record.at.header_ms),
        (End::InBandError, Some(2.0))
    );
    assert_eq!(record.error.unwrap().server_type.as_deref(), Some("429"));
}

#[test]
fn an_error_without_its_name_and_pings_that_are_no_output() {
    let record = chat()
        .path("/v1/messages")
        .every(100.0, 100.0, 2, |_| event(r#"{"type":"ping"}"#))
        .at(
            300.0,
            event(r#"{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}"#),
        )
        .end(300.0);
    assert_eq!(
        glance(&record),
        (End::InBandError, Some(TtftNull::InBandError), &[][..])
    );
    assert_eq!(
        (
            record.counts.keepalives.unwrap(),
            record.counts.events.unwrap()
        ),
        (2, 3)
    );
}

#[test]
fn the_upstream_s_cuts() {
    let half = &word()[..30];
    let fin = words(8).at(220.0, half).cut(230.0, Cause::UpstreamFin);
    assert_eq!(
        glance(&fin),
        (End::Truncated, None, &[Flag::UnterminatedLastEvent][..])
    );
    assert_eq!(
        (fin.counts.token_events.unwrap(), fin.error.unwrap().kind),
        (8, ErrorKind::Truncated)
    );
    let reset = words(8).at(220.0, half).cut(230.0, Cause::UpstreamReset);
    assert_eq!(
        (reset.end, reset.error.unwrap().kind),
        (End::UpstreamReset, ErrorKind::UpstreamReset)
    );
    let said = words(8)
        .at(230.0, joined([finish(), done()]))
        .cut(240.0, Cause::UpstreamFin);
    assert_eq!(
        glance(&said),
        (End::Complete, None, &[Flag::HttpBodyUnterminated][..])
    );
    // A finish reason alone is no end when the transport was cut.
    let finished = words(8).at(230.0, finish()).cut(240.0, Cause::UpstreamFin);
    assert_eq!(finished.end, End::Truncated);
}

#[test]
fn the_client_s_going() {
    let before = chat()
        .header(10.0)
        .at(10.0, role())
        .cut(500.0, Cause::ClientGone);
    assert_eq!(
        glance(&before),
        (End::ClientGone, Some(TtftNull::ClientGone), &[][..])
    );
    assert_eq!((before.at.end_ms, before.error), (Some(500.0), None));
    let no_header = chat().silent().cut(500.0, Cause::ClientGone);
    assert_eq!(
        glance(&no_header),
        (End::ClientGone, Some(TtftNull::ClientGone), &[][..])
    );
    assert_eq!(
        (no_header.verdict, no_header.api, no_header.response.status),
        (None, None, None)
    );
    let middle = words(8).cut(230.0, Cause::ClientGone);
    assert_eq!((middle.end, middle.ttft_ms), (End::ClientGone, Some(60.0)));
    let after = words(8)
        .at(230.0, joined([finish(), done()]))
        .cut(240.0, Cause::ClientGone);
    assert_eq!(
        glance(&after),
        (End::Complete, None, &[Flag::ClientClosedAfterDone][..])
    );
}

#[test]
fn failures_before_any_response() {
    let own = |status: u16| {
        chat().typed(Some("application/json")).reply(|head| {
            (head.origin, head.status) = (Origin::Dripline, status);
        })
    };
    for (cause, end, reason, kind) in [
        (
            Cause::Refused,
            End::Refused,
            TtftNull::Refused,
            ErrorKind::Refused,
        ),
        (
            Cause::UpstreamUnreachable(ErrorKind::Dns),
            End::UpstreamUnreachable,
            TtftNull::UpstreamFailed,
            ErrorKind::Dns,
        ),
        (
            Cause::UpstreamTimeout,
            End::UpstreamTimeout,
            TtftNull::UpstreamFailed,
            ErrorKind::UpstreamTimeout,
        ),
        (
            Cause::UpstreamInvalid,
            End::UpstreamInvalid,
            TtftNull::UpstreamFailed,
            ErrorKind::UpstreamInvalid,
        ),
        (
            Cause::UpstreamReset,
            End::UpstreamReset,
            TtftNull::UpstreamFailed,
            ErrorKind::UpstreamReset,
        ),
        (
            Cause::UpstreamFin,
            End::Truncated,
            TtftNull::UpstreamFailed,
            ErrorKind::Truncated,
        ),
    ] {
        let record = own(502).cut(30.0, cause);
        assert_eq!(
            (record.end, record.ttft_null, &record.verdict),
            (end, Some(reason), &None),
            "{cause:?}"
        );
        assert_eq!(
            (record.at.header_ms, record.response.status),
            (None, Some(502))
        );
        assert_eq!(
            (record.error.unwrap().kind, record.response.body_hash),
            (kind, None)
        );
    }
    let dropped = words(3).cut(200.0, Cause::Dropped);
    assert_eq!(dropped.end, End::ProxyStopped);
}

#[test]
fn an_error_status_stands_even_if_the_reply_was_whole() {
    let body = r#"{"error":{"message":"secret words","type":"rate_limit_error","code":"x"}}"#;
    let record = chat()
        .typed(Some("application/json"))
        .reply(|head| (head.status, head.framing) = (429, Some(Framing::Length)))
        .at(15.0, body)
        .end(15.0);
    assert_eq!(
        glance(&record),
        (End::HttpError, Some(TtftNull::HttpError), &[][..])
    );
    assert_eq!(
        (record.verdict, record.error.unwrap().server_type.as_deref()),
        (None, Some("rate_limit_error"))
    );
}

#[test]
fn an_upgrade_only_counts() {
    let mut script = chat()
        .path("/v1/realtime")
        .typed(None)
        .reply(|head| head.status = 101);
    script.steps = vec![(20.0, b"data: {}\n\n".to_vec())];
    let mut observer = crate::observe::observer::Observer::new(script.head.clone(), script.options);
    observer.on_sent(time(1.0));
    observer.on_header(time(10.0), script.response.clone().unwrap());
    observer.on_upgraded(time(10.0));
    observer.on_body(
        time(20.0),
        crate::observe::observer::Stamp::Read,
        true,
        &script.steps[0].1,
    );
    let record = observer.finish(time(30.0), Cause::ClientGone);
    assert_eq!(
        glance(&record),
        (End::Upgraded, Some(TtftNull::Upgraded), &[][..])
    );
    assert_eq!(
        (
            record.counts.bytes,
            record.counts.events,
            record.response.body_hash
        ),
        (10, None, None)
    );
    assert_eq!(
        (record.verdict, record.api),
        (None, Some(crate::observe::record::Api::Websocket))
    );
}

#[test]
fn what_the_relay_says_goes_into_the_flags_in_order() {
    let mut script = words(3);
    script.head.expect_continue = true;
    let mut observer = crate::observe::observer::Observer::new(script.head.clone(), script.options);
    observer.on_retried();
    observer.on_header(time(10.0), script.response.clone().unwrap());
    observer.on_arrival_uncertain();
    observer.stop();
    observer.on_body(
        time(20.0),
        crate::observe::observer::Stamp::Read,
        true,
        &word(),
    );
    let record = observer.finish(time(30.0), Cause::Whole);
    let flags = [
        Flag::ObserverStopped,
        Flag::Retried,
        Flag::ExpectContinue,
        Flag::ArrivalUncertain,
    ];
    assert_eq!(record.flags, flags);
    assert_eq!(
        (record.ttft_null, timing(&record)),
        (Some(TtftNull::ObserverStopped), Timing::Unmeasurable)
    );
}

#[test]
fn why_there_is_no_output_is_told_as_far_as_it_is_known() {
    let told = |record: RequestRecord| record.verdict.unwrap().summary;
    let opened = || chat().at(50.0, role());
    let error = opened()
        .at(90.0, event(r#"{"error":{"code":429}}"#))
        .end(90.0);
    assert!(told(error).starts_with("An error came in place of output"));
    let gone = told(opened().cut(6_050.0, Cause::ClientGone));
    assert!(
        gone.contains("left after 6.05 s") && gone.contains("last 6.00 s"),
        "{gone}"
    );
    let mut large = opened().at(90.0, text(&"x".repeat(9_000))).at(95.0, done());
    large.options.event_limit = 4_096;
    assert!(told(large.end(95.0)).contains("not looked into"));
    let broken = opened()
        .at(90.0, event("{no JSON"))
        .at(95.0, done())
        .end(95.0);
    assert!(told(broken).contains("could not be read"));
    assert!(told(opened().at(95.0, done()).end(95.0)).contains("none carried output"));
}

#[test]
fn an_end_that_is_not_the_protocols_is_found_beside_any_pace() {
    let ends = [
        (
            words(9).cut(300.0, Cause::UpstreamFin),
            Some("closed the connection"),
        ),
        (words(9).cut(300.0, Cause::UpstreamReset), Some("reset")),
        (words(9).cut(300.0, Cause::UpstreamInvalid), Some("framing")),
        (
            words(9).cut(300.0, Cause::UpstreamTimeout),
            Some("time limit"),
        ),
        (words(9).end(300.0), Some("without an end marker")),
        (
            words(9)
                .at(300.0, event(r#"{"error":{"type":"overloaded"}}"#))
                .end(300.0),
            Some("an error came"),
        ),
        (
            words(9).at(300.0, joined([finish(), done()])).end(300.0),
            None,
        ),
        (words(9).cut(300.0, Cause::ClientGone), None),
        (words(9).cut(300.0, Cause::ProxyStopped), None),
    ];
    for (record, what) in ends {
        let verdict = record.verdict.as_ref().expect("a stream");
        assert_eq!(verdict.timing, Timing::Steady, "{verdict:?}");
        let found = verdict
            .findings
            .iter()
            .find(|finding| finding.code == "broken_end");
        match what {
            Some(what) => assert!(
                found.is_some_and(|found| found.sentence.contains(what)),
                "{what}: {verdict:?}"
            ),
            None => assert!(found.is_none(), "{:?}: {verdict:?}", record.end),
        }
    }
}
