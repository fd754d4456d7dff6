//! What a collector gets over real sockets, and what a bad one costs.

#[path = "otlp/collector.rs"]
mod collector;
#[path = "otlp/content.rs"]
mod content;
#[path = "otlp/faults.rs"]
mod faults;
mod support;

use std::time::Duration;

use opentelemetry_proto::tonic::trace::v1::Span;
use serde_json::Value;
use support::*;

/// Five tokens, 20 ms apart, and their end after as long.
fn streams() -> Upstream {
    Upstream::start(|x| {
        x.request();
        x.send(STREAM);
        for _ in 0..5 {
            x.wait(20);
            x.send(chunk(event("a")));
        }
        x.wait(20);
        x.send([chunk(finish()), chunk(DONE), LAST.into()].concat());
    })
}

fn proxy(upstream: &Upstream, collector: &str, args: &[&str]) -> Proxy {
    let soon: &[&str] = match args.contains(&"--otlp-interval") {
        true => &[],
        false => &["--otlp-interval", "100ms"],
    };
    Proxy::with(
        &upstream.url(),
        &[&["--otlp", collector], soon, args].concat(),
    )
}

/// A whole stream; how long it took.
fn ask(proxy: &Proxy, fields: &str) -> Duration {
    let start = now();
    let response = Client::connect(proxy.addr).ask(chat_request(fields));
    assert_eq!(response.end, Some(End::Whole));
    now() - start
}

fn hex(id: &[u8]) -> String {
    id.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Nanoseconds of a record's milliseconds, which have whole µs.
fn ns(ms: &Value) -> u64 {
    (ms.as_f64().expect("a duration") * 1e3).round() as u64 * 1000
}

/// The span of the request, and those of its phases.
fn request_and_phases(mut spans: Vec<Span>) -> (Span, Vec<Span>) {
    let is_client = |span: &Span| span.kind == 3;
    let at = spans
        .iter()
        .position(is_client)
        .expect("a span of kind client");
    (spans.remove(at), spans)
}

/// A scrape of the proxy itself.
fn page(proxy: &mut Proxy) -> String {
    let admin = proxy.admin();
    let mut client = Client::connect(admin);
    client.send(format!(
        "GET /metrics HTTP/1.1\r\nHost: {admin}\r\nConnection: close\r\n\r\n"
    ));
    client.response("GET").text()
}

/// Waits until the page of metrics has that line.
fn wait_for_line(proxy: &mut Proxy, line: &str) {
    let deadline = now() + PATIENCE;
    loop {
        let page = page(proxy);
        if page.lines().any(|other| other == line) {
            return;
        }
        assert!(now() < deadline, "no {line} in {page}");
        pause(10);
    }
}
