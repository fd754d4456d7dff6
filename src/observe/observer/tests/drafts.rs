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

/// A pause of `pause` ms after half of these; `held`: of a hop, which lets go of what came meanwhile when it ends.
fn paused(mut made: Reads, pause: f64, held: bool) -> Reads {
    let half = made.len() / 2;
    let end = made[half - 1].0 + pause;
    if held {
        for (at, _) in made[half..].iter_mut().filter(|(at, _)| *at < end) {
            *at = end;
        }
    } else {
        let late = end - made[half].0;
        for (at, _) in &mut made[half..] {
            *at += late;
        }
    }
    let mut reads: Reads = Vec::new();
    for (at, bytes) in made {
        match reads.last_mut() {
            Some((last, all)) if *last == at => all.extend(bytes),
            _ => reads.push((at, bytes)),
        }
    }
    reads
}

#[test]
fn a_pause_of_an_engine_that_drafts_is_no_hold() {
    // Short and long steps, and a pause in which hardly more was missing than a draft has.
    for (step, pause) in [(30.0, 430.0), (45.0, 310.0), (112.0, 3_000.0)] {
        for seed in 1..=8 {
            let made = || drafts(step, 0.1, (1, 5), 80, seed);
            let worked = observe(paused(made(), pause, false));
            assert_eq!(
                timing(&worked),
                Timing::StallNoCatchUp,
                "{step}, {seed}: {:?}",
                worked.verdict
            );
            let held = observe(paused(made(), pause, true));
            assert_eq!(
                timing(&held),
                Timing::StallWithCatchUp,
                "{step}, {seed}: {:?}",
                held.verdict
            );
        }
    }
}

#[test]
fn a_few_drafts_are_no_habit_of_a_hop() {
    let mut script = chat().at(150.0, role());
    for at in [486.0, 849.0, 1_202.0] {
        script = script.at(at, joined([word(), word()]));
    }
    let record = script.at(1_205.0, joined([finish(), done()])).end(1_205.0);
    assert!(
        [Timing::Steady, Timing::Irregular].contains(&timing(&record)),
        "{:?}",
        record.verdict
    );
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
