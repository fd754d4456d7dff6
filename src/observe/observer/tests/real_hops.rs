//! What real hops do near the bounds: few events at a time, timers that an event starts, releases
//! of many reads. The kinds were found with real HAProxy, nginx and Node (docs/calibration.md).

use super::hops::*;
use super::support::*;
use crate::observe::record::Timing;

/// Steady, with jitter, equal sizes.
fn engine(gap: f64, jitter: f64, size: f64) -> Engine {
    Engine {
        gap,
        jitter,
        size,
        variety: 0.0,
    }
}

/// Node's `setTimeout(uncork)`, HAProxy's cork: the first event that is held back starts the timer,
/// and what is let go takes the next event with it.
fn through_cork(made: &Reads, timer: f64) -> Reads {
    let (mut held, mut reads, mut since) = (Vec::new(), Vec::new(), None);
    for (at, bytes) in made {
        held.extend_from_slice(bytes);
        if at - *since.get_or_insert(*at) >= timer {
            reads.push((*at, std::mem::take(&mut held)));
            since = Some(*at);
        }
    }
    end(made, held, reads)
}

#[test]
fn small_blocks_of_few_events_are_no_engine() {
    for (block, gap) in [(1_024, 21.0), (2_048, 14.0), (4_096, 25.0)] {
        for seed in 1..=8 {
            let made = engine(gap, 0.6, block as f64 / 3.4).make(120, seed);
            let record = observe(through_buffer(&made, block, true));
            assert_eq!(
                timing(&record),
                Timing::BlockBurst,
                "{block}: {:?}",
                record.verdict
            );
        }
    }
}

#[test]
fn an_exact_timer_of_few_events_is_a_timer() {
    for (period, gap) in [(80.0, 20.0), (80.0, 14.0), (150.0, 31.0), (400.0, 52.0)] {
        for seed in 1..=8 {
            let made = engine(gap, 0.8, 310.0).make((12.0 * period / gap) as usize, seed);
            let record = observe(through_timer(&made, period, false, 1.0, seed));
            assert_eq!(
                timing(&record),
                Timing::TickBurst,
                "{period}: {:?}",
                record.verdict
            );
        }
    }
    // So exact that two or three will do, which no engine's drafts are.
    let record = observe(through_timer(
        &engine(30.0, 0.0, 310.0).make(60, 1),
        80.0,
        false,
        0.3,
        1,
    ));
    assert_eq!(timing(&record), Timing::TickBurst, "{:?}", record.verdict);
}

#[test]
fn a_timer_that_an_event_starts_is_a_timer() {
    for gap in [33.0, 41.0, 58.0] {
        for seed in 1..=8 {
            let mut engine = engine(gap, 0.5, 300.0);
            engine.variety = 1.5;
            let record = observe(through_cork(&engine.make(150, seed), 200.0));
            assert_eq!(
                timing(&record),
                Timing::TickBurst,
                "{gap}: {:?}",
                record.verdict
            );
            let period = evidence(&record, "burst_period_ms");
            assert!((200.0..200.0 + gap * 1.3).contains(&period), "{period}");
        }
    }
}

#[test]
fn few_groups_or_uneven_ones_of_few_events_were_merged() {
    let few = observe(through_timer(
        &engine(13.0, 0.2, 220.0).make(28, 1),
        105.0,
        true,
        0.5,
        1,
    ));
    assert_eq!(timing(&few), Timing::TransportCoalesced);
    let (mut noise, mut at, mut script) = (noise(3), 200.0, chat());
    for i in 0..30 {
        at += 80.0 + 80.0 * noise();
        script = script.at(at, joined((0..3 + i % 2).map(|_| word())));
    }
    let uneven = script.at(at + 1.0, done()).end(at + 1.0);
    assert_eq!(timing(&uneven), Timing::TransportCoalesced);
}

