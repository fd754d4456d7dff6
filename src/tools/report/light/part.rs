//! The fields that are read, and the record that they make.

use std::borrow::Cow;

use serde::Deserialize;

use super::ACROSS;
use crate::observe::record::{
    Api, Counts, Cut, End, Finding, GapStats, Gaps, Load, Marks, Origin, Request, RequestRecord,
    Response, Row, ServerSays, Side, Silence, Stall, Stamps, Timing, Tokens, TtftNull, Upstream,
    Verdict,
};

/// The fields that are read.
#[derive(Deserialize)]
pub(super) struct Part<'a> {
    schema: u32,
    id: String,
    started_at: String,
    label: Option<String>,
    instance: String,
    request: Asked,
    upstream: Server,
    response: Answer,
    api: Option<Api>,
    at: Times,
    ttft_ms: Option<f64>,
    ttft_after_request_ms: Option<f64>,
    ttfa_ms: Option<f64>,
    ttft_null: Option<TtftNull>,
    gaps: GapsPart,
    stalls: Vec<Length>,
    silence: SilencePart,
    counts: CountsPart,
    tokens: Tokens,
    stamps: Option<Stamps>,
    load: Load,
    server_says: ServerSays,
    end: End,
    #[serde(borrow)]
    verdict: Option<Judged<'a>>,
    timeline: Option<Vec<Row>>,
}

#[derive(Deserialize)]
struct Asked {
    method: Option<String>,
    path: Option<String>,
    model: Option<String>,
    stream: Option<bool>,
    bytes: u64,
}

#[derive(Deserialize)]
struct Server {
    name: Option<String>,
    reused: Option<bool>,
    attempts: u32,
    connect_ms: Option<f64>,
}

#[derive(Deserialize)]
struct Answer {
    status: Option<u16>,
    origin: Option<Origin>,
    content_encoding: Option<String>,
    model: Option<String>,
}

#[derive(Deserialize)]
struct Times {
    sent_ms: Option<f64>,
    header_ms: Option<f64>,
    first_byte_ms: Option<f64>,
    first_token_ms: Option<f64>,
    last_token_ms: Option<f64>,
    end_ms: Option<f64>,
}

#[derive(Deserialize)]
struct GapsPart {
    chunk: Longest,
    token: TokenGaps,
}

#[derive(Deserialize)]
struct Longest {
    max_ms: Option<f64>,
}

#[derive(Deserialize)]
struct TokenGaps {
    n: u64,
    mean_ms: Option<f64>,
    p50_ms: Option<f64>,
    p90_ms: Option<f64>,
    p99_ms: Option<f64>,
    max_ms: Option<f64>,
}

#[derive(Deserialize)]
struct Length {
    gap_ms: f64,
}

#[derive(Deserialize)]
struct SilencePart {
    before_end_ms: Option<f64>,
}

#[derive(Deserialize)]
struct CountsPart {
    token_events: Option<u64>,
    chars: Option<u64>,
}

#[derive(Deserialize)]
struct Judged<'a> {
    timing: Timing,
    #[serde(rename = "where")]
    side: Option<Side>,
    cut: Option<Cut>,
    #[serde(borrow)]
    findings: Vec<Found<'a>>,
}

#[derive(Deserialize)]
struct Found<'a> {
    #[serde(borrow)]
    code: Cow<'a, str>,
    #[serde(rename = "where")]
    side: Side,
    #[serde(borrow)]
    sentence: Cow<'a, str>,
}

impl Part<'_> {
    pub(super) fn into_record(self) -> RequestRecord {
        RequestRecord {
            schema: self.schema,
            id: self.id,
            started_at: self.started_at,
            label: self.label,
            instance: self.instance,
            request: Request {
                method: self.request.method,
                path: self.request.path,
                model: self.request.model,
                stream: self.request.stream,
                bytes: self.request.bytes,
                ..Request::default()
            },
            upstream: Upstream {
                name: self.upstream.name,
                reused: self.upstream.reused,
                attempts: self.upstream.attempts,
                connect_ms: self.upstream.connect_ms,
                ..Upstream::default()
            },
            response: Response {
                status: self.response.status,
                origin: self.response.origin,
                content_encoding: self.response.content_encoding,
                model: self.response.model,
                ..Response::default()
            },
            api: self.api,
            at: Marks {
                sent_ms: self.at.sent_ms,
                header_ms: self.at.header_ms,
                first_byte_ms: self.at.first_byte_ms,
                first_token_ms: self.at.first_token_ms,
                last_token_ms: self.at.last_token_ms,
                end_ms: self.at.end_ms,
                ..Marks::default()
            },
            ttft_ms: self.ttft_ms,
            ttft_after_request_ms: self.ttft_after_request_ms,
            ttfa_ms: self.ttfa_ms,
            ttft_null: self.ttft_null,
            gaps: Gaps {
                chunk: GapStats {
                    max_ms: self.gaps.chunk.max_ms,
                    ..GapStats::default()
                },
                event: GapStats::default(),
                token: self.gaps.token.into_stats(),
            },
            stalls: self.stalls.into_iter().map(Length::into_stall).collect(),
            silence: Silence {
                before_end_ms: self.silence.before_end_ms,
                ..Silence::default()
            },
            tail_ms: None,
            counts: Counts {
                token_events: self.counts.token_events,
                chars: self.counts.chars,
                ..Counts::default()
            },
            coalescing: Default::default(),
            tokens: self.tokens,
            rates: Default::default(),
            stamps: self.stamps,
            hold: Default::default(),
            load: self.load,
            server_says: self.server_says,
            end: self.end,
            flags: Vec::new(),
            error: None,
            verdict: self.verdict.map(Judged::into_verdict),
            timeline: self.timeline,
            distributions: None,
        }
    }
}

impl TokenGaps {
    fn into_stats(self) -> GapStats {
        GapStats {
            n: self.n,
            mean_ms: self.mean_ms,
            p50_ms: self.p50_ms,
            p90_ms: self.p90_ms,
            p99_ms: self.p99_ms,
            max_ms: self.max_ms,
            ..GapStats::default()
        }
    }
}

impl Length {
    fn into_stall(self) -> Stall {
        Stall {
            at_ms: 0.0,
            gap_ms: self.gap_ms,
            after_token: 0,
            catch_up_events: None,
        }
    }
}

impl Judged<'_> {
    fn into_verdict(self) -> Verdict {
        let findings = self.findings.into_iter();
        let across = findings.filter_map(|found| {
            let code = ACROSS.into_iter().find(|code| *code == found.code)?;
            Some(Finding {
                code: Cow::Borrowed(code),
                side: found.side,
                at_ms: None,
                sentence: found.sentence.into_owned(),
                hint: String::new(),
            })
        });
        Verdict {
            timing: self.timing,
            side: self.side,
            confidence: 0.0,
            summary: String::new(),
            evidence: Default::default(),
            cut: self.cut,
            findings: across.collect(),
        }
    }
}
