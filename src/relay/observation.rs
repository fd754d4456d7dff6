//! The observer at arm's length: it may fail, the relay may not, and every request leaves exactly
//! one record, whatever its end: also when its task is dropped.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use super::clock::{self, Axis};
use super::running::Entry;
use super::{Phase, Shared};
use crate::observe::observer::{Cause, Observer, Options, RequestHead};

/// One request under observation.
pub struct Observation {
    observer: Option<Observer>,
    axis: Axis,
    /// Whether it is one of the requests that keep the upstream busy.
    counted: bool,
    /// Its place on the board of open requests, if there is one.
    entry: Option<Entry>,
    shared: Arc<Shared>,
}

impl Observation {
    /// Begins at `t0`, the arrival of the last byte of the request head; adds to `head` how busy
    /// the upstream was then.
    pub fn begin(shared: &Arc<Shared>, t0: Instant, mut head: RequestHead) -> Self {
        let options = Options {
            timeline: shared.config.timeline,
            body_hash: shared.config.body_hash,
            ..Options::default()
        };
        // A request that cannot be read asks nothing of the upstream.
        let counted = !head.method.is_empty();
        if counted {
            head.load = shared.gauge.enter(t0);
        }
        tracing::debug!(id = head.id, "a request came");
        let board = shared.running.as_ref();
        let entry = board.map(|running| running.enter(t0, &head));
        Observation {
            observer: Some(Observer::new(head, options)),
            axis: Axis::from(t0),
            counted,
            entry,
            shared: shared.clone(),
        }
    }

    /// The request's time axis.
    pub fn axis(&self) -> Axis {
        self.axis
    }

    /// Tells the observer something. A panic in there ends the observation, never the stream.
    pub fn tell(&mut self, what: impl FnOnce(&mut Observer)) {
        let Some(observer) = &mut self.observer else {
            return;
        };
        if catch_unwind(AssertUnwindSafe(|| what(observer))).is_err() {
            tracing::error!(
                "the observer failed: this request's figures stop here (please report)"
            );
            observer.stop();
        }
    }

    /// Shows on the board how far the request is.
    pub fn show(&mut self) {
        if let Some(entry) = self.entry.take() {
            self.tell(|observer| entry.show(observer.progress(), || observer.model()));
            self.entry = Some(entry);
        }
    }

    /// The end: makes the record and emits it.
    pub fn finish(mut self, cause: Cause) {
        self.emit(cause);
    }

    fn emit(&mut self, cause: Cause) {
        let Some(observer) = self.observer.take() else {
            return;
        };
        let now = clock::now();
        if self.counted {
            self.shared.gauge.leave(now);
        }
        let at = self.axis.at(now);
        match catch_unwind(AssertUnwindSafe(|| observer.finish(at, cause))) {
            Ok(mut record) => {
                self.shared.history.add_to(&mut record);
                tracing::debug!(id = record.id, end = ?record.end, "the request ended");
                let drip = self.entry.as_ref().map(Entry::take_drip);
                (self.shared.emit)(record, drip.unwrap_or_default());
            }
            Err(_) => {
                tracing::error!("a record was lost: the observer failed at its end (please report)")
            }
        }
    }
}

impl Drop for Observation {
    fn drop(&mut self) {
        let stopped = *self.shared.phase.borrow() == Phase::Stopped;
        self.emit(if stopped {
            Cause::ProxyStopped
        } else {
            Cause::Dropped
        });
    }
}
