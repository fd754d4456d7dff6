//! One request on both sides of the hop, with everything that is told of it.

use std::cmp::{Ordering, Reverse};

use super::align::{Aligned, align};
use super::compare::{Both, Figures};
use super::flow::Flow;
use super::join::{KEYS, Key};
use super::judge::{Judgement, Word, judge};
use crate::observe::record::RequestRecord;
use crate::observe::stats::in_ms;

/// How sure a damaged timeline can make one.
const OF_DAMAGED: f64 = 0.3;

/// Both records, compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Compared<'a> {
    /// The record between hop and server.
    pub inner: &'a RequestRecord,
    /// The record between app and hop.
    pub outer: &'a RequestRecord,
    /// What joined them.
    pub key: Key,
    /// Their figures.
    pub figures: Figures,
    /// What went into the hop and what came out, where there are timelines.
    pub flows: Both<Option<Flow>>,
    /// Both laid on each other, or why that cannot be.
    pub aligned: Result<Aligned, String>,
    /// What the hop did.
    pub judgement: Judgement,
    /// How often the hop sent the request, as far as the client's ids tell.
    pub times_sent: usize,
    /// How often each dripline sent it: a kept connection may turn out to be closed.
    pub attempts: Both<u32>,
}

impl<'a> Compared<'a> {
    /// Compares two records of one request.
    pub fn of(
        inner: &'a RequestRecord,
        outer: &'a RequestRecord,
        key: Key,
        times_sent: usize,
    ) -> Self {
        let figures = Figures::of(inner, outer);
        let flows = Both {
            inner: inner.timeline.as_deref().map(Flow::into_hop),
            outer: outer.timeline.as_deref().map(Flow::out_of_hop),
        };
        let aligned = align((inner, flows.inner.as_ref()), (outer, flows.outer.as_ref()));
        let mut judgement = judge(inner, outer, &figures, &aligned);
        if [&flows.inner, &flows.outer]
            .into_iter()
            .flatten()
            .any(|flow| !flow.is_in_order)
        {
            judgement.confidence = judgement.confidence.min(OF_DAMAGED);
        }
        Compared {
            inner,
            outer,
            key,
            figures,
            flows,
            aligned,
            judgement,
            times_sent,
            attempts: Both {
                inner: inner.upstream.attempts,
                outer: outer.upstream.attempts,
            },
        }
    }

    /// Whether `id` is one of its ids.
    pub fn has_id(&self, id: &str) -> bool {
        [self.inner, self.outer].into_iter().any(|record| {
            record.id == id
                || KEYS
                    .iter()
                    .filter(|key| **key != Key::BodyHash)
                    .any(|key| key.of(record) == Some(id))
        })
    }

    /// What was held or cut before what was not, then by how late the hop made it.
    pub fn worst_first(&self, other: &Self) -> Ordering {
        let key = |pair: &Self| {
            (
                Reverse(pair.judgement.verdict.is_held() || pair.judgement.verdict == Word::Cut),
                Reverse(pair.late_us()),
            )
        };
        key(self).cmp(&key(other))
    }

    /// How late the hop made the first token, or any byte, µs.
    fn late_us(&self) -> u64 {
        let added = self
            .figures
            .ttft_added_ms
            .or(self.figures.first_byte_added_ms);
        let longest = self.aligned.as_ref().ok().and_then(|aligned| {
            let waits = aligned.releases.iter().map(|release| release.oldest);
            waits.max().map(in_ms)
        });
        let late = added.unwrap_or(0.0).max(longest.unwrap_or(0.0));
        // saturates: below zero is zero
        (late * 1000.0) as u64
    }
}
