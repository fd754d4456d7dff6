//! Each hop must get its own word.

use super::streams::*;
use crate::observe::stats::Us;
use crate::tools::hops::align::Unit;
use crate::tools::hops::judge::Word;

#[test]
fn each_hop_gets_its_word_on_many_streams() {
    let mut wrong = vec![];
    for (n, gap, size) in [
        (400, 12_000, 180),
        (200, 20_000, 250),
        (120, 40_000, 200),
        (300, 25_000, 400),
    ] {
        for jitter in [0.0, 0.2, 0.6] {
            let chunks = stream(n, gap, size, jitter);
            for (hop, word) in HOPS {
                let records = both("a", &chunks, hop, true);
                let pair = compared(&records);
                // equal events at an even rate: bytes, period and number are constant together
                let alike = [Word::HeldBlocks, Word::HeldTicks, Word::HeldCounts];
                let same = jitter == 0.0
                    && alike.contains(&word)
                    && alike.contains(&pair.judgement.verdict);
                if pair.judgement.verdict != word && !same {
                    wrong.push(format!(
                        "{n} × {gap} × {size} ± {jitter}, {word:?}: {:?}",
                        pair.judgement
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}\n{wrong:#?}", wrong.len());
}

/// A network: most pieces take some ms more or less, one in a hundred far more, and none overtakes another.
fn noisy(random: &mut Random, chunks: &[Chunk]) -> Vec<Chunk> {
    let mut last = 0;
    chunks
        .iter()
        .map(|c| {
            let worst = if random.from(0.0, 100.0) < 1.0 {
                40e3
            } else {
                4e3
            };
            last = last.max(c.0 + random.from(200.0, worst) as Us);
            (last, c.1, c.2)
        })
        .collect()
}

#[test]
fn over_random_streams_and_a_noisy_network_nothing_healthy_is_called_held_and_few_hops_get_another_word()
 {
    let mut random = Random(7);
    let (mut right, mut all) = (0, 0);
    for _ in 0..150 {
        let n = random.from(80.0, 500.0) as u64;
        let (gap, size) = (
            random.from(9e3, 60e3) as Us,
            random.from(100.0, 500.0) as u64,
        );
        let jitter = random.from(0.1, 0.8);
        let chunks = stream_of(&mut random, n, gap, size, jitter);
        for (hop, word) in HOPS {
            let out = noisy(&mut random, &hop(&chunks));
            let records = [
                record("ai", "i", &chunks, true),
                record("ao", "o", &out, true),
            ];
            let verdict = compared(&records).judgement.verdict;
            let is_healthy = matches!(word, Word::Passed | Word::ConstantDelay);
            assert!(
                is_healthy == (verdict == word) || !is_healthy,
                "{n} × {gap} × {size} ± {jitter}: {word:?} {:?}",
                compared(&records).judgement
            );
            all += 1;
            right += usize::from(verdict == word);
        }
    }
    assert!(right * 100 >= all * 98, "{right} of {all}");
}

#[test]
fn without_timelines_what_was_held_is_never_called_passed() {
    for jitter in [0.0, 0.3] {
        let chunks = stream(200, 20_000, 250, jitter);
        for (hop, word) in HOPS {
            let records = both("a", &chunks, hop, false);
            let verdict = compared(&records).judgement.verdict;
            let fits = match word {
                Word::Passed | Word::HeldWholeBody | Word::ConstantDelay => verdict == word,
                Word::OneBehind => {
                    verdict == Word::OneBehind || jitter > 0.0 && verdict != Word::Passed
                }
                _ => verdict.is_held() || verdict == Word::Unknown,
            };
            assert!(fits, "{word:?}: {:?}", compared(&records).judgement);
        }
    }
}

#[test]
fn clocks_of_two_machines_do_not_matter() {
    let chunks = stream(200, 20_000, 250, 0.2);
    let mut records = both("a", &chunks, blocks, true);
    let before = compared(&records).judgement.clone();
    records[0].started_at = "1999-01-01T00:00:00Z".to_owned();
    assert_eq!(compared(&records).judgement, before);
}

#[test]
fn bytes_that_differ_are_aligned_by_events_and_told() {
    let chunks = stream(100, 20_000, 250, 0.2);
    let mut records = both("a", &chunks, passing, true);
    records[1].response.body_hash = Some("other".to_owned());
    for row in records[1].timeline.as_mut().unwrap() {
        row.2 += 10;
    }
    let pair = compared(&records);
    assert_eq!(pair.judgement.verdict, Word::ChangedBytes);
    assert_eq!(pair.aligned.as_ref().unwrap().unit, Unit::Events);
    assert!(pair.judgement.sentence.contains("events were compared"));

    records[1].counts.events = Some(7);
    let pair = compared(&records);
    assert!(
        pair.aligned
            .unwrap_err()
            .contains("100 went in, 7 came out")
    );
    assert!(
        pair.judgement.sentence.contains("as much as can be told"),
        "{}",
        pair.judgement.sentence
    );
}

#[test]
fn a_header_that_waits_for_the_body_is_told() {
    let chunks = stream(100, 20_000, 250, 0.2);
    let mut records = both("a", &chunks, passing, true);
    records[0].at.header_ms = Some(5.0);
    let judgement = compared(&records).judgement;
    assert_eq!(judgement.verdict, Word::HeldHeader);
    assert!(
        judgement.sentence.contains("left with the first byte"),
        "{}",
        judgement.sentence
    );
}

#[test]
fn swapped_logs_are_told() {
    let chunks = stream(100, 20_000, 250, 0.2);
    for timeline in [true, false] {
        let [inner, outer] = both("a", &chunks, late, timeline);
        let judgement = compared(&[outer, inner]).judgement.clone();
        assert_eq!(judgement.verdict, Word::Unknown);
        assert!(judgement.hint.unwrap().contains("swapped"));
    }
}
