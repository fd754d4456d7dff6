//! What the record says about time, against what the upstream did. Bounds are wide, as test machines
//! are noisy: how exact the stamps are is a matter for benches.

mod support;

use std::env;
use std::io::{Write, stderr};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::Value;
use support::*;

/// The value at a JSON pointer.
fn number(record: &Value, at: &str) -> f64 {
    let value = record.pointer(at).and_then(Value::as_f64);
    value.unwrap_or_else(|| panic!("no number at {at}: {record:#}"))
}

/// Asserts that a duration of the record is `real`, give or take a third or 40 ms.
fn assert_near(record: &Value, at: &str, real: Duration) {
    let (told, real) = (number(record, at), real.as_secs_f64() * 1000.0);
    let slack = (real / 3.0).max(40.0);
    assert!(
        (told - real).abs() <= slack,
        "{at} is {told} ms where {real} ms went by"
    );
}

/// When each token was written.
type Sent = Arc<Mutex<Vec<Instant>>>;

fn send_token(x: &mut Exchange, sent: &Sent) {
    let at = x.send_at(chunk(event("word ")));
    sent.lock().unwrap().push(at);
}

fn gaps(sent: &Sent) -> Vec<Duration> {
    sent.lock()
        .unwrap()
        .windows(2)
        .map(|pair| pair[1] - pair[0])
        .collect()
}

#[test]
fn gaps_stalls_and_ttft_are_those_of_the_upstream() {
    let sent = Sent::default();
    let log = sent.clone();
    let up = Upstream::start(move |x| {
        x.request();
        x.wait(100);
        x.send(STREAM);
        x.wait(200);
        for i in 0..14 {
            send_token(x, &log);
            x.wait(if i == 6 { 700 } else { 40 });
        }
        x.send([chunk(finish()), chunk(DONE), LAST.into()].concat());
    });
    let proxy = Proxy::start(&up);
    let start = now();
    let response = Client::connect(proxy.addr).ask(chat_request(""));
    let record = proxy.record();
    let first = sent.lock().unwrap()[0] - start;
    assert_near(&record, "/ttft_ms", first);
    assert_near(&record, "/at/first_token_ms", first);
    assert_near(&record, "/at/header_ms", response.head_at - start);
    assert_near(
        &record,
        "/at/end_ms",
        now().min(response.arrivals.last().unwrap().0) - start,
    );
    let gaps = gaps(&sent);
    assert_eq!(number(&record, "/gaps/token/n"), 13.0);
    assert_near(&record, "/gaps/token/p50_ms", median(gaps.clone()));
    assert_near(&record, "/gaps/token/max_ms", *gaps.iter().max().unwrap());
    assert_near(&record, "/stalls/0/gap_ms", *gaps.iter().max().unwrap());
    assert_eq!(number(&record, "/stalls/0/after_token"), 7.0);
    assert_eq!(record["verdict"]["timing"], "stall_no_catch_up");
    assert_eq!(record["end"], "complete");
}

#[test]
fn a_slow_upload_is_not_the_models() {
    let up = Upstream::start(|x| {
        x.request();
        x.wait(150);
        x.send(short_stream(3));
    });
    let proxy = Proxy::start(&up);
    let mut client = Client::connect(proxy.addr);
    let start = now();
    client.send_pieces(
        post("/v1/chat/completions", "", &[b' '; 20_000]).chunks(2_500),
        100,
    );
    let uploaded = now() - start - ms(100); // the pause after the last piece
    let response = client.response("POST");
    let record = proxy.record();
    let first = response.arrivals[0].0 - start;
    assert_near(&record, "/at/request_end_ms", uploaded);
    assert_near(&record, "/ttft_ms", first);
    assert_near(&record, "/ttft_after_request_ms", first - uploaded);
}

