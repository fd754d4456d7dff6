//! One request's observation: the only type of this room that the relay talks to.
//!
//! The relay says what it saw and when; at the end there is a record. Nothing in here returns an
//! error, waits, or keeps more than a bounded amount of memory.

mod body;
mod input;

use std::time::Duration;

use xxhash_rust::xxh3::Xxh3;

use super::dialect::Api;
use super::distribution::{Distribution, Distributions};
use super::outcome::{Outcome, Reading};
use super::record::{
    Coalescing, Flag, Origin, Rates, Request, RequestRecord, Response, SCHEMA, Timing, Upstream,
    Verdict,
};
use super::request::{RequestFacts, RequestScan};
use super::stats::{Us, in_ms};
use super::summary::Summary;
use super::timeline::Timeline;
use super::verdict::{self, Facts};
use body::Body;

pub use super::record::ErrorKind;
pub use input::{Cause, Options, Progress, RequestHead, ResponseHead, Stamp};

/// One request under observation.
pub struct Observer {
    head: RequestHead,
    options: Options,
    scan: RequestScan,
    request_bytes: u64,
    upstream: Upstream,
    response: Option<ResponseHead>,
    body: Body,
    timeline: Timeline,
    hash: Option<Box<Xxh3>>,
    retried: bool,
    arrival_uncertain: bool,
    stopped: bool,
}

impl Observer {
    /// Begins at `t0`: the last byte of the request head came.
    pub fn new(head: RequestHead, options: Options) -> Self {
        Observer {
            timeline: Timeline::new(options.timeline),
            hash: options.body_hash.then(Box::default),
            body: Body::none(Api::of_path(&head.path)),
            head,
            options,
            scan: RequestScan::new(),
            request_bytes: 0,
            upstream: Upstream::default(),
            response: None,
            retried: false,
            arrival_uncertain: false,
            stopped: false,
        }
    }

    /// A piece of the request's body.
    pub fn on_request_body(&mut self, bytes: &[u8]) {
        self.request_bytes += bytes.len() as u64;
        if self.body.reading() != Reading::Upgraded {
            self.scan.push(bytes);
        }
    }

    /// The last byte of the request's body came.
    pub fn on_request_end(&mut self, at: Duration) {
        self.timeline.on_request_end(us(at));
    }

    /// A connection to the upstream; the last one stands.
    pub fn on_upstream(&mut self, facts: Upstream) {
        self.upstream = facts;
    }

    /// The request is sent again on another connection.
    pub fn on_retried(&mut self) {
        self.retried = true;
    }

    /// All of the request that was written so far is with the upstream's socket; the last call
    /// stands.
    pub fn on_sent(&mut self, at: Duration) {
        self.timeline.on_sent(us(at));
    }

    /// A sign of life other than the final header and the body: an interim response.
    pub fn on_upstream_byte(&mut self, at: Duration) {
        self.timeline.on_upstream_byte(us(at));
    }

    /// The final response header, the upstream's or the proxy's own.
    pub fn on_header(&mut self, at: Duration, head: ResponseHead) {
        if head.origin == Origin::Upstream {
            self.timeline.on_header(us(at));
            self.upstream.http = known(head.http);
        }
        let asked = self.is_stream_expected(&self.request_facts());
        let of_path = Api::of_path(&self.head.path);
        self.body = Body::new(of_path, &head, asked, self.options.event_limit);
        self.response = Some(head);
    }

    /// The connection switched protocols: from now on bytes are only counted.
    pub fn on_upgraded(&mut self, _at: Duration) {
        self.body = Body::upgraded();
        self.hash = None;
    }

    /// The response has ended on the upstream's side, or was cut there.
    pub fn on_end(&mut self, at: Duration) {
        self.timeline.on_end(us(at));
    }

