//! How what is sent gets there, and what a collector costs that does not take it.

use std::io::{Read, Write};
use std::sync::Mutex;
use std::sync::mpsc::channel;

use serde_json::json;

use crate::collector::{Collector, numbers, taken};
use crate::support::http::{Body, Head};
use crate::support::*;
use crate::{ask, proxy, streams, wait_for_line};

#[test]
fn what_the_collector_cannot_take_now_is_sent_again_and_what_it_never_takes_is_not() {
    let upstream = streams();
    let collector = Collector::answering(|x| {
        let is = |path: &str| x.head().start_line().contains(path);
        let answer = match x.number {
            _ if is("/v1/traces") => "400 Bad Request\r\nContent-Length: 0",
            0 => "503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0",
            _ => return x.send(taken(0, "")),
        };
        x.send(format!("HTTP/1.1 {answer}\r\n\r\n"));
    });
    let mut proxy = proxy(&upstream, &collector.url(), &["--otlp-signals", "logs"]);
    ask(&proxy, "");
    let posts = collector.wait("a second attempt", |collector| {
        Some(collector.posts("/v1/logs")).filter(|posts| posts.len() == 2)
    });
    assert_eq!(posts[0].body, posts[1].body);
    let pause = posts[1].head_at - posts[0].head_at;
    assert!(pause >= ms(1000), "Retry-After is waited for: {pause:?}");
    wait_for_line(
        &mut proxy,
        "dripline_records_written_total{sink=\"otlp_logs\"} 1",
    );
    let stopped = proxy.stop();
    assert!(
        stopped
            .stderr
            .contains("/v1/logs does not take what it is sent (status 503)"),
        "{}",
        stopped.stderr
    );
    assert!(
        stopped.stderr.contains("/v1/logs takes again"),
        "{}",
        stopped.stderr
    );
    assert!(
        !stopped.stderr.contains("did not reach"),
        "{}",
        stopped.stderr
    );

    let mut proxy = crate::proxy(&upstream, &collector.url(), &["--otlp-signals", "traces"]);
    ask(&proxy, "");
    wait_for_line(
        &mut proxy,
        "dripline_records_dropped_total{sink=\"otlp_traces\"} 1",
    );
    pause_longer_than_a_retry();
    assert_eq!(collector.posts("/v1/traces").len(), 1);
    let stderr = proxy.stop().stderr;
    let told = format!("1 of 1 records did not reach {}/v1/traces", collector.url());
    assert!(stderr.contains(&told), "{stderr}");
}

/// The first pause is 1 s at most.
fn pause_longer_than_a_retry() {
    pause(1200);
}

#[test]
fn what_a_collector_rejects_is_counted_and_its_reason_told() {
    let upstream = streams();
    let collector = Collector::answering(|x| match x.number {
        0 => x.send(taken(1, "too \u{1b}[31mold")),
        _ => x.send(taken(0, "")),
    });
    let mut proxy = proxy(&upstream, &collector.url(), &["--otlp-signals", "logs"]);
    (0..2).for_each(|_| {
        ask(&proxy, "");
    });
    wait_for_line(
        &mut proxy,
        "dripline_records_dropped_total{sink=\"otlp_logs\"} 1",
    );
    wait_for_line(
        &mut proxy,
        "dripline_records_written_total{sink=\"otlp_logs\"} 1",
    );
    let stderr = proxy.stop().stderr;
    assert!(
        stderr.contains("1 of the last were rejected: too "),
        "{stderr}"
    );
    assert!(!stderr.contains('\u{1b}'), "{stderr}");
}

#[test]
fn what_waits_is_sent_at_the_end() {
    let (upstream, collector) = (streams(), Collector::start());
    let proxy = proxy(&upstream, &collector.url(), &["--otlp-interval", "1h"]);
    (0..3).for_each(|_| {
        ask(&proxy, "");
    });
    assert!(collector.logs().is_empty());
    let stopped = proxy.stop();
    assert_eq!((stopped.records.len(), collector.logs().len()), (3, 3));
    assert_eq!(collector.posts("/v1/logs").len(), 1, "they go together");
    let requests = numbers(&collector.metrics(), "dripline.requests");
    assert_eq!(requests.iter().map(|(_, n)| n).sum::<f64>(), 3.0);
    let written = numbers(&collector.metrics(), "dripline.records_written");
    assert!(
        written.contains(&(json!({"sink": "otlp_logs"}), 3.0)),
        "{written:?}"
    );
}

