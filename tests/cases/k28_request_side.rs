//! What the request costs before the model sees it.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::rig::{Ask, Case, Run, at, near, number, played};
use crate::support::http::Head;
use crate::support::{
    CHAT, Client, DONE, End, LAST, Proxy, STREAM, Upstream, chunk, event, finish, flags, ms, now,
    pause, post, short_stream,
};

/// A chat request of so many bytes.
fn long_chat(length: usize) -> Vec<u8> {
    let mut body = CHAT.as_bytes().to_vec();
    body.resize(length, b' ');
    body
}

/// The head of a request whose client waits to be told to go on.
fn expecting(length: usize) -> String {
    format!(
        "POST /v1/chat/completions HTTP/1.1\r\nHost: client.test\r\nContent-Type: application/json\r\n\
         Expect: 100-continue\r\nContent-Length: {length}\r\n\r\n"
    )
}

#[test]
fn a60_an_interim_answer_is_relayed_at_once_and_is_no_header() {
    let up = Upstream::start(|x| {
        x.send("HTTP/1.1 100 Continue\r\n\r\n");
        x.request();
        x.wait(80);
        x.send(short_stream(3));
    });
    let proxy = Proxy::start(&up);
    let mut client = Client::connect(proxy.addr);
    let body = long_chat(300_000);
    let start = now();
    client.send(expecting(body.len()));
    assert_eq!(client.interim().map(|head| head.status()), Some(100));
    let told = now() - start;
    assert!(told < ms(500), "a client would have waited: {told:?}");
    client.send(&body);
    let sent = now();
    let response = client.response("POST");
    assert_eq!((response.status(), response.interim.len()), (200, 0));
    assert!(up.requests()[0].body == body, "the upload was changed");

    let record = proxy.record();
    assert!(flags(&record).contains(&"expect_continue"), "{record:#}");
    assert_eq!(at(&record, "/response/status"), 200);
    assert_eq!(at(&record, "/end"), "complete");
    // The final header, not the interim one.
    let header = number(&record, "/at/header_ms") - number(&record, "/at/request_end_ms");
    assert!(header > 70.0, "{header} ms: {record:#}");
    counts_from_the_upload(&record, 80.0, sent, &up);
}

#[test]
fn a60_the_clients_own_wait_is_part_of_the_upload() {
    let up = Upstream::start(|x| {
        x.request();
        x.wait(80);
        x.send(short_stream(3));
    });
    let proxy = Proxy::start(&up);
    let mut client = Client::connect(proxy.addr);
    let body = long_chat(300_000);
    let start = now();
    client.send(expecting(body.len()));
    assert!(up.wait_for_requests(1), "the head waits for the body");
    pause(700);
    client.send(&body);
    let sent = now();
    let response = client.response("POST");
    assert_eq!((response.status(), response.interim.len()), (200, 0));

    let record = proxy.record();
    assert!(flags(&record).contains(&"expect_continue"));
    near(&record, "/at/request_end_ms", millis(sent - start), ms(0));
    let (whole, after) = (
        number(&record, "/ttft_ms"),
        number(&record, "/ttft_after_request_ms"),
    );
    counts_from_the_upload(&record, 80.0, sent, &up);
    assert!(whole >= after + 690.0, "{record:#}");
    let silence = number(&record, "/silence/longest_ms");
    assert!(
        silence < 500.0,
        "the upstream owed nothing yet: {silence} ms"
    );
}

#[test]
fn a60_a_refusal_takes_the_place_of_the_interim_answer() {
    for status in [417, 401] {
        let up = Upstream::start(move |x| {
            x.wait(30);
            x.send(format!(
                "HTTP/1.1 {status} No\r\nContent-Type: application/json\r\nContent-Length: 23\r\n\r\n{{\"error\":{{\"code\":\"no\"}}}}"
            ));
            x.until_closed();
        });
        let proxy = Proxy::start(&up);
        let mut client = Client::connect(proxy.addr);
        let start = now();
        client.send(expecting(300_000));
        let response = client.response("POST");
        assert_eq!(
            (response.status(), response.end),
            (status, Some(End::Whole)),
            "the body was waited for"
        );
        assert!(now() - start < ms(900));
        assert!(
            up.received(0).ends_with(b"\r\n\r\n"),
            "a body that nobody sent"
        );
        drop(client);

        let record = proxy.record();
        assert!(flags(&record).contains(&"expect_continue"));
        assert_eq!(at(&record, "/response/status"), status);
        assert_eq!(at(&record, "/end"), "http_error");
        assert_eq!(at(&record, "/ttft_null"), "http_error");
        assert!(at(&record, "/at/request_end_ms").is_null(), "{record:#}");
        let answered = up.sends()[0] - start;
        near(&record, "/at/header_ms", millis(answered), ms(50));
    }
}

