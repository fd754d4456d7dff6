//! Which kind of burst: streams as hops with a buffer, a timer or a counter let them go, at rates,
//! sizes, blocks and periods of every magnitude, and healthy streams that look a little alike.

use super::support::*;
use crate::observe::record::{RequestRecord, Side, Timing};

/// Reads as a hop's client gets them.
type Reads = Vec<(f64, Vec<u8>)>;

const KINDS: [Timing; 4] = [
    Timing::BlockBurst,
    Timing::TickBurst,
    Timing::CountBurst,
    Timing::TransportCoalesced,
];

/// A word in an event of `size` bytes (60 at least).
fn sized(size: f64) -> Vec<u8> {
    let empty = event(r#"{"choices":[{"delta":{"content":""}}]}"#).len();
    let text = "x".repeat((size as usize).saturating_sub(empty).max(1));
    event(&format!(
        r#"{{"choices":[{{"delta":{{"content":"{text}"}}}}]}}"#
    ))
}

/// A stream as an engine makes it.
struct Engine {
    /// Mean time from event to event, ms.
    gap: f64,
    /// Gaps are apart by up to this part of it.
    jitter: f64,
    /// Mean size of an event.
    size: f64,
    /// Sizes are apart by up to this part of it.
    variety: f64,
}

impl Engine {
    fn make(&self, n: usize, seed: u64) -> Reads {
        let mut noise = noise(seed);
        let mut at = 300.0 + 50.0 * noise();
        (0..n)
            .map(|_| {
                at += self.gap * (1.0 + self.jitter * (noise() - 0.5));
                (
                    at,
                    sized(self.size * (1.0 + self.variety * (noise() - 0.5))),
                )
            })
            .collect()
    }

    fn events_of(&self, bytes: f64) -> f64 {
        (bytes / self.size).ceil()
    }
}

/// A buffer lets go of exactly `block` bytes whenever it has them (`cut`), or else of all it has
/// once these are `block` or more; and of the rest at the end.
fn through_buffer(made: &Reads, block: usize, cut: bool) -> Reads {
    let (mut held, mut reads) = (Vec::new(), Vec::new());
    for (at, bytes) in made {
        held.extend_from_slice(bytes);
        while held.len() >= block {
            let rest = held.split_off(if cut { block } else { held.len() });
            reads.push((*at, std::mem::replace(&mut held, rest)));
        }
    }
    end(made, held, reads)
}

/// A timer lets go of all that came, late by up to `late` ms: at each multiple of `period`, or so
/// long after the first of what it has (`since_first`), as Go's ReverseProxy does.
fn through_timer(made: &Reads, period: f64, since_first: bool, late: f64, seed: u64) -> Reads {
    let mut noise = noise(seed);
    let (mut held, mut reads, mut due) = (Vec::new(), Vec::new(), 0.0);
    for (at, bytes) in made {
        if *at > due {
            if !held.is_empty() {
                reads.push((due + late * noise(), std::mem::take(&mut held)));
            }
            let from = if since_first {
                *at
            } else {
                (at / period).floor() * period
            };
            due = from + period;
        }
        held.extend_from_slice(bytes);
    }
    end(made, held, reads)
}

/// A guard lets go of `n` events at a time, or one more or less.
fn through_guard(made: &Reads, n: usize, about: bool, seed: u64) -> Reads {
    let mut noise = noise(seed);
    let mut reads = Vec::new();
    let mut rest = &made[..];
    while !rest.is_empty() {
        let more = if about { (noise() * 3.0) as usize } else { 1 };
        let (now, later) = rest.split_at((n - 1 + more).min(rest.len()));
        reads.push((
            now[now.len() - 1].0,
            joined(now.iter().map(|(_, bytes)| bytes.clone())),
        ));
        rest = later;
    }
    reads
}

fn end(made: &Reads, held: Vec<u8>, mut reads: Reads) -> Reads {
    let (last, _) = reads.last().unwrap_or(&made[0]).clone();
    if !held.is_empty() {
        reads.push((last.max(made[made.len() - 1].0) + 0.3, held));
    }
    reads
}

fn observe(reads: Reads) -> RequestRecord {
    let last = reads[reads.len() - 1].0;
    let mut script = chat().header(5.0);
    script.steps = reads;
    script
        .at(last + 0.2, joined([finish(), done()]))
        .end(last + 0.2)
}

fn confidence(record: &RequestRecord) -> f64 {
    record.verdict.as_ref().unwrap().confidence
}

/// Whether the verdict says that another constant fits as well, and is less sure for it.
fn is_torn(record: &RequestRecord) -> bool {
    let verdict = record.verdict.as_ref().unwrap();
    verdict.summary.contains("fits") && verdict.confidence <= 0.6
}

fn hint(record: &RequestRecord) -> &str {
    &record.verdict.as_ref().unwrap().findings[0].hint
}

fn evidence(record: &RequestRecord, name: &str) -> f64 {
    record.verdict.as_ref().unwrap().evidence[name]
}

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
    }
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

