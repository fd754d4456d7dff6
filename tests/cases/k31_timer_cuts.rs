//! Limits that cut a stream. A cut is told by limits that are in use, of 5 s at least: where a case is scaled below them
//! its figures are asserted here, and the cut where the clock is an argument (`src/observe/observer/tests/cuts.rs`).

use std::thread;

use serde_json::json;

use super::rig::{Ask, Case, Run, at, near, number, run};
use crate::support::{
    Client, End, Proxy, STREAM, Upstream, chat_request, event, flags, ms, now, pause,
};

#[test]
fn a66_silence_since_the_header_ends_in_a_cut() {
    let run = run("A66");
    run.end("truncated").is("/error/kind", "truncated");
    assert!(matches!(run.response.end, Some(End::Cut | End::Reset)));
    run.near("/at/header_ms", 100.0);
    // of the silence, not of the age
    run.near("/silence/before_end_ms", 1200.0);
    run.near("/at/end_ms", 1300.0);
    run.null("/ttft_ms").is("/ttft_null", "upstream_failed");
    run.verdict("unmeasurable", "unknown").null("/verdict/cut");
}

#[test]
fn a66_the_edges_page_passes_as_it_is() {
    let run = run("A66-524");
    assert_eq!(run.response.status(), 524);
    run.is("/response/status", 524).end("http_error");
    run.is("/response/content_type", "text/html; charset=UTF-8");
    run.null("/ttft_ms").is("/ttft_null", "http_error");
    run.near("/at/header_ms", 1000.0).null("/verdict");
    run.near("/silence/longest_ms", 1000.0);
}

#[test]
fn a66_a_clients_limit_is_the_clients() {
    let case = Case::of("A66-silent");
    let mut client = case.client();
    let start = now();
    client.send(chat_request("X-Request-Id: impatient\r\n"));
    let mut response = client.head("POST");
    assert!(client.read_until(&mut response, 1));
    pause(1000);
    let left = client.leave();
    let record = super::rig::record_of(&case.proxy, "impatient");
    assert_eq!(at(&record, "/end"), "client_gone");
    assert_eq!(at(&record, "/ttft_null"), "client_gone");
    near(&record, "/silence/before_end_ms", 1000.0, ms(50));
    let age = (left - start).as_secs_f64() * 1000.0;
    near(&record, "/at/end_ms", age, ms(50));
    assert!(at(&record, "/verdict/cut").is_null());
}

#[test]
fn a67_a_limit_on_the_age_strikes_while_bytes_flow() {
    let names = ["A67", "A67-fast", "A67-uneven"];
    let case = Case::with(&names, &[]);
    thread::scope(|scope| {
        for (name, words) in names.into_iter().zip([50, 125, 50]) {
            let case = &case;
            scope.spawn(move || {
                let run = case.run(Ask::chat().of(name));
                run.end("truncated").is("/counts/token_events", words);
                run.between("/silence/before_end_ms", 0.0, 400.0);
                run.near("/at/end_ms", 5000.0);
                is_cut(&run.record, "total");
                assert!(!run.at("/verdict").to_string().contains("idle_cut"));
                run.says("total limit");
            });
        }
    });
}

#[test]
fn a68_silence_counts_from_the_last_byte() {
    idle("A68", 5100.0);
}

#[test]
fn a68_comments_put_the_limit_off() {
    let run = idle("A68-comments", 5650.0);
    run.is("/counts/keepalives", 3);
}

fn idle(name: &str, age: f64) -> Run {
    let run = run(name);
    run.end("truncated").null("/ttft_ms");
    run.near("/silence/before_end_ms", 5000.0);
    run.near("/at/end_ms", age);
    is_cut(&run.record, "idle");
    run.says("idle limit");
    run
}

#[test]
fn a68_a_cut_may_fall_within_an_http_chunk() {
    let up = Upstream::start(|x| {
        x.request();
        x.wait(100);
        x.send(STREAM);
        x.send(format!("40\r\n{}", &event("word")[..0x10]));
        x.wait(5000);
        x.fin();
    });
    let proxy = Proxy::start(&up);
    let response = Client::connect(proxy.addr).ask(chat_request(""));
    assert_eq!(response.text(), event("word")[..0x10]);
    assert!(matches!(response.end, Some(End::Cut | End::Reset)));
    let record = proxy.record();
    assert_eq!(at(&record, "/end"), "truncated");
    assert_eq!(at(&record, "/counts/bytes"), 0x10);
    assert!(flags(&record).contains(&"unterminated_last_event"));
    is_cut(&record, "idle");
}

/// The cut is told. The rule leaves a limit 3 percent, so this machine must have been in time with the end.
fn is_cut(record: &serde_json::Value, kind: &str) {
    let silence = number(record, "/silence/before_end_ms");
    let real = match kind {
        "idle" => silence,
        _ => number(record, "/at/end_ms"),
    };
    let cut = at(record, "/verdict/cut");
    if (real - 5000.0).abs() < 130.0 {
        let told = json!({"kind": kind, "after_ms": 5000.0, "side": "upstream"});
        assert_eq!(*cut, told, "{record:#}");
    }
}
