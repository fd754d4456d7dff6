//! A queue in front of one sink, and the thread that empties it.
//!
//! Bounded by weight rather than length, because a record with a timeline can be a thousand times
//! one without.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use super::{Fate, Sink, Totals};
use crate::observe::record::RequestRecord;

/// Weight that may wait in one queue: about 4,096 records without a timeline, some 10 MB.
pub(super) const QUEUE_WEIGHT: usize = 4096;
/// Rows of a timeline that weigh as much as a record.
const ROWS_PER_WEIGHT: usize = 50;
enum Message {
    Record(Arc<RequestRecord>, usize),
    End,
}

/// One sink behind its queue.
#[derive(Debug)]
pub(super) struct Queue {
    /// What the sink is called.
    pub(super) name: String,
    kind: &'static str,
    sender: Sender<Message>,
    patience: Duration,
    /// Dropped when the end is asked for; see [`Sink::closer`].
    closer: Mutex<Option<Sender<()>>>,
    /// Disconnects when the thread has ended.
    ended: Mutex<Receiver<()>>,
    counts: Arc<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    waiting: AtomicUsize,
    emitted: AtomicU64,
    written: AtomicU64,
    lost: AtomicU64,
    unwanted: AtomicU64,
}

impl Counts {
    fn add(&self, fate: Fate) {
        self.written.fetch_add(fate.written, Relaxed);
        self.lost.fetch_add(fate.lost, Relaxed);
        self.unwanted.fetch_add(fate.unwanted, Relaxed);
    }
}

impl Queue {
    /// Starts the thread of `sink`.
    pub(super) fn start(mut sink: Sink) -> std::io::Result<Self> {
        let (name, kind, patience) = (sink.name(), sink.kind(), sink.patience());
        let counts = Arc::new(Counts::default());
        let (sender, receiver) = channel();
        let (alive, ended) = channel::<()>();
        let closer = Mutex::new(sink.closer());
        let own = Arc::clone(&counts);
        thread::Builder::new()
            .name("dripline-sink".into())
            .spawn(move || {
                let _alive = alive;
                loop {
                    match next(&receiver, sink.due_in()) {
                        Ok(Message::Record(record, weight)) => {
                            own.add(sink.write(&record));
                            own.waiting.fetch_sub(weight, Relaxed);
                        }
                        Err(RecvTimeoutError::Timeout) => own.add(sink.flush()),
                        Ok(Message::End) | Err(RecvTimeoutError::Disconnected) => break,
                    }
                }
                own.add(sink.flush());
            })?;
        Ok(Queue {
            name,
            kind,
            patience,
            sender,
            closer,
            ended: Mutex::new(ended),
            counts,
        })
    }

    /// Never blocks: without room, or after the end, the record is lost and counted.
    pub(super) fn push(&self, record: Arc<RequestRecord>) {
        let weight = 1 + record.timeline.as_ref().map_or(0, Vec::len) / ROWS_PER_WEIGHT;
        self.counts.emitted.fetch_add(1, Relaxed);
        let waiting = self.counts.waiting.fetch_add(weight, Relaxed) + weight;
        if waiting > QUEUE_WEIGHT || self.sender.send(Message::Record(record, weight)).is_err() {
            self.counts.waiting.fetch_sub(weight, Relaxed);
            self.counts.lost.fetch_add(1, Relaxed);
        }
    }

    /// What was pushed before is still written.
    pub(super) fn ask_to_end(&self) {
        let closer = self.closer.lock();
        *closer.unwrap_or_else(PoisonError::into_inner) = None;
        // An error means that it has ended already.
        let _ = self.sender.send(Message::End);
    }

