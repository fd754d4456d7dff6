//! Where records go: [`jsonl`] (the log, which is the truth), [`console`] (a line to watch), [`metrics`] (all
//! requests so far, for Prometheus) and [`otlp`] (an OpenTelemetry collector). Two forms of a record that several rooms
//! write: [`columns`] of a row, and [`trace`].
//!
//! The relay hands a record over with [`Sinks::emit`] and never waits. Each sink has a queue of
//! bounded weight and a thread of its own, so a stuck disk does not silence the terminal, nor a
//! paused terminal (Ctrl-S) the log. What a queue cannot hold is counted and told. The telling too
//! is done by a thread: the one that calls `emit` would block on the same paused terminal.

pub mod columns;
pub mod console;
mod convention;
mod ids;
pub mod jsonl;
pub mod metrics;
pub mod otlp;
mod queue;
#[cfg(test)]
mod sample;
pub mod trace;
mod wall;

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use crate::observe::record::RequestRecord;

pub use console::{Console, Output};
pub use jsonl::Jsonl;
pub use metrics::Metrics;
pub use otlp::Otlp;

use queue::Queue;

/// How often lost records are told of.
const TELL_EVERY: Duration = Duration::from_secs(5);

/// One place that records go to.
#[derive(Debug)]
pub enum Sink {
    /// JSON Lines.
    Jsonl(Jsonl),
    /// A readable line for each.
    Console(Console),
    /// Counters and histograms.
    Metrics(Arc<Metrics>),
    /// A collector.
    Otlp(Box<Otlp>),
}

/// What became of records that a sink was given; it may still have others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Fate {
    /// They got there.
    written: u64,
    /// They did not.
    lost: u64,
    /// They are none that this sink is for.
    unwanted: u64,
}

impl Fate {
    /// One that this sink is not for.
    const UNWANTED: Fate = Fate {
        written: 0,
        lost: 0,
        unwanted: 1,
    };

    /// One that was written, or not.
    fn of_one(is_written: bool) -> Fate {
        Fate {
            written: u64::from(is_written),
            lost: u64::from(!is_written),
            unwanted: 0,
        }
    }
}

impl Sink {
    fn name(&self) -> String {
        match self {
            Sink::Jsonl(jsonl) => jsonl.name(),
            Sink::Console(_) => "the terminal".to_owned(),
            Sink::Metrics(_) => "the metrics".to_owned(),
            Sink::Otlp(otlp) => otlp.name(),
        }
    }

    /// What metrics call it: no name of a file.
    fn kind(&self) -> &'static str {
        match self {
            Sink::Jsonl(_) => "log",
            Sink::Console(_) => "terminal",
            Sink::Metrics(_) => "metrics",
            Sink::Otlp(otlp) => otlp.kind(),
        }
    }

    /// How long the end of the program waits for what is not written yet. The log is the truth; a line
    /// that nobody can see is not worth much of a wait.
    fn patience(&self) -> Duration {
        Duration::from_secs(match self {
            Sink::Jsonl(_) => 10,
            Sink::Otlp(_) => 5,
            Sink::Console(_) | Sink::Metrics(_) => 1,
        })
    }

    /// Takes one record; what became of it and of those before that waited.
    fn write(&mut self, record: &RequestRecord) -> Fate {
        Fate::of_one(match self {
            Sink::Jsonl(jsonl) => jsonl.write(record),
            Sink::Console(console) => console.write(record),
            Sink::Metrics(metrics) => metrics.write(record),
            Sink::Otlp(otlp) => return otlp.write(record),
        })
    }

    /// How long until [`Sink::flush`] is due; `None` where nothing waits in it.
    fn due_in(&self) -> Option<Duration> {
        match self {
            Sink::Otlp(otlp) => otlp.due_in(),
            Sink::Jsonl(_) | Sink::Console(_) | Sink::Metrics(_) => None,
        }
    }

    /// Writes what waits in it.
    fn flush(&mut self) -> Fate {
        match self {
            Sink::Otlp(otlp) => otlp.flush(),
            Sink::Jsonl(_) | Sink::Console(_) | Sink::Metrics(_) => Fate::default(),
        }
    }

    /// What tells it, once dropped, that the program ends; `None` for sinks that need not know.
    fn closer(&mut self) -> Option<Sender<()>> {
        match self {
            Sink::Otlp(otlp) => otlp.closer(),
            Sink::Jsonl(_) | Sink::Console(_) | Sink::Metrics(_) => None,
        }
    }
}

