//! Where a wait was: in the connection, before the header, before the first token, at the end.

use super::support::*;
use crate::observe::observer::{Cause, Observer, Stamp};
use crate::observe::record::{CutKind, End, RequestRecord, Side, Timing};

fn codes(record: &RequestRecord) -> Vec<(&str, Side)> {
    let findings = &record.verdict.as_ref().unwrap().findings;
    findings
        .iter()
        .map(|finding| (finding.code.as_ref(), finding.side))
        .collect()
}

fn words(from: f64, gap: f64, n: u32, script: Script) -> RequestRecord {
    let end = from + gap * f64::from(n);
    script
        .every(from, gap, n, |_| word())
        .at(end, joined([finish(), done()]))
        .end(end)
}

#[test]
fn the_wait_is_where_it_was() {
    for gap in [8.0, 20.0, 30.0, 250.0] {
        for late in [2_100.0, 5_100.0, 36_000.0] {
            // Even the header is withheld: a load, a queue, a sleep.
            let record = words(late + 60.0, gap, 30, chat().at(late, role()));
            assert_eq!(codes(&record), [("late_header", Side::Upstream)]);
            assert_eq!(side(&record), Some(Side::Upstream));
            // The header comes at once, then nothing, or the role, or pings.
            let script = chat().header(5.0);
            let fillers = [
                script.clone(),
                script.clone().at(20.0, role()),
                script.every(10.0, 500.0, late as u32 / 500, |_| comment("ping")),
            ];
            for script in fillers {
                let record = words(late, gap, 30, script);
                assert_eq!(codes(&record), [("late_first_token", Side::Upstream)]);
                assert_eq!(record.ttft_ms, Some(late));
            }
        }
        // A role a while before the first token is no long wait.
        let record = words(2_200.0, gap, 30, chat().at(900.0, role()));
        assert_eq!((timing(&record), side(&record)), (Timing::Steady, None));
        assert_eq!(record.gaps.token.max_ms, Some(gap));
    }
}

#[test]
fn a_slow_connection_is_no_wait_for_the_header() {
    let mut observer = Observer::new(chat().head, chat().options);
    observer.on_request_body(chat().body.as_bytes());
    observer.on_request_end(time(0.0));
    observer.on_sent(time(5_000.0));
    observer.on_header(time(5_090.0), chat().response.unwrap());
    for i in 0..40u32 {
        let at = 5_100.0 + 20.0 * f64::from(i);
        observer.on_body(time(at), Stamp::Kernel, true, &word());
    }
    observer.on_body(time(5_900.0), Stamp::Kernel, true, &done());
    let record = observer.finish(time(5_900.0), Cause::Whole);
    assert_eq!(
        (timing(&record), record.ttft_ms),
        (Timing::Steady, Some(5_100.0))
    );
}

#[test]
fn a_tail_is_late_beside_the_gaps_before_it() {
    for (gap, size, tail) in [
        (30.0, 5, 1_200.0),
        (200.0, 4_100, 5_000.0),
        (20.0, 5, 147_000.0),
    ] {
        let last = 300.0 + gap * 19.0;
        let end = last + tail;
        let script = chat().every(300.0, gap, 20, |_| text(&"x".repeat(size)));
        let held = script.clone().at(end, joined([finish(), done()])).end(end);
        assert_eq!(codes(&held), [("late_tail", Side::Upstream)]);
        assert_eq!(
            (held.tail_ms, held.gaps.token.max_ms),
            (Some(tail), Some(gap))
        );
        let finished = script.at(last + 1.0, finish()).at(end, done()).end(end);
        assert_eq!(
            (finished.end, timing(&finished)),
            (End::Complete, Timing::LateTail)
        );
    }
}

#[test]
fn an_error_after_an_early_header_and_pings_has_no_first_token() {
    let record = chat()
        .header(2.0)
        .every(2.0, 5_000.0, 5, |_| comment("ping"))
        .at(23_200.0, event(r#"{"error":{"code":429}}"#))
        .end(23_200.0);
    assert_eq!((record.end, record.ttft_ms), (End::InBandError, None));
    assert_eq!(timing(&record), Timing::Unmeasurable);
}

#[test]
fn cuts_by_silence_and_by_age_are_told_apart() {
    let cut = |record: &RequestRecord| {
        let cut = record.verdict.as_ref()?.cut.as_ref()?;
        Some((cut.kind, cut.after_ms))
    };
    for limit in [
        5_000.0, 10_000.0, 15_000.0, 30_000.0, 60_000.0, 100_000.0, 120_000.0, 300_000.0,
    ] {
        for cause in [Cause::UpstreamFin, Cause::UpstreamReset, Cause::ClientGone] {
            let idle = chat()
                .at(100.0, role())
                .every(700.0, 45.0, 9, |_| word())
                .at(1_700.0, comment("ping"))
                .cut(1_700.0 + limit * 1.01, cause);
            assert_eq!(cut(&idle), Some((CutKind::Idle, limit)), "{cause:?}");
            for gap in [100.0, 130.0] {
                let total = chat()
                    .every(150.0, gap, ((limit - 150.0) / gap) as u32, |_| word())
                    .cut(limit + 6.0, cause);
                assert_eq!(
                    cut(&total),
                    Some((CutKind::Total, limit)),
                    "{cause:?} {gap}"
                );
                assert_eq!(timing(&total), Timing::Steady);
            }
        }
    }
}