    /// Waits for the end that was asked for at least `waited` ago, and says how long ago that is now at the least. A
    /// sink that is stuck must not keep the program, nor several one after the other.
    pub(super) fn wait(&self, waited: Duration) -> (Totals, Duration) {
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        let patience = self.patience.saturating_sub(waited);
        let stuck = ended.recv_timeout(patience) == Err(RecvTimeoutError::Timeout);
        let written = self.counts.written.load(Relaxed);
        let settled = written + self.counts.unwanted.load(Relaxed);
        let lost = self.counts.emitted.load(Relaxed) - settled;
        if stuck {
            tracing::error!("{} takes nothing; gave up on {lost} records", self.name);
        }
        let totals = Totals {
            lost,
            ..self.totals()
        };
        (totals, if stuck { waited + patience } else { waited })
    }

    /// What became of the records so far.
    pub(super) fn totals(&self) -> Totals {
        Totals {
            name: self.name.clone(),
            kind: self.kind,
            written: self.counts.written.load(Relaxed),
            lost: self.lost(),
        }
    }

    /// Records lost so far.
    pub(super) fn lost(&self) -> u64 {
        self.counts.lost.load(Relaxed)
    }
}

/// Waits for the next message, at most until something is `due_in` that time.
fn next(
    receiver: &Receiver<Message>,
    due_in: Option<Duration>,
) -> Result<Message, RecvTimeoutError> {
    match due_in {
        Some(time) => receiver.recv_timeout(time),
        None => receiver.recv().map_err(RecvTimeoutError::from),
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::PipeReader;
    use std::os::fd::OwnedFd;

    use super::*;
    use crate::observe::record::Row;
    use crate::sink::Jsonl;
    use crate::sink::sample::sample;

    /// A sink whose writes block once 64 KiB wait, until the reader is dropped: then they fail.
    fn stuck() -> (PipeReader, Queue) {
        let (reader, writer) = std::io::pipe().unwrap();
        let file = File::from(OwnedFd::from(writer));
        (
            reader,
            Queue::start(Sink::Jsonl(Jsonl::onto(file, "pipe"))).unwrap(),
        )
    }

    #[test]
    fn a_stuck_sink_blocks_no_caller_and_every_record_is_accounted_for() {
        let (reader, queue) = stuck();
        let record = Arc::new(sample());
        let many = QUEUE_WEIGHT as u64 + 1000;
        (0..many).for_each(|_| queue.push(Arc::clone(&record)));
        assert!(
            queue.lost() > 900,
            "64 KiB in the pipe are a few dozen records"
        );
        drop(reader);
        queue.ask_to_end();
        let (totals, _) = queue.wait(Duration::ZERO);
        assert!(totals.lost > QUEUE_WEIGHT as u64);
        assert_eq!(totals.written + totals.lost, many);
        queue.push(record);
        assert_eq!(
            queue.wait(Duration::ZERO).0.lost,
            totals.lost + 1,
            "what comes after the end is lost, too"
        );
    }

    #[test]
    fn two_that_are_stuck_are_waited_for_at_the_same_time() {
        let (_readers, queues): (Vec<_>, Vec<_>) = (0..2).map(|_| stuck()).unzip();
        let record = Arc::new(sample());
        for queue in &queues {
            (0..1000).for_each(|_| queue.push(Arc::clone(&record)));
            queue.ask_to_end();
        }
        let ago = queues[0].patience - Duration::from_millis(1);
        let (_, ago) = queues[0].wait(ago);
        assert_eq!(ago, queues[0].patience);
        let (totals, still) = queues[1].wait(ago);
        assert!(still == ago && totals.lost > 0);
    }

    #[test]
    fn long_timelines_fill_a_queue_by_their_weight() {
        let (_reader, queue) = stuck();
        let rows = vec![Row(0, None, 0, 0, 0); 100_000];
        let record = Arc::new(crate::observe::record::RequestRecord {
            timeline: Some(rows),
            ..sample()
        });
        (0..10).for_each(|_| queue.push(Arc::clone(&record)));
        let room = (QUEUE_WEIGHT * ROWS_PER_WEIGHT / 100_000) as u64;
        assert_eq!(queue.lost(), 10 - room);
    }
}
