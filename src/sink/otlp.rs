//! Records, spans and metrics for an OpenTelemetry collector, by OTLP over HTTP in protobuf.
//!
//! Logs and spans are two sinks, each behind its own queue and thread: a collector that takes the one and not the other
//! costs the other nothing. A thread more sends the metrics ([`metrics::Push`]). All of them may wait for the collector as
//! long as it takes; what does not fit into a queue meanwhile is lost and counted, as with any other sink.
//!
//! - `log`, `span`: a record becomes a log record, and a span with its phases
//! - [`metrics`]: the figures behind `/metrics`, as they are
//! - `attribute`, `resource`: names and values, and who sends
//! - `post`: one request to the collector, and what its answer means
//! - `retry`: when to try again
//! - `batch`: what is sent together
//!
//! Source: the OTLP specification 1.9, <https://opentelemetry.io/docs/specs/otlp/>.

mod attribute;
mod batch;
mod log;
pub mod metrics;
mod post;
mod resource;
mod retry;
mod span;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use super::Fate;
use crate::observe::record::RequestRecord;
use batch::Batch;
use retry::Backoff;

pub use post::Client;
pub use resource::Source;

/// One signal of OTLP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// A log record for each request.
    Logs,
    /// A span for each request.
    Traces,
    /// The metrics.
    Metrics,
}

impl Signal {
    /// Its path after the base URL.
    fn path(self) -> &'static str {
        match self {
            Signal::Logs => "/v1/logs",
            Signal::Traces => "/v1/traces",
            Signal::Metrics => "/v1/metrics",
        }
    }
}

/// How the records of a sink reach the collector.
pub struct Otlp {
    signal: Signal,
    client: Client,
    batch: Batch,
    backoff: Backoff,
    /// How long a record waits for others at most.
    interval: Duration,
    now: fn() -> Instant,
    /// When the first record of the batch came.
    since: Option<Instant>,
    /// Disconnects when the program ends: from then on nothing waits for a better time.
    closing: Receiver<()>,
    close: Option<Sender<()>>,
    /// The collector failed while the program ended.
    given_up: bool,
}

impl Otlp {
    /// Sends logs or spans by `client`, at the latest `interval` after their request has ended. `now` reads the clock.
    pub fn new(
        signal: Signal,
        client: Client,
        source: &Source,
        interval: Duration,
        now: fn() -> Instant,
    ) -> Self {
        let (close, closing) = channel();
        Otlp {
            signal,
            client,
            batch: Batch::new(signal, source),
            backoff: Backoff::new(source.seed()),
            interval,
            now,
            since: None,
            closing,
            close: Some(close),
            given_up: false,
        }
    }

    /// What it is called in messages: where it sends to.
    pub(super) fn name(&self) -> String {
        self.client.url(self.signal)
    }

    /// What metrics call it.
    pub(super) fn kind(&self) -> &'static str {
        match self.signal {
            Signal::Traces => "otlp_traces",
            Signal::Logs | Signal::Metrics => "otlp_logs",
        }
    }

    /// Dropping this tells that the program ends.
    pub(super) fn closer(&mut self) -> Option<Sender<()>> {
        self.close.take()
    }

    /// How long until [`Otlp::flush`] is due; `None` while there is nothing to send.
    pub(super) fn due_in(&self) -> Option<Duration> {
        let waited = (self.now)().saturating_duration_since(self.since?);
        Some(self.interval.saturating_sub(waited))
    }

    /// Adds a record; sends them all once there are many, or the first has waited long enough.
    pub(super) fn write(&mut self, record: &RequestRecord) -> Fate {
        if !self.batch.add(record) {
            return Fate::UNWANTED;
        }
        self.since.get_or_insert_with(self.now);
        match self.batch.is_full() || self.due_in() == Some(Duration::ZERO) {
            true => self.flush(),
            false => Fate::default(),
        }
    }

    /// Sends what there is, and waits until it is taken or lost.
    pub(super) fn flush(&mut self) -> Fate {
        self.since = None;
        let n = self.batch.n();
        if n == 0 {
            return Fate::default();
        }
        let message = self.batch.take();
        let lost = if self.given_up {
            n
        } else {
            self.deliver(&message, n)
        };
        Fate {
            written: n - lost,
            lost,
            unwanted: 0,
        }
    }

    /// Sends a message with `n` records; how many of them are lost.
    fn deliver(&mut self, message: &[u8], n: u64) -> u64 {
        self.backoff.start();
        let mut is_last = false;
        loop {
            match self.client.post(self.signal, message) {
                post::Answer::Taken { rejected } => {
                    // Of spans nobody says whose they were: each may be of another record.
                    return rejected.min(n);
                }
                post::Answer::Refused => return n,
                post::Answer::Again { .. } if is_last => {
                    self.given_up = true;
                    return n;
                }
                post::Answer::Again { after } => {
                    let Some(pause) = self.backoff.next(after) else {
                        return n;
                    };
                    is_last = retry::is_over_within(&self.closing, pause);
                }
            }
        }
    }
}

impl fmt::Debug for Otlp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Otlp").field(&self.name()).finish()
    }
}
