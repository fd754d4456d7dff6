//! Simulated hops over simulated streams: each must get its own word, with timelines and (as far as that can be) without.

use std::io::Write as _;

use super::judge::Word;
use super::pair::Compared;
use super::*;
use crate::observe::record::{GapStats, Row};
use crate::observe::stats::Us;
use crate::tools::logs::sample;

/// Events of one read: when, bytes, events.
type Chunk = (Us, u64, u64);

/// Numbers from -1 to 1 that look random and are the same each time (Knuth's MMIX).
struct Random(u64);

impl Random {
    fn share(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as f64 / f64::from(u32::MAX >> 2) - 1.0
    }

    fn from(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.share() + 1.0) / 2.0
    }
}

/// A stream of one event a read; gaps and sizes vary by so much of themselves.
fn stream(n: u64, gap: Us, size: u64, jitter: f64) -> Vec<Chunk> {
    stream_of(&mut Random(0x9e37_79b9), n, gap, size, jitter)
}

fn stream_of(random: &mut Random, n: u64, gap: Us, size: u64, jitter: f64) -> Vec<Chunk> {
    let mut vary = |value: u64| (value as f64 * (1.0 + jitter * random.share())) as u64;
    let mut at = 100_000;
    (0..n)
        .map(|_| {
            at += vary(gap);
            (at, vary(size).max(1), 1)
        })
        .collect()
}

/// What one hop does to a stream: chunks out, before its own way of `floor` is added.
type Hop = fn(&[Chunk]) -> Vec<Chunk>;

fn passing(stream: &[Chunk]) -> Vec<Chunk> {
    stream.to_vec()
}

fn whole(stream: &[Chunk]) -> Vec<Chunk> {
    let end = stream.last().unwrap().0;
    vec![(
        end,
        stream.iter().map(|c| c.1).sum(),
        stream.iter().map(|c| c.2).sum(),
    )]
}

/// Blocks of 2 KiB that are cut within events.
fn blocks(stream: &[Chunk]) -> Vec<Chunk> {
    const BLOCK: u64 = 2048;
    let (mut held, mut events, mut out) = (0, 0, vec![]);
    for &(at, bytes, n) in stream {
        held += bytes;
        if held >= BLOCK {
            // the event that is cut is complete with the next block
            out.push((at, held - held % BLOCK, events));
            held %= BLOCK;
            events = 0;
        }
        events += n;
    }
    out.push((stream.last().unwrap().0, held, events));
    out.retain(|chunk| chunk.1 > 0);
    out
}

fn ticks(stream: &[Chunk]) -> Vec<Chunk> {
    const TICK: Us = 213_000;
    let mut out: Vec<Chunk> = vec![];
    for &(at, bytes, events) in stream {
        let at = at.div_ceil(TICK) * TICK;
        match out.last_mut() {
            Some(last) if last.0 == at => {
                last.1 += bytes;
                last.2 += events;
            }
            _ => out.push((at, bytes, events)),
        }
    }
    // the end lets go of the rest
    let end = stream.last().unwrap().0;
    if let Some(last) = out.last_mut() {
        last.0 = end.max(last.0 - TICK + 2_000);
    }
    out
}

/// All that came within 200 ms after the first, as a cork does.
fn corked(stream: &[Chunk]) -> Vec<Chunk> {
    const CORK: Us = 200_000;
    let mut out: Vec<Chunk> = vec![];
    for &(at, bytes, events) in stream {
        match out.last_mut() {
            Some(last) if last.0 >= at => {
                last.1 += bytes;
                last.2 += events;
            }
            _ => out.push((at + CORK, bytes, events)),
        }
    }
    out
}

fn counts(stream: &[Chunk]) -> Vec<Chunk> {
    let group = |group: &[Chunk]| {
        (
            group.last().unwrap().0,
            group.iter().map(|c| c.1).sum(),
            group.iter().map(|c| c.2).sum(),
        )
    };
    stream.chunks(6).map(group).collect()
}

fn one_behind(stream: &[Chunk]) -> Vec<Chunk> {
    let mut out: Vec<Chunk> = stream
        .windows(2)
        .map(|two| (two[1].0, two[0].1, two[0].2))
        .collect();
    out.extend(stream.last());
    out
}

/// Now and then nothing, then all that came: no constant.
fn merging(stream: &[Chunk]) -> Vec<Chunk> {
    let mut out = vec![];
    let mut rest = stream;
    for n in [3, 11, 5, 17, 2, 9, 14, 4, 21, 6].into_iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (group, after) = rest.split_at(n.min(rest.len()));
        out.extend(whole(group));
        rest = after;
    }
    out
}