/// Asserts that the token's time counts from the end of the upload: at least from when the upstream had it, which
/// then waited for so long, and at most from when the client had written it.
fn counts_from_the_upload(record: &Value, wait_ms: f64, sent: Instant, up: &Upstream) {
    let answered = *up.sends().last().expect("an answer");
    let told = number(record, "/ttft_after_request_ms");
    let most = millis(answered - sent);
    assert!(
        (wait_ms - 30.0..=most + 30.0).contains(&told),
        "{told} ms after the upload, of {wait_ms} to {most}: {record:#}"
    );
}

/// How large an upload is, and what the proxy's memory may grow by meanwhile.
const LARGE: usize = 34 << 20;
const LITTLE_KIB: u64 = 12 << 10;

#[test]
fn a61_a_large_body_passes_as_it_comes() {
    // what the request is stands first in one body, and last in the other
    let image = "iVBORw0KGgoAAAANSUhEUgAA".repeat(LARGE / 24);
    let content = format!(
        r#""messages":[{{"role":"user","content":[{{"type":"image_url","image_url":{{"url":"data:image/png;base64,{image}"}}}}]}}]"#
    );
    let kind = r#""model":"m-vision","stream":true"#;
    upload(format!("{{{kind},{content}}}").into_bytes(), false);
    upload(format!("{{{content},{kind}}}").into_bytes(), true);
}

fn upload(body: Vec<u8>, chunked: bool) {
    let saw: Arc<Mutex<Option<Instant>>> = Arc::default();
    let seeing = saw.clone();
    let up = Upstream::start(move |x| {
        if x.number > 0 {
            x.read_body(1 << 20);
            *seeing.lock().unwrap() = Some(now());
        }
        x.request();
        x.wait(50);
        x.send([STREAM.as_bytes(), &chunk(event(""))].concat());
        x.wait(50);
        x.send([chunk(event("a")), chunk(finish()), chunk(DONE), LAST.into()].concat());
    });
    let proxy = Proxy::start(&up);
    // its first request is not what is measured
    let first = Client::connect(proxy.addr).ask(post("/v1/chat/completions", "", &long_chat(9000)));
    assert_eq!(first.status(), 200);
    let before = proxy.memory("VmHWM");

    let head = post("/v1/chat/completions", "X-Request-Id: large\r\n", b"");
    let head = String::from_utf8(head).expect("a head is text");
    let framing = match chunked {
        true => "Transfer-Encoding: chunked".to_owned(),
        false => format!("Content-Length: {}", body.len()),
    };
    let mut client = Client::connect(proxy.addr);
    let start = now();
    client.send(head.replace("Content-Length: 0", &framing));
    let mut last = start;
    for (i, piece) in (1..).zip(body.chunks(1 << 20)) {
        last = now();
        match chunked {
            true => client.send(chunk(piece)),
            false => client.send(piece),
        }
        thread::sleep((start + i * ms(25)).saturating_duration_since(now()));
    }
    if chunked {
        client.send(LAST);
    }
    let sent = now();
    let response = client.response("POST");
    assert_eq!((response.status(), response.end), (200, Some(End::Whole)));
    let saw = saw.lock().unwrap().expect("the upstream saw a part");
    assert!(
        saw < last,
        "the upload was gathered: {:?} after its last part",
        saw - last
    );
    assert!(up.requests()[1].body == body, "the upload was changed");

    let after = proxy.memory("VmHWM");
    if let (Some(before), Some(after)) = (before, after) {
        assert!(
            after < before + LITTLE_KIB,
            "grew from {before} to {after} KiB"
        );
    }
    let record = super::rig::record_of(&proxy, "large");
    assert_eq!(at(&record, "/request/bytes"), body.len());
    assert_eq!(at(&record, "/request/stream"), true);
    assert_eq!(at(&record, "/request/model"), "m-vision");
    assert_eq!(at(&record, "/end"), "complete");
    near(&record, "/at/request_end_ms", millis(sent - start), ms(100));
    counts_from_the_upload(&record, 100.0, sent, &up);
    let (whole, after) = (
        number(&record, "/ttft_ms"),
        number(&record, "/ttft_after_request_ms"),
    );
    let upload = number(&record, "/at/request_end_ms");
    assert!((whole - after - upload).abs() < 1.0, "{record:#}");
}

