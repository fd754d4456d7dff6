//! The rig of the socket tests: a scripted upstream, a raw client, and the proxy's binary between
//! them. Everything binds port 0, and client and upstream share this process's clock.
//!
//! Nothing here knows how the proxy works: messages are raw bytes on both sides, so that a test
//! sees what a peer would see.

// Each test file is a crate of its own and uses its part of the rig.
#![allow(dead_code, unused_imports)]

pub mod client;
pub mod frames;
pub mod http;
pub mod proxy;
pub mod simulated;
pub mod tls;
pub mod upstream;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use socket2::{Domain, Socket, Type};

pub use client::{Client, End, Response};
pub use proxy::Proxy;
pub use simulated::simulated;
pub use tls::TlsServer;
pub use upstream::{Exchange, Upstream};

/// How long a test waits for what must come. Only a failing test ever waits this long.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// An address where nobody listens: its port is taken while this lives, so nobody who asks for a free one gets it.
pub struct Nobody {
    pub addr: SocketAddr,
    _taken: Socket,
}

impl Nobody {
    pub fn new() -> Nobody {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket");
        let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        socket.bind(&any.into()).expect("a free port");
        let addr = socket.local_addr().expect("it is bound");
        Nobody {
            addr: addr.as_socket().expect("an address"),
            _taken: socket,
        }
    }
}

/// The head of a chunked event stream.
pub const STREAM: &str =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
/// The end of a chunked body.
pub const LAST: &str = "0\r\n\r\n";
/// The end marker of a chat stream.
pub const DONE: &str = "data: [DONE]\n\n";
/// A short whole answer.
pub const OK: &str =
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";

/// A test is an edge: it may read the clock.
#[allow(clippy::disallowed_methods)]
pub fn now() -> Instant {
    Instant::now()
}

/// `n` milliseconds.
pub fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// Sleeps for `n` milliseconds.
pub fn pause(n: u64) {
    std::thread::sleep(ms(n));
}

/// A chat event that carries `text`.
pub fn event(text: &str) -> String {
    chat(&format!(r#"{{"content":"{text}"}}"#), "null")
}

/// The chat event that ends an answer.
pub fn finish() -> String {
    chat("{}", r#""stop""#)
}

fn chat(delta: &str, finish: &str) -> String {
    format!(
        r#"data: {{"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{{"index":0,"delta":{delta},"finish_reason":{finish}}}]}}"#
    ) + "\n\n"
}

/// One HTTP chunk.
pub fn chunk(bytes: impl AsRef<[u8]>) -> Vec<u8> {
    let bytes = bytes.as_ref();
    [format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat()
}

/// The body of a chat request that asks for a stream.
pub const CHAT: &str = r#"{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]}"#;

/// A chat request whole, with more header `fields` (each with its line end).
pub fn chat_request(fields: &str) -> Vec<u8> {
    post("/v1/chat/completions", fields, CHAT.as_bytes())
}

/// A POST with a length.
pub fn post(path: &str, fields: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: client.test\r\nContent-Type: application/json\r\n{fields}Content-Length: {length}\r\n\r\n"
    );
    [head.as_bytes(), body].concat()
}

/// A whole short chat stream: `words` events, finish, end marker.
pub fn short_stream(words: usize) -> Vec<u8> {
    let mut bytes = STREAM.as_bytes().to_vec();
    for i in 0..words {
        bytes.extend(chunk(event(&format!("w{i} "))));
    }
    bytes.extend(chunk(finish()));
    bytes.extend(chunk(DONE));
    bytes.extend(LAST.as_bytes());
    bytes
}

/// Lets one thread wait for another: each `open` lets one `pass` through.
#[derive(Clone, Default)]
pub struct Gate(Arc<(Mutex<usize>, Condvar)>);

impl Gate {
    /// Lets one `pass` through.
    pub fn open(&self) {
        *self.0.0.lock().unwrap() += 1;
        self.0.1.notify_all();
    }

    /// Waits for an `open`; false when none came within `PATIENCE`.
    pub fn pass(&self) -> bool {
        let lock = self.0.0.lock().unwrap();
        let (mut opened, result) = self
            .0
            .1
            .wait_timeout_while(lock, PATIENCE, |opened| *opened == 0)
            .unwrap();
        if !result.timed_out() {
            *opened -= 1;
        }
        !result.timed_out()
    }
}

/// Numbers that look random and are the same in each run (splitmix64).
pub struct Random(pub u64);

impl Random {
    /// The next 64 bits.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// `n` bytes of any value.
    pub fn bytes(&mut self, n: usize) -> Vec<u8> {
        (0..n).map(|_| self.next() as u8).collect()
    }
}

/// The middle one of some durations.
pub fn median(mut durations: Vec<Duration>) -> Duration {
    durations.sort();
    durations[durations.len() / 2]
}

/// The flags of a record.
pub fn flags(record: &serde_json::Value) -> Vec<&str> {
    let flags = record["flags"].as_array().expect("a record has flags");
    flags.iter().filter_map(|flag| flag.as_str()).collect()
}

/// Asserts dripline's own 502 and gives the error object in it.
pub fn own_502(response: &Response) -> serde_json::Value {
    assert_eq!(
        (response.status(), response.end),
        (502, Some(End::Whole)),
        "{}",
        response.text()
    );
    let content_type = response.head.get("content-type").unwrap_or_default();
    assert!(
        content_type.starts_with("application/json"),
        "{content_type}"
    );
    let body: serde_json::Value =
        serde_json::from_slice(&response.body.bytes).expect("the body is JSON");
    let error = body["error"].clone();
    for key in ["message", "type", "code"] {
        assert!(error[key].is_string(), "OpenAI's errors have {key}: {body}");
    }
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("dripline"), "who says so: {message}");
    error
}
