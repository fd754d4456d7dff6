//! Healthy streams that look a little like those that a hop lets go of in bursts.

use super::hops::*;
use super::support::*;
use crate::observe::record::Timing;

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

#[test]
fn an_engine_that_speculates_is_steady() {
    for (least, most, step) in [
        (1.0, 5.0, 25.0),
        (1.0, 5.0, 55.0),
        (2.0, 2.0, 40.0),
        (1.0, 3.0, 70.0),
    ] {
        for seed in 1..=8 {
            let (mut noise, mut at, mut script) = (noise(seed), 200.0, chat().at(150.0, role()));
            for _ in 0..40 {
                at += step * (0.9 + 0.2 * noise());
                let n = (least + (most - least + 1.0) * noise()).floor().min(most);
                script = script.at(at, joined((0..n as u32).map(|_| sized(160.0))));
            }
            let record = script
                .at(at + 1.0, joined([finish(), done()]))
                .end(at + 1.0);
            let verdict = record.verdict.as_ref().expect("a stream");
            assert_eq!(
                verdict.timing,
                Timing::Steady,
                "{least} to {most}, {step} ms: {verdict:?}"
            );
            assert!(verdict.summary.contains("at a time"), "{}", verdict.summary);
        }
    }
}
