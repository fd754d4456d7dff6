//! A server of HTTP/2 with a script, by the crate `h2`: what came in one read is one chunk, at its own time.

use std::future::Future;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener as StdListener};
use std::process::Output;
use std::time::Duration;

use ::h2::server::{self, SendResponse};
use ::h2::{Reason, RecvStream, SendStream};
use bytes::Bytes;
use http::{Request, Response};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::time::sleep;

use super::{probe, stderr, url};
use crate::support::{DONE, event};

pub const PAUSE: Duration = Duration::from_millis(60);

type Answer = SendResponse<Bytes>;

/// A server that answers each request by `script`.
fn serve<F, S>(script: S) -> SocketAddr
where
    S: Fn(Request<RecvStream>, Answer) -> F + Send + Copy + 'static,
    F: Future<Output = ()> + 'static,
{
    let listener = StdListener::bind("127.0.0.1:0").expect("a free port");
    let addr = listener.local_addr().expect("it is bound");
    listener.set_nonblocking(true).expect("a switch");
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        let all = async {
            let listener = TcpListener::from_std(listener).expect("a listener");
            while let Ok((stream, _)) = listener.accept().await {
                tokio::task::spawn_local(async move {
                    let _ = stream.set_nodelay(true);
                    let mut connection = server::handshake(stream).await.expect("a preface");
                    while let Some(Ok((request, answer))) = connection.accept().await {
                        tokio::task::spawn_local(script(request, answer));
                    }
                });
            }
        };
        tokio::task::LocalSet::new().block_on(&runtime, all);
    });
    addr
}

fn begin(answer: &mut Answer) -> SendStream<Bytes> {
    let head = Response::builder()
        .header("content-type", "text/event-stream")
        .header("server", "scripted");
    answer
        .send_response(head.body(()).unwrap(), false)
        .expect("a stream")
}

fn data(stream: &mut SendStream<Bytes>, text: impl Into<Bytes>, is_last: bool) {
    stream
        .send_data(text.into(), is_last)
        .expect("the client is there");
}

async fn words(_: Request<RecvStream>, mut answer: Answer) {
    answer_in_words(&mut answer).await;
}

async fn answer_in_words(answer: &mut Answer) {
    let mut stream = begin(answer);
    for _ in 0..4 {
        sleep(PAUSE).await;
        data(&mut stream, event("word "), false);
    }
    data(&mut stream, DONE, true);
}

/// One run, what was said of it, and its record.
pub fn asked(addr: SocketAddr, more: &[&str]) -> (Output, Value) {
    asked_at(&url(addr), more)
}

/// The same of a server with a URL of its own.
pub fn asked_at(url: &str, more: &[&str]) -> (Output, Value) {
    let args = [
        "--http",
        "2",
        "--runs",
        "1",
        "--warmup",
        "0",
        "--timeline",
        "--json",
    ];
    let output = probe(&[&[url], &args[..], more].concat());
    let row = serde_json::from_slice::<Value>(&output.stdout);
    let record = row.unwrap_or_else(|_| panic!("no row: {output:?}"))["record"].take();
    (output, record)
}

/// The record of a run that ends well.
fn record(addr: SocketAddr, more: &[&str]) -> Value {
    let (output, record) = asked(addr, more);
    assert!(output.status.success(), "{output:?}");
    record
}

/// The record of a run that fails, and what is said of it.
pub fn failed(addr: SocketAddr, more: &[&str]) -> (Value, String) {
    let (output, record) = asked(addr, more);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    (record, stderr(&output))
}

