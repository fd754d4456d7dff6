//! The requests that are open now, for whoever wants to see them while they run.
//!
//! Each is shown to by its own exchange alone, so its lock is free but for the moment of a look.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::clock;
use crate::observe::drip::Drip;
use crate::observe::observer::{Progress, RequestHead};

/// All open requests, in the order in which they came.
#[derive(Debug, Default)]
pub struct Running {
    open: Mutex<Board>,
}

#[derive(Debug, Default)]
struct Board {
    next: u64,
    open: BTreeMap<u64, Arc<Open>>,
}

impl Running {
    /// The open requests, the oldest first.
    pub fn all(&self) -> Vec<Arc<Open>> {
        lock(&self.open).open.values().cloned().collect()
    }

    pub(super) fn enter(self: &Arc<Self>, t0: Instant, head: &RequestHead) -> Entry {
        let open = Arc::new(Open {
            id: head.id.clone(),
            started_at: head.started_at.clone(),
            method: head.method.clone(),
            path: head.path.clone(),
            in_flight: head.load.in_flight,
            cold: head.load.cold,
            t0,
            seen: Mutex::default(),
        });
        let mut board = lock(&self.open);
        let number = board.next;
        board.next += 1;
        board.open.insert(number, open.clone());
        Entry {
            number,
            open,
            running: self.clone(),
        }
    }
}

/// One request that is open.
#[derive(Debug)]
pub struct Open {
    /// The record's id.
    pub id: String,
    /// Wall clock of the start, RFC 3339 UTC.
    pub started_at: String,
    /// What was asked for; empty where the request could not be read.
    pub method: String,
    /// Without the query string.
    pub path: String,
    /// Requests that were open when it came.
    pub in_flight: u64,
    /// Whether the upstream had been idle.
    pub cold: bool,
    t0: Instant,
    seen: Mutex<Seen>,
}

/// What was seen of a request so far.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    /// Model asked for, where the body or the path says so.
    pub model: Option<String>,
    /// Marks and counts.
    pub progress: Progress,
    /// A tick for each chunk.
    pub drip: Drip,
}

impl Open {
    /// How long it has been open.
    pub fn age(&self) -> Duration {
        clock::now().saturating_duration_since(self.t0)
    }

    /// What was seen of it.
    pub fn seen(&self) -> Seen {
        lock(&self.seen).clone()
    }
}

/// An open request's place on the board. Dropping it takes the request off.
#[derive(Debug)]
pub(super) struct Entry {
    number: u64,
    open: Arc<Open>,
    running: Arc<Running>,
}

impl Entry {
    /// Shows how far it is; `model` is asked for until a body comes.
    pub fn show(&self, progress: Progress, model: impl FnOnce() -> Option<String>) {
        let mut seen = lock(&self.open.seen);
        let events = progress.events.saturating_sub(seen.progress.events);
        if progress.chunks == 0 {
            seen.model = model();
        } else if progress.chunks > seen.progress.chunks {
            seen.drip.push(progress.last_us, events);
        } else {
            seen.drip.add(events);
        }
        seen.progress = progress;
    }

    /// Its ticks.
    pub fn take_drip(&self) -> Drip {
        std::mem::take(&mut lock(&self.open.seen).drip)
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        lock(&self.running.open).open.remove(&self.number);
    }
}

/// Nothing that holds one of these locks can leave its value half changed.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn progress(chunks: u64, events: u64, last_us: u64) -> Progress {
        Progress {
            chunks,
            events,
            last_us,
            ..Progress::default()
        }
    }

    #[test]
    fn a_request_is_on_the_board_while_it_is_open() {
        let running = Arc::new(Running::default());
        let head = |id: &str| RequestHead {
            id: id.to_owned(),
            ..RequestHead::default()
        };
        let first = running.enter(clock::now(), &head("a"));
        let second = running.enter(clock::now(), &head("b"));
        first.show(progress(0, 0, 0), || Some("m".to_owned()));
        first.show(progress(1, 1, 5_000), || unreachable!());
        first.show(progress(1, 2, 5_000), || unreachable!());
        first.show(progress(2, 3, 9_000), || unreachable!());
        let ids = |running: &Running| {
            let all = running.all();
            all.iter().map(|open| open.id.clone()).collect::<Vec<_>>()
        };
        assert_eq!(ids(&running), ["a", "b"]);
        let seen = running.all()[0].seen();
        assert_eq!(seen.model.as_deref(), Some("m"));
        assert_eq!(seen.progress.events, 3);
        let ticks = first.take_drip();
        let ticks: Vec<_> = ticks
            .ticks()
            .iter()
            .map(|t| (t.at_ms(), t.events))
            .collect();
        assert_eq!(ticks, [(5.0, 2), (9.0, 1)]);
        drop(first);
        assert_eq!(ids(&running), ["b"]);
        drop(second);
        assert!(running.all().is_empty());
    }
}
