//! A record as a span, with a child for each phase of the request.

use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::trace::v1::span::{Event, SpanKind};
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use opentelemetry_proto::tonic::trace::v1::{Span, SpanFlags, Status};

use super::attribute::{attribute, maybe};
use crate::observe::phases::{Phase, lead, phases, us};
use crate::observe::record::{Origin, RequestRecord, Stall};
use crate::sink::console::text::word;
use crate::sink::convention::{self, Operation};
use crate::sink::ids::Ids;
use crate::sink::wall::WallClock;

/// The spans of a request: its own, then those of its phases. None where the client's trace is not sampled: the others of
/// that trace are not kept either, and who samples has said how much is to be stored.
pub fn spans(record: &RequestRecord) -> Vec<Span> {
    let ids = Ids::of(record);
    if !ids.is_sampled() {
        return Vec::new();
    }
    let clock = WallClock::of(record);
    let of_record = request(record, &ids, clock);
    // What was before the record's own clock is in the span of no request.
    let phases = match lead(record) {
        0 => phases(record, clock.length()),
        _ => Vec::new(),
    };
    let numbered = (1..).zip(&phases);
    let child = |(n, part)| phase(part, Ids::child(record, n), &of_record, clock);
    let children: Vec<_> = numbered.map(child).collect();
    std::iter::once(of_record).chain(children).collect()
}

fn request(record: &RequestRecord, ids: &Ids, clock: WallClock) -> Span {
    let operation = Operation::of(record);
    let error = convention::error(record);
    let remote = match ids.parent {
        Some(_) => SpanFlags::ContextHasIsRemoteMask as u32 | SpanFlags::ContextIsRemoteMask as u32,
        None => SpanFlags::ContextHasIsRemoteMask as u32,
    };
    Span {
        trace_id: ids.trace.into(),
        span_id: ids.span.into(),
        parent_span_id: ids.parent.map(Vec::from).unwrap_or_default(),
        trace_state: state(record, ids),
        flags: u32::from(ids.flags) | remote,
        name: name(record, operation.as_ref()),
        kind: SpanKind::Client.into(),
        start_time_unix_nano: clock.start(),
        end_time_unix_nano: clock.end(),
        attributes: attributes(record, operation.as_ref(), &error),
        events: events(record, clock),
        status: (!error.is_empty()).then(|| Status {
            message: word(&record.end),
            code: StatusCode::Error.into(),
        }),
        ..Span::default()
    }
}

/// What the client's tracing says of its trace goes with each span of it.
fn state(record: &RequestRecord, ids: &Ids) -> String {
    let parent = record.request.parent.as_ref();
    let parent = parent.filter(|_| ids.parent.is_some());
    parent
        .and_then(|parent| parent.state.clone())
        .unwrap_or_default()
}

fn phase(part: &Phase, id: [u8; 8], parent: &Span, clock: WallClock) -> Span {
    Span {
        trace_id: parent.trace_id.clone(),
        span_id: id.into(),
        trace_state: parent.trace_state.clone(),
        parent_span_id: parent.span_id.clone(),
        flags: parent.flags & !(SpanFlags::ContextIsRemoteMask as u32),
        name: part.name.into(),
        kind: SpanKind::Internal.into(),
        start_time_unix_nano: clock.at(part.from),
        end_time_unix_nano: clock.at(part.to),
        attributes: part
            .is_vain
            .then(|| attribute("dripline.in_vain", true))
            .into_iter()
            .collect(),
        ..Span::default()
    }
}

/// As the conventions want it: what is done with which model; else what was asked by HTTP.
fn name(record: &RequestRecord, operation: Option<&Operation>) -> String {
    let model = record.request.model.as_deref();
    match (operation, model) {
        (Some(operation), Some(model)) => format!("{} {model}", operation.name),
        (Some(operation), None) => operation.name.to_owned(),
        (None, _) => {
            let method = record.request.method.as_deref();
            method
                .filter(|method| !method.is_empty())
                .unwrap_or("HTTP")
                .to_owned()
        }
    }
}