#[test]
fn a_dead_collector_costs_a_counter() {
    let upstream = streams();
    let nobody = Nobody::new();
    let dead = nobody.addr;
    let mut proxy = proxy(&upstream, &format!("http://{dead}"), &[]);
    for _ in 0..5 {
        let took = ask(&proxy, "");
        assert!(took < ms(3000), "a stream of 120 ms took {took:?}");
    }
    proxy.records(5);
    wait_for_line(
        &mut proxy,
        "dripline_records_written_total{sink=\"otlp_logs\"} 0",
    );
    let start = now();
    let stopped = proxy.stop();
    let took = now() - start;
    assert!(took < ms(4000), "nobody is waited for: {took:?}");
    assert_eq!((stopped.status.code(), stopped.records.len()), (Some(0), 5));
    for path in ["logs", "traces"] {
        let told = format!("5 of 5 records did not reach http://{dead}/v1/{path}");
        assert!(stopped.stderr.contains(&told), "{}", stopped.stderr);
    }
    let told = format!("http://{dead}/v1/metrics does not take what it is sent");
    assert!(stopped.stderr.contains(&told), "{}", stopped.stderr);
}

#[test]
fn a_collector_that_hangs_delays_nothing_but_the_end_and_that_not_for_long() {
    let upstream = streams();
    let collector = Collector::answering(|x| x.until_closed());
    let proxy = proxy(&upstream, &collector.url(), &[]);
    ask(&proxy, "");
    collector.wait("all three hang", |collector| {
        let hangs = |path| !collector.posts(path).is_empty();
        ["/v1/logs", "/v1/traces", "/v1/metrics"]
            .into_iter()
            .all(hangs)
            .then_some(())
    });
    for _ in 0..5 {
        let took = ask(&proxy, "");
        assert!(took < ms(3000), "a stream of 120 ms took {took:?}");
    }
    proxy.records(6);
    let start = now();
    let stopped = proxy.stop();
    let took = now() - start;
    assert!(
        took < ms(9000),
        "5 s for the records and 2 s for the metrics are the most: {took:?}"
    );
    assert_eq!((stopped.status.code(), stopped.records.len()), (Some(0), 6));
    assert!(
        stopped.stderr.contains("6 of 6 records did not reach"),
        "{}",
        stopped.stderr
    );
}

#[test]
fn a_collector_over_tls_is_known_by_its_certificate() {
    let upstream = streams();
    let (posted, posts) = channel();
    let posted = Mutex::new(posted);
    let server = TlsServer::named("localhost", move |mut stream| {
        let mut input = Vec::new();
        let mut piece = [0; 4096];
        while let Ok(n @ 1..) = stream.read(&mut piece) {
            input.extend_from_slice(&piece[..n]);
            let mut rest = input.clone();
            let Some(head) = Head::take(&mut rest) else {
                continue;
            };
            let mut body = Body::of_request(&head);
            body.push(&rest);
            if body.whole {
                input.clear();
                posted.lock().unwrap().send(head.start_line()).unwrap();
                stream.write_all(&taken(0, "")).unwrap();
            }
        }
    });
    let start = |ca: Option<&TlsServer>| {
        let url = server.url();
        let args = [
            "--otlp",
            &url,
            "--otlp-interval",
            "100ms",
            "--otlp-signals",
            "logs",
        ];
        Proxy::launch(&upstream.url(), &args, |command| {
            command.env_remove("SSL_CERT_FILE");
            ca.map(|server| command.env("SSL_CERT_FILE", server.ca()));
        })
    };
    let mut proxy = start(Some(&server));
    ask(&proxy, "");
    assert_eq!(
        posts.recv_timeout(PATIENCE).as_deref(),
        Ok("POST /v1/logs HTTP/1.1")
    );
    wait_for_line(
        &mut proxy,
        "dripline_records_written_total{sink=\"otlp_logs\"} 1",
    );

    let proxy = start(None);
    ask(&proxy, "");
    let stopped = proxy.stop();
    assert!(posts.try_recv().is_err());
    assert!(
        stopped
            .stderr
            .contains("1 of 1 records did not reach https://localhost"),
        "{}",
        stopped.stderr
    );
    assert!(
        stopped.stderr.to_lowercase().contains("certificate"),
        "{}",
        stopped.stderr
    );
}
