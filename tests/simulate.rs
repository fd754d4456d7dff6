//! The simulated server over real sockets: what it sends, when, and how it ends.

// A test is an edge: it reads the clock.
#![allow(clippy::disallowed_methods)]

use std::io::{self, Read};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use dripline::tools::simulate::{Scenario, Simulator};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::time::timeout;

/// Longer than anything here takes, on any machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// A simulated server with one scenario, `t`, on a free port.
async fn start(toml: &str) -> SocketAddr {
    start_with(vec![Scenario::from_toml("t", toml).unwrap()]).await
}

async fn start_with(scenarios: Vec<Scenario>) -> SocketAddr {
    let simulator = Simulator::bind(([127, 0, 0, 1], 0).into(), scenarios)
        .await
        .unwrap();
    let address = simulator.local_addr();
    tokio::spawn(simulator.run(std::future::pending()));
    address
}

/// A streaming chat request.
fn chat(model: &str, fields: &str) -> Vec<u8> {
    let body = format!(r#"{{"model":"{model}","stream":true,"messages":[]}}"#);
    let length = body.len();
    format!("POST /v1/chat/completions HTTP/1.1\r\nHost: h\r\n{fields}Content-Length: {length}\r\n\r\n{body}").into_bytes()
}

async fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).await.unwrap();
    stream.set_nodelay(true).unwrap();
    stream
}

/// Sends a request that asks for the connection's end, and reads up to it.
async fn ask(address: SocketAddr, request: &[u8]) -> (Vec<u8>, io::Result<()>) {
    let mut stream = connect(address).await;
    stream.write_all(request).await.unwrap();
    rest(&mut stream).await
}

async fn rest(stream: &mut TcpStream) -> (Vec<u8>, io::Result<()>) {
    let mut answer = Vec::new();
    let end = timeout(PATIENCE, stream.read_to_end(&mut answer))
        .await
        .expect("the server goes on without end");
    (answer, end.map(drop))
}

/// Reads until what was read ends with `end`.
async fn read_until(stream: &mut TcpStream, end: &str) -> String {
    let mut answer = Vec::new();
    while !answer.ends_with(end.as_bytes()) {
        let read = timeout(PATIENCE, stream.read_buf(&mut answer))
            .await
            .expect("the server is silent")
            .unwrap();
        assert!(
            read > 0,
            "closed after {:?}",
            String::from_utf8_lossy(&answer)
        );
    }
    String::from_utf8(answer).unwrap()
}

fn text(answer: (Vec<u8>, io::Result<()>)) -> String {
    answer.1.unwrap();
    String::from_utf8(answer.0).unwrap()
}

fn body(answer: &str) -> &str {
    answer.split_once("\r\n\r\n").unwrap().1
}

const CLOSE: &str = "Connection: close\r\n";

#[tokio::test]
async fn writes_arrive_one_by_one_at_their_times() {
    let steps = "steps = [{ wait = '30ms' }, { write = 'word', times = 60, every = '8ms' }]";
    let mut stream = connect(start(steps).await).await;
    let asked = Instant::now();
    stream.write_all(&chat("t", "")).await.unwrap();
    let mut answer = Vec::new();
    let mut late = Vec::new();
    while late.len() < 60 {
        let read = timeout(PATIENCE, stream.read_buf(&mut answer)).await;
        assert_ne!(read.expect("the server is silent").unwrap(), 0);
        let arrived = asked.elapsed();
        // on a busy machine one read may bring several
        let events = answer.windows(6).filter(|six| six == b"data: ").count();
        for event in late.len()..events {
            let due = Duration::from_millis(30 + 8 * event as u64);
            assert!(
                arrived >= due,
                "event {event} came at {arrived:?}, before {due:?}"
            );
            late.push(arrived - due);
        }
    }
    late.sort_unstable();
    assert!(
        late[30] < Duration::from_millis(25),
        "half of the events were late by {:?} or more",
        late[30]
    );
}

#[tokio::test]
async fn head_and_body_can_leave_apart() {
    let address = start("steps = [{ head = true }, { wait = '300ms' }, { write = 'word' }]").await;
    let mut stream = connect(address).await;
    let start = Instant::now();
    stream.write_all(&chat("t", "")).await.unwrap();
    let head = read_until(&mut stream, "\r\n\r\n").await;
    let early = start.elapsed();
    read_until(&mut stream, "0\r\n\r\n").await;
    assert!(early < start.elapsed() / 2, "the head came after {early:?}");
    assert!(
        head.contains("\r\nServer: dripline-simulate\r\n")
            && head.contains("\r\nX-Simulated-Scenario: t\r\n"),
        "{head}"
    );
}

#[tokio::test]
async fn the_model_picks_the_scenario_and_any_other_gets_the_first() {
    let one = Scenario::from_toml("one_event", "steps = [{ write = { text = 'first' } }]").unwrap();
    let two =
        Scenario::from_toml("two_events", "steps = [{ write = { text = 'second' } }]").unwrap();
    let address = start_with(vec![one, two]).await;
    for (model, expected) in [
        ("two-events", "second"),
        ("two_events", "second"),
        ("gpt-4o", "first"),
    ] {
        let answer = text(ask(address, &chat(model, CLOSE)).await);
        assert!(answer.contains(expected), "{model}: {answer}");
    }
}

