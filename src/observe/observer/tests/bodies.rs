//! Bodies of every kind, under true and false labels.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::support::*;
use crate::observe::observer::Cause;
use crate::observe::record::{Api, End, Flag, Framing, Timing, TtftNull};

fn words() -> Script {
    chat()
        .at(60.0, role())
        .every(90.0, 30.0, 20, |_| word())
        .at(700.0, joined([finish(), done()]))
}

#[test]
fn labels_in_any_spelling_measure_alike() {
    for label in [
        "text/event-stream;charset=UTF-8",
        "Text/Event-Stream",
        "text/event-stream; charset=utf-8",
    ] {
        let record = words().typed(Some(label)).end(700.0);
        assert_eq!(
            (record.ttft_ms, record.end, record.flags.len()),
            (Some(90.0), End::Complete, 0),
            "{label}"
        );
    }
}

#[test]
fn a_wrong_label_on_an_event_stream() {
    let lists = "application/json, text/event-stream; charset=utf-8";
    for label in [
        Some("application/json"),
        Some("text/html; charset=utf-8"),
        None,
        Some(lists),
    ] {
        let record = words().typed(label).end(700.0);
        assert_eq!(record.flags, [Flag::LabelBodyMismatch], "{label:?}");
        assert_eq!(
            (record.ttft_ms, record.end, record.api),
            (Some(90.0), End::Complete, Some(Api::Chat))
        );
        assert_eq!(timing(&record), Timing::Steady);
    }
    // Nobody asked for a stream: the label is believed.
    let record = words()
        .asking(r#"{"model":"m"}"#)
        .typed(Some("text/plain"))
        .end(700.0);
    assert_eq!((record.counts.events, record.flags.len()), (None, 0));
}

#[test]
fn the_first_bytes_may_come_in_pieces() {
    let record = chat()
        .typed(None)
        .at(10.0, *b"\xEF\xBB")
        .at(20.0, *b"\xBFda")
        .at(30.0, &word()[2..])
        .at(60.0, joined([finish(), done()]))
        .end(60.0);
    assert_eq!(
        (
            record.ttft_ms,
            record.counts.parse_errors.unwrap(),
            record.end
        ),
        (Some(30.0), 0, End::Complete)
    );
    assert_eq!(record.coalescing.events_split_over_chunks.unwrap(), 1);
}

#[test]
fn json_lines_under_the_label_of_an_event_stream() {
    let line = |_| b"{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n".to_vec();
    let record = chat().every(300.0, 30.0, 10, line).end(600.0);
    assert_eq!(record.flags, [Flag::LabelBodyMismatch]);
    assert_eq!(
        (
            record.counts.events.unwrap(),
            record.ttft_ms,
            record.gaps.token.p50_ms
        ),
        (10, Some(300.0), Some(30.0))
    );
}

#[test]
fn json_lines_of_an_unknown_kind() {
    let line = |i| format!("{{\"step\":{i}}}\n").into_bytes();
    let record = chat()
        .path("/progress")
        .typed(Some("application/x-ndjson"))
        .every(300.0, 30.0, 10, line)
        .end(600.0);
    assert_eq!(
        (record.api, record.counts.events.unwrap()),
        (Some(Api::Ndjson), 10)
    );
    assert_eq!(
        (record.ttft_null, record.end),
        (Some(TtftNull::NoToken), End::Complete)
    );
    assert_eq!((timing(&record), record.flags.len()), (Timing::Steady, 0));
}

#[test]
fn an_event_stream_of_an_unknown_kind() {
    let script = |step: f64| {
        chat()
            .path("/events")
            .every(300.0, step, 20, |i| event(&format!("step {i}")))
    };
    let record = script(30.0).end(900.0);
    assert_eq!(
        (
            record.api,
            record.counts.events.unwrap(),
            record.counts.parse_errors.unwrap()
        ),
        (Some(Api::Sse), 20, 0)
    );
    assert_eq!(
        (record.end, timing(&record)),
        (End::Complete, Timing::Steady)
    );
    assert_eq!(timing(&script(0.0).end(900.0)), Timing::WholeBodyBurst);
}

#[test]
fn one_plain_reply_asked_for_or_not() {
    let body = r#"{"id":"chatcmpl-1","model":"m-2","choices":[{"message":{"content":"hi"}}],"usage":{"prompt_tokens":7,"completion_tokens":2}}"#;
    let script = chat()
        .typed(Some("application/json"))
        .reply(|head| head.framing = Some(Framing::Length))
        .header(2_490.0)
        .at(2_500.0, body);
    let record = script.clone().end(2_500.0);
    assert_eq!(
        (record.end, record.ttft_null),
        (End::NotAStream, Some(TtftNull::NotAStream))
    );
    assert_eq!(
        (record.ttft_ms, record.at.first_byte_ms),
        (None, Some(2_500.0))
    );
    assert_eq!((record.verdict, record.tail_ms), (None, None));
    assert_eq!(
        (record.response.model.as_deref(), record.tokens.completion),
        (Some("m-2"), Some(2))
    );

    let record = script
        .asking(r#"{"model":"m","stream":false}"#)
        .end(2_500.0);
    assert_eq!(
        (record.end, record.ttft_null),
        (End::Complete, Some(TtftNull::NotAStream))
    );
    assert_eq!((record.flags.len(), record.api), (0, Some(Api::Chat)));
}

#[test]
fn sound_has_a_rhythm_of_bytes() {
    let script = |step: f64| {
        chat()
            .path("/v1/audio/speech")
            .asking(r#"{"model":"tts"}"#)
            .typed(Some("audio/mpeg"))
            .every(400.0, step, 20, |_| vec![0xFF; 4_096])
    };
    let record = script(100.0).end(2_400.0);
    assert_eq!(
        (record.api, record.end, record.ttft_null),
        (Some(Api::Binary), End::Complete, Some(TtftNull::NotText))
    );
    assert_eq!(
        (record.at.first_byte_ms, record.gaps.chunk.p50_ms),
        (Some(400.0), Some(100.0))
    );
    assert_eq!(timing(&record), Timing::Steady);
    let file = script(100.0)
        .reply(|head| head.framing = Some(Framing::Length))
        .end(2_400.0);
    assert_eq!(file.verdict, None);
}

/// What an encoder makes of these bytes and a flush after them.
fn flushed(encoder: &mut GzEncoder<Vec<u8>>, bytes: &[u8]) -> Vec<u8> {
    encoder.write_all(bytes).unwrap();
    encoder.flush().unwrap();
    std::mem::take(encoder.get_mut())
}

fn gzip() -> GzEncoder<Vec<u8>> {
    GzEncoder::new(Vec::new(), Compression::default())
}

fn encoded(coding: &str) -> Script {
    chat().reply(|head| head.content_encoding = Some(coding.into()))
}

#[test]
fn a_compressed_stream_that_flushes_per_event_measures_like_a_plain_one() {
    let mut encoder = gzip();
    let mut script = encoded("gzip");
    for i in 0..30 {
        let bytes = flushed(&mut encoder, &word());
        script = match i {
            7 => {
                // cut between `00 00` and `FF FF`: the event is there before its flush is whole
                let (a, b) = bytes.split_at(bytes.len() - 2);
                script.at(430.0, a).at(450.0, b)
            }
            _ => script.at(100.0 + 50.0 * f64::from(i), bytes),
        };
    }
    let last = flushed(&mut encoder, &joined([finish(), done()]));
    let end = encoder.finish().unwrap();
    let record = script.at(1_600.0, last).at(1_600.0, end).end(1_600.0);
    assert_eq!(
        (record.ttft_ms, record.gaps.token.p50_ms),
        (Some(100.0), Some(50.0))
    );
    assert_eq!(
        (record.end, record.flags.as_slice()),
        (End::Complete, &[Flag::Encoded][..])
    );
    assert_eq!(
        (timing(&record), record.counts.token_events),
        (Timing::Steady, Some(30))
    );
    assert_eq!(record.counts.chunks, 33);
}

#[test]
fn a_compressor_that_never_flushes_shows_nothing_until_the_end() {
    let mut encoder = gzip();
    encoder.write_all(&joined((0..40).map(|_| word()))).unwrap();
    encoder.write_all(&done()).unwrap();
    let body = encoder.finish().unwrap();
    let record = encoded("gzip")
        .at(10.0, &body[..10])
        .at(4_000.0, &body[10..])
        .end(4_000.0);
    assert_eq!(
        (record.at.first_byte_ms, record.ttft_ms),
        (Some(10.0), Some(4_000.0))
    );
    assert_eq!(timing(&record), Timing::WholeBodyBurst);
}

#[test]
fn an_unknown_encoding_is_not_read_and_not_guessed() {
    let record = encoded("aws-chunked")
        .at(10.0, *b"\x1F\x8B\x08\0\0\0\0\0\0\x03")
        .at(4_000.0, vec![7; 900])
        .end(4_000.0);
    assert_eq!(
        (record.ttft_ms, record.ttft_null),
        (None, Some(TtftNull::Encoded))
    );
    assert_eq!(
        (record.end, record.flags.clone()),
        (End::Complete, vec![Flag::Encoded])
    );
    assert_eq!(
        (timing(&record), record.counts.events, record.counts.bytes),
        (Timing::Unmeasurable, None, 910)
    );
    assert_eq!(record.coalescing, Default::default());
    assert!(record.verdict.unwrap().summary.contains("aws-chunked"));

    let plain = words()
        .reply(|head| head.content_encoding = Some("identity".into()))
        .end(700.0);
    assert_eq!((plain.ttft_ms, plain.flags.len()), (Some(90.0), 0));
}

#[test]
fn a_bomb_or_a_broken_encoding_stops_the_observer_and_keeps_what_was_measured() {
    let mut encoder = gzip();
    let first = flushed(&mut encoder, &word());
    let script = encoded("gzip").at(100.0, first);
    for (bytes, errors) in [
        (flushed(&mut encoder, &vec![b'x'; 64 << 20]), 0),
        (b"\xFF\xFF\xFF\xFF no deflate".to_vec(), 1),
    ] {
        let record = script
            .clone()
            .at(200.0, bytes)
            .at(300.0, *b"more")
            .end(400.0);
        assert_eq!(record.flags, [Flag::ObserverStopped, Flag::Encoded]);
        assert_eq!((record.ttft_ms, record.end), (Some(100.0), End::Complete));
        assert_eq!(
            (timing(&record), record.counts.parse_errors),
            (Timing::Unmeasurable, Some(errors))
        );
    }
}

#[test]
fn one_reply_that_is_compressed_tells_its_model_and_usage() {
    let mut encoder = gzip();
    encoder.write_all(br#"{"model":"m-2","choices":[{"message":{"content":"hi"}}],"usage":{"prompt_tokens":7,"completion_tokens":2}}"#).unwrap();
    let record = encoded("gzip")
        .typed(Some("application/json"))
        .asking(r#"{"model":"m"}"#)
        .at(90.0, encoder.finish().unwrap())
        .end(90.0);
    assert_eq!(
        (record.end, record.tokens.completion),
        (End::Complete, Some(2))
    );
    assert_eq!(record.response.model.as_deref(), Some("m-2"));
}

#[test]
fn an_error_spread_over_lines_under_the_label_of_an_event_stream() {
    let record = chat()
        .at(90.0, *b"{\n  \"error\": {\n    \"code\": 503\n")
        .at(91.0, *b"  }\n}\n")
        .end(91.0);
    assert_eq!(
        (record.end, record.flags.as_slice()),
        (End::InBandError, &[Flag::LabelBodyMismatch][..])
    );
    assert_eq!(record.error.unwrap().server_type.as_deref(), Some("503"));
}

#[test]
fn an_event_of_200_kb_counts_at_its_last_byte() {
    let large = text(&"x".repeat(200_000));
    let mut script = chat().at(10.0, role());
    for (i, part) in large.chunks(16_384).enumerate() {
        script = script.at(100.0 + 10.0 * i as f64, part);
    }
    let record = script
        .clone()
        .every(240.0, 10.0, 5, |_| word())
        .at(300.0, done())
        .end(300.0);
    assert_eq!(
        (record.ttft_ms, record.counts.token_events.unwrap()),
        (Some(220.0), 6)
    );
    assert_eq!(
        (
            record.coalescing.events_split_over_chunks.unwrap(),
            record.gaps.chunk.p50_ms
        ),
        (1, Some(10.0))
    );

    script.options.event_limit = 100_000;
    let record = script
        .every(240.0, 10.0, 5, |_| word())
        .at(300.0, done())
        .end(300.0);
    assert_eq!(
        (record.ttft_ms, record.flags),
        (Some(240.0), vec![Flag::EventTooLarge])
    );
    assert_eq!(
        (record.counts.token_events.unwrap(), record.end),
        (5, End::Complete)
    );
}

#[test]
fn the_hash_is_of_the_bytes_as_they_came() {
    let record = chat()
        .at(1.0, *b"data: ")
        .at(2.0, *b"x\n\n")
        .cut(3.0, Cause::UpstreamFin);
    let expected = xxhash_rust::xxh3::xxh3_128(b"data: x\n\n");
    assert_eq!(record.response.body_hash, Some(format!("{expected:032x}")));
    let mut script = chat();
    script.options.body_hash = false;
    assert_eq!(script.end(3.0).response.body_hash, None);
}

#[test]
fn a_reply_without_a_body() {
    let record = chat()
        .asking("")
        .typed(None)
        .reply(|head| (head.status, head.framing) = (204, None))
        .end(3.0);
    assert_eq!(
        (record.end, record.ttft_null),
        (End::Complete, Some(TtftNull::NotAStream))
    );
    assert_eq!(
        (record.verdict, record.stamps, record.at.first_byte_ms),
        (None, None, None)
    );
}
