//! Answers that are not whole on both sides, and ends that are apart.

use super::streams::*;
use crate::observe::record::{End, RequestRecord};
use crate::tools::hops::align::Unit;
use crate::tools::hops::judge::Word;

/// Between two events, µs.
const GAP: u64 = 20_000;

/// A stream of 100 events through a hop, of which so many reached each side before it ended there so.
fn broken(
    hop: Hop,
    inner: (usize, End),
    outer: (usize, End),
    timeline: bool,
) -> [RequestRecord; 2] {
    let chunks = stream(100, GAP, 250, 0.2);
    let [went_in, came_out] = both("a", &chunks, hop, true).map(|record| {
        let rows = record.timeline.unwrap();
        rows.iter()
            .map(|row| (row.0, row.2, row.3))
            .collect::<Vec<Chunk>>()
    });
    let mut events = 0;
    let came_out: Vec<Chunk> = came_out
        .into_iter()
        .take_while(|chunk| {
            events += chunk.2;
            events <= outer.0 as u64
        })
        .collect();
    let mut records = [
        record("ai", "gpu-1", &went_in[..inner.0], timeline),
        record("ao", "gateway", &came_out, timeline),
    ];
    for (record, (n, end)) in records.iter_mut().zip([inner, outer]) {
        record.end = end;
        record.response.body_hash = Some(n.to_string());
    }
    records
}

#[test]
fn a_cancel_that_the_hop_does_not_pass_on_is_told() {
    for timeline in [true, false] {
        let mut records = broken(
            passing,
            (100, End::Complete),
            (50, End::ClientGone),
            timeline,
        );
        // 50 gaps, some of them longer and some shorter
        records[1].at.end_ms = records[0].at.end_ms.map(|end| end - 1_000.0);
        let pair = compared(&records);
        let judgement = &pair.judgement;
        let sentence = &judgement.sentence;
        assert!(
            sentence.contains("let the server work on for 1.00 s more"),
            "{sentence}"
        );
        assert!(!sentence.contains("no hop can be"), "{sentence}");
        let hint = judgement.hint.as_ref().unwrap();
        assert!(hint.contains("proxy_ignore_client_abort"), "{hint}");
        assert!(!hint.contains("swapped"), "{hint}");
        assert_eq!(judgement.evidence["worked_on_ms"], 1_000.0);
        assert_eq!(pair.figures.bytes_changed, None);
        if timeline {
            assert_eq!(judgement.verdict, Word::Passed);
            assert_eq!(pair.aligned.as_ref().unwrap().unit, Unit::Bytes);
        } else {
            assert_eq!(judgement.verdict, Word::Unknown);
        }
    }
}

#[test]
fn what_was_held_before_the_app_left_is_told() {
    let records = broken(blocks, (100, End::Complete), (60, End::ClientGone), true);
    let judgement = compared(&records).judgement;
    assert_eq!(judgement.verdict, Word::HeldBlocks, "{judgement:?}");
    assert!(judgement.sentence.contains("work on for"), "{judgement:?}");
    let hint = judgement.hint.unwrap();
    assert!(hint.contains("proxy_ignore_client_abort") && hint.contains("proxy_buffering off"));
}

#[test]
fn a_cancel_that_is_passed_on_is_no_fault() {
    let records = broken(passing, (51, End::ClientGone), (50, End::ClientGone), true);
    let judgement = compared(&records).judgement;
    assert_eq!(judgement.verdict, Word::Passed, "{judgement:?}");
    assert_eq!(judgement.hint, None);
    let mut records = records;
    records[0].at.end_ms = records[1].at.end_ms.map(|end| end + 2_500.0);
    let judgement = compared(&records).judgement;
    assert!(
        judgement.sentence.contains("only 2.50 s later"),
        "{judgement:?}"
    );
}