#[tokio::test]
async fn a_connection_serves_request_after_request_even_ahead_of_their_turn() {
    let address = start("steps = [{ wait = '50ms' }, { write = 'word' }]").await;
    let mut stream = connect(address).await;
    let mut both = chat("t", "");
    both.extend_from_slice(&chat("t", CLOSE));
    stream.write_all(&both).await.unwrap();
    let answer = text(rest(&mut stream).await);
    assert_eq!(answer.matches("HTTP/1.1 200 OK").count(), 2, "{answer}");
    assert!(
        answer.contains("chatcmpl-simulated-1") && answer.contains("chatcmpl-simulated-2"),
        "{answer}"
    );
}

#[tokio::test]
async fn bodies_of_any_size_and_framing_are_drained() {
    let address = start("steps = [{ write = 'word' }]").await;
    let long = "x".repeat(8 << 20);
    let json = format!(
        r#"{{"messages":[{{"role":"user","content":"{long}"}}],"model":"t","stream":true}}"#
    );
    let path = "POST /v1/chat/completions HTTP/1.1\r\nConnection: close\r\n";
    let sized = format!("{path}Content-Length: {}\r\n\r\n{json}", json.len());
    let answer = text(ask(address, sized.as_bytes()).await);
    assert!(answer.contains(r#""content":"Each ""#), "{answer}");

    let small = r#"{"model":"t","stream":true}"#;
    let mut chunked = format!("{path}Transfer-Encoding: chunked\r\n\r\n");
    for byte in small.chars() {
        chunked.push_str(&format!("1;ext=1\r\n{byte}\r\n"));
    }
    chunked.push_str("0\r\nX-Trailer: 1\r\n\r\n");
    let mut stream = connect(address).await;
    for part in chunked.as_bytes().chunks(3) {
        stream.write_all(part).await.unwrap();
        tokio::task::yield_now().await;
    }
    let answer = text(rest(&mut stream).await);
    assert!(answer.contains(r#""content":"Each ""#), "{answer}");
}

#[tokio::test]
async fn a_client_that_waits_to_be_asked_is_asked() {
    let address = start("steps = [{ write = 'word' }]").await;
    let request = chat("t", "Connection: close\r\nExpect: 100-continue\r\n");
    let head = request
        .windows(4)
        .position(|four| four == b"\r\n\r\n")
        .unwrap()
        + 4;
    let mut stream = connect(address).await;
    stream.write_all(&request[..head]).await.unwrap();
    assert_eq!(
        read_until(&mut stream, "\r\n\r\n").await,
        "HTTP/1.1 100 Continue\r\n\r\n"
    );
    stream.write_all(&request[head..]).await.unwrap();
    assert!(text(rest(&mut stream).await).starts_with("HTTP/1.1 200 OK\r\n"));
}

#[tokio::test]
async fn a_body_ends_as_its_framing_says() {
    let steps =
        "steps = [{ write = { text = 'a' } }, { wait = '20ms' }, { write = { text = 'b' } }]";
    for (framing, expected) in [
        ("chunked", "1\r\na\r\n1\r\nb\r\n0\r\n\r\n"),
        ("length", "ab"),
        ("close", "ab"),
        ("http10", "ab"),
    ] {
        let address = start(&format!("framing = '{framing}'\n{steps}")).await;
        let answer = text(ask(address, &chat("t", CLOSE)).await);
        assert_eq!(body(&answer), expected, "{framing}");
        assert_eq!(
            answer.contains("\r\nContent-Length: 2\r\n"),
            framing == "length"
        );
        assert_eq!(
            answer.starts_with("HTTP/1.0 200 OK\r\n"),
            framing == "http10"
        );
    }
}

#[tokio::test]
async fn a_cut_is_a_fin_or_a_reset_after_all_that_was_written() {
    let steps = "{ write = 'word', cut = 40 }, { wait = '50ms' }";
    let closed = ask(
        start(&format!("steps = [{steps}, {{ end = 'close' }}]")).await,
        &chat("t", ""),
    )
    .await;
    let closed = text(closed);
    assert!(
        body(&closed).starts_with("28\r\ndata: {") && !closed.ends_with("0\r\n\r\n"),
        "{closed}"
    );

    let (bytes, end) = ask(
        start(&format!("steps = [{steps}, {{ end = 'reset' }}]")).await,
        &chat("t", ""),
    )
    .await;
    assert_eq!(end.unwrap_err().kind(), io::ErrorKind::ConnectionReset);
    assert!(body(&String::from_utf8(bytes).unwrap()).starts_with("28\r\ndata: {"));
}

#[tokio::test]
async fn the_script_stops_at_once_when_the_client_leaves() {
    let address = start("steps = [{ head = true }, { wait = '1h' }, { write = 'word' }]").await;
    let mut stream = connect(address).await;
    stream.write_all(&chat("t", "")).await.unwrap();
    read_until(&mut stream, "\r\n\r\n").await;
    stream.shutdown().await.unwrap();
    assert_eq!(
        text(rest(&mut stream).await),
        "",
        "the connection ends and nothing more is sent"
    );
}

#[tokio::test]
async fn gzip_comes_through_whole() {
    let address = start("framing = 'close'\ngzip = 'no-flush'\nsteps = [{ write = { text = 'hello ' }, times = 3 }]").await;
    let (answer, _) = ask(address, &chat("t", "Accept-Encoding: gzip\r\n")).await;
    let start = answer
        .windows(4)
        .position(|four| four == b"\r\n\r\n")
        .unwrap()
        + 4;
    let mut unzipped = String::new();
    flate2::read::GzDecoder::new(&answer[start..])
        .read_to_string(&mut unzipped)
        .unwrap();
    assert_eq!(unzipped, "hello hello hello ");
}

#[tokio::test]
async fn it_says_what_it_is_and_what_it_has() {
    let address = start_with(Scenario::ready()).await;
    let mut stream = connect(address).await;
    let mut get = async |request: &str, status: &str| {
        stream
            .write_all(
                format!("{request} HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n").as_bytes(),
            )
            .await
            .unwrap();
        let answer = read_until(&mut stream, "}").await;
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status}")),
            "{request}: {answer}"
        );
        assert!(
            answer.contains("\r\nServer: dripline-simulate\r\n"),
            "{answer}"
        );
        answer
    };
    assert!(get("GET /", "200 OK").await.contains(r#""simulated":true"#));
    assert!(
        get("GET /v1/models/tool-call", "200 OK")
            .await
            .contains(r#""id":"tool_call""#)
    );
    assert!(
        get("GET /nowhere", "404 Not Found")
            .await
            .contains(r#""type":"invalid_request_error""#)
    );
    get("GET /v1/chat/completions", "405 Method Not Allowed").await;

    let models = text(
        ask(
            address,
            b"GET /v1/models?x=1 HTTP/1.1\r\nConnection: close\r\n\r\n",
        )
        .await,
    );
    let models: serde_json::Value = serde_json::from_str(body(&models)).unwrap();
    let ids: Vec<&str> = models["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|model| model["id"].as_str().unwrap())
        .collect();
    assert_eq!((ids.len(), ids[0]), (11, "steady"));

    let broken = text(ask(address, b"\x16\x03\x01 no http\r\n\r\n").await);
    assert!(
        broken.starts_with("HTTP/1.1 400 Bad Request\r\n"),
        "{broken}"
    );
}

#[tokio::test]
async fn the_path_picks_the_dialect_and_any_other_speaks_chat() {
    let address = start("steps = [{ write = 'word' }, { each = ['finish', 'done'] }]").await;
    for (path, content_type, part) in [
        (
            "/v1/responses",
            "text/event-stream",
            "event: response.output_text.delta\n",
        ),
        ("/v1/messages", "text/event-stream", "event: message_stop\n"),
        (
            "/api/chat",
            "application/x-ndjson",
            r#""message":{"role":"assistant","content":"Each "}"#,
        ),
        (
            "/api/generate",
            "application/x-ndjson",
            r#""response":"Each ""#,
        ),
        (
            "/v1beta/models/t:streamGenerateContent?alt=sse",
            "text/event-stream",
            "data: {\"candidates\"",
        ),
        (
            "/v1beta/models/t:streamGenerateContent",
            "application/json",
            "[{\"candidates\"",
        ),
        (
            "/v1beta/models/t:generateContent",
            "application/json",
            "{\"candidates\"",
        ),
        ("/any/where", "text/event-stream", "chat.completion.chunk"),
    ] {
        let body = r#"{"model":"t","stream":true}"#;
        let length = body.len();
        let request =
            format!("POST {path} HTTP/1.1\r\n{CLOSE}Content-Length: {length}\r\n\r\n{body}");
        let answer = text(ask(address, request.as_bytes()).await);
        assert!(
            answer.contains(&format!("\r\nContent-Type: {content_type}")),
            "{path}: {answer}"
        );
        assert!(answer.contains(part), "{path}: {answer}");
    }
}

#[tokio::test]
async fn shutdown_ends_the_server_and_its_connections() {
    let scenario = Scenario::from_toml("t", "steps = [{ head = true }, { wait = '1h' }]").unwrap();
    let simulator = Simulator::bind(([127, 0, 0, 1], 0).into(), vec![scenario])
        .await
        .unwrap();
    let mut stream = connect(simulator.local_addr()).await;
    let (stop, stopped) = oneshot::channel::<()>();
    let server = tokio::spawn(simulator.run(async { drop(stopped.await) }));
    stream.write_all(&chat("t", "")).await.unwrap();
    read_until(&mut stream, "\r\n\r\n").await;
    stop.send(()).unwrap();
    timeout(PATIENCE, server).await.unwrap().unwrap();
    let (bytes, _) = rest(&mut stream).await;
    assert!(bytes.is_empty());
}