    /// A piece of the response's body. `new_chunk`: it began with a socket read of its own; else
    /// it belongs to the same chunk as the piece before it.
    pub fn on_body(&mut self, arrived: Duration, stamp: Stamp, new_chunk: bool, bytes: &[u8]) {
        if self.stopped {
            return;
        }
        if let Some(hash) = &mut self.hash {
            hash.update(bytes);
        }
        let (by_kernel, inside) = (stamp == Stamp::Kernel, self.body.is_inside());
        let length = bytes.len() as u64;
        self.timeline
            .on_piece(us(arrived), by_kernel, new_chunk, inside, length);
        self.body.read(bytes, &mut self.timeline);
    }

    /// The client's socket has wholly taken the first `chunks` chunks.
    pub fn on_flushed(&mut self, chunks: u64, at: Duration) {
        self.timeline.on_flushed(chunks, us(at));
    }

    /// The client's socket is full.
    pub fn on_blocked(&mut self, from: Duration) {
        self.timeline.hold.on_blocked(us(from));
    }

    /// The client's socket takes bytes again.
    pub fn on_unblocked(&mut self, at: Duration) {
        self.timeline.hold.on_unblocked(us(at));
    }

    /// The client's socket had been given `given` bytes since its connection began, of which `waiting`
    /// were not acknowledged.
    pub fn on_unacknowledged(&mut self, at: Duration, given: u64, waiting: u64) {
        self.timeline.backlog.on_sample(us(at), given, waiting);
    }

    /// For so long of this request the client's receive window held the kernel back.
    pub fn on_rwnd_limited(&mut self, time: Duration) {
        self.timeline.backlog.on_rwnd_limited(us(time));
    }

    /// Reading had to stop for a slow client: later arrivals may be late.
    pub fn on_arrival_uncertain(&mut self) {
        self.arrival_uncertain = true;
    }

    /// How far it is.
    pub fn progress(&self) -> Progress {
        let timeline = &self.timeline;
        Progress {
            sent_us: timeline.at.sent,
            header_us: timeline.at.header,
            first_token_us: timeline.at.first_token,
            last_us: timeline.last_arrival(),
            chunks: timeline.n_chunks,
            events: timeline.n_events,
            tokens: timeline.n_tokens,
        }
    }

    /// The model asked for, as far as the request was read.
    pub fn model(&self) -> Option<String> {
        self.request_facts().model
    }

    /// No more figures: something in here failed. What was measured stands.
    pub fn stop(&mut self) {
        self.stopped = true;
        self.hash = None;
    }

