//! A record becomes counts.

use std::fmt;
use std::sync::Arc;

use super::Viewer;
use super::catalog;
use super::family::Family;
use super::models::{Models, Named};
use super::series::{Count, Example, OfAll, OfRequests, Time};
use crate::observe::distribution::{Distributions, EVENTS_BOUNDS, GAP_BOUNDS, HOLD_BOUNDS};
use crate::observe::record::RequestRecord;
use crate::observe::stats::Us;
use crate::sink::console::text::word;
use crate::sink::convention::Operation;
use crate::sink::ids::Ids;
use crate::sink::wall::WallClock;

/// All figures so far.
#[derive(Debug)]
pub struct Figures {
    models: Models,
    duration: Family<OfRequests>,
    first_chunk: Family<OfRequests>,
    per_chunk: Family<OfAll>,
    requests: Family<Count>,
    verdicts: Family<Count>,
    ttft: Family<OfRequests>,
    ttfa: Family<OfRequests>,
    token_gap: Family<OfAll>,
    event_gap: Family<OfAll>,
    chunk_gap: Family<OfAll>,
    longest_gap: Family<OfRequests>,
    stalls: Family<Count>,
    events_per_chunk: Family<OfAll>,
    prompt_tokens: Family<Count>,
    completion_tokens: Family<Count>,
    hold: Family<OfAll>,
    blocked: Family<Time>,
}

impl Figures {
    /// Nothing counted yet.
    pub fn new(most_models: usize) -> Self {
        let mut figures = Figures {
            models: Models::new(most_models),
            duration: Family::new(&catalog::DURATION),
            first_chunk: Family::new(&catalog::FIRST_CHUNK),
            per_chunk: Family::new(&catalog::PER_CHUNK),
            requests: Family::new(&catalog::REQUESTS),
            verdicts: Family::new(&catalog::VERDICTS),
            ttft: Family::new(&catalog::TTFT),
            ttfa: Family::new(&catalog::TTFA),
            token_gap: Family::new(&catalog::TOKEN_GAP),
            event_gap: Family::new(&catalog::EVENT_GAP),
            chunk_gap: Family::new(&catalog::CHUNK_GAP),
            longest_gap: Family::new(&catalog::LONGEST_GAP),
            stalls: Family::new(&catalog::STALLS),
            events_per_chunk: Family::new(&catalog::EVENTS_PER_CHUNK),
            prompt_tokens: Family::new(&catalog::PROMPT_TOKENS),
            completion_tokens: Family::new(&catalog::COMPLETION_TOKENS),
            hold: Family::new(&catalog::HOLD),
            blocked: Family::new(&catalog::BLOCKED),
        };
        // What has no labels is there from the start, so that its first rise is seen.
        figures.hold.at([]);
        figures.blocked.at([]);
        figures
    }

    /// Adds a record.
    pub fn add(&mut self, record: &RequestRecord) {
        let named = self.models.named(record);
        let example = example(record);
        if let Some(operation) = Operation::of(record) {
            self.add_operation(record, &operation, named, &example);
        }
        let upstream = record.upstream.name.as_deref().unwrap_or_default();
        let model = [upstream, named.asked];
        self.requests
            .at([upstream, named.asked, &word(&record.end)])
            .add(1);
        if let Some(verdict) = &record.verdict {
            let side = verdict.side.as_ref().map(word).unwrap_or_default();
            let timing = word(&verdict.timing);
            self.verdicts
                .at([upstream, named.asked, &timing, &side])
                .add(1);
        }
        let cold = [
            upstream,
            named.asked,
            if record.load.cold { "true" } else { "false" },
        ];
        for (first, ms) in [
            (&mut self.ttft, record.ttft_ms),
            (&mut self.ttfa, record.ttfa_ms),
        ] {
            if let Some(us) = us(ms) {
                first.at(cold).add(us, &example);
            }
        }
        if let Some(us) = us(record.gaps.token.max_ms) {
            self.longest_gap.at(model).add(us, &example);
        }
        for (tokens, n) in [
            (&mut self.prompt_tokens, record.tokens.prompt),
            (&mut self.completion_tokens, record.tokens.completion),
        ] {
            if let Some(n) = n {
                tokens.at(model).add(n);
            }
        }
        if let Some(us) = us(record.hold.blocked_ms) {
            self.blocked.at([]).add(us);
        }
        if let Some(distributions) = &record.distributions {
            self.add_distributions(distributions, model);
        }
    }

    fn add_operation(
        &mut self,
        record: &RequestRecord,
        operation: &Operation,
        named: Named<'_>,
        example: &Arc<Example>,
    ) {
        let Operation {
            name,
            provider,
            address,
            port,
            error,
        } = operation;
        let Named { asked, answered } = named;
        if let Some(us) = us(record.at.end_ms) {
            let labels = [name, provider, asked, answered, address, port, error];
            self.duration.at(labels).add(us, example);
        }
        let call = [name, provider, asked, answered, address.as_str(), port];
        if let Some(us) = us(record.ttft_ms) {
            self.first_chunk.at(call).add(us, example);
        }
        if let Some(Distributions { token_gaps, .. }) = record.distributions.as_deref()
            && token_gaps.n > 0
        {
            self.per_chunk.at(call).add(token_gaps, &GAP_BOUNDS);
        }
    }

    fn add_distributions(&mut self, of: &Distributions, model: [&str; 2]) {
        for (family, values, bounds) in [
            (&mut self.token_gap, &of.token_gaps, &GAP_BOUNDS[..]),
            (&mut self.event_gap, &of.event_gaps, &GAP_BOUNDS),
            (&mut self.chunk_gap, &of.chunk_gaps, &GAP_BOUNDS),
            (
                &mut self.events_per_chunk,
                &of.events_per_chunk,
                &EVENTS_BOUNDS,
            ),
        ] {
            if values.n > 0 {
                family.at(model).add(values, bounds);
            }
        }
        if of.token_gaps.n > 0 {
            // Also where there are none: a rate needs a series before its first rise.
            self.stalls.at(model).add(of.stalls);
        }
        self.hold.at([]).add(&of.hold, &HOLD_BOUNDS);
    }

    /// Shows them all.
    pub fn show(&self, to: &mut impl Viewer) -> fmt::Result {
        to.look(&self.duration)?;
        to.look(&self.first_chunk)?;
        to.look(&self.per_chunk)?;
        to.look(&self.requests)?;
        to.look(&self.verdicts)?;
        to.look(&self.ttft)?;
        to.look(&self.ttfa)?;
        to.look(&self.token_gap)?;
        to.look(&self.event_gap)?;
        to.look(&self.chunk_gap)?;
        to.look(&self.longest_gap)?;
        to.look(&self.stalls)?;
        to.look(&self.events_per_chunk)?;
        to.look(&self.prompt_tokens)?;
        to.look(&self.completion_tokens)?;
        to.look(&self.hold)?;
        to.look(&self.blocked)
    }
}

/// What leads from an exemplar to its request.
fn example(record: &RequestRecord) -> Arc<Example> {
    let trace = record.request.trace_id.clone();
    let trace = trace.map(|id| ("trace_id", id));
    let record_id = ("record_id", record.id.clone());
    Arc::new(Example {
        labels: trace.into_iter().chain([record_id]).collect(),
        record: record.id.clone(),
        ids: Ids::of(record),
        at: WallClock::of(record).end(),
    })
}

/// The µs of a record's ms, which has no finer ones.
fn us(ms: Option<f64>) -> Option<Us> {
    ms.map(|ms| (ms * 1e3).round() as Us)
}
