//! Which kind of burst: streams as hops with a buffer, a timer or a counter let them go, at rates,
//! sizes, blocks and periods of every magnitude.

use super::hops::*;
use super::support::*;
use crate::observe::record::{Side, Timing};

#[test]
fn a_gateway_that_fills_16_kib() {
    let engine = Engine {
        gap: 25.0,
        jitter: 0.0,
        size: 247.0,
        variety: 0.0,
    };
    for (cut, full) in [(true, 5), (false, 5), (false, 9)] {
        let made = engine.make(67 * full + 20, 1);
        let record = observe(through_buffer(&made, 16_384, cut));
        assert_eq!(
            (timing(&record), side(&record)),
            (Timing::BlockBurst, Some(Side::Upstream))
        );
        let summary = &record.verdict.as_ref().unwrap().summary;
        assert!(summary.contains("a buffer of 16 KiB"), "{summary}");
        assert!(hint(&record).contains("proxy_buffer_size"));
        assert!((evidence(&record, "burst_bytes") - 16_384.0).abs() <= 247.0);
        assert!((evidence(&record, "burst_period_ms") / 1_662.0 - 1.0).abs() < 0.03);
        assert_eq!(record.ttft_ms, Some(record.at.first_byte_ms.unwrap()));
    }
    let short = observe(through_buffer(&engine.make(20, 1), 16_384, true));
    assert_eq!(timing(&short), Timing::WholeBodyBurst);
    assert!(
        short
            .verdict
            .unwrap()
            .summary
            .contains("block that never filled")
    );
    // Fewer than four full ones prove nothing, and nothing is claimed.
    let few = observe(through_buffer(&engine.make(67 * 3 + 20, 1), 16_384, true));
    assert_eq!(timing(&few), Timing::TransportCoalesced);
    assert!(few.verdict.unwrap().summary.contains("So few"));
}

#[test]
fn a_header_that_shares_the_first_block_does_not_hide_the_others() {
    let engine = Engine {
        gap: 25.0,
        jitter: 0.5,
        size: 180.0,
        variety: 0.2,
    };
    let made = engine.make(220, 3);
    let (first, rest) = made.split_at(15);
    let mut reads = vec![(
        first[14].0,
        joined(first.iter().map(|(_, bytes)| bytes.clone())),
    )];
    reads.extend(through_buffer(&rest.to_vec(), 4_096, true));
    assert_eq!(timing(&observe(reads)), Timing::BlockBurst);
}

#[test]
fn blocks_of_every_size() {
    let (mut sure, mut all) = (0, 0);
    for seed in 1..=160u64 {
        let mut noise = noise(seed);
        let mut between = |from: f64, to: f64| from * (to / from).powf(noise());
        let engine = Engine {
            gap: between(2.0, 200.0),
            size: between(60.0, 4_000.0),
            jitter: [0.0, 0.2, 0.6, 1.2][seed as usize % 4],
            variety: [0.0, 0.1, 1.0][seed as usize % 3],
        };
        let (block, cut) = (1024 << (seed / 2 % 7), seed % 2 == 0);
        let per = engine.events_of(block as f64);
        // Few events at once, or short pauses: that may be an engine's step.
        if per < 6.0 || per * engine.gap < 60.0 {
            continue;
        }
        let made = engine.make((per * 6.5) as usize, seed);
        let record = observe(through_buffer(&made, block, cut));
        let is_block = timing(&record) == Timing::BlockBurst;
        assert!(is_block || is_torn(&record), "{seed}: {:?}", record.verdict);
        if !is_block {
            eprintln!("torn {seed} {:?}", record.verdict.as_ref().unwrap().summary)
        }
        (sure, all) = (sure + u32::from(is_block), all + 1);
        if is_block && evidence(&record, "event_bytes") < 400.0 {
            let of = evidence(&record, "burst_bytes") - block as f64;
            assert!((0.0..=800.0).contains(&of), "{seed}: {of} above");
        }
    }
    // Where both fit, the period or the size is round by chance.
    assert!(all >= 80 && sure * 20 >= all * 19, "{sure} of {all}");
}

#[test]
fn timers_of_every_period() {
    let (mut sure, mut all) = (0, 0);
    for seed in 1..=160u64 {
        let mut noise = noise(seed);
        let mut between = |from: f64, to: f64| from * (to / from).powf(noise());
        let period = [40.0, 100.0, 200.0, 250.0, 500.0, 1_000.0, 2_000.0][seed as usize % 7];
        let engine = Engine {
            gap: between(2.0, 200.0),
            size: between(60.0, 1_000.0),
            jitter: [0.0, 0.2, 0.6][seed as usize % 3],
            variety: [0.0, 0.1, 1.0][seed as usize / 3 % 3],
        };
        let per = period / engine.gap;
        if !(6.0..300.0).contains(&per) {
            continue;
        }
        let made = engine.make((per * 7.5) as usize, seed);
        let record = observe(through_timer(&made, period, seed % 2 == 0, 1.0, seed));
        let is_tick = timing(&record) == Timing::TickBurst;
        assert!(is_tick || is_torn(&record), "{seed}: {:?}", record.verdict);
        if !is_tick {
            eprintln!("torn {seed} {:?}", record.verdict.as_ref().unwrap().summary)
        }
        (sure, all) = (sure + u32::from(is_tick), all + 1);
        if is_tick {
            let measured = evidence(&record, "burst_period_ms");
            assert!(
                (-2.0..engine.gap * 1.4 + 2.0).contains(&(measured - period)),
                "{seed}: {measured}"
            );
        }
    }
    assert!(all >= 80 && sure * 20 >= all * 19, "{sure} of {all}");
}

