//! Engines that stop for a while.

use std::thread;

use super::rig::{Ask, Case, Run, played, run};
use crate::support::pause;

/// Asserts that work stopped for so long after that token, and that nothing was held.
fn stopped(run: &Run, token: u64, ms: f64) {
    run.near("/gaps/token/max_ms", ms);
    run.near("/silence/longest_ms", ms);
    run.is("/stalls/0/after_token", token);
    run.near("/stalls/0/gap_ms", ms);
    run.between("/stalls/0/catch_up_events", 0.0, 3.0);
    run.verdict("stall_no_catch_up", "upstream").end("complete");
    for code in run.findings() {
        assert!(!code.contains("burst") && code != "transport_coalesced" && code != "proxy_held");
    }
}

#[test]
fn a12_a_pause_with_usual_gaps_after_it_held_nothing() {
    let run = run("A12");
    run.near("/gaps/token/p50_ms", 20.0);
    stopped(&run, 50, 1000.0);
    run.between("/stalls/0/at_ms", 2000.0, 3000.0);
}

#[test]
fn a12_a_pause_early_in_an_uneven_stream() {
    let run = run("A12-early");
    stopped(&run, 10, 700.0);
}

#[test]
fn a12_two_streams_that_stop_in_one_interval_can_be_lined_up() {
    let case = Case::with(&["A12", "A12-later"], &[]);
    let [one, other] = played(|| {
        thread::scope(|scope| {
            let one = scope.spawn(|| case.run(Ask::chat().of("A12")));
            pause(300);
            let other = case.run(Ask::chat().of("A12-later"));
            [one.join().expect("a good run"), other]
        })
    });
    stopped(&one, 50, 1000.0);
    stopped(&other, 35, 1000.0);
    let (from, to) = interval(&one);
    let (other_from, other_to) = interval(&other);
    let apart = |a: f64, b: f64| {
        let apart = (a - b).rem_euclid(60_000.0);
        apart.min(60_000.0 - apart)
    };
    assert!(
        apart(from, other_from) < 250.0 && apart(to, other_to) < 250.0,
        "{from} to {to} and {other_from} to {other_to}"
    );
}

/// The longest pause by the wall clock, in ms of the minute.
fn interval(run: &Run) -> (f64, f64) {
    let started = run.at("/started_at").as_str().expect("a time");
    let second = started.rsplit(':').next().expect("hh:mm:ss");
    let second: f64 = second.trim_end_matches('Z').parse().expect("RFC 3339, UTC");
    let to = second * 1000.0 + run.number("/stalls/0/at_ms");
    (to - run.number("/stalls/0/gap_ms"), to)
}