/// What became of the records of one sink.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Totals {
    /// The sink.
    pub name: String,
    /// What kind of sink it is, in one word.
    pub kind: &'static str,
    /// Records that got there.
    pub written: u64,
    /// Records that did not: no room in the queue, a failed write, or a collector that did not take them.
    pub lost: u64,
}

/// All sinks, behind their queues.
#[derive(Debug)]
pub struct Sinks {
    queues: Arc<[Queue]>,
    /// Dropped by [`Sinks::close`], which ends the thread that tells of losses.
    open: Mutex<Option<Sender<()>>>,
}

impl Sinks {
    /// Starts a thread for each of `sinks`, and one that tells of losses.
    pub fn start(sinks: Vec<Sink>) -> std::io::Result<Self> {
        let queues: Arc<[Queue]> = sinks
            .into_iter()
            .map(Queue::start)
            .collect::<Result<_, _>>()?;
        let (open, closed) = channel();
        let watched = Arc::clone(&queues);
        thread::Builder::new()
            .name("dripline-losses".into())
            .spawn(move || tell_of_losses(&watched, &closed))?;
        Ok(Sinks {
            queues,
            open: Mutex::new(Some(open)),
        })
    }

    /// Hands a record to every sink. Never blocks; a full queue loses the record and counts it.
    pub fn emit(&self, record: &Arc<RequestRecord>) {
        for queue in self.queues.iter() {
            queue.push(Arc::clone(record));
        }
    }

    /// What became of the records so far; of those that still wait nothing is known.
    pub fn totals(&self) -> Vec<Totals> {
        self.queues.iter().map(Queue::totals).collect()
    }

    /// Waits until all that was emitted before is written (10 s at most for a log, 5 s for a collector, 1 s for a
    /// terminal, all at the same time) and says what became of it. Records emitted later are lost.
    pub fn close(&self) -> Vec<Totals> {
        *self.open.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.queues.iter().for_each(Queue::ask_to_end);
        let mut waited = Duration::ZERO;
        let wait = |queue: &Queue| {
            let totals;
            (totals, waited) = queue.wait(waited);
            totals
        };
        self.queues.iter().map(wait).collect()
    }
}

/// Says every few seconds how many records were lost since, until `closed` disconnects.
fn tell_of_losses(queues: &[Queue], closed: &Receiver<()>) {
    let mut told = vec![0; queues.len()];
    while closed.recv_timeout(TELL_EVERY) == Err(RecvTimeoutError::Timeout) {
        for (queue, told) in queues.iter().zip(&mut told) {
            let lost = queue.lost();
            if lost > *told {
                tracing::error!(
                    "{} records did not reach {} ({lost} in all); requests are not affected",
                    lost - *told,
                    queue.name
                );
                *told = lost;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::sample::sample;
    use super::*;

    #[test]
    fn everything_emitted_before_close_is_written_in_order() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log.jsonl");
        let sinks = Sinks::start(vec![Sink::Jsonl(Jsonl::append_to(&path).unwrap())]).unwrap();
        for n in 0..500 {
            sinks.emit(&Arc::new(RequestRecord {
                id: n.to_string(),
                ..sample()
            }));
        }
        assert_eq!(
            sinks.close(),
            [Totals {
                name: path.display().to_string(),
                kind: "log",
                written: 500,
                lost: 0
            }]
        );
        let ids: Vec<String> = std::fs::read_to_string(&path)
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str::<RequestRecord>(line).unwrap().id)
            .collect();
        assert_eq!(ids, (0..500).map(|n| n.to_string()).collect::<Vec<_>>());
    }
}