fn late(stream: &[Chunk]) -> Vec<Chunk> {
    stream.iter().map(|c| (c.0 + 180_000, c.1, c.2)).collect()
}

const HOPS: [(Hop, Word); 9] = [
    (passing, Word::Passed),
    (whole, Word::HeldWholeBody),
    (blocks, Word::HeldBlocks),
    (ticks, Word::HeldTicks),
    (corked, Word::HeldTicks),
    (counts, Word::HeldCounts),
    (one_behind, Word::OneBehind),
    (merging, Word::Coalesced),
    (late, Word::ConstantDelay),
];

/// The record of these chunks.
fn record(id: &str, instance: &str, chunks: &[Chunk], timeline: bool) -> RequestRecord {
    let mut record = sample();
    record.id = id.to_owned();
    record.instance = instance.to_owned();
    record.request.trace_id = Some(format!("trace-{}", &id[..id.len() - 1]));
    let rows: Vec<Row> = chunks
        .iter()
        .map(|&(at, bytes, events)| Row(at, Some(at + 50), bytes, events, events))
        .collect();
    let ms = |us: Us| Some(us as f64 / 1000.0);
    let events: Vec<Us> = chunks
        .iter()
        .flat_map(|c| std::iter::repeat_n(c.0, c.2 as usize))
        .collect();
    let mut gaps: Vec<Us> = events.windows(2).map(|two| two[1] - two[0]).collect();
    gaps.sort_unstable();
    let at = |p| crate::observe::stats::percentile(&gaps, p).and_then(ms);
    record.gaps.token = GapStats {
        n: gaps.len() as u64,
        mean_ms: ms(gaps.iter().sum::<Us>() / gaps.len().max(1) as Us),
        p50_ms: at(50),
        p90_ms: at(90),
        p99_ms: at(99),
        max_ms: at(100),
        max_at_ms: None,
        exact: true,
    };
    let (first, last) = (chunks[0].0, chunks.last().unwrap().0);
    record.at.first_byte_ms = ms(first);
    record.at.header_ms = ms(first - 1_000);
    record.at.first_token_ms = events.first().copied().and_then(ms);
    record.ttft_ms = record.at.first_token_ms;
    record.at.last_token_ms = events.last().copied().and_then(ms);
    record.at.end_ms = ms(last + 500);
    record.counts.chunks = chunks.len() as u64;
    record.counts.events = Some(events.len() as u64);
    record.counts.token_events = record.counts.events;
    record.counts.bytes = chunks.iter().map(|c| c.1).sum();
    record.timeline = timeline.then_some(rows);
    record
}

/// Both records of a stream through a hop; requests and answers each take some time and some jitter.
fn both(id: &str, chunks: &[Chunk], hop: Hop, timeline: bool) -> [RequestRecord; 2] {
    let mut last = 0;
    let out: Vec<Chunk> = hop(chunks)
        .into_iter()
        .enumerate()
        .map(|(i, c)| {
            last = last.max(c.0 + 1_500 + (i as u64 * 7919) % 900);
            (last, c.1, c.2)
        })
        .collect();
    [
        record(&format!("{id}i"), "gpu-1", chunks, timeline),
        record(&format!("{id}o"), "gateway", &out, timeline),
    ]
}