#[test]
fn a62_a_slow_upload_is_not_the_models() {
    let case = Case::of("A62");
    let [run] = played(|| [slowly(&case, Pace::Passing)]);
    let took = millis(run.answer.asked - run.start);
    assert!(took > 1000.0, "the upload was not slow: {took} ms");
    let late = run.answer.late;
    near(&run.record, "/at/request_end_ms", took, late);
    near(&run.record, "/ttft_after_request_ms", 100.0, late);
    near(&run.record, "/ttft_ms", took + 100.0, late);
    run.between("/ttft_ms", took, f64::INFINITY);
    run.between("/silence/longest_ms", 0.0, 500.0);
    run.verdict("steady", "").end("complete");
}

#[test]
fn a62_what_a_hop_gathered_before_is_not_claimed() {
    let case = Case::of("A62");
    let [run] = played(|| [slowly(&case, Pace::Spooling)]);
    let late = run.answer.late + ms(30);
    near(&run.record, "/at/request_end_ms", 0.0, late);
    near(&run.record, "/ttft_after_request_ms", 100.0, late);
    near(&run.record, "/ttft_ms", 100.0, late);
    run.verdict("steady", "").end("complete");
}

#[test]
fn a62_the_clock_starts_with_the_end_of_the_head() {
    let case = Case::of("A62");
    let [run] = played(|| [slowly(&case, Pace::LateHead)]);
    let late = run.answer.late + ms(30);
    near(&run.record, "/at/request_end_ms", 0.0, late);
    near(&run.record, "/ttft_ms", 100.0, late);
    run.end("complete");
}

#[derive(Clone, Copy, PartialEq)]
enum Pace {
    /// The head at once, the body in 20 pieces, 60 ms apart.
    Passing,
    /// All of it once the body is there.
    Spooling,
    /// A connection that is silent, half a head, and the rest.
    LateHead,
}

/// Asks through a hop on which the request takes its time.
fn slowly(case: &Case, pace: Pace) -> Run {
    let mut client = Client::connect(hop(case.proxy.addr, pace));
    let run = case.server.exchange(
        &mut client,
        Ask::chat().body(&long_chat(200_000)),
        &case.proxy,
    );
    run.bytes_are_the_servers();
    run.nothing_held();
    run
}

fn hop(target: SocketAddr, pace: Pace) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let addr = listener.local_addr().expect("it is bound");
    thread::spawn(move || {
        let (mut client, _) = listener.accept().expect("a client");
        let mut server = TcpStream::connect(target).expect("the proxy listens");
        let _ = [&client, &server].map(|socket| socket.set_nodelay(true));
        let (mut back, mut to) = (
            server.try_clone().expect("a TCP socket"),
            client.try_clone().expect("a TCP socket"),
        );
        thread::spawn(move || std::io::copy(&mut back, &mut to));
        let mut body = vec![];
        let head = loop {
            read(&mut client, &mut body);
            if let Some(head) = Head::take(&mut body) {
                break head;
            }
        };
        let length: usize = head.get("content-length").unwrap().parse().unwrap();
        while body.len() < length {
            read(&mut client, &mut body);
        }
        let mut send = |bytes: &[u8]| server.write_all(bytes).expect("the proxy reads");
        match pace {
            Pace::Passing => {
                send(&head.0);
                for piece in body.chunks(length / 20) {
                    pause(60);
                    send(piece);
                }
            }
            Pace::Spooling => {
                pause(1200);
                send(&[head.0, body].concat());
            }
            Pace::LateHead => {
                pause(400);
                let (first, rest) = head.0.split_at(head.0.len() / 2);
                send(first);
                pause(400);
                send(&[rest, &body].concat());
            }
        }
    });
    addr
}

fn read(from: &mut TcpStream, into: &mut Vec<u8>) {
    let mut piece = [0; 64 * 1024];
    let n = from.read(&mut piece).expect("the client sends");
    assert!(n > 0, "the client left");
    into.extend_from_slice(&piece[..n]);
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