fn attributes(record: &RequestRecord, operation: Option<&Operation>, error: &str) -> Vec<KeyValue> {
    let RequestRecord {
        request,
        response,
        tokens,
        gaps,
        ..
    } = record;
    let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let verdict = record.verdict.as_ref();
    let side = verdict.and_then(|verdict| verdict.side.as_ref());
    let server = convention::server(&record.upstream);
    // an answer of dripline's own is none of that server's
    let is_own = response.origin == Some(Origin::Dripline);
    let status = response.status.filter(|_| !is_own);
    let all = [
        maybe("gen_ai.operation.name", operation.map(|of| of.name)),
        maybe("gen_ai.provider.name", operation.map(|of| of.provider)),
        maybe("gen_ai.request.model", request.model.as_deref()),
        maybe("gen_ai.request.stream", request.stream),
        maybe("gen_ai.response.model", response.model.as_deref()),
        maybe("gen_ai.response.id", response.id.as_deref()),
        maybe(
            "gen_ai.response.time_to_first_chunk",
            record.ttft_ms.map(|ms| ms / 1e3),
        ),
        maybe("gen_ai.usage.input_tokens", tokens.prompt),
        maybe("gen_ai.usage.output_tokens", tokens.completion),
        maybe("gen_ai.usage.cache_read.input_tokens", tokens.cached),
        maybe("gen_ai.usage.reasoning.output_tokens", tokens.reasoning),
        maybe("error.type", text(error)),
        maybe("server.address", text(server.0)),
        maybe("server.port", server.1.parse::<u16>().ok()),
        maybe("http.request.method", request.method.as_deref()),
        maybe("url.path", request.path.as_deref()),
        maybe("http.response.status_code", status),
        Some(attribute("dripline.id", record.id.as_str())),
        Some(attribute("dripline.end", word(&record.end))),
        maybe(
            "dripline.verdict.timing",
            verdict.map(|verdict| word(&verdict.timing)),
        ),
        maybe("dripline.verdict.where", side.map(word)),
        maybe("dripline.ttft_ms", record.ttft_ms),
        maybe("dripline.ttfa_ms", record.ttfa_ms),
        maybe("dripline.gaps.token.p50_ms", gaps.token.p50_ms),
        maybe("dripline.gaps.token.p99_ms", gaps.token.p99_ms),
        maybe("dripline.gaps.token.max_ms", gaps.token.max_ms),
        maybe("dripline.counts.token_events", record.counts.token_events),
        maybe("dripline.counts.chunks", Some(record.counts.chunks)),
        maybe("dripline.hold.p99_us", record.hold.p99_us),
        maybe("dripline.load.in_flight", Some(record.load.in_flight)),
        maybe("dripline.load.cold", Some(record.load.cold)),
        maybe("dripline.upstream.reused", record.upstream.reused),
    ];
    all.into_iter().flatten().collect()
}

/// The first token, and the stalls where they ended, in the order of time.
fn events(record: &RequestRecord, clock: WallClock) -> Vec<Event> {
    let event = |name: &str, ms: f64, attributes| Event {
        time_unix_nano: clock.at(us(ms)),
        name: name.to_owned(),
        attributes,
        ..Event::default()
    };
    let first = record.at.first_token_ms;
    let first = first.map(|ms| event("dripline.first_token", ms, Vec::new()));
    let stall = |stall: &Stall| {
        let known = [
            Some(attribute("gap_ms", stall.gap_ms)),
            Some(attribute("after_token", stall.after_token)),
            maybe("catch_up_events", stall.catch_up_events),
        ];
        let attributes = known.into_iter().flatten().collect();
        event("dripline.stall", stall.at_ms, attributes)
    };
    let mut events: Vec<Event> = first
        .into_iter()
        .chain(record.stalls.iter().map(stall))
        .collect();
    events.sort_by_key(|event| event.time_unix_nano);
    events
}
