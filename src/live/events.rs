//! `GET /api/events`: what happens, as it happens, by server-sent events (WHATWG HTML §9.2).
//!
//! - `about`: first, the same as `/api/about` without what changes
//! - `ended`: a row, with its ticks; its id is `BOOT-NUMBER`
//! - `missed`: so many requests ended and are no longer kept
//! - `open`: the rows of all open requests, four times a second while there are some; of the ticks only new ones, after
//!   the `ticks_before` that were given before
//!
//! A client that comes back with `Last-Event-ID` (or `?after=`, for the first time) gets what it missed. After a restart
//! of the proxy numbers mean others: then all is given.

use std::collections::{HashMap, VecDeque};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use serde::Deserialize;
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio::time::{Interval, MissedTickBehavior, interval};

use super::Live;
use super::api::problem;
use super::row::{EndedRow, OpenRow};

/// How often open requests are shown.
const EVERY: Duration = Duration::from_millis(250);
/// Rows that are made at a time.
const BATCH: usize = 256;
/// What is known already.
#[derive(Debug, Default, Deserialize)]
pub struct Known {
    after: Option<u64>,
}

/// The stream of events.
pub async fn events(
    State(live): State<Live>,
    Query(known): Query<Known>,
    headers: HeaderMap,
) -> Response {
    let Ok(place) = Arc::clone(&live.places).try_acquire_owned() else {
        return problem(
            StatusCode::SERVICE_UNAVAILABLE,
            "too many pages are open; close one, or ask /api/requests now and then",
        );
    };
    let id = headers.get("last-event-id");
    let id = id.and_then(|id| id.to_str().ok());
    let feed = Feed::of(live, after(id, &known), place);
    let events = stream::unfold(feed, |mut feed| async {
        let event = feed.next().await;
        Some((Ok::<_, Infallible>(event), feed))
    });
    Sse::new(events)
        .keep_alive(KeepAlive::default())
        .into_response()
}

/// The boot and the number that a client knows.
type After<'a> = (Option<&'a str>, u64);

fn after<'a>(last_event_id: Option<&'a str>, known: &Known) -> After<'a> {
    let last = last_event_id.and_then(|id| id.rsplit_once('-'));
    match last.and_then(|(boot, number)| Some((boot, number.parse().ok()?))) {
        Some((boot, number)) => (Some(boot), number),
        None => (None, known.after.unwrap_or(0)),
    }
}

/// What one client gets.
struct Feed {
    live: Live,
    /// Number of the last request that was given.
    given: u64,
    latest: watch::Receiver<u64>,
    ready: VecDeque<Event>,
    tick: Interval,
    /// Of each open request, how often its ticks were thinned, and how many were given.
    ticks: HashMap<String, (u64, usize)>,
    _place: OwnedSemaphorePermit,
}

impl Feed {
    fn of(live: Live, (boot, number): After<'_>, place: OwnedSemaphorePermit) -> Feed {
        let is_same = boot.is_none_or(|boot| boot == live.about.boot);
        let mut tick = interval(EVERY);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Feed {
            given: if is_same { number } else { 0 },
            latest: live.recent.latest(),
            ready: VecDeque::from([event("about", &*live.about)]),
            tick,
            ticks: HashMap::new(),
            live,
            _place: place,
        }
    }

    async fn next(&mut self) -> Event {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return event;
            }
            self.add_ended();
            if !self.ready.is_empty() {
                continue;
            }
            tokio::select! {
                // it closes with the process
                _ = self.latest.changed() => {}
                _ = self.tick.tick() => self.add_open(),
            }
        }
    }

    fn add_ended(&mut self) {
        let latest = *self.latest.borrow_and_update();
        // a number from before a restart that was not told
        self.given = self.given.min(latest);
        let forgotten = self.live.recent.forgotten();
        if forgotten > self.given {
            self.ready
                .push_back(event("missed", &(forgotten - self.given)));
            self.given = forgotten;
        }
        for ended in self.live.recent.after(self.given, BATCH) {
            let id = format!("{}-{}", self.live.about.boot, ended.number);
            let row = EndedRow::of(&ended, true);
            self.ready.push_back(event("ended", &row).id(id));
            self.given = ended.number;
        }
    }

    fn add_open(&mut self) {
        let all = self.live.running.all();
        if all.is_empty() && self.ticks.is_empty() {
            return;
        }
        let mut ticks = HashMap::with_capacity(all.len());
        let mut rows = Vec::with_capacity(all.len());
        for open in &all {
            let seen = open.seen();
            let (thinned, n) = (seen.drip.thinned(), seen.drip.ticks().len());
            let before = match self.ticks.get(&open.id) {
                Some(&(known, given)) if known == thinned => given.min(n),
                _ => 0,
            };
            ticks.insert(open.id.clone(), (thinned, n));
            rows.push(OpenRow::of(open, seen, before));
        }
        self.ticks = ticks;
        self.ready.push_back(event("open", &rows));
    }
}

/// Numbers and text have a JSON form always.
fn event(name: &str, value: &impl serde::Serialize) -> Event {
    let data = serde_json::to_string(value).unwrap_or_default();
    Event::default().event(name).data(data)
}
