//! Who held the stream back.

use super::support::*;
use crate::observe::observer::{Cause, Observer, Stamp};
use crate::observe::record::{Flag, RequestRecord, Side, Timing};

/// A stream as the server makes it, let through a hop that keeps what it has until `release`.
fn through_hop(made: &[(f64, Vec<u8>)], release: impl Fn(f64) -> f64) -> Vec<(f64, Vec<u8>)> {
    let mut reads: Vec<(f64, Vec<u8>)> = Vec::new();
    for (ms, bytes) in made {
        let at = release(*ms);
        match reads.last_mut() {
            Some((last, all)) if *last == at => all.extend_from_slice(bytes),
            _ => reads.push((at, bytes.clone())),
        }
    }
    reads
}

fn confidence(record: &RequestRecord) -> f64 {
    record.verdict.as_ref().unwrap().confidence
}

fn summary(record: &RequestRecord) -> &str {
    &record.verdict.as_ref().unwrap().summary
}

/// The main evidence by name.
fn evidence(record: &RequestRecord, name: &str) -> Option<f64> {
    record.verdict.as_ref().unwrap().evidence.get(name).copied()
}

#[test]
fn a_healthy_stream_is_steady_whatever_its_jitter() {
    for seed in 1..40 {
        let mut noise = noise(seed);
        let mut at = 60.0;
        let mut script = chat().at(at, role());
        for _ in 0..200 {
            at += 18.0 + 14.0 * noise();
            script = script.at(at, word());
        }
        let record = script
            .at(at + 1.0, finish())
            .at(at + 1.0, joined([usage(200), done()]))
            .end(at + 1.0);
        assert_eq!(
            (timing(&record), side(&record)),
            (Timing::Steady, None),
            "seed {seed}"
        );
        assert!(record.verdict.unwrap().findings.is_empty());
    }
}

#[test]
fn several_words_per_event_are_the_server_s_choice() {
    let mut noise = noise(7);
    let mut script = chat().every(100.0, 100.0, 10, |_| text("five words in one event "));
    let mut at = 1_000.0;
    for i in 0..30 {
        at += 20.0 + 80.0 * noise();
        script = script.at(at, text(&"w ".repeat(1 + i % 5)));
    }
    let record = script
        .at(at, joined([finish(), usage(130), done()]))
        .end(at);
    assert_eq!(timing(&record), Timing::Steady);
    assert!(record.rates.tokens_per_s_after_first.is_some());
}

#[test]
fn very_short_answers_are_not_accused() {
    let quick = [
        chat()
            .at(60.0, joined([role(), text("Yes"), finish(), done()]))
            .end(60.0),
        chat()
            .at(60.0, role())
            .at(200.0, joined([text("Yes"), text("."), finish(), done()]))
            .end(200.0),
        chat()
            .at(60.0, role())
            .at(200.0, word())
            .at(225.0, word())
            .at(250.0, joined([word(), done()]))
            .end(250.0),
        chat()
            .at(
                1_500.0,
                joined([role(), text("Yes"), finish(), usage(1), done()]),
            )
            .end(1_500.0),
    ];
    for record in quick {
        let verdict = record.verdict.unwrap();
        assert!(
            matches!(verdict.timing, Timing::Steady | Timing::Irregular),
            "{verdict:?}"
        );
        assert!(verdict.confidence < 0.5, "{verdict:?}");
    }
}

#[test]
fn the_whole_body_at_once_with_a_late_or_an_early_header() {
    let all = || {
        joined(
            [role()]
                .into_iter()
                .chain((0..49).map(|_| text("t")))
                .chain([finish(), done()]),
        )
    };
    for header in [1_740.0, 5.0] {
        let record = chat().header(header).at(1_740.0, all()).end(1_740.0);
        assert_eq!(
            (record.ttft_ms, record.gaps.token.p50_ms),
            (Some(1_740.0), Some(0.0))
        );
        assert_eq!(
            (timing(&record), side(&record)),
            (Timing::WholeBodyBurst, Some(Side::Upstream))
        );
        assert_eq!(record.coalescing.events_per_chunk_max.unwrap(), 52);
        assert_eq!(record.coalescing.burst_events.unwrap(), [52]);
        assert_eq!(
            (
                record.rates.chunks_per_s_after_first,
                record.rates.tokens_per_s_after_first
            ),
            (None, None)
        );
    }
    let record = chat()
        .reply(|head| head.framing = Some(crate::observe::record::Framing::Length))
        .at(1_740.0, all())
        .end(1_740.0);
    assert_eq!(record.flags, [Flag::LengthKnownStream]);
    assert!(record.verdict.unwrap().summary.contains("length was known"));
}

