//! A wall clock that is set in the middle of a stream moves no figure: durations are monotonic, the wall
//! clock only labels the start.
//!
//! The proxy runs with a small library of ours preloaded (`wall_clock.c`), which shifts the wall clock
//! that it reads. The kernel's receive stamps are not shifted with it, so both kinds of mistake would
//! show: a duration taken from the wall clock, and a stamp compared with a clock that was set since.

#![cfg(target_os = "linux")]

mod support;

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use support::*;
use tempfile::TempDir;

/// A wall clock that can be set, and the library that a process needs to see it.
struct WallClock {
    dir: TempDir,
    shift: Arc<File>,
}

impl WallClock {
    fn new() -> WallClock {
        let dir = TempDir::new().expect("a temporary folder");
        let built = Command::new("cc")
            .args(["-shared", "-fPIC", "-O1", "-o"])
            .arg(dir.path().join("wall_clock.so"))
            .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/wall_clock.c"))
            .status()
            .expect("no `cc`: this test needs a C compiler");
        assert!(built.success(), "tests/wall_clock.c does not compile");
        let shift = File::create(dir.path().join("shift")).expect("a temporary file");
        let clock = WallClock {
            dir,
            shift: Arc::new(shift),
        };
        clock.setter()(0);
        clock
    }

    /// Puts the wall clock that many ms off the real one; a step as soon as it returns.
    fn setter(&self) -> impl Fn(i64) + Send + Sync + 'static {
        let shift = self.shift.clone();
        move |ms| {
            let ns = ms * 1_000_000;
            shift
                .write_all_at(&ns.to_ne_bytes(), 0)
                .expect("a temporary file");
        }
    }

    fn proxy(&self, upstream: &Upstream) -> Proxy {
        Proxy::launch(&upstream.url(), &["--timeline"], |command| {
            command
                .env("LD_PRELOAD", self.dir.path().join("wall_clock.so"))
                .env("WALL_CLOCK", self.dir.path().join("shift"));
        })
    }
}

const HOUR: i64 = 3_600_000;

/// The value at a JSON pointer.
fn number(record: &Value, at: &str) -> f64 {
    let value = record.pointer(at).and_then(Value::as_f64);
    value.unwrap_or_else(|| panic!("no number at {at}: {record:#}"))
}

fn assert_near(record: &Value, at: &str, real: Duration, slack: f64) {
    let (told, real) = (number(record, at), real.as_secs_f64() * 1000.0);
    assert!(
        (told - real).abs() <= slack,
        "{at} is {told} ms where {real} ms went by: {record:#}"
    );
}

/// Asserts that no number in there is negative, or as large as an hour is in ms.
fn assert_sane(value: &Value, place: &str) {
    match value {
        Value::Number(number) => {
            let number = number.as_f64().unwrap_or_default();
            assert!((0.0..3_000_000.0).contains(&number), "{place}: {number}");
        }
        Value::Array(all) => all.iter().for_each(|value| assert_sane(value, place)),
        Value::Object(all) => all
            .iter()
            .for_each(|(key, value)| assert_sane(value, &format!("{place}/{key}"))),
        _ => {}
    }
}

#[test]
fn a71_steps_of_an_hour_move_no_duration() {
    let clock = WallClock::new();
    let (set, sent) = (clock.setter(), Arc::new(Mutex::new(Vec::new())));
    let log = sent.clone();
    let up = Upstream::start(move |x| {
        x.request();
        if x.number > 0 {
            return x.send(short_stream(3));
        }
        x.wait(100);
        log.lock().unwrap().push(x.send_at(STREAM));
        x.wait(300);
        set(HOUR);
        x.wait(400);
        for i in 0..20 {
            let at = x.send_at(chunk(event("word ")));
            log.lock().unwrap().push(at);
            x.wait(20);
            match i {
                9 => set(0),
                14 => set(-HOUR),
                _ => {}
            }
        }
        x.send([chunk(finish()), chunk(DONE), LAST.into()].concat());
    });
    let proxy = clock.proxy(&up);
    let start = now();
    let response = Client::connect(proxy.addr).ask(chat_request(""));
    assert_eq!(response.end, Some(End::Whole));
    let over = now() - start;
    assert_eq!(
        Client::connect(proxy.addr).ask(chat_request("")).end,
        Some(End::Whole)
    );
    let records = proxy.records(2);

    let record = &records[0];
    let sent = sent.lock().unwrap();
    let (header, tokens) = sent.split_first().unwrap();
    let gaps: Vec<_> = tokens.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_near(record, "/at/header_ms", *header - start, 150.0);
    assert_near(record, "/ttft_ms", tokens[0] - start, 150.0);
    assert_near(record, "/gaps/token/p50_ms", median(gaps), 15.0);
    assert_near(record, "/silence/longest_ms", tokens[0] - *header, 150.0);
    assert_near(record, "/silence/longest_at_ms", tokens[0] - start, 150.0);
    assert_near(record, "/at/end_ms", over, 150.0);
    assert!(number(record, "/hold/max_us") < 1_000_000.0, "{record:#}");
    assert_eq!(number(record, "/gaps/token/n"), 19.0);
    assert_eq!(record["end"], "complete");
    assert_eq!(
        record["stamps"], "mixed",
        "the kernel's, and none from beside a step"
    );
    let rows = record["timeline"].as_array().unwrap();
    assert!(rows.is_sorted_by_key(|row| row[0].as_u64()), "{rows:?}");
    assert!(rows.iter().all(|row| row[0].as_u64() <= row[1].as_u64()));

    let next = &records[1];
    assert!(number(next, "/load/idle_before_ms") < 2_000.0, "{next:#}");
    assert_eq!(next["load"]["cold"], false);
    assert_eq!(next["upstream"]["reused"], true);
    assert_ne!(record["id"], next["id"]);
    assert!(
        next["started_at"].as_str() < record["started_at"].as_str(),
        "a label says what the clock says, here an hour less"
    );
    records.iter().for_each(|record| assert_sane(record, ""));
    assert!(proxy.stop().status.success());
}

/// What NTP does: a step too small to look wrong.
#[test]
fn a71_small_steps_move_no_gap() {
    let clock = WallClock::new();
    let (set, sent) = (clock.setter(), Arc::new(Mutex::new(Vec::new())));
    let log = sent.clone();
    let up = Upstream::start(move |x| {
        x.request();
        x.send(STREAM);
        for i in 0..16 {
            x.wait(50);
            set(if i % 2 == 0 { 40 } else { 0 });
            x.wait(50);
            let at = x.send_at(chunk(event("word ")));
            log.lock().unwrap().push(at);
        }
        x.send([chunk(finish()), chunk(DONE), LAST.into()].concat());
    });
    let proxy = clock.proxy(&up);
    let response = Client::connect(proxy.addr).ask(chat_request(""));
    assert_eq!(response.end, Some(End::Whole));
    let record = proxy.record();
    let sent = sent.lock().unwrap();
    let mut gaps: Vec<_> = sent.windows(2).map(|pair| pair[1] - pair[0]).collect();
    gaps.sort();
    assert_eq!(number(&record, "/gaps/token/n"), 15.0);
    assert_near(&record, "/gaps/token/p50_ms", gaps[7], 20.0);
    assert_near(&record, "/gaps/token/p90_ms", gaps[13], 20.0);
}
