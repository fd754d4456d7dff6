//! What is known of an exchange when its frames are: what comes in one write, and what whole servers hardly do.

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread::sleep;

use rustls::{ServerConnection, StreamOwned};
use serde_json::Value;

use super::h2::{PAUSE, asked, asked_at, failed};
use super::number;
use crate::support::frames::*;
use crate::support::tls::Certified;
use crate::support::{DONE, event};

/// A prompt that is longer than the first window.
const WORDS: usize = 24_000;

/// An answer that does not wait for the request, and lets go of the rest of it (section 8.1).
fn too_long() -> Vec<u8> {
    let body = r#"{"error":{"type":"too_long"}}"#;
    let reset = numbers(RST_STREAM, 1, &[NO_ERROR]);
    [
        head("413", "application/json"),
        data(body, END_STREAM),
        reset,
    ]
    .concat()
}

fn is_too_long(record: &Value) {
    assert_eq!(record["end"], "http_error", "{record}");
    assert_eq!(record["response"]["status"], 413);
    assert_eq!(record["error"]["type"], "too_long");
    assert_eq!(record["counts"]["bytes"], 29);
}

#[test]
fn an_early_answer_ends_a_request_that_was_not_sent_whole() {
    let addr = serve(|peer| {
        peer.read(FIRST_WINDOW);
        sleep(PAUSE);
        peer.send(&[too_long()]);
    });
    let (record, told) = failed(addr, &[&"rain ".repeat(WORDS)]);
    is_too_long(&record);
    assert!(told.contains("the prompt is too long"), "{told}");
    let at = &record["at"];
    assert_eq!(at["sent_ms"], Value::Null);
    assert_eq!(at["header_ms"], 0.0, "t0 is when the answer began");
    assert_eq!(record["ttft_null"], "http_error");
}

#[test]
fn sent_is_what_has_left_even_where_the_answer_waits_already() {
    let (sender, received) = channel();
    let addr = serve(move |peer| {
        peer.read(FIRST_WINDOW);
        // The second read of the client brings the reset, after the first one let it on.
        let between = frame(UNKNOWN, 0, 0, &[0; 9_000]);
        peer.send(&[go_on(), between, too_long()]);
        peer.leave();
        sender.send(peer.is_whole).unwrap();
    });
    let (record, _) = failed(addr, &[&"rain ".repeat(WORDS)]);
    is_too_long(&record);
    let is_told = !record["at"]["sent_ms"].is_null();
    assert_eq!(is_told, received.recv().unwrap(), "{record}");
}

#[test]
fn trailers_end_a_whole_answer() {
    let addr = serve(|peer| {
        peer.read(usize::MAX);
        peer.send(&[of_stream(), data(event("word "), 0)]);
        sleep(PAUSE);
        peer.send(&[data(DONE, 0)]);
        sleep(PAUSE);
        let trailers = [&[0x00, 3], &b"sum"[..], &[2], &b"42"[..]].concat();
        peer.send(&[frame(HEADERS, END_HEADERS | END_STREAM, 1, &trailers)]);
    });
    let (_, record) = asked(addr, &[]);
    assert_eq!(record["end"], "complete", "{record}");
    assert_eq!(record["response"]["status"], 200);
    let (counts, at) = (&record["counts"], &record["at"]);
    assert_eq!(
        (&counts["chunks"], &counts["token_events"]),
        (&2.into(), &1.into())
    );
    assert_eq!(counts["bytes"], event("word ").len() + DONE.len());
    assert_eq!(at["sent_ms"], 0.0);
    let after_done = number(&at["end_ms"]) - number(&at["done_ms"]);
    assert!(after_done > 0.5 * millis(), "{record}");
}

/// Half an answer, then the announcement that the server leaves, for this reason, and the end of the connection.
fn leaves(reason: u32) -> impl FnOnce(&mut Peer) + Send + 'static {
    move |peer| {
        peer.read(usize::MAX);
        peer.send(&[of_stream(), data(event("word "), 0)]);
        sleep(PAUSE);
        peer.send(&[numbers(GOAWAY, 0, &[1, reason])]);
    }
}

fn is_cut(record: &Value, end: &str) {
    assert_eq!(record["end"], end, "{record}");
    assert_eq!(record["response"]["status"], 200);
    let counts = &record["counts"];
    assert_eq!(
        (&counts["chunks"], &counts["token_events"]),
        (&1.into(), &1.into())
    );
    assert_eq!(record["at"]["sent_ms"], 0.0);
}