#[test]
fn what_one_write_brought_is_one_chunk() {
    let up = Upstream::start(|x| {
        x.request();
        x.send(STREAM);
        for _ in 0..3 {
            x.wait(100);
            x.send(chunk(event("word ")).repeat(10));
        }
        x.wait(100);
        x.send([chunk(DONE), LAST.into()].concat());
    });
    let proxy = Proxy::with(&up.url(), &["--timeline"]);
    assert_eq!(
        Client::connect(proxy.addr).ask(chat_request("")).end,
        Some(End::Whole)
    );
    let record = proxy.record();
    assert_eq!(number(&record, "/counts/events"), 31.0);
    assert_eq!(number(&record, "/counts/chunks"), 4.0);
    assert_eq!(number(&record, "/coalescing/events_per_chunk_max"), 10.0);
    assert_eq!(number(&record, "/coalescing/chunks_with_many_events"), 3.0);
    let rows = record["timeline"].as_array().unwrap();
    let events: Vec<_> = rows.iter().map(|row| row[3].as_u64().unwrap()).collect();
    assert_eq!(events, [10, 10, 10, 1]);
    for row in rows {
        assert!(
            row[0].as_f64() <= row[1].as_f64(),
            "flushed before it came: {row}"
        );
    }
}

#[test]
fn a_slow_client_does_not_falsify_arrivals() {
    let sent = Sent::default();
    let log = sent.clone();
    let padding = format!(": {}\n\n", "x".repeat(240_000));
    let length = padding.len();
    let up = Upstream::start(move |x| {
        x.request();
        x.send(STREAM);
        x.send(chunk(&padding)); // fills the client's socket
        for _ in 0..24 {
            x.wait(50);
            send_token(x, &log);
        }
        x.send([chunk(DONE), LAST.into()].concat());
    });
    let proxy = Proxy::start(&up);
    let mut client = Client::with_small_buffers(proxy.addr);
    client.send(chat_request(""));
    let mut response = client.head("POST");
    pause(2000);
    client.finish(&mut response);
    assert_eq!(response.end, Some(End::Whole));
    assert_eq!(
        response.body.bytes.len(),
        length + 24 * event("word ").len() + DONE.len()
    );
    let record = proxy.record();
    let gaps = gaps(&sent);
    assert_eq!(number(&record, "/gaps/token/n"), 23.0);
    assert_near(&record, "/gaps/token/p50_ms", median(gaps.clone()));
    assert_near(&record, "/gaps/token/max_ms", *gaps.iter().max().unwrap());
    // How long depends on how soon the kernel gives this connection more memory to send from.
    assert!(
        number(&record, "/hold/blocked_ms") > 5.0,
        "{}",
        record["hold"]
    );
    assert!(
        !flags(&record).contains(&"arrival_uncertain"),
        "the queue was not full"
    );
    // The upstream's end is its own, and the client's time is not the proxy's.
    assert!(number(&record, "/at/end_ms") < 1900.0, "{}", record["at"]);
    assert!(
        number(&record, "/hold/max_us") < 500_000.0,
        "{}",
        record["hold"]
    );
}

#[test]
fn past_the_queue_arrivals_are_called_uncertain_and_no_byte_is_lost() {
    let body = Random(7).bytes(8 << 20);
    let sending = body.clone();
    let up = Upstream::start(move |x| {
        x.request();
        x.send(STREAM);
        for piece in sending.chunks(50_000) {
            x.send(chunk(piece));
        }
        x.send(LAST);
    });
    let proxy = Proxy::start(&up);
    let mut client = Client::with_small_buffers(proxy.addr);
    client.send(chat_request(""));
    let mut response = client.head("POST");
    pause(1000);
    // Reads on with a wide window, or 8 MiB in small segments take their time.
    client.widen();
    client.finish(&mut response);
    assert_eq!(response.end, Some(End::Whole));
    assert!(response.body.bytes == body, "the bytes differ");
    let record = proxy.record();
    assert!(flags(&record).contains(&"arrival_uncertain"), "{record}");
    assert!(
        number(&record, "/hold/blocked_ms") > 500.0,
        "{}",
        record["hold"]
    );
}

/// 600 kB over 2 s, in events of 6 kB.
fn broad_stream() -> Upstream {
    Upstream::start(|x| {
        x.request();
        x.send(STREAM);
        for _ in 0..100 {
            x.send(chunk(event(&"word ".repeat(1200))));
            x.wait(20);
        }
        x.send([chunk(finish()), chunk(DONE), LAST.into()].concat());
    })
}

