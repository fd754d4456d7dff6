//! The log as its users meet it: a full disk, a rotated file, two proxies on one file, standard output.
//! Requests never notice.

mod support;

use std::fs;

use serde_json::Value;
use support::{Client, End, OK, Proxy, Upstream, chat_request};

/// An upstream that answers every request.
fn upstream() -> Upstream {
    Upstream::start(|x| {
        x.request();
        x.send(OK);
    })
}

fn ask(proxy: &Proxy) {
    let response = Client::connect(proxy.addr).ask(chat_request(""));
    assert_eq!(response.end, Some(End::Whole));
}

/// Every line of a log, each of which must be a record.
fn records(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).expect("a whole record"))
        .collect()
}

#[test]
fn a_full_disk_stops_no_request_and_is_told() {
    let up = upstream();
    let proxy = Proxy::with(&up.url(), &["--log", "/dev/full"]);
    (0..5).for_each(|_| ask(&proxy));
    let stopped = proxy.stop();
    assert!(stopped.status.success());
    assert!(stopped.stderr.contains("/dev/full"), "{}", stopped.stderr);
    assert!(
        stopped.stderr.contains("5 of 5 records"),
        "{}",
        stopped.stderr
    );
}

#[test]
fn a_log_that_was_moved_or_removed_is_made_anew() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| dir.path().join(name).display().to_string();
    let up = upstream();
    let proxy = Proxy::with(&up.url(), &["--log", &path("log")]);
    let wait_for = |name: &str, n: usize| {
        for _ in 0..1000 {
            let text = fs::read_to_string(path(name)).unwrap_or_default();
            if text.lines().count() == n && text.ends_with('\n') {
                return;
            }
            support::pause(5);
        }
        panic!("{name} does not get {n} records");
    };
    ask(&proxy);
    wait_for("log", 1);
    fs::rename(path("log"), path("rotated")).expect("the log is there");
    ask(&proxy);
    wait_for("log", 1);
    fs::remove_file(path("log")).expect("the log is there");
    ask(&proxy);
    wait_for("log", 1);
    wait_for("rotated", 1);
    assert!(proxy.stop().status.success());
}

#[test]
fn two_proxies_share_a_file_without_tearing_lines() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let log = dir.path().join("log").display().to_string();
    let up = upstream();
    let start = |name| Proxy::with(&up.url(), &["--log", &log, "--instance", name]);
    let proxies = [start("inner"), start("outer")];
    std::thread::scope(|scope| {
        for proxy in &proxies {
            scope.spawn(move || (0..50).for_each(|_| ask(proxy)));
        }
    });
    for proxy in proxies {
        assert!(proxy.stop().status.success());
    }
    let records = records(&fs::read_to_string(&log).expect("the log is there"));
    let of = |name| {
        records
            .iter()
            .filter(|record| record["instance"] == name)
            .count()
    };
    assert_eq!((of("inner"), of("outer")), (50, 50));
}

#[test]
fn on_standard_output_stand_records_and_nothing_else() {
    let up = upstream();
    let proxy = Proxy::with(&up.url(), &["--log", "-"]);
    ask(&proxy);
    let stopped = proxy.stop();
    assert_eq!(records(&stopped.stdout).len(), 1, "{}", stopped.stdout);
    assert!(
        stopped.stderr.contains("not_a_stream"),
        "the line for people: {}",
        stopped.stderr
    );
}

#[test]
fn model_lists_and_health_polls_leave_no_record_unless_all_are_asked_for() {
    let up = upstream();
    let get = "GET /v1/models HTTP/1.1\r\nHost: a\r\n\r\n";
    for (which, expected) in [("generations", 1), ("all", 2)] {
        let proxy = Proxy::with(&up.url(), &["--record", which]);
        assert_eq!(Client::connect(proxy.addr).ask(get).end, Some(End::Whole));
        ask(&proxy);
        assert_eq!(proxy.stop().records.len(), expected, "{which}");
    }
}
