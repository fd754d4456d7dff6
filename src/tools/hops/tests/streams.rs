//! Streams, hops, and the records of both.

use crate::observe::record::{GapStats, RequestRecord, Row};
use crate::observe::stats::Us;
use crate::tools::hops::join::Key;
use crate::tools::hops::judge::Word;
use crate::tools::hops::pair::Compared;
use crate::tools::logs::sample;

/// Events of one read: when, bytes, events.
pub type Chunk = (Us, u64, u64);

/// Numbers from -1 to 1 that look random and are the same each time (Knuth's MMIX).
pub struct Random(pub u64);

impl Random {
    pub fn share(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as f64 / f64::from(u32::MAX >> 2) - 1.0
    }

    pub fn from(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.share() + 1.0) / 2.0
    }
}

/// A stream of one event a read; gaps and sizes vary by so much of themselves.
pub fn stream(n: u64, gap: Us, size: u64, jitter: f64) -> Vec<Chunk> {
    stream_of(&mut Random(0x9e37_79b9), n, gap, size, jitter)
}

pub fn stream_of(random: &mut Random, n: u64, gap: Us, size: u64, jitter: f64) -> Vec<Chunk> {
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
pub type Hop = fn(&[Chunk]) -> Vec<Chunk>;

pub fn passing(stream: &[Chunk]) -> Vec<Chunk> {
    stream.to_vec()
}

pub fn whole(stream: &[Chunk]) -> Vec<Chunk> {
    let end = stream.last().unwrap().0;
    vec![(
        end,
        stream.iter().map(|c| c.1).sum(),
        stream.iter().map(|c| c.2).sum(),
    )]
}

/// Blocks of 2 KiB that are cut within events.
pub fn blocks(stream: &[Chunk]) -> Vec<Chunk> {
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

pub fn ticks(stream: &[Chunk]) -> Vec<Chunk> {
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
pub fn corked(stream: &[Chunk]) -> Vec<Chunk> {
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

pub fn counts(stream: &[Chunk]) -> Vec<Chunk> {
    let group = |group: &[Chunk]| {
        (
            group.last().unwrap().0,
            group.iter().map(|c| c.1).sum(),
            group.iter().map(|c| c.2).sum(),
        )
    };
    stream.chunks(6).map(group).collect()
}

pub fn one_behind(stream: &[Chunk]) -> Vec<Chunk> {
    let mut out: Vec<Chunk> = stream
        .windows(2)
        .map(|two| (two[1].0, two[0].1, two[0].2))
        .collect();
    out.extend(stream.last());
    out
}

/// Now and then nothing, then all that came: no constant.
pub fn merging(stream: &[Chunk]) -> Vec<Chunk> {
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

pub fn late(stream: &[Chunk]) -> Vec<Chunk> {
    stream.iter().map(|c| (c.0 + 180_000, c.1, c.2)).collect()
}

pub const HOPS: [(Hop, Word); 9] = [
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
pub fn record(id: &str, instance: &str, chunks: &[Chunk], timeline: bool) -> RequestRecord {
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
pub fn both(id: &str, chunks: &[Chunk], hop: Hop, timeline: bool) -> [RequestRecord; 2] {
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

pub fn compared(records: &[RequestRecord; 2]) -> Compared<'_> {
    Compared::of(&records[0], &records[1], Key::TraceId, 1)
}