#[test]
fn a_release_of_many_reads_is_one() {
    let read = || joined((0..54).map(|_| sized(1_210.0)));
    let rest = || joined((0..20).map(|_| sized(1_210.0)));
    // 200 KB that a stall kept back.
    let stalled = chat()
        .every(300.0, 10.0, 100, |_| sized(1_210.0))
        .at(3_300.0, read())
        .at(3_302.5, read())
        .at(3_305.0, read())
        .every(3_310.0, 10.0, 100, |_| sized(1_210.0))
        .at(4_305.0, done())
        .end(4_305.0);
    assert_eq!(timing(&stalled), Timing::StallWithCatchUp);
    // And a counter's 74 events, each time.
    let mut script = chat();
    for i in 0..8 {
        let at = 300.0 + 740.0 * f64::from(i) + [0.0, 90.0, 40.0][i as usize % 3];
        script = script.at(at, read()).at(at + 4.0, rest());
    }
    let counted = script.at(6_000.0, done()).end(6_000.0);
    assert!(
        KINDS[..3].contains(&timing(&counted)),
        "{:?}",
        counted.verdict
    );
}

#[test]
fn a_short_answer_of_an_engine_that_speculates_is_steady() {
    for (step, drafts) in [(30.0, &[2, 6, 5][..]), (48.0, &[3, 2, 5, 4, 2, 3, 4])] {
        let (mut at, mut script) = (200.0, chat());
        for &n in drafts {
            at += step;
            script = script.at(at, joined((0..n).map(|_| word())));
        }
        let record = script.at(at + 1.0, done()).end(at + 1.0);
        assert_eq!(timing(&record), Timing::Steady, "{:?}", record.verdict);
        assert!(confidence(&record) <= 0.6);
    }
}

#[test]
fn two_blocks_at_once_are_two_blocks() {
    // Drafts of one to five events, so that a write may fill a buffer of 1 KiB twice.
    let (mut noise, mut at, mut made) = (noise(5), 200.0, Vec::new());
    for _ in 0..120 {
        at += 50.0 * (0.9 + 0.2 * noise());
        for _ in 0..1 + (5.0 * noise()) as u32 {
            made.push((at, sized(226.0)));
        }
    }
    let mut reads: Reads = Vec::new();
    for (at, bytes) in through_buffer(&made, 1_024, true) {
        match reads.last_mut() {
            Some((last, all)) if *last == at => all.extend(bytes),
            _ => reads.push((at, bytes)),
        }
    }
    assert!(reads.iter().any(|(_, bytes)| bytes.len() == 2_048));
    let record = observe(reads);
    assert_eq!(timing(&record), Timing::BlockBurst, "{:?}", record.verdict);
    assert_eq!(evidence(&record, "burst_bytes"), 1_024.0);
}

#[test]
fn a_block_with_a_timer_beside_it_was_merged() {
    // Caddy with `flush_interval`: 4096 bytes at a time, and what there is every 250 ms.
    let made = engine(5.0, 0.8, 340.0).make(700, 4);
    let (mut held, mut reads, mut due) = (Vec::new(), Vec::new(), 450.0);
    for (at, bytes) in &made {
        held.extend_from_slice(bytes);
        if *at >= due {
            reads.push((*at, std::mem::take(&mut held)));
            due = at + 250.0;
        } else if held.len() >= 4_096 {
            let rest = held.split_off(4_096);
            reads.push((*at, std::mem::replace(&mut held, rest)));
        }
    }
    let record = observe(end(&made, held, reads));
    assert_eq!(timing(&record), Timing::TransportCoalesced);
}

#[test]
fn the_first_of_the_pairs_need_not_be_whole() {
    let mut script = chat().at(200.0, joined([role(), word()]));
    for i in 1..=9 {
        script = script.at(200.0 + 252.0 * f64::from(i), joined([word(), word()]));
    }
    let record = script.at(2_470.0, joined([finish(), done()])).end(2_470.0);
    assert!(KINDS.contains(&timing(&record)), "{:?}", record.verdict);
}

#[test]
fn an_answer_of_one_draft_is_not_accused() {
    for tokens in [2, 5, 8] {
        let record = chat()
            .at(65.0, role())
            .at(406.0, joined((0..tokens).map(|_| word())))
            .at(420.0, joined([finish(), done()]))
            .end(420.0);
        assert_eq!(timing(&record), Timing::Irregular, "{:?}", record.verdict);
        assert!(confidence(&record) <= 0.4);
    }
    let more = chat()
        .at(406.0, joined((0..9).map(|_| word())))
        .at(420.0, joined([finish(), done()]))
        .end(420.0);
    assert_eq!(timing(&more), Timing::WholeBodyBurst);
}