#[test]
fn a_role_let_through_and_the_rest_held_is_still_a_whole_body() {
    let rest = joined((0..60).map(|_| word()).chain([finish(), usage(60), done()]));
    let record = chat().at(30.0, role()).at(4_000.0, rest).end(4_000.0);
    assert_eq!(timing(&record), Timing::WholeBodyBurst);
    assert_eq!(record.rates.tokens_per_s_after_first, None);
}

#[test]
fn a_hop_that_lets_go_write_by_write_is_found_as_well() {
    let record = chat()
        .every(8_000.0, 1.25, 8, |_| word())
        .at(8_010.0, done())
        .end(8_010.0);
    assert_eq!(timing(&record), Timing::WholeBodyBurst);
    let straight = chat()
        .every(0.0, 1_000.0, 8, |_| word())
        .at(8_000.0, done())
        .end(8_000.0);
    assert_eq!(timing(&straight), Timing::Steady);
}

#[test]
fn a_fast_engine_is_no_hop() {
    let record = chat()
        .at(100.0, role())
        .every(200.0, 0.5, 20, |_| word())
        .at(210.0, done())
        .end(210.0);
    assert_eq!(timing(&record), Timing::Steady);
    let record = chat()
        .at(30.0, role())
        .every(50.0, 0.3, 5_000, |_| word())
        .at(1_550.0, done())
        .end(1_550.0);
    assert_eq!(timing(&record), Timing::Steady);
}

#[test]
fn blocks_timers_and_groups_are_never_steady() {
    let made: Vec<(f64, Vec<u8>)> = (0..200)
        .map(|i| (50.0 + 25.0 * f64::from(i), word()))
        .collect();
    for period in [100.0, 250.0, 1_650.0, 2_000.0] {
        let mut script = chat();
        script.steps = through_hop(&made, |ms| (ms / period).ceil() * period);
        let record = script.at(5_200.0, joined([finish(), done()])).end(5_200.0);
        // At 1.65 s there are 66 equal events each time, but too few times.
        let expected = match period {
            100.0 | 250.0 => Timing::TickBurst,
            _ => Timing::TransportCoalesced,
        };
        assert_eq!(
            (timing(&record), side(&record)),
            (expected, Some(Side::Upstream)),
            "{period}"
        );
    }
    // The same with the parts of a group spaced, so that no two events share a read or a burst.
    for group in [10.0, 50.0] {
        let mut script = chat();
        for i in 0..200 {
            let i = f64::from(i);
            script = script.at(
                287.0 + (i / group).floor() * 220.0 + (i % group) * 1.6,
                word(),
            );
        }
        let record = script.at(5_200.0, done()).end(5_200.0);
        assert_ne!(timing(&record), Timing::Steady, "{group}");
    }
}

#[test]
fn a_producer_that_never_yields() {
    let batch = |n: usize| joined((0..n).map(|_| word()));
    let record = chat()
        .at(300.0, batch(30))
        .at(1_200.0, batch(30))
        .at(2_100.0, batch(31))
        .end(2_100.0);
    assert_eq!(
        (
            record.ttft_ms,
            record.counts.events.unwrap(),
            record.counts.chunks
        ),
        (Some(300.0), 91, 3)
    );
    assert_eq!(timing(&record), Timing::TransportCoalesced);
    assert_eq!(record.coalescing.burst_events.unwrap(), [30, 30, 31]);
    assert_eq!(
        (
            record.coalescing.chunks_with_many_events.unwrap(),
            record.coalescing.burst_period_ms
        ),
        (3, Some(900.0))
    );
}

