//! A server that writes the frames of HTTP/2 itself (RFC 9113 section 4): what comes in one write is known, and whole
//! servers do not do half of it.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::channel;
use std::thread::sleep;

use serde_json::Value;

use super::h2::{PAUSE, asked, failed};
use super::number;
use crate::support::{DONE, event};

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;
/// A type that nobody knows, and so everybody has to ignore.
const UNKNOWN: u8 = 0xfa;

const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
/// Of SETTINGS.
const ACK: u8 = 1;

/// What a client may send of a body before it is let on (section 6.9.2).
const FIRST_WINDOW: usize = 65_535;
/// A prompt that is longer.
const WORDS: usize = 24_000;

/// A client at the server's end.
struct Peer {
    stream: TcpStream,
    /// Bytes of the request's body so far.
    got: usize,
    is_whole: bool,
}

impl Peer {
    fn send(&mut self, frames: &[Vec<u8>]) {
        let _ = self.stream.write_all(&frames.concat());
    }

    /// Reads until so much of the request's body is here, or all of it, or the client has gone.
    fn read(&mut self, enough: usize) {
        while self.got < enough && !self.is_whole && self.frame().is_some() {}
    }

    /// Says that there is nothing more to come, and waits until the client has gone: a close with bytes unread is a reset.
    fn leave(&mut self) {
        let _ = self.stream.shutdown(Shutdown::Write);
        while self.frame().is_some() {}
    }

    fn frame(&mut self) -> Option<()> {
        let mut head = [0; 9];
        self.stream.read_exact(&mut head).ok()?;
        let mut body = vec![0; u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize];
        self.stream.read_exact(&mut body).ok()?;
        if head[3] == DATA {
            self.got += body.len();
            self.is_whole = head[4] & END_STREAM != 0;
        }
        Some(())
    }
}

/// A server for one client, which has shown its preface.
fn serve(script: impl FnOnce(&mut Peer) + Send + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.set_nodelay(true);
        stream.read_exact(&mut [0; 24]).unwrap();
        let mut peer = Peer {
            stream,
            got: 0,
            is_whole: false,
        };
        peer.send(&[frame(SETTINGS, 0, 0, &[]), frame(SETTINGS, ACK, 0, &[])]);
        script(&mut peer);
        peer.leave();
    });
    addr
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let head = [length[1], length[2], length[3], kind, flags];
    [&head, &stream.to_be_bytes()[..], payload].concat()
}

/// A head, of literals (RFC 7541 section 6.2.2): its status, and its type if it has one.
fn head(status: &str, media: &str) -> Vec<u8> {
    let mut block = [&[0x08, 3], status.as_bytes()].concat();
    if !media.is_empty() {
        let length = u8::try_from(media.len()).unwrap();
        block.extend([&[0x0f, 0x10, length], media.as_bytes()].concat());
    }
    frame(HEADERS, END_HEADERS, 1, &block)
}

fn interim(status: &str) -> Vec<u8> {
    head(status, "")
}

fn of_stream() -> Vec<u8> {
    head("200", "text/event-stream")
}

fn data(text: impl AsRef<[u8]>, flags: u8) -> Vec<u8> {
    frame(DATA, flags, 1, text.as_ref())
}

fn numbers(kind: u8, stream: u32, numbers: &[u32]) -> Vec<u8> {
    let bytes: Vec<u8> = numbers.iter().flat_map(|n| n.to_be_bytes()).collect();
    frame(kind, 0, stream, &bytes)
}

/// Lets the client send all the rest.
fn go_on() -> Vec<u8> {
    [0, 1]
        .map(|stream| numbers(WINDOW_UPDATE, stream, &[1 << 20]))
        .concat()
}

/// An answer that does not wait for the request, and lets go of the rest of it (section 8.1).
fn too_long() -> Vec<u8> {
    let body = r#"{"error":{"type":"too_long"}}"#;
    let reset = numbers(RST_STREAM, 1, &[0]);
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

#[test]
fn a_goaway_says_whether_the_server_failed_or_the_connection_was_cut() {
    const NO_ERROR: u32 = 0;
    const INTERNAL_ERROR: u32 = 2;
    for (reason, end) in [(INTERNAL_ERROR, "upstream_reset"), (NO_ERROR, "truncated")] {
        let addr = serve(move |peer| {
            peer.read(usize::MAX);
            peer.send(&[of_stream(), data(event("word "), 0)]);
            sleep(PAUSE);
            peer.send(&[numbers(GOAWAY, 0, &[1, reason])]);
        });
        let (record, _) = failed(addr, &[]);
        assert_eq!(record["end"], end, "{record}");
        assert_eq!(record["response"]["status"], 200);
        let counts = &record["counts"];
        assert_eq!(
            (&counts["chunks"], &counts["token_events"]),
            (&1.into(), &1.into())
        );
        assert_eq!(record["at"]["sent_ms"], 0.0);
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