/// All of it fits into the send buffer, so no write ever waits.
#[test]
#[cfg(target_os = "linux")]
fn a_client_that_stops_reading_is_found_though_no_write_waits() {
    let up = broad_stream();
    let proxy = Proxy::start(&up);
    let mut client = Client::with_small_window(proxy.addr);
    client.send(chat_request(""));
    let mut response = client.head("POST");
    pause(1500);
    client.widen();
    client.finish(&mut response);
    assert_eq!(response.end, Some(End::Whole));
    let record = proxy.record();
    let hold = &record["hold"];
    assert!(number(&record, "/hold/blocked_ms") < 250.0, "{hold}");
    assert!(
        number(&record, "/hold/unacked_max_bytes") > 200_000.0,
        "{hold}"
    );
    // 64 KiB are there after 0.22 s.
    let unacked = number(&record, "/hold/unacked_ms");
    assert!((800.0..1700.0).contains(&unacked), "{hold}");
    assert!(number(&record, "/hold/rwnd_limited_ms") > 800.0, "{hold}");
    let verdict = &record["verdict"];
    assert_eq!(verdict["timing"], "downstream_backpressure", "{record:#}");
    assert_eq!(verdict["where"], "downstream");
    let summary = verdict["summary"].as_str().unwrap();
    assert!(summary.contains("unacknowledged"), "{summary}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_client_that_reads_leaves_nothing_unacknowledged() {
    let up = broad_stream();
    let proxy = Proxy::start(&up);
    for client in [Client::connect, Client::with_small_window] {
        client(proxy.addr).ask(chat_request(""));
    }
    for record in proxy.records(2) {
        assert!(
            number(&record, "/hold/unacked_ms") < 300.0,
            "{}",
            record["hold"]
        );
        assert_ne!(
            record["verdict"]["timing"], "downstream_backpressure",
            "{record:#}"
        );
    }
}

#[test]
fn the_proxys_own_delay_is_small_where_the_client_reads() {
    let up = Upstream::start(|x| {
        x.request();
        x.send(STREAM);
        for _ in 0..60 {
            x.wait(5);
            x.send(chunk(event("word ")));
        }
        x.send([chunk(DONE), LAST.into()].concat());
    });
    let proxy = Proxy::start(&up);
    Client::connect(proxy.addr).ask(chat_request(""));
    let record = proxy.record();
    assert!(
        number(&record, "/hold/p50_us") < 5_000.0,
        "{}",
        record["hold"]
    );
    assert!(
        number(&record, "/hold/blocked_ms") < 50.0,
        "{}",
        record["hold"]
    );
}

/// Server frameworks and pingora's own default cut an upload that is silent for a minute.
#[test]
fn an_upload_may_be_silent_for_longer_than_a_minute() {
    if env::var_os("TEST_FULL").is_none() {
        return say("the silent upload of 61 s was NOT run: TEST_FULL=1 runs it");
    }
    let up = Upstream::start(|x| {
        x.request();
        x.send(short_stream(1));
    });
    let proxy = Proxy::start(&up);
    let request = chat_request("");
    let (first, rest) = request.split_at(request.len() - 10);
    // On a fresh connection and on one that has served a request already.
    let mut clients = [Client::connect(proxy.addr), Client::connect(proxy.addr)];
    assert_eq!(clients[1].ask(&request).status(), 200);
    clients.iter_mut().for_each(|client| client.send(first));
    pause(61_000);
    for mut client in clients {
        client.send(rest);
        let response = client.response("POST");
        assert_eq!((response.status(), response.end), (200, Some(End::Whole)));
    }
    let records = proxy.records(3);
    assert!(
        records
            .iter()
            .filter(|r| number(r, "/at/request_end_ms") > 60_500.0)
            .count()
            == 2
    );
    say("the silent upload of 61 s was run");
}

/// Prints where the test harness does not catch it.
fn say(line: &str) {
    let _ = writeln!(stderr(), "{line}");
}

#[test]
fn a_flush_with_the_header_in_it_is_one_chunk() {
    let up = Upstream::start(|x| {
        x.request();
        let words: Vec<u8> = (0..60)
            .flat_map(|i| chunk(event(&format!("w{i} "))))
            .collect();
        // more than a reader of heads takes at once
        x.send(
            [
                STREAM.as_bytes(),
                &words,
                &chunk(finish()),
                &chunk(DONE),
                LAST.as_bytes(),
            ]
            .concat(),
        );
    });
    let proxy = Proxy::start(&up);
    Client::connect(proxy.addr).ask(chat_request(""));
    let record = proxy.record();
    assert_eq!(record["counts"]["chunks"], 1, "{record:#}");
    assert_eq!(record["coalescing"]["events_per_chunk_max"], 62);
}