#[test]
fn short_streams_that_were_held_are_not_called_steady() {
    for tokens in [2, 3, 5, 8] {
        let one_read = chat()
            .at(20.0, role())
            .at(
                600.0,
                joined((0..tokens).map(|_| word()).chain([finish(), done()])),
            )
            .end(600.0);
        let write_by_write = chat()
            .at(20.0, role())
            .every(600.0, 0.15, tokens, |_| word())
            .at(602.0, done())
            .end(602.0);
        for record in [one_read, write_by_write] {
            assert_ne!(timing(&record), Timing::Steady, "{tokens}");
        }
    }
    let pair = chat()
        .at(100.0, joined([word(), word()]))
        .at(140.0, joined([word(), done()]))
        .end(140.0);
    assert_eq!(timing(&pair), Timing::Irregular);
}

#[test]
fn a_model_that_is_loaded_first_has_its_own_pace_then() {
    for (wait, gap, n, expected) in [
        (4_000.0, 2.5, 30, Timing::LateHeader),
        (36_000.0, 30.0, 20, Timing::LateHeader),
        (36_000.0, 2.0, 300, Timing::LateHeader),
        (1_000.0, 1.0, 20, Timing::Steady),
    ] {
        let end = wait + gap * f64::from(n);
        let record = chat()
            .every(wait, gap, n, |_| word())
            .at(end, joined([finish(), done()]))
            .end(end);
        assert_eq!(timing(&record), expected, "{wait} {gap}");
    }
}

#[test]
fn a_whole_body_by_its_pace_alone_or_after_a_short_wait_is_less_sure() {
    let by_pace = chat()
        .every(8_000.0, 1.25, 30, |_| word())
        .at(8_040.0, done())
        .end(8_040.0);
    assert_eq!(timing(&by_pace), Timing::WholeBodyBurst);
    assert!(confidence(&by_pace) <= 0.6);
    let soon = joined((0..30).map(|_| word()).chain([done()]));
    let soon = chat().at(40.0, soon).end(40.0);
    assert_eq!(timing(&soon), Timing::WholeBodyBurst);
    assert!(confidence(&soon) <= 0.4);
}

#[test]
fn an_engine_of_a_thousand_events_a_second_is_steady() {
    for (n, least, most) in [(500, 0.6, 1.4), (800, 0.4, 0.6)] {
        let mut noise = noise(n);
        let mut at = 120.0;
        let mut script = chat().at(100.0, role());
        for _ in 0..n {
            script = script.at(at, word());
            at += least + (most - least) * noise();
        }
        let record = script.at(at, joined([finish(), done()])).end(at);
        assert_eq!(timing(&record), Timing::Steady, "{n}");
    }
}

#[test]
fn a_client_that_takes_one_large_event_is_not_slow() {
    let observe = |blocked_until: f64| {
        let mut observer = Observer::new(chat().head, chat().options);
        observer.on_request_body(chat().body.as_bytes());
        observer.on_sent(time(1.0));
        observer.on_header(time(50.0), chat().response.unwrap());
        for i in 0..80u32 {
            let at = 100.0 + 20.0 * f64::from(i);
            if i == 40 {
                observer.on_blocked(time(at));
                observer.on_arrival_uncertain();
                observer.on_unblocked(time(blocked_until));
            }
            // What came while reading had stopped is read, and passed on, at once.
            let passed = if i < 40 { at } else { at.max(blocked_until) };
            let read = if i == 40 { at } else { passed };
            observer.on_body(time(read), Stamp::Read, true, &word());
            observer.on_flushed(u64::from(i) + 1, time(passed));
        }
        observer.on_body(
            time(1_700.0),
            Stamp::Read,
            true,
            &joined([finish(), done()]),
        );
        observer.on_flushed(81, time(1_700.0));
        observer.finish(time(1_700.0), Cause::Whole)
    };
    assert_eq!(timing(&observe(903.9)), Timing::Steady);
    let slow = observe(1_400.0);
    assert_eq!(timing(&slow), Timing::DownstreamBackpressure);
    let findings = slow.verdict.unwrap().findings;
    assert!(
        findings
            .iter()
            .all(|finding| finding.side != Side::Upstream),
        "{findings:?}"
    );
    let codes = findings
        .iter()
        .filter(|finding| finding.code == "downstream_backpressure");
    assert_eq!(codes.count(), 1);
}

