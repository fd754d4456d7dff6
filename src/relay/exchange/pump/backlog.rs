//! How much the client leaves unread, asked now and then.

use std::time::{Duration, Instant};

use super::Pump;
use crate::relay::clock;

/// The socket is asked at most so often: one system call (0.3 µs) after a write that cost 7 µs or
/// more, 20 times a second at most.
const SAMPLE_EVERY: Duration = Duration::from_millis(50);

/// When the client's socket is asked next, and what it said at the start.
#[derive(Default)]
pub(super) struct Backlog {
    due: Option<Instant>,
    /// The kernel counts since the connection began, which earlier requests were on too.
    rwnd_limited_before: Option<Duration>,
}

impl Pump<'_> {
    /// Begins to count for this request.
    pub(super) fn watch_backlog(&mut self) {
        self.backlog.rwnd_limited_before = self.down_tap.rwnd_limited();
    }

    /// A write to the client has returned, at `at`.
    pub(super) fn sample_backlog(&mut self, at: Instant) {
        if self.backlog.due.is_none_or(|due| at >= due) {
            self.backlog.due = Some(at + SAMPLE_EVERY);
            self.take_sample(at);
        }
    }

    /// All is over for this request.
    pub(super) fn end_backlog(&mut self) {
        if self.backlog.due.is_none() {
            return; // nothing was written
        }
        self.take_sample(clock::now());
        let before = self.backlog.rwnd_limited_before;
        if let Some((before, now)) = before.zip(self.down_tap.rwnd_limited()) {
            let time = now.saturating_sub(before);
            self.observation
                .tell(|observer| observer.on_rwnd_limited(time));
        }
    }

    fn take_sample(&mut self, at: Instant) {
        let Some(waiting) = self.down_tap.unacknowledged() else {
            return;
        };
        let (at, given) = (self.observation.axis().at(at), self.down_tap.accepted());
        self.observation
            .tell(|observer| observer.on_unacknowledged(at, given, waiting));
    }
}