    /// The end. Makes the record.
    pub fn finish(mut self, at: Duration, cause: Cause) -> RequestRecord {
        if !self.stopped {
            self.body.finish(&mut self.timeline);
        }
        self.timeline.finish(us(at));
        let facts = self.request_facts();
        let asked = self.is_stream_expected(&facts);
        let summary = Summary::of(self.timeline);
        let content = self.body.content();
        let outcome = Outcome {
            cause,
            response: self.response.as_ref(),
            media: self.body.media(),
            reading: self.body.reading(),
            asked,
            content,
            n_events: summary.n_events,
            n_tokens: summary.n_tokens,
            partial: self.body.is_partial(),
            stopped: self.stopped || self.body.has_halted(),
        };
        let end = outcome.end();
        let mut flags: Vec<Flag> = outcome.flags(end).collect();
        for (is_so, flag) in [
            (self.body.label_lies(), Flag::LabelBodyMismatch),
            (self.retried, Flag::Retried),
            (self.head.expect_continue, Flag::ExpectContinue),
            (self.arrival_uncertain, Flag::ArrivalUncertain),
            (summary.rows_cut, Flag::TimelineCut),
        ] {
            flags.extend(is_so.then_some(flag));
        }
        flags.sort_unstable();
        let verdict = verdict::judge(&Facts::new(&summary, &outcome, end, &flags));
        // A speed means something where a stream went on for a while, and only of what was streamed.
        let in_one_piece = |verdict: &Verdict| verdict.timing == Timing::WholeBodyBurst;
        let rates = if outcome.is_stream() && !verdict.as_ref().is_some_and(in_one_piece) {
            summary.rates(content.tokens)
        } else {
            Rates::default()
        };

        let ms = |point: Option<Us>| point.map(in_ms);
        let hash = self.hash.as_ref().filter(|_| summary.at.header.is_some());
        let by_head = self.response.as_ref().map(|head| head.server_says);
        RequestRecord {
            schema: SCHEMA,
            at: summary.marks(),
            ttft_ms: ms(summary.at.first_token),
            ttft_after_request_ms: ms(summary.ttft_after_request()),
            ttfa_ms: ms(summary.at.first_answer),
            ttft_null: outcome.ttft_null(end),
            gaps: summary.gaps(),
            tail_ms: ms(summary.tail()),
            counts: self.body.counts(&summary),
            tokens: content.tokens,
            rates,
            stamps: summary.stamps,
            server_says: content.server_says.over(by_head.unwrap_or_default()),
            api: self.response.is_some().then_some(content.api),
            end,
            flags,
            error: outcome.error(end),
            verdict,
            request: request(&self.head, facts, self.request_bytes),
            upstream: self.upstream,
            response: Response {
                model: content.model.clone(),
                id: content.id.clone(),
                body_hash: hash.map(|hash| format!("{:032x}", hash.digest128())),
                ..response(self.response.as_ref())
            },
            id: self.head.id,
            started_at: self.head.started_at,
            label: self.head.label,
            instance: self.head.instance,
            load: self.head.load,
            stalls: summary.stalls,
            silence: summary.silence,
            coalescing: match self.body.reading() {
                Reading::Events => summary.coalescing,
                _ => Coalescing::default(),
            },
            hold: summary.hold,
            timeline: summary.rows,
            distributions: Some(Box::new(match self.body.reading() {
                Reading::Events => summary.distributions,
                _ => Distributions {
                    events_per_chunk: Distribution::default(),
                    ..summary.distributions
                },
            })),
        }
    }
}

impl Observer {
    /// What the body asks for, or else the path.
    fn request_facts(&self) -> RequestFacts {
        let facts = self.scan.facts();
        RequestFacts {
            model: facts.model.or_else(|| model_of_path(&self.head.path)),
            stream: facts.stream.or(Api::stream_by_path(&self.head.path)),
            ..facts
        }
    }

    /// Whether a stream is to be expected.
    fn is_stream_expected(&self, facts: &RequestFacts) -> bool {
        let by_default = || Api::of_path(&self.head.path).is_some_and(Api::streams_by_default);
        facts.stream.unwrap_or_else(by_default)
    }
}

fn request(head: &RequestHead, facts: RequestFacts, bytes: u64) -> Request {
    Request {
        method: known(&head.method),
        path: known(&head.path),
        model: facts.model,
        stream: facts.stream,
        has_tools: facts.has_tools,
        bytes,
        request_id: head.request_id.clone(),
        trace_id: head.trace_id.clone(),
        parent: head.parent.clone(),
        accept_encoding: head.accept_encoding.clone(),
        http: known(head.http),
        client_addr: head.client_addr.clone(),
    }
}

/// Google's paths name the model: `…/models/NAME:streamGenerateContent`.
fn model_of_path(path: &str) -> Option<String> {
    let (path, method) = path.rsplit_once(':')?;
    let (_, model) = path.rsplit_once("/models/")?;
    method.ends_with("enerateContent").then(|| model.to_owned())
}

fn response(head: Option<&ResponseHead>) -> Response {
    let Some(head) = head else {
        return Response::default();
    };
    Response {
        status: Some(head.status),
        origin: Some(head.origin),
        content_type: head.content_type.clone(),
        content_encoding: head.content_encoding.clone(),
        framing: head.framing,
        request_id: head.request_id.clone(),
        server: head.server.clone(),
        ..Response::default()
    }
}

fn known(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

fn us(at: Duration) -> Us {
    u64::try_from(at.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
