//! What the hop did, in one word, with the numbers that show it.
//!
//! - `waits`: from both timelines, where each byte's wait in the hop is known
//! - `figures`: from the records' figures alone, where not
//! - `endings`: what the two ends add to either
//! - [`judge`]: which of them, and what stands beside: a header that was held, bytes that were changed

mod endings;
mod figures;
mod waits;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::align::Aligned;
use super::compare::Figures;
use super::ends::Ending;
use crate::observe::record::RequestRecord;
use crate::observe::stats::{Us, percentile};
use crate::observe::verdict::hints;
use crate::observe::verdict::words::time;

/// What the hop did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Word {
    /// It gathered the whole answer.
    HeldWholeBody,
    /// It let go of constant bytes at a time.
    HeldBlocks,
    /// It let go at a constant period.
    HeldTicks,
    /// It let go of a constant number of events at a time.
    HeldCounts,
    /// It merged events, and nothing is constant.
    Coalesced,
    /// Each event left when the next one came.
    OneBehind,
    /// The header waited for the body.
    HeldHeader,
    /// Everything took a constant time, and nothing was held besides.
    ConstantDelay,
    /// It broke the answer off.
    Cut,
    /// Nothing was held, but the body is another.
    ChangedBytes,
    /// It cannot be told.
    Unknown,
    /// Nothing was held.
    Passed,
}

/// The verdict for one request.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Judgement {
    /// The word.
    pub verdict: Word,
    /// From 0 to 1.
    pub confidence: f64,
    /// Plain words with the numbers.
    pub sentence: String,
    /// What to try.
    pub hint: Option<String>,
    /// The numbers it rests on.
    pub evidence: BTreeMap<&'static str, f64>,
}

/// Waits of less are the network's and the scheduler's, µs.
pub(super) const LATE: Us = 10_000;

/// A delay of everything is worth a word from here on, µs: a hop of one data centre takes far less.
const SLOW: Us = 20_000;

/// A hop that sends the header with the first byte of the body sends both within this, ms.
const TOGETHER: f64 = 5.0;

/// Judges a request that is on both sides.
pub fn judge(
    inner: &RequestRecord,
    outer: &RequestRecord,
    figures: &Figures,
    aligned: &Result<Aligned, String>,
) -> Judgement {
    if let Some(contradiction) = contradiction(figures, aligned) {
        return contradiction;
    }
    let ending = Ending::of(inner, outer);
    let mut judgement = match aligned {
        Ok(aligned) => waits::judge(aligned, figures),
        Err(reason) => figures::judge(inner, outer, figures, reason),
    };
    let is_free = matches!(judgement.verdict, Word::Passed | Word::ConstantDelay);
    if is_free && let Some(held) = held_header(inner, outer, figures, aligned) {
        judgement = held;
    }
    if judgement.verdict == Word::Passed && figures.bytes_changed == Some(true) {
        judgement.verdict = Word::ChangedBytes;
        judgement.sentence = format!(
            "The body is another ({} bytes went in, {} came out). {}",
            figures.bytes.inner, figures.bytes.outer, judgement.sentence
        );
        judgement.hint = Some(
            "look between the two instances for what parses answers and writes them anew, or (de)compresses them; nothing \
             was held, so timing is no reason to change it"
                .to_owned(),
        );
    }
    if judgement.verdict.is_held()
        && let Some(encoding) = &outer.response.content_encoding
        && inner.response.content_encoding != outer.response.content_encoding
    {
        let rest = judgement.hint.unwrap_or_default();
        judgement.hint = Some(hints::of_encoding(encoding) + &rest);
    }
    endings::with_ends(judgement, ending, inner, outer)
}

impl Word {
    /// Whether bytes of the body were held.
    pub fn is_held(self) -> bool {
        use Word::{Coalesced, HeldBlocks, HeldCounts, HeldTicks, HeldWholeBody, OneBehind};
        matches!(
            self,
            HeldWholeBody | HeldBlocks | HeldTicks | HeldCounts | Coalesced | OneBehind
        )
    }
}