#[test]
fn each_piece_has_its_own_time() {
    let record = record(serve(words), &[]);
    assert_eq!(
        (&record["end"], &record["api"]),
        (&"complete".into(), &"chat".into())
    );
    assert_eq!(record["request"]["http"], "2");
    assert_eq!(record["upstream"]["http"], "2");
    assert_eq!(record["response"]["framing"], "h2");
    assert_eq!(record["response"]["server"], "scripted");
    assert_eq!(record["counts"]["token_events"], 4);
    assert!(
        record["counts"]["chunks"].as_u64().unwrap() >= 4,
        "{record}"
    );
    if cfg!(target_os = "linux") {
        assert_eq!(record["stamps"], "kernel");
    }
    let pause = PAUSE.as_secs_f64() * 1000.0;
    assert!(
        record["ttft_ms"].as_f64().unwrap() > 0.9 * pause,
        "{record}"
    );
    let gaps = &record["gaps"]["token"];
    assert_eq!(gaps["n"], 3);
    assert!(gaps["p50_ms"].as_f64().unwrap() > 0.5 * pause, "{record}");
}

#[test]
fn frames_of_one_read_are_one_chunk() {
    async fn at_once(_: Request<RecvStream>, mut answer: Answer) {
        let mut stream = begin(&mut answer);
        sleep(PAUSE).await;
        for _ in 0..4 {
            data(&mut stream, event("word "), false);
        }
        sleep(PAUSE).await;
        data(&mut stream, DONE, true);
    }
    let record = record(serve(at_once), &[]);
    assert_eq!(record["counts"]["token_events"], 4);
    assert_eq!(record["counts"]["chunks"], 2, "{record}");
}

#[test]
fn a_prompt_larger_than_the_window_arrives_whole() {
    async fn measured(request: Request<RecvStream>, mut answer: Answer) {
        let told = request.headers()["content-length"].clone();
        assert!(request.headers().get("host").is_none() && request.uri().authority().is_some());
        let mut body = request.into_body();
        let mut got = 0;
        while let Some(Ok(bytes)) = body.data().await {
            got += bytes.len();
            sleep(Duration::from_millis(5)).await;
            let _ = body.flow_control().release_capacity(bytes.len());
        }
        assert_eq!(told, got.to_string().as_str());
        answer_in_words(&mut answer).await;
    }
    let prompt = "rain ".repeat(24_000);
    let record = record(serve(measured), &[&prompt]);
    assert_eq!(record["end"], "complete");
    assert!(record["request"]["bytes"].as_u64() > Some(120_000));
    assert!(record["at"]["sent_ms"].as_f64() >= Some(0.0), "{record}");
}

#[test]
fn a_stream_that_is_reset_is_a_cut() {
    async fn reset(_: Request<RecvStream>, mut answer: Answer) {
        let mut stream = begin(&mut answer);
        data(&mut stream, event("word "), false);
        sleep(PAUSE).await;
        stream.send_reset(Reason::INTERNAL_ERROR);
    }
    let (record, told) = failed(serve(reset), &[]);
    assert_eq!(record["end"], "upstream_reset", "{record}");
    assert_eq!(record["counts"]["token_events"], 1);
    assert!(told.contains("cut the answer off"), "{told}");
}

#[test]
fn a_server_that_speaks_no_http_2_is_told_as_such() {
    for (says, end, words) in [
        ("", "truncated", "closed the connection without an answer"),
        (
            "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n",
            "upstream_invalid",
            "is no HTTP/2",
        ),
    ] {
        let listener = StdListener::bind("127.0.0.1:0").unwrap();
        let addr = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(says.as_bytes());
            // Closing with something unread would reset the connection.
            let _ = stream.shutdown(Shutdown::Write);
            let _ = stream.read_to_end(&mut Vec::new());
        });
        let (record, told) = failed(addr, &[]);
        assert_eq!(record["end"], end, "{record}");
        assert!(
            told.contains(words) && told.contains("leave out --http 2"),
            "{told}"
        );
        assert!(!told.contains("HTTP/1.1"), "{told}");
    }
}

#[test]
fn a_host_that_http_2_cannot_carry_is_told_before_anything_is_sent() {
    let listener = StdListener::bind("127.0.0.1:0").unwrap();
    let url = url(listener.local_addr().unwrap());
    let output = probe(&[&url, "--http", "2", "--header", "Host: sk-planted is none"]);
    let told = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(
        told.contains("the Host field") && !told.contains("planted"),
        "{told}"
    );
    listener.set_nonblocking(true).unwrap();
    assert!(listener.accept().is_err(), "nobody connected");
}