#[test]
fn a_timer_and_equal_events_differ_by_one_event_and_are_no_block() {
    // 12 or 13 each time: constant bytes within one event, and yet the time is what is constant.
    let engine = Engine {
        gap: 20.0,
        jitter: 0.0,
        size: 190.0,
        variety: 0.0,
    };
    let record = observe(through_timer(&engine.make(150, 1), 250.0, false, 0.5, 1));
    assert_eq!(
        (timing(&record), side(&record)),
        (Timing::TickBurst, Some(Side::Upstream))
    );
    assert!(hint(&record).contains("flush_interval -1"));
    // Payloads of 40 to 400 bytes leave no doubt.
    let engine = Engine {
        gap: 20.0,
        jitter: 0.0,
        size: 265.0,
        variety: 1.36,
    };
    let record = observe(through_timer(&engine.make(150, 1), 250.0, false, 0.5, 1));
    assert_eq!(timing(&record), Timing::TickBurst);
    assert!((evidence(&record, "burst_period_ms") / 250.0 - 1.0).abs() < 0.02);
    assert!(evidence(&record, "burst_period_cv") < 0.1);
    assert!(confidence(&record) >= 0.8);
}

#[test]
fn a_tick_in_which_nothing_came_is_still_the_timer_s() {
    let engine = Engine {
        gap: 20.0,
        jitter: 0.3,
        size: 265.0,
        variety: 1.0,
    };
    let mut made = engine.make(150, 5);
    for (at, _) in &mut made[60..] {
        *at += 700.0;
    }
    let record = observe(through_timer(&made, 250.0, false, 0.5, 5));
    assert_eq!(timing(&record), Timing::TickBurst);
}

#[test]
fn moderation_in_equal_groups_is_a_timer_with_its_clue() {
    let prompt = r#"{"choices":[],"prompt_filter_results":[{"prompt_index":0,"content_filter_results":{}}]}"#;
    for (period, n, groups) in [(2_000.0, 40, 5), (1_400.0, 25, 8), (3_300.0, 60, 6)] {
        let end = period * f64::from(groups) + 1.0;
        let record = chat()
            .at(180.0, event(prompt))
            .every(period, period, groups, |_| joined((0..n).map(|_| word())))
            .at(end, joined([finish(), done()]))
            .end(end);
        assert_eq!(
            (record.ttft_ms, timing(&record)),
            (Some(period), Timing::TickBurst)
        );
        assert!(hint(&record).contains("asynchronous filter"));
        // The same without the fields is as constant in its bytes; both are told.
        let plain = chat()
            .every(period, period, groups, |_| joined((0..n).map(|_| word())))
            .at(end, joined([finish(), done()]))
            .end(end);
        assert!(is_torn(&plain), "{:?}", plain.verdict);
        assert!(!hint(&plain).contains("Azure"));
    }
}

#[test]
fn guards_count_events() {
    let mut about = 0;
    for seed in 1..=40 {
        let engine = Engine {
            gap: 30.0,
            jitter: 1.6,
            size: 250.0,
            variety: 1.5,
        };
        let n = [8, 12, 20, 50][seed as usize % 4];
        let made = engine.make(n * 10, seed);
        let record = observe(through_guard(&made, n, seed % 2 == 0, seed));
        // Periods and sizes of equal numbers of events may be near each other by chance.
        assert!(
            timing(&record) == Timing::CountBurst
                || is_torn(&record)
                || evidence(&record, "burst_period_cv") < 0.1,
            "{seed}: {:?}",
            record.verdict
        );
        // A number that is constant but for one event more or less is no sure count.
        let is_about = evidence(&record, "events_per_burst_spread") > 0.0;
        if timing(&record) == Timing::CountBurst && is_about {
            assert!(confidence(&record) <= 0.6, "{seed}: {:?}", record.verdict);
            about += 1;
        }
    }
    assert!(about >= 5, "{about}");
    // As long as the pauses are anyone's, so that only the number is constant.
    let mut noise = noise(9);
    let (mut at, mut script) = (300.0, chat());
    for _ in 0..8 {
        at += 300.0 + 1_500.0 * noise();
        let burst = (0..20).map(|_| sized(60.0 + 900.0 * noise().powi(3)));
        script = script.at(at, joined(burst));
    }
    let record = script.at(at + 1.0, done()).end(at + 1.0);
    assert_eq!(
        (timing(&record), side(&record)),
        (Timing::CountBurst, Some(Side::Upstream))
    );
    assert!(hint(&record).contains("guard"));
    assert_eq!(evidence(&record, "events_per_burst"), 20.0);
}

#[test]
fn nothing_constant_is_merged_somewhere() {
    for seed in 1..=20 {
        let mut noise = noise(seed);
        let (mut at, mut script) = (300.0, chat());
        for _ in 0..9 {
            at += 200.0 + 2_500.0 * noise();
            script = script.at(at, joined((0..4 + (40.0 * noise()) as u32).map(|_| word())));
        }
        let record = script.at(at + 1.0, done()).end(at + 1.0);
        assert_eq!(
            timing(&record),
            Timing::TransportCoalesced,
            "{seed}: {:?}",
            record.verdict
        );
    }
}

#[test]
fn groups_that_are_let_go_write_by_write_are_groups() {
    let mut script = chat();
    for i in 0..240 {
        let i = f64::from(i);
        script = script.at(
            287.0 + (i / 48.0).floor() * 264.0 + (i % 48.0) * 1.58,
            word(),
        );
    }
    let record = script.at(1_700.0, done()).end(1_700.0);
    assert!(
        KINDS[..2].contains(&timing(&record)),
        "{:?}",
        record.verdict
    );
}