impl Judgement {
    fn new(verdict: Word, confidence: f64, sentence: String) -> Judgement {
        Judgement {
            verdict,
            confidence,
            sentence,
            hint: None,
            evidence: BTreeMap::new(),
        }
    }

    fn hint(mut self, hint: impl Into<String>) -> Judgement {
        self.hint = Some(hint.into());
        self
    }

    /// The same with this sentence before its own.
    fn first(mut self, sentence: &str) -> Judgement {
        self.sentence = format!("{sentence} {}", self.sentence);
        self
    }

    /// The same with this to try before its own.
    fn hint_first(mut self, hint: &str) -> Judgement {
        self.hint = Some(match self.hint {
            Some(own) => format!("{hint}. Besides: {own}"),
            None => hint.to_owned(),
        });
        self
    }

    fn evidence(mut self, numbers: impl IntoIterator<Item = (&'static str, f64)>) -> Judgement {
        self.evidence.extend(numbers);
        self
    }
}

/// What came out before it went in. The end is none: a hop may well end an answer first.
fn contradiction(figures: &Figures, aligned: &Result<Aligned, String>) -> Option<Judgement> {
    let (least, what) = match aligned {
        Ok(aligned) => (aligned.floor as f64 / 1000.0, "some bytes"),
        Err(_) => (
            figures.ttft_added_ms.or(figures.first_byte_added_ms)?,
            "the first token",
        ),
    };
    (least < -in_ms(LATE)).then(|| {
        let sentence = format!(
            "The answer was faster behind the hop than before it ({least:+.1} ms for {what}), which no hop can be."
        );
        Judgement::new(Word::Unknown, 0.5, sentence)
            .hint("the first log is the one of the instance near the server; are the two swapped?")
            .evidence([("least_added_ms", least)])
    })
}

/// The header came long before the body and left with it.
fn held_header(
    inner: &RequestRecord,
    outer: &RequestRecord,
    figures: &Figures,
    aligned: &Result<Aligned, String>,
) -> Option<Judgement> {
    let floor = match aligned {
        Ok(aligned) => aligned.floor as f64 / 1000.0,
        Err(_) => figures.first_byte_added_ms?.min(figures.end_added_ms?),
    };
    let waited = figures.header_added_ms? - floor.max(0.0);
    let led = inner.at.first_byte_ms? - inner.at.header_ms?;
    let leads = outer.at.first_byte_ms? - outer.at.header_ms?;
    let least = in_ms(SLOW);
    if waited < least || led < least || leads > TOGETHER {
        return None;
    }
    let waited_us = (waited * 1000.0) as Us;
    let sentence = format!(
        "The header waited {} in the hop and left with the first byte of the body; the body itself was not held.",
        time(waited_us)
    );
    Some(
        Judgement::new(Word::HeldHeader, 0.9, sentence)
            .hint(
                "have the hop pass the header on at once: `proxy_buffering off` (nginx), `flushHeaders()` (Node), a `Flush()` \
                 before the first event (Go); clients that limit the time to the header take the wait for a dead server",
            )
            .evidence([("header_waited_ms", waited)]),
    )
}

/// What makes every byte late by the same time.
const CONSTANT: &str = "look for what takes a constant time: distance, a new connection or TLS handshake per request \
    (keep-alive to the upstream), a check of the prompt before it is sent on (guardrail, login, routing), a check of each \
    event";

/// How sure so many pieces make one.
fn sure(n: usize) -> f64 {
    match n {
        0..4 => 0.4,
        4..8 => 0.6,
        8..20 => 0.8,
        _ => 0.95,
    }
}

fn in_ms(us: Us) -> f64 {
    crate::observe::stats::in_ms(us)
}

/// The percentile of unsorted values; 0 of none.
fn of(values: impl Iterator<Item = Us>, p: usize) -> Us {
    let mut values: Vec<Us> = values.collect();
    values.sort_unstable();
    percentile(&values, p).unwrap_or(0)
}