/// A healthy stream: how far apart events come at step `i`, given noise.
type Healthy = (&'static str, fn(u32, f64) -> f64);

#[test]
fn healthy_streams_have_no_bursts() {
    let shapes: [Healthy; 10] = [
        ("even", |_, _| 30.0),
        ("jitter", |_, x| 18.0 + 14.0 * x),
        ("much jitter", |_, x| 5.0 + 60.0 * x),
        ("fast", |_, x| 1.0 + x),
        ("fast with slow steps", |i, x| {
            if i % 10 == 0 { 8.0 } else { 1.0 + x }
        }),
        ("drafts of 3, 1 ms apart", |i, x| {
            if i % 3 == 0 { 35.0 + 10.0 * x } else { 1.0 }
        }),
        ("drafts of 4 close together", |i, x| {
            if i % 4 == 0 { 50.0 + 2.0 * x } else { 0.3 }
        }),
        ("drafts of 1 to 5", |_, x| if x < 0.4 { 45.0 } else { 0.4 }),
        ("drafts of 1 to 3 in slow steps", |_, x| {
            if x < 0.6 { 110.0 } else { 0.8 }
        }),
        (
            "pairs",
            |i, x| if i % 2 == 0 { 60.0 + 5.0 * x } else { 0.2 },
        ),
    ];
    for (name, gap) in shapes {
        for seed in 1..=12 {
            let (mut noise, mut at, mut script) = (noise(seed), 200.0, chat().at(150.0, role()));
            for i in 0..200 {
                at += gap(i, noise());
                script = script.at(at, sized(80.0 + 80.0 * noise()));
            }
            let record = script
                .at(at + 1.0, joined([finish(), done()]))
                .end(at + 1.0);
            assert!(
                matches!(timing(&record), Timing::Steady | Timing::Irregular),
                "{name}, {seed}: {:?}",
                record.verdict
            );
        }
    }
}

#[test]
fn shared_reads_of_an_engine_are_no_bursts() {
    // So many events a read, so many ms apart: drafts in one write, a busy machine, a bulk transfer.
    for (name, least, most, gap) in [
        ("drafts", 1.0, 5.0, 40.0),
        ("drafts of a slow model", 1.0, 4.0, 90.0),
        ("a fast engine", 2.0, 6.0, 5.0),
        ("a fast engine, equal reads", 5.0, 5.0, 10.0),
        ("bulk", 300.0, 300.0, 10.0),
        ("bulk over a slow network", 300.0, 300.0, 50.0),
    ] {
        for seed in 1..=8 {
            let (mut noise, mut at, mut script) = (noise(seed), 200.0, chat().at(150.0, role()));
            for _ in 0..30 {
                at += gap * (0.97 + 0.06 * noise());
                let n = (least + (most - least + 1.0) * noise()).floor().min(most);
                script = script.at(at, joined((0..n as u32).map(|_| sized(120.0))));
            }
            let record = script
                .at(at + 1.0, joined([finish(), done()]))
                .end(at + 1.0);
            assert!(
                !KINDS.contains(&timing(&record)),
                "{name}, {seed}: {:?}",
                record.verdict
            );
        }
    }
}

#[test]
fn choices_side_by_side_and_growing_texts_are_no_bursts() {
    // Two that alternate; the first ends early, and then the gaps of the stream are twice as long.
    let word = |index| choice(index, r#"{"content":"w "}"#, None);
    let record = chat()
        .every(300.0, 20.0, 20, |_| word(0))
        .every(420.0, 20.0, 50, |_| word(1))
        .at(1_420.0, done());
    let mut record = record;
    record.steps.sort_by(|a, b| a.0.total_cmp(&b.0));
    let record = record.end(1_420.0);
    assert_eq!((timing(&record), record.stalls.len()), (Timing::Steady, 0));
    for n in [2, 4, 8] {
        let mut script = chat();
        for i in 0..60 {
            let at = 300.0 + 40.0 * f64::from(i);
            script = script.at(
                at,
                joined((0..n).map(|index| choice(index, r#"{"content":"w "}"#, None))),
            );
        }
        let record = script.at(2_700.0, done()).end(2_700.0);
        assert_eq!(timing(&record), Timing::Steady, "{n}");
    }
    let record = chat()
        .every(300.0, 30.0, 200, |i| {
            event(&format!(r#"{{"text":"{}"}}"#, "ab ".repeat(i as usize + 1)))
        })
        .end(6_400.0);
    assert_eq!(timing(&record), Timing::Steady);
}

#[test]
fn equal_reads_of_one_large_event_are_a_transfer() {
    let all = text(&"A".repeat(1_000_000));
    let parts: Vec<Vec<u8>> = all.chunks(65_536).map(<[u8]>::to_vec).collect();
    let n = parts.len() as u32;
    let record = chat()
        .at(50.0, role())
        .every(100.0, 10.0, n, |i| parts[i as usize].clone())
        .at(400.0, joined([finish(), done()]))
        .end(400.0);
    assert!(!KINDS.contains(&timing(&record)), "{:?}", record.verdict);
}

#[test]
fn whole_tool_calls_are_the_producer_s_however_many() {
    let call = |i: u32| {
        delta(
            &format!(
                r#"{{"tool_calls":[{{"index":{i},"id":"c{i}","type":"function","function":{{"name":"look_up","arguments":"{{\"city\":\"Oslo {i}\"}}"}}}}]}}"#
            ),
            None,
        )
    };
    for calls in [1, 3, 6] {
        let record = chat()
            .at(50.0, role())
            .at(
                1_320.0,
                joined(
                    (0..calls)
                        .map(call)
                        .chain([delta("{}", Some("tool_calls")), done()]),
                ),
            )
            .end(1_320.0);
        assert_eq!(timing(&record), Timing::ProducerBatched, "{calls}");
        assert_eq!(record.verdict.unwrap().findings.len(), 1);
    }
    // Pieces of a call that were held are not the producer's.
    let piece = |_| {
        delta(
            r#"{"tool_calls":[{"index":0,"function":{"arguments":"ab"}}]}"#,
            None,
        )
    };
    let record = chat()
        .at(
            1_320.0,
            joined(
                [call(0)]
                    .into_iter()
                    .chain((0..40).map(piece))
                    .chain([done()]),
            ),
        )
        .end(1_320.0);
    assert_eq!(timing(&record), Timing::WholeBodyBurst);
    // Nor are pieces that come as they are made, however large.
    let large =
        r#"{"tool_calls":[{"index":0,"function":{"arguments":"twenty characters or so"}}]}"#;
    let record = chat()
        .at(800.0, call(0))
        .every(815.0, 15.0, 30, |_| delta(large, None))
        .at(1_300.0, done())
        .end(1_300.0);
    assert_eq!(timing(&record), Timing::Steady);
}