fn compared(records: &[RequestRecord; 2]) -> Compared<'_> {
    Compared::of(&records[0], &records[1], Key::TraceId, 1)
}

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
    assert_eq!(pair.aligned.as_ref().unwrap().unit, align::Unit::Events);
    assert!(pair.judgement.sentence.contains("events were compared"));

    records[1].counts.events = Some(7);
    let pair = compared(&records);
    assert!(
        pair.aligned
            .unwrap_err()
            .contains("100 went in, 7 came out")
    );
    assert!(
        pair.judgement.sentence.contains("timelines"),
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

#[test]
fn numbers_of_a_damaged_log_do_no_harm() {
    let chunks = stream(30, 20_000, 250, 0.0);
    for at in 0..4 {
        let mut records = both("a", &chunks, passing, true);
        for record in &mut records {
            let rows = record.timeline.as_mut().unwrap();
            match at {
                0 => rows[3] = Row(u64::MAX, None, u64::MAX, u64::MAX, 0),
                1 => rows.reverse(),
                2 => rows.truncate(1),
                _ => rows.clear(),
            }
        }
        let pair = compared(&records);
        assert!(!picture::lines(&pair, Look::default()).is_empty());
    }
}

/// Two logs of several requests in a folder, with damaged lines in them.
fn logs() -> (tempfile::TempDir, Options) {
    let chunks = stream(60, 20_000, 250, 0.3);
    let dir = tempfile::TempDir::new().unwrap();
    let [inner, outer] = ["inner.jsonl", "outer.jsonl"].map(|name| dir.path().join(name));
    let mut files = [&inner, &outer].map(|path| std::fs::File::create(path).unwrap());
    for (id, hop) in [
        ("p", passing as Hop),
        ("b", blocks),
        ("w", whole),
        ("l", late),
    ] {
        let records = both(id, &chunks, hop, id != "l");
        for (file, record) in files.iter_mut().zip(&records) {
            writeln!(file, "{}", serde_json::to_string(record).unwrap()).unwrap();
        }
    }
    let mut alone = record("xo", "gateway", &chunks, false);
    alone.response.id = None;
    alone.response.body_hash = None;
    writeln!(files[1], "{}", serde_json::to_string(&alone).unwrap()).unwrap();
    write!(files[0], "{{\"schema\":1,\"id\":").unwrap();
    let options = Options {
        inner,
        outer,
        ..Options::default()
    };
    (dir, options)
}

fn printed(options: &Options, dir: &tempfile::TempDir) -> String {
    let (mut out, mut notes) = (vec![], vec![]);
    run(options, &mut out, &mut notes).unwrap();
    let text = String::from_utf8([out, notes].concat()).unwrap();
    text.replace(&format!("{}/", dir.path().display()), "")
}

#[test]
fn the_text_as_it_is_printed() {
    let (dir, options) = logs();
    insta::assert_snapshot!("text", printed(&options, &dir));
    let one = Options {
        id: Some("trace-b".to_owned()),
        ..options
    };
    insta::assert_snapshot!("one", printed(&one, &dir));
}

#[test]
fn the_json_as_it_is_printed() {
    let (dir, options) = logs();
    let json = Options {
        json: true,
        ..options
    };
    let text = printed(&json, &dir);
    let (lines, notes): (Vec<&str>, Vec<&str>) =
        text.lines().partition(|line| line.starts_with('{'));
    assert_eq!(lines.len(), 4);
    assert!(
        notes
            .iter()
            .any(|line| line.contains("inner.jsonl, line 5")),
        "{notes:?}"
    );
    let mut first: serde_json::Value = serde_json::from_str(lines[0]).unwrap();
    let releases = first["waits"]["releases"].as_array_mut().unwrap();
    releases.truncate(1);
    insta::assert_snapshot!("json", serde_json::to_string_pretty(&first).unwrap());
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let (dir, options) = logs();
    for width in [60, 80, 120] {
        let look = Look {
            width,
            ..Look::default()
        };
        let all = Options {
            all: true,
            look,
            ..options.clone()
        };
        for line in printed(&all, &dir).lines() {
            assert!(
                line.chars().count() <= usize::from(width),
                "{width}: {line}"
            );
        }
    }
}

#[test]
fn what_cannot_be_done_is_said_with_what_to_do() {
    let (dir, options) = logs();
    let error = |options: &Options| {
        let error = run(options, &mut vec![], &mut vec![]).unwrap_err();
        format!("{error:#}").replace(&format!("{}/", dir.path().display()), "")
    };
    let unknown = error(&Options {
        id: Some("nobody".to_owned()),
        ..options.clone()
    });
    assert!(
        unknown.contains("nobody") && unknown.contains("without --id")
            || unknown.contains("Without --id")
    );
    let missing = error(&Options {
        outer: dir.path().join("missing.jsonl"),
        ..options.clone()
    });
    assert!(missing.contains("missing.jsonl"), "{missing}");
    let same = error(&Options {
        outer: options.inner.clone(),
        ..options.clone()
    });
    assert!(same.contains("of the same dripline"), "{same}");
    let other = dir.path().join("other.jsonl");
    let mut record = record("zo", "gateway", &stream(5, 20_000, 250, 0.0), false);
    record.response.id = Some("z".to_owned());
    record.response.body_hash = None;
    std::fs::write(&other, serde_json::to_string(&record).unwrap()).unwrap();
    let apart = error(&Options {
        outer: other,
        ..options.clone()
    });
    insta::assert_snapshot!("nothing_joined", apart);
    let empty = dir.path().join("empty.jsonl");
    std::fs::write(&empty, "{\"a\":1}\n").unwrap();
    let nothing = error(&Options {
        inner: empty,
        ..options
    });
    assert!(
        nothing.starts_with("empty.jsonl has no record (empty.jsonl, line 1: is no record"),
        "{nothing}"
    );
}