#[test]
fn a_goaway_says_whether_the_server_failed_or_the_connection_was_cut() {
    for (reason, end) in [(INTERNAL_ERROR, "upstream_reset"), (NO_ERROR, "truncated")] {
        let (record, _) = failed(serve(leaves(reason)), &[]);
        is_cut(&record, end);
    }
}

#[test]
fn a_goaway_is_believed_also_where_tls_ends_without_a_word() {
    for (reason, end) in [(INTERNAL_ERROR, "upstream_reset"), (NO_ERROR, "truncated")] {
        let mut certified = Certified::named("localhost");
        certified.config.alpn_protocols = vec![b"h2".to_vec()];
        let session = ServerConnection::new(Arc::new(certified.config.clone())).unwrap();
        let dress = |tcp| -> Box<dyn Stream> { Box::new(StreamOwned::new(session, tcp)) };
        let port = serve_on(dress, leaves(reason)).port();
        let (url, ca) = (format!("https://localhost:{port}"), certified.ca());
        let (_, record) = asked_at(&url, &["--ca", ca.to_str().unwrap()]);
        is_cut(&record, end);
        assert_eq!(record["upstream"]["tls"], true);
    }
}

#[test]
fn interim_heads_are_signs_of_life() {
    let addr = serve(|peer| {
        peer.read(usize::MAX);
        for _ in 0..3 {
            sleep(PAUSE);
            peer.send(&[interim("103")]);
        }
        sleep(PAUSE);
        peer.send(&[of_stream(), data(event("word "), 0), data(DONE, END_STREAM)]);
    });
    let (_, record) = asked(addr, &[]);
    assert_eq!(record["end"], "complete", "{record}");
    assert_eq!(record["response"]["status"], 200);
    assert_eq!(record["counts"]["token_events"], 1);
    assert_eq!(record["at"]["sent_ms"], 0.0);
    let header = number(&record["at"]["header_ms"]);
    assert!(header > 3.5 * millis(), "{record}");
    let silence = number(&record["silence"]["longest_ms"]);
    assert!(silence < 0.75 * header, "{record}");
}

#[test]
fn an_interim_head_in_the_middle_of_a_request_begins_no_answer() {
    let addr = serve(|peer| {
        peer.read(FIRST_WINDOW);
        peer.send(&[interim("103")]);
        sleep(PAUSE);
        peer.send(&[go_on()]);
        peer.read(usize::MAX);
        sleep(PAUSE);
        peer.send(&[of_stream(), data(event("word "), 0), data(DONE, END_STREAM)]);
    });
    let (_, record) = asked(addr, &[&"rain ".repeat(WORDS)]);
    assert_eq!(record["end"], "complete", "{record}");
    assert_eq!(record["at"]["sent_ms"], 0.0, "{record}");
    assert!(number(&record["ttft_ms"]) > 0.5 * millis(), "{record}");
}

#[test]
fn there_is_no_other_protocol_to_switch_to() {
    let addr = serve(|peer| {
        peer.read(usize::MAX);
        peer.send(&[interim("101"), of_stream(), data(DONE, END_STREAM)]);
    });
    let (record, _) = failed(addr, &[]);
    assert_eq!(record["end"], "upstream_invalid", "{record}");
    assert_eq!(record["response"]["status"], Value::Null);
    assert_eq!(record["at"]["sent_ms"], 0.0);
    assert_eq!(record["counts"]["bytes"], 0);
}

#[test]
fn a_frame_counts_when_its_last_byte_is_here() {
    let addr = serve(|peer| {
        peer.read(usize::MAX);
        let whole = data([event("one "), event("two ")].concat(), 0);
        let (first, last) = whole.split_at(whole.len() / 2);
        peer.send(&[of_stream(), first.to_vec()]);
        sleep(PAUSE);
        peer.send(&[last.to_vec(), data(DONE, END_STREAM)]);
    });
    let (_, record) = asked(addr, &[]);
    assert_eq!(record["end"], "complete", "{record}");
    let counts = &record["counts"];
    assert_eq!(
        (&counts["chunks"], &counts["token_events"]),
        (&1.into(), &2.into())
    );
    let after_head = number(&record["at"]["first_byte_ms"]) - number(&record["at"]["header_ms"]);
    assert!(after_head > 0.5 * millis(), "{record}");
}

fn millis() -> f64 {
    PAUSE.as_secs_f64() * 1000.0
}