#[test]
fn a_start_that_was_held_is_not_steady() {
    for (held, after) in [(30, 100), (50, 200)] {
        let start = 20.0 * f64::from(held);
        let end = start + 20.0 * f64::from(after + 1);
        let record = chat()
            .at(0.0, role())
            .at(start, joined((0..held).map(|_| word())))
            .every(start + 20.0, 20.0, after, |_| word())
            .at(end, joined([finish(), done()]))
            .end(end);
        assert_ne!(timing(&record), Timing::Steady, "{held}");
    }
}

#[test]
fn the_end_of_a_stream_is_no_catch_up() {
    let record = chat()
        .every(300.0, 100.0, 25, |_| word())
        .at(3_700.0, joined([word(), finish(), usage(26), done()]))
        .end(3_700.0);
    assert_eq!(timing(&record), Timing::StallNoCatchUp);
    assert_eq!(record.stalls[0].catch_up_events, Some(4));
    assert_eq!(evidence(&record, "catch_up_events"), Some(1.0));
}

#[test]
fn what_is_past_the_events_that_are_kept_is_not_made_up() {
    let short = || event(r#"{"choices":[{"delta":{"content":"w"}}]}"#);
    let last = 300.0 + 20.0 * 16_999.0;
    let record = chat()
        .every(300.0, 20.0, 17_000, |_| short())
        .at(last + 2_000.0, joined((0..100).map(|_| short())))
        .at(last + 2_020.0, joined([finish(), done()]))
        .end(last + 2_020.0);
    assert_eq!(record.stalls[0].catch_up_events, None);
    assert!(confidence(&record) <= 0.4);
    assert!(
        summary(&record).contains("not known"),
        "{}",
        summary(&record)
    );
    assert_eq!(evidence(&record, "catch_up_events"), None);

    let last = 300.0 + 20.0 * 16_399.0;
    let record = chat()
        .every(300.0, 20.0, 16_400, |_| short())
        .every(last + 240.0, 240.0, 100, |_| {
            joined((0..12).map(|_| short()))
        })
        .at(last + 24_020.0, done())
        .end(last + 24_020.0);
    assert!(confidence(&record) <= 0.6);
}

#[test]
fn a_single_event_has_no_gaps_to_speak_of() {
    let short = chat()
        .at(100.0, role())
        .at(200.0, word())
        .at(230.0, joined([finish(), done()]))
        .end(230.0);
    assert_eq!(
        (evidence(&short, "gaps"), evidence(&short, "gap_p50_ms")),
        (Some(0.0), None)
    );
    let tail = chat()
        .at(200.0, word())
        .at(5_300.0, joined([finish(), done()]))
        .end(5_300.0);
    assert_eq!(timing(&tail), Timing::LateTail);
    assert!(!summary(&tail).contains("gaps"), "{}", summary(&tail));
    assert_eq!(evidence(&tail, "gap_p99_ms"), None);
    for header in [1.0, 3_000.0] {
        let late = chat()
            .header(header)
            .at(3_000.0, joined([word(), finish(), done()]))
            .end(3_000.0);
        assert!(
            matches!(timing(&late), Timing::LateHeader | Timing::LateFirstToken),
            "{header}"
        );
        assert!(!summary(&late).contains("steady"), "{}", summary(&late));
    }
}

#[test]
fn a_timeline_keeps_so_many_rows_and_says_so() {
    let record = |chunks: u32| {
        chat()
            .every(1.0, 0.01, chunks, |_| b"x".to_vec())
            .observed(2_000.0)
    };
    let kept = crate::observe::timeline::ROW_LIMIT as u32;
    let (whole, cut) = (record(kept), record(kept + 1));
    assert!(!whole.flags.contains(&Flag::TimelineCut));
    assert!(cut.flags.contains(&Flag::TimelineCut));
    assert_eq!(cut.timeline.unwrap().len(), kept as usize);
    assert_eq!(cut.counts.chunks, u64::from(kept) + 1);
}
