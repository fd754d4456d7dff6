//! What only several records show, through the proxy: limits of no round number, a constant that is
//! added to each wait, a cold start. Scaled down in time.

mod support;

use std::thread;

use serde_json::Value;
use support::*;

/// A machine may be late by so much with what is to be constant; the rule allows 30 ms.
const LATE: f64 = 22.0;

/// Tries of a test that rests on a constant, on a machine that is busy with other tests.
const TRIES: usize = 4;

fn number(record: &Value, pointer: &str) -> f64 {
    record
        .pointer(pointer)
        .and_then(Value::as_f64)
        .unwrap_or(f64::NAN)
}

/// How far the figures of the records lie apart.
fn spread(records: &[Value], figure: impl Fn(&Value) -> f64 + Clone) -> f64 {
    let all = records.iter().map(figure);
    all.clone().fold(f64::MIN, f64::max) - all.fold(f64::MAX, f64::min)
}

fn codes(record: &Value) -> Vec<&str> {
    let findings = record["verdict"]["findings"]
        .as_array()
        .expect("a stream has a verdict");
    findings
        .iter()
        .map(|finding| finding["code"].as_str().unwrap())
        .collect()
}

/// The records of `n` streams that begin so far apart: what ends at once is one event.
fn cut_streams(proxy: &Proxy, n: usize, apart: u64) -> Vec<Value> {
    thread::scope(|scope| {
        for _ in 0..n {
            scope.spawn(|| Client::connect(proxy.addr).ask(chat_request("")));
            pause(apart);
        }
    });
    proxy.records(n)
}

/// Streams of so many tokens, one each 100 ms, cut so long after the last.
fn upstream_that_cuts(streams: [(u64, u64); 4]) -> Upstream {
    Upstream::start(move |x| {
        let (tokens, silence) = streams[x.number];
        x.request();
        x.send(STREAM);
        for _ in 0..tokens {
            x.wait(100);
            x.send(chunk(event("word ")));
        }
        x.wait(silence);
        x.fin();
    })
}

#[test]
fn cuts_after_the_same_silence_are_an_idle_limit() {
    for _ in 0..TRIES {
        let up = upstream_that_cuts([(1, 700), (5, 700), (9, 700), (13, 700)]);
        let proxy = Proxy::start(&up);
        let records = cut_streams(&proxy, 4, 0);
        if spread(&records, |record| number(record, "/silence/before_end_ms")) > LATE {
            continue;
        }
        let last = &records[3];
        let cut = &last["verdict"]["cut"];
        assert_eq!(
            (&cut["kind"], &cut["side"]),
            (&"idle".into(), &"upstream".into()),
            "{last:#}"
        );
        assert!((number(cut, "/after_ms") - 700.0).abs() < 30.0, "{cut}");
        assert!(codes(last).contains(&"idle_cut"));
        assert!(
            last["verdict"]
                .to_string()
                .contains("The last 4 cuts on the upstream side all came after")
        );
        assert!(records[1]["verdict"]["cut"].is_null(), "two are too few");
        return;
    }
    panic!("this machine was late each time");
}

#[test]
fn cuts_at_the_same_age_are_a_total_limit() {
    for _ in 0..TRIES {
        let up = upstream_that_cuts([(14, 100), (13, 200), (12, 300), (11, 400)]);
        let proxy = Proxy::start(&up);
        let records = cut_streams(&proxy, 4, 350);
        if spread(&records, |record| {
            number(record, "/at/end_ms") - number(record, "/at/sent_ms")
        }) > LATE
        {
            continue;
        }
        let last = &records[3];
        let cut = &last["verdict"]["cut"];
        assert_eq!(
            (&cut["kind"], &cut["side"]),
            (&"total".into(), &"upstream".into()),
            "{last:#}"
        );
        assert!((number(cut, "/after_ms") - 1500.0).abs() < 40.0, "{cut}");
        assert!(codes(last).contains(&"total_cut"));
        return;
    }
    panic!("this machine was late each time");
}

#[test]
fn nothing_is_said_of_streams_that_are_well() {
    let up = Upstream::start(|x| {
        x.request();
        x.send(STREAM);
        for _ in 0..5 + x.number {
            x.wait(30);
            x.send(chunk(event("word ")));
        }
        match x.number {
            3 => x.fin(),
            _ => x.send([chunk(finish()), chunk(DONE), LAST.into()].concat()),
        }
    });
    let proxy = Proxy::start(&up);
    for i in 0..10 {
        let padding = "a".repeat(1 << i);
        let mut client = Client::connect(proxy.addr);
        let body = CHAT.replace("hi", &padding);
        client.send(post("/v1/chat/completions", "", body.as_bytes()));
        let mut response = client.head("POST");
        if i == 7 {
            assert!(client.read_until(&mut response, 300));
            client.leave();
        } else {
            client.finish(&mut response);
        }
        proxy.records(i + 1);
    }
    for record in proxy.records(10) {
        assert!(record["verdict"]["cut"].is_null(), "{record:#}");
        let across = [
            "idle_cut",
            "total_cut",
            "constant_cut",
            "constant_latency",
            "cold_start",
        ];
        assert!(
            !codes(&record).iter().any(|code| across.contains(code)),
            "{record:#}"
        );
    }
}

#[test]
fn a_constant_that_is_added_to_each_wait() {
    for _ in 0..TRIES {
        let up = Upstream::start(|x| {
            let size = x.request().len() as u64;
            x.wait(203);
            x.send(STREAM);
            x.wait(20 + size / 100);
            x.send(chunk(event("word ")));
            x.send([chunk(finish()), chunk(DONE), LAST.into()].concat());
        });
        let proxy = Proxy::start(&up);
        for i in 0..11 {
            let body = CHAT.replace("hi", &"a".repeat(1 << (i + 2)));
            let request = post("/v1/chat/completions", "", body.as_bytes());
            assert_eq!(
                Client::connect(proxy.addr).ask(request).end,
                Some(End::Whole)
            );
            proxy.records(i + 1);
        }
        let records = proxy.records(11);
        // The first was cold.
        if spread(&records[1..], |record| {
            number(record, "/at/header_ms") - number(record, "/at/sent_ms")
        }) > 5.0
        {
            continue;
        }
        let last = &records[10];
        assert!(codes(last).contains(&"constant_latency"), "{last:#}");
        assert!(
            last["verdict"].to_string().contains("option http-no-delay"),
            "{last:#}"
        );
        assert!(
            !codes(&records[5]).contains(&"constant_latency"),
            "few prove nothing"
        );
        return;
    }
    panic!("this machine was late each time");
}

#[test]
fn a_cold_start_is_told_from_warm_ones() {
    let up = Upstream::start(|x| {
        x.request();
        x.wait(if x.number == 5 { 1200 } else { 50 });
        x.send(short_stream(3));
    });
    let proxy = Proxy::with(&up.url(), &["--cold-after", "1s"]);
    for i in 0..6 {
        if i == 5 {
            pause(1300);
        }
        Client::connect(proxy.addr).ask(chat_request(""));
        proxy.records(i + 1);
    }
    let records = proxy.records(6);
    let told: Vec<bool> = records
        .iter()
        .map(|record| codes(record).contains(&"cold_start"))
        .collect();
    assert_eq!(told, [false, false, false, false, false, true]);
    let verdict = records[5]["verdict"].to_string();
    assert!(
        verdict.contains("First request after 1 s idle: first token after 1.2"),
        "{verdict}"
    );
}
