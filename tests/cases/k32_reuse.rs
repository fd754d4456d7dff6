//! Kept-alive connections that the server closes as the next request goes out.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::rig::{at, near, number};
use crate::support::{
    Client, End, LAST, Proxy, STREAM, Upstream, chat_request, chunk, event, flags, ms, now,
    own_502, pause, short_stream,
};

#[test]
fn a69_a_retry_shows_and_its_time_is_its_own() {
    let up = Upstream::start(|x| {
        if x.on_connection() > 0 {
            x.wait(250);
            return x.rst();
        }
        x.request();
        x.wait(60);
        x.send(short_stream(5));
    });
    let proxy = Proxy::start(&up);
    let mut client = Client::connect(proxy.addr);
    assert_eq!(client.ask(chat_request("")).status(), 200);
    let start = now();
    let response = client.ask(chat_request(""));
    let first = response.had(1).expect("a body") - start;
    assert_eq!((response.status(), response.end), (200, Some(End::Whole)));
    assert_eq!(up.connections(), 2);

    let records = proxy.records(2);
    assert!(!flags(&records[0]).contains(&"retried"));
    assert_eq!(at(&records[0], "/upstream/attempts"), 1);
    assert!(at(&records[0], "/upstream/retry_ms").is_null());
    let record = &records[1];
    assert!(flags(record).contains(&"retried"), "{record:#}");
    assert_eq!(at(record, "/upstream/attempts"), 2);
    near(record, "/upstream/retry_ms", 250.0, ms(50));
    // from the first try
    near(record, "/ttft_ms", first.as_secs_f64() * 1000.0, ms(20));
    assert!(number(record, "/ttft_ms") >= 300.0, "{record:#}");
    assert_eq!(at(record, "/end"), "complete");
}

#[test]
fn a69_a_close_and_a_request_that_meet_cost_no_answer_and_no_second_generation() {
    const IDLE: u64 = 120;
    let served = Arc::new(AtomicUsize::new(0));
    let serving = served.clone();
    let up = Upstream::start(move |x| {
        x.request();
        serving.fetch_add(1, Ordering::Relaxed);
        x.send(short_stream(2));
        x.wait(IDLE);
        x.rst();
    });
    let proxy = Proxy::start(&up);
    let mut asked = 0;
    for around in 0..10 {
        let mut client = Client::connect(proxy.addr);
        for _ in 0..2 {
            let response = client.ask(chat_request(""));
            assert_eq!(
                (response.status(), response.end),
                (200, Some(End::Whole)),
                "at {} ms",
                IDLE - 5 + around
            );
            asked += 1;
            pause(IDLE - 5 + around);
        }
    }
    assert_eq!(served.load(Ordering::Relaxed), asked, "asked twice");
    for record in proxy.records(asked) {
        assert_eq!(at(&record, "/end"), "complete", "{record:#}");
        let retried = flags(&record).contains(&"retried");
        let attempts = number(&record, "/upstream/attempts");
        assert_eq!(retried, attempts > 1.0, "{record:#}");
        assert_eq!(retried, at(&record, "/upstream/retry_ms").is_number());
    }
}

#[test]
fn a69_nothing_is_asked_twice_once_an_answer_began() {
    for begun in [
        "HTTP/1.1 200 OK\r\nContent-Ty".to_owned(),
        STREAM.to_owned() + &String::from_utf8(chunk(event("a"))).expect("text"),
    ] {
        let has_head = begun.starts_with(STREAM);
        let up = Upstream::start(move |x| {
            x.request();
            if x.number == 0 {
                return x.send(short_stream(2));
            }
            x.send(&begun);
            x.wait(100);
            x.rst();
        });
        let proxy = Proxy::start(&up);
        let mut client = Client::connect(proxy.addr);
        assert_eq!(client.ask(chat_request("")).status(), 200);
        let response = client.ask(chat_request(""));
        if has_head {
            assert_eq!(response.status(), 200);
            assert!(matches!(response.end, Some(End::Cut | End::Reset)));
            assert_eq!(response.text(), event("a"));
        } else {
            own_502(&response);
        }
        assert_eq!(up.requests().len(), 2, "it was asked again");
        let record = &proxy.records(2)[1];
        assert!(!flags(record).contains(&"retried"), "{record:#}");
        assert_eq!(at(record, "/upstream/attempts"), 1);
        assert_eq!(at(record, "/upstream/reused"), true);
        assert_ne!(at(record, "/end"), "complete");
    }
}

#[test]
fn a69_a_fresh_connection_that_is_closed_is_no_stale_one() {
    let up = Upstream::start(|x| {
        x.request();
        x.rst();
    });
    let proxy = Proxy::start(&up);
    own_502(&Client::connect(proxy.addr).ask(chat_request("")));
    assert_eq!(up.requests().len(), 1);
    let record = proxy.record();
    assert_eq!(at(&record, "/upstream/attempts"), 1);
    assert_eq!(at(&record, "/upstream/reused"), false);
    assert!(at(&record, "/ttft_ms").is_null());
}

#[test]
fn a69_a_connection_that_is_kept_shows_as_reused() {
    let up = Upstream::start(|x| {
        x.request();
        x.send([STREAM.as_bytes(), &chunk(event("a"))].concat());
        x.wait(40);
        x.send([chunk(crate::support::DONE), LAST.into()].concat());
    });
    let proxy = Proxy::start(&up);
    let mut client = Client::connect(proxy.addr);
    for _ in 0..3 {
        assert_eq!(client.ask(chat_request("")).end, Some(End::Whole));
    }
    assert_eq!(up.connections(), 1);
    for (i, record) in proxy.records(3).iter().enumerate() {
        assert_eq!(at(record, "/upstream/reused"), i > 0);
        assert_eq!(at(record, "/upstream/connect_ms").is_null(), i > 0);
    }
}
