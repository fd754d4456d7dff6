//! An engine that makes several tokens a step is no hop, on a GPU or on a CPU; and what a hop does
//! to its stream is still seen.

use super::hops::*;
use super::support::*;
use crate::observe::record::{RequestRecord, Side, Timing};

/// Steps of `step` ms, up to a tenth more or less by `jitter`, with `least` to `most` tokens each.
fn drafts(step: f64, jitter: f64, (least, most): (u32, u32), n: usize, seed: u64) -> Reads {
    let (mut noise, mut at) = (noise(seed), 200.0);
    (0..n)
        .map(|_| {
            at += step * (1.0 + 2.0 * jitter * (noise() - 0.5));
            let tokens = least + (f64::from(most - least + 1) * noise()) as u32;
            (at, joined((0..tokens.min(most)).map(|_| sized(210.0))))
        })
        .collect()
}

fn summary(record: &RequestRecord) -> &str {
    &record.verdict.as_ref().unwrap().summary
}

#[test]
fn long_steps_of_drafts_are_no_hop() {
    for step in [90.0, 150.0, 250.0, 300.0, 450.0] {
        for jitter in [0.01, 0.05, 0.08] {
            for seed in 1..=4 {
                let record = observe(drafts(step, jitter, (1, 5), 40, seed));
                assert_eq!(timing(&record), Timing::Steady, "{step} {jitter}");
            }
        }
    }
}

#[test]
fn what_an_engine_might_have_done_is_not_sure() {
    for step in [90.0, 170.0, 330.0] {
        let record = observe(drafts(step, 0.04, (3, 4), 40, 2));
        assert!(confidence(&record) <= 0.6, "{:?}", record.verdict);
        assert!(
            summary(&record).contains("speculates"),
            "{}",
            summary(&record)
        );
    }
}

#[test]
fn a_pause_of_an_engine_that_drafts_is_no_hold() {
    for seed in 1..=8 {
        let mut made = drafts(30.0, 0.1, (1, 5), 80, seed);
        for (at, _) in &mut made[40..] {
            *at += 400.0;
        }
        let record = observe(made);
        assert_eq!(timing(&record), Timing::StallNoCatchUp, "{seed}");
        // The same pause of a hop.
        let mut held = drafts(30.0, 0.1, (1, 5), 80, seed);
        let until = held[54].0;
        for (at, _) in &mut held[40..54] {
            *at = until;
        }
        let mut reads: Reads = Vec::new();
        for (at, bytes) in held {
            match reads.last_mut() {
                Some((last, all)) if *last == at => all.extend(bytes),
                _ => reads.push((at, bytes)),
            }
        }
        assert_eq!(timing(&observe(reads)), Timing::StallWithCatchUp, "{seed}");
    }
}

#[test]
fn steps_as_exact_as_a_timer_are_in_doubt() {
    let record = observe(drafts(40.0, 0.002, (2, 5), 60, 1));
    assert_eq!(timing(&record), Timing::Steady);
    assert!(confidence(&record) <= 0.5);
    assert!(summary(&record).contains("delayed ACK"));
    let usual = observe(drafts(43.0, 0.03, (2, 5), 60, 1));
    assert!(confidence(&usual) >= 0.9 && !summary(&usual).contains("ACK"));
}

#[test]
fn only_a_timer_that_waits_for_an_event_is_called_one() {
    for (period, gap) in [(150.0, 59.0), (80.0, 14.0), (80.0, 20.0)] {
        let engine = Engine {
            gap,
            jitter: 0.3,
            size: 210.0,
            variety: 1.0,
        };
        let made = engine.make((14.0 * period / gap) as usize, 3);
        let record = observe(through_timer(&made, period, false, 0.3, 3));
        assert!(
            !summary(&record).contains("first event"),
            "{}",
            summary(&record)
        );
    }
}

#[test]
fn a_fast_engine_after_a_queue_is_hardly_accused() {
    for (wait, gap, n) in [(4_000.0, 0.45, 150), (2_000.0, 1.0, 8), (5_000.0, 1.2, 15)] {
        let end = wait + gap * f64::from(n);
        let record = chat()
            .header(5.0)
            .every(wait, gap, n, |_| word())
            .at(end, joined([finish(), done()]))
            .end(end);
        let accused = timing(&record) == Timing::WholeBodyBurst;
        assert!(!accused || confidence(&record) <= 0.3, "{wait} {gap}");
    }
}

#[test]
fn one_read_is_not_called_uneven() {
    let record = chat()
        .at(120.0, joined((0..5).map(|_| word())))
        .at(130.0, joined([finish(), done()]))
        .end(130.0);
    assert_eq!(side(&record), Some(Side::Unknown));
    assert!(
        summary(&record).contains("all at once"),
        "{}",
        summary(&record)
    );
}