#[test]
fn a_hop_that_ends_at_the_end_marker_does_not_wait_for_the_server() {
    let chunks = stream(100, GAP, 250, 0.2);
    for timeline in [true, false] {
        let mut records = both("a", &chunks, passing, timeline);
        records[0].at.end_ms = records[0].at.end_ms.map(|end| end + 3_000.0);
        let judgement = compared(&records).judgement;
        assert_eq!(judgement.verdict, Word::Passed, "{judgement:?}");
        let sentence = judgement.sentence;
        assert!(
            sentence.starts_with("The hop ended the answer 3.00 s before"),
            "{sentence}"
        );
        assert!(!sentence.contains("end (-"), "{sentence}");
    }
}

#[test]
fn a_hop_that_cuts_is_told_with_how_far_it_came() {
    for (outer, timeline) in [
        (End::Truncated, true),
        (End::UpstreamReset, true),
        (End::Truncated, false),
    ] {
        let mut records = broken(passing, (51, End::ClientGone), (50, outer), timeline);
        records[0].silence.before_end_ms = Some(5_003.0);
        let pair = compared(&records);
        let judgement = &pair.judgement;
        assert_eq!(judgement.verdict, Word::Cut, "{judgement:?}");
        let after = records[1].at.end_ms.unwrap() / 1000.0;
        let [went_in, came_out] = [0, 1].map(|side: usize| records[side].counts.bytes);
        for part in [
            format!(
                "cut the answer after {after:.2} s, {came_out} bytes of {went_in} that went in"
            ),
            "the server had been silent for 5.00 s".to_owned(),
        ] {
            assert!(judgement.sentence.contains(&part), "{part}: {judgement:?}");
        }
        assert!(!judgement.sentence.contains("another"), "{judgement:?}");
        assert!(
            judgement
                .hint
                .as_ref()
                .unwrap()
                .contains("proxy_read_timeout")
        );
        assert_eq!(pair.figures.bytes_changed, None);
        if timeline {
            assert_eq!(pair.aligned.as_ref().unwrap().entries.len(), 50);
            assert!(
                judgement.sentence.contains("Nothing was held"),
                "{judgement:?}"
            );
        }
        assert!(
            !judgement.sentence.contains("Without timelines"),
            "{judgement:?}"
        );
    }
}

#[test]
fn a_hop_that_cuts_while_bytes_flow_has_another_limit_or_failed() {
    let records = broken(blocks, (100, End::Complete), (60, End::Truncated), true);
    let judgement = compared(&records).judgement;
    assert_eq!(judgement.verdict, Word::Cut, "{judgement:?}");
    assert!(
        judgement.sentence.contains("nothing had come out for"),
        "{judgement:?}"
    );
    assert!(judgement.sentence.contains("full blocks"), "{judgement:?}");
    let hint = judgement.hint.unwrap();
    assert!(
        hint.contains("on the whole request") && hint.contains("a buffer of this size"),
        "{hint}"
    );
}

#[test]
fn a_hop_that_answers_itself_is_told() {
    let mut records = broken(passing, (51, End::ClientGone), (50, End::HttpError), true);
    records[1].response.status = Some(504);
    let judgement = compared(&records).judgement;
    assert_eq!(judgement.verdict, Word::Cut);
    assert!(
        judgement.sentence.contains("answered 504 itself"),
        "{judgement:?}"
    );
}

#[test]
fn a_server_that_cuts_is_not_the_hop() {
    // the hop lost what it held
    let records = broken(blocks, (60, End::Truncated), (50, End::Truncated), true);
    let judgement = compared(&records).judgement;
    assert_eq!(judgement.verdict, Word::HeldBlocks, "{judgement:?}");
    let records = broken(passing, (60, End::Truncated), (59, End::Truncated), true);
    assert_eq!(compared(&records).judgement.verdict, Word::Passed);
}

#[test]
fn a_hop_that_rewrites_and_cuts_is_aligned_by_events() {
    let mut records = broken(passing, (60, End::ClientGone), (50, End::Truncated), true);
    for row in records[1].timeline.as_mut().unwrap() {
        row.2 += 10;
    }
    let pair = compared(&records);
    assert_eq!(pair.aligned.as_ref().unwrap().unit, Unit::Events);
    assert_eq!(pair.aligned.as_ref().unwrap().entries.len(), 50);
    assert_eq!(pair.judgement.verdict, Word::Cut);
}
