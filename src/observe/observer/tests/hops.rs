//! An engine, and hops that let go of what it made by bytes, by time or by count.

use super::support::*;
use crate::observe::record::{RequestRecord, Timing};

/// What such streams may be called.
pub const KINDS: [Timing; 4] = [
    Timing::BlockBurst,
    Timing::TickBurst,
    Timing::CountBurst,
    Timing::TransportCoalesced,
];

/// Reads as a hop's client gets them.
pub type Reads = Vec<(f64, Vec<u8>)>;

/// A word in an event of `size` bytes (60 at least).
pub fn sized(size: f64) -> Vec<u8> {
    let empty = event(r#"{"choices":[{"delta":{"content":""}}]}"#).len();
    let text = "x".repeat((size as usize).saturating_sub(empty).max(1));
    event(&format!(
        r#"{{"choices":[{{"delta":{{"content":"{text}"}}}}]}}"#
    ))
}

/// A stream as an engine makes it.
pub struct Engine {
    /// Mean time from event to event, ms.
    pub gap: f64,
    /// Gaps are apart by up to this part of it.
    pub jitter: f64,
    /// Mean size of an event.
    pub size: f64,
    /// Sizes are apart by up to this part of it.
    pub variety: f64,
}

impl Engine {
    pub fn make(&self, n: usize, seed: u64) -> Reads {
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

    pub fn events_of(&self, bytes: f64) -> f64 {
        (bytes / self.size).ceil()
    }
}

/// A buffer lets go of exactly `block` bytes whenever it has them (`cut`), or else of all it has
/// once these are `block` or more; and of the rest at the end.
pub fn through_buffer(made: &Reads, block: usize, cut: bool) -> Reads {
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
pub fn through_timer(made: &Reads, period: f64, since_first: bool, late: f64, seed: u64) -> Reads {
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
pub fn through_guard(made: &Reads, n: usize, about: bool, seed: u64) -> Reads {
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

pub fn end(made: &Reads, held: Vec<u8>, mut reads: Reads) -> Reads {
    let (last, _) = reads.last().unwrap_or(&made[0]).clone();
    if !held.is_empty() {
        reads.push((last.max(made[made.len() - 1].0) + 0.3, held));
    }
    reads
}

pub fn observe(reads: Reads) -> RequestRecord {
    let last = reads[reads.len() - 1].0;
    let mut script = chat().header(5.0);
    script.steps = reads;
    script
        .at(last + 0.2, joined([finish(), done()]))
        .end(last + 0.2)
}

pub fn confidence(record: &RequestRecord) -> f64 {
    record.verdict.as_ref().unwrap().confidence
}

/// Whether the verdict says that another constant fits as well, and is less sure for it.
pub fn is_torn(record: &RequestRecord) -> bool {
    let verdict = record.verdict.as_ref().unwrap();
    verdict.summary.contains("fits") && verdict.confidence <= 0.6
}

pub fn hint(record: &RequestRecord) -> &str {
    &record.verdict.as_ref().unwrap().findings[0].hint
}

pub fn evidence(record: &RequestRecord, name: &str) -> f64 {
    record.verdict.as_ref().unwrap().evidence[name]
}
