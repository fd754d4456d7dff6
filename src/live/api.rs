//! JSON for pages and programs. `docs/api.md` has the list; names within records are the record's.

use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};

use super::row::{EndedRow, JsonPhase, JsonTick, OpenRow};
use super::{About, Live};
use crate::observe::phases;
use crate::observe::record::RequestRecord;
use crate::relay::Phase;
use crate::sink::trace::Trace;

/// Requests of one answer, unless fewer are asked for.
const PAGE: usize = 1000;

/// `GET /healthz`: the process answers.
pub async fn healthz() -> &'static str {
    "ok\n"
}

/// `GET /readyz`: whether new requests are taken.
pub async fn readyz(State(live): State<Live>) -> Response {
    match *live.phase.borrow() {
        Phase::Running => "ok\n".into_response(),
        Phase::Draining | Phase::Stopped => {
            (StatusCode::SERVICE_UNAVAILABLE, "draining\n").into_response()
        }
    }
}

/// `GET /api/about`
pub async fn about(State(live): State<Live>) -> Response {
    #[derive(Serialize)]
    struct Now<'a> {
        #[serde(flatten)]
        about: &'a About,
        in_flight: u64,
        latest: u64,
    }
    json(&Now {
        about: &live.about,
        in_flight: live.scrape.gauge.in_flight(),
        latest: *live.recent.latest().borrow(),
    })
}

/// What of the ended requests is wanted.
#[derive(Debug, Deserialize)]
pub struct Wanted {
    /// Those after this number.
    #[serde(default)]
    after: u64,
    /// At most so many.
    limit: Option<usize>,
    /// With their ticks.
    #[serde(default)]
    ticks: bool,
}

/// `GET /api/requests?after=0&limit=1000&ticks=false`: rows of ended requests, the oldest first. `next` is the `after`
/// of the next page.
pub async fn requests(State(live): State<Live>, Query(wanted): Query<Wanted>) -> Response {
    #[derive(Serialize)]
    struct Page<'a> {
        boot: &'a str,
        /// Of no later request than this one there is a row.
        next: u64,
        latest: u64,
        /// Requests up to this number are no longer kept.
        forgotten: u64,
        requests: Vec<EndedRow<'a>>,
    }
    let forgotten = live.recent.forgotten();
    let ended = live
        .recent
        .after(wanted.after, wanted.limit.unwrap_or(PAGE).min(PAGE));
    json(&Page {
        boot: &live.about.boot,
        next: ended.last().map_or(wanted.after, |last| last.number),
        latest: *live.recent.latest().borrow(),
        forgotten,
        requests: ended
            .iter()
            .map(|ended| EndedRow::of(ended, wanted.ticks))
            .collect(),
    })
}

/// `GET /api/requests/{id}`: the record of an ended request, its phases and its ticks.
pub async fn request(State(live): State<Live>, Path(id): Path<String>) -> Response {
    #[derive(Serialize)]
    struct Whole<'a> {
        number: u64,
        record: &'a RequestRecord,
        phases: Vec<JsonPhase>,
        ticks: Vec<JsonTick>,
    }
    match live.recent.find(&id) {
        None => not_kept(),
        Some(ended) => json(&Whole {
            number: ended.number,
            record: &ended.record,
            phases: phases::of(&ended.record)
                .iter()
                .map(JsonPhase::from)
                .collect(),
            ticks: ended.drip.ticks().iter().map(JsonTick::from).collect(),
        }),
    }
}

/// `GET /api/requests/{id}/trace`: the same on a time line, as `dripline report --trace` writes it.
pub async fn trace(State(live): State<Live>, Path(id): Path<String>) -> Response {
    let Some(ended) = live.recent.find(&id) else {
        return not_kept();
    };
    let mut text = Vec::new();
    let written = Trace::begin(&mut text).and_then(|mut trace| {
        trace.request(&ended.record)?;
        trace.end()
    });
    match written {
        Ok(()) => ([(CONTENT_TYPE, "application/json")], text).into_response(),
        Err(error) => unwritten(&error),
    }
}

/// `GET /api/running`: rows of the open requests, the oldest first.
pub async fn running(State(live): State<Live>) -> Response {
    let all = live.running.all();
    let rows: Vec<_> = all
        .iter()
        .map(|open| OpenRow::of(open, open.seen(), 0))
        .collect();
    json(&rows)
}

/// Anything else.
pub async fn nothing() -> Response {
    problem(
        StatusCode::NOT_FOUND,
        "there is nothing here; docs/api.md lists the API",
    )
}

/// A request that is not, or no longer, in memory.
pub fn not_kept() -> Response {
    problem(
        StatusCode::NOT_FOUND,
        "no such request is kept here: it may still be open, or be too old; the log has all of them",
    )
}

/// What was wrong, for whoever asked.
pub fn problem(status: StatusCode, error: &str) -> Response {
    #[derive(Serialize)]
    struct Problem<'a> {
        error: &'a str,
    }
    (status, json(&Problem { error })).into_response()
}

fn json(value: &impl Serialize) -> Response {
    match serde_json::to_vec(value) {
        Ok(text) => ([(CONTENT_TYPE, "application/json")], text).into_response(),
        Err(error) => unwritten(&error),
    }
}

fn unwritten(error: &dyn std::error::Error) -> Response {
    tracing::error!("an answer of the admin side cannot be written as JSON ({error})");
    StatusCode::INTERNAL_SERVER_ERROR.into_response()
}
