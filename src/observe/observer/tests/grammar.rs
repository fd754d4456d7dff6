//! The event-stream grammar in the wild, and where time is in it.

use super::support::*;
use crate::observe::record::{End, RequestRecord, Timing};

fn with_line_ends(bytes: &[u8], end: &str) -> Vec<u8> {
    String::from_utf8(bytes.to_vec())
        .unwrap()
        .replace('\n', end)
        .into_bytes()
}

/// Ends complete, without a parse error, and with so many tokens.
fn assert_sound(record: &RequestRecord, tokens: u64) {
    assert_eq!(
        (record.end, record.counts.parse_errors.unwrap()),
        (End::Complete, 0)
    );
    assert_eq!(record.counts.token_events.unwrap(), tokens);
}

#[test]
fn every_line_end() {
    for end in ["\n", "\r\n", "\r"] {
        let record = chat()
            .every(50.0, 50.0, 10, |_| with_line_ends(&word(), end))
            .at(550.0, with_line_ends(&done(), end))
            .end(550.0);
        assert_sound(&record, 10);
        assert_eq!(
            (
                record.gaps.token.max_ms,
                record.coalescing.events_split_over_chunks.unwrap()
            ),
            (Some(50.0), 0)
        );
        assert_eq!(
            (
                timing(&record),
                record
                    .flags
                    .contains(&crate::observe::record::Flag::NoDoneMarker)
            ),
            (Timing::Steady, false)
        );
    }
}

#[test]
fn a_line_end_cut_in_two_dispatches_at_its_first_half() {
    let record = chat()
        .at(0.0, "event: message\r")
        .at(
            20.0,
            [b"\n".as_slice(), word().trim_ascii_end(), b"\r"].concat(),
        )
        .at(40.0, "\n\r")
        .at(60.0, "\n")
        .at(80.0, done())
        .end(80.0);
    assert_sound(&record, 1);
    assert_eq!(
        (
            record.ttft_ms,
            record.counts.events.unwrap(),
            record.counts.keepalives.unwrap()
        ),
        (Some(40.0), 2, 0)
    );
    assert_eq!(record.coalescing.events_split_over_chunks.unwrap(), 1);
}

#[test]
fn no_space_after_the_colon() {
    let bare = |bytes: Vec<u8>| {
        bytes
            .strip_prefix(b"data: ")
            .map(|rest| [b"data:", rest].concat())
            .unwrap()
    };
    let record = chat()
        .every(30.0, 30.0, 5, |_| bare(word()))
        .at(200.0, bare(done()))
        .end(200.0);
    assert_sound(&record, 5);
    assert_eq!(record.gaps.token.p50_ms, Some(30.0));
}

#[test]
fn a_bom_before_the_first_field() {
    for cut in [1, 2, 3] {
        let bom = b"\xEF\xBB\xBF";
        let record = chat()
            .at(99.0, &bom[..cut])
            .at(100.0, [&bom[cut..], &text("A")].concat())
            .at(600.0, text("B"))
            .at(601.0, done())
            .end(601.0);
        assert_sound(&record, 2);
        assert_eq!(record.ttft_ms, Some(100.0));
    }
}

#[test]
fn one_event_over_several_lines() {
    let record = chat()
        .at(
            100.0,
            "data: {\"choices\":[{\"index\":0,\ndata: \"delta\":{\"content\":\"A\"}}]}\n\n",
        )
        .at(150.0, text("B"))
        .at(151.0, done())
        .end(151.0);
    assert_sound(&record, 2);
    assert_eq!(record.ttft_ms, Some(100.0));
}

#[test]
fn unicode_s_own_line_ends_are_none() {
    for inside in ["\u{2028}", "\u{2029}", "\u{85}"] {
        let record = chat()
            .at(100.0, text(&format!("a{inside}b")))
            .at(
                120.0,
                delta(&format!("{{\"content\":\"{inside}\"}}"), Some("stop")),
            )
            .end(120.0);
        assert_sound(&record, 2);
        assert_eq!(record.counts.chars.unwrap(), 4);
    }
}

#[test]
fn a_character_cut_by_a_read_counts_with_its_last_byte() {
    let event = text("那");
    let cut = event.iter().position(|&byte| byte == 0x82).unwrap() + 1;
    let record = chat()
        .at(100.0, &event[..cut])
        .at(140.0, &event[cut..])
        .at(160.0, done())
        .end(160.0);
    assert_sound(&record, 1);
    assert_eq!(
        (
            record.at.first_byte_ms,
            record.ttft_ms,
            record.counts.chars.unwrap()
        ),
        (Some(100.0), Some(140.0), 1)
    );
}

#[test]
fn reads_and_events_have_gaps_of_their_own() {
    let event = word();
    let parts = |from: f64| {
        [
            &event[..2],
            &event[2..12],
            &event[12..event.len() - 1],
            &event[event.len() - 1..],
        ]
        .into_iter()
        .enumerate()
        .map(move |(i, part)| (from + 5.0 * i as f64, part.to_vec()))
        .collect::<Vec<_>>()
    };
    let mut script = chat();
    for i in 0..10 {
        script.steps.extend(parts(20.0 * f64::from(i)));
    }
    let record = script.at(200.0, done()).end(200.0);
    assert_sound(&record, 10);
    assert_eq!(
        (record.gaps.chunk.p50_ms, record.gaps.event.p50_ms),
        (Some(5.0), Some(20.0))
    );
    assert_eq!(
        (
            record.coalescing.events_split_over_chunks.unwrap(),
            record.ttft_ms
        ),
        (10, Some(15.0))
    );
}

#[test]
fn comments_while_the_request_waits() {
    let record = chat()
        .every(500.0, 1_000.0, 4, |_| comment("GATEWAY WAITING"))
        .at(4_000.0, role())
        .every(4_050.0, 50.0, 20, |_| word())
        .at(5_050.0, done())
        .end(5_050.0);
    assert_sound(&record, 20);
    assert_eq!(
        (record.ttft_ms, record.counts.keepalives.unwrap()),
        (Some(4_050.0), 4)
    );
    assert_eq!(
        (record.silence.longest_ms, record.gaps.token.max_ms),
        (Some(1_000.0), Some(50.0))
    );
}

#[test]
fn a_name_alone_or_data_without_content_keeps_alive() {
    let record = chat()
        .at(10.0, "event: ping\n\n")
        .at(20.0, "data:\n\n")
        .at(30.0, "data: : still here\n\n")
        .at(40.0, "event: ping\ndata: {}\n\n")
        .at(100.0, word())
        .at(120.0, done())
        .end(120.0);
    assert_sound(&record, 1);
    assert_eq!(
        (
            record.counts.keepalives.unwrap(),
            record.counts.events.unwrap()
        ),
        (4, 5)
    );
}
