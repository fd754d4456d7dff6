//! A queue in front of one sink, and the thread that empties it.
//!
//! Bounded by weight rather than length, because a record with a timeline can be a thousand times
//! one without.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use super::{Sink, Totals};
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
}

impl Queue {
    /// Starts the thread of `sink`.
    pub(super) fn start(mut sink: Sink) -> std::io::Result<Self> {
        let (name, kind, patience) = (sink.name(), sink.kind(), sink.patience());
        let counts = Arc::new(Counts::default());
        let (sender, receiver) = channel();
        let (alive, ended) = channel::<()>();
        let own = Arc::clone(&counts);
        thread::Builder::new()
            .name("dripline-sink".into())
            .spawn(move || {
                let _alive = alive;
                while let Ok(Message::Record(record, weight)) = receiver.recv() {
                    let count = if sink.write(&record) {
                        &own.written
                    } else {
                        &own.lost
                    };
                    count.fetch_add(1, Relaxed);
                    own.waiting.fetch_sub(weight, Relaxed);
                }
            })?;
        Ok(Queue {
            name,
            kind,
            patience,
            sender,
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
        // An error means that it has ended already.
        let _ = self.sender.send(Message::End);
    }

    /// Waits for the end that was asked for. A sink that is stuck must not keep the program.
    pub(super) fn wait(&self) -> Totals {
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        let stuck = ended.recv_timeout(self.patience) == Err(RecvTimeoutError::Timeout);
        let written = self.counts.written.load(Relaxed);
        let lost = self.counts.emitted.load(Relaxed) - written;
        if stuck {
            tracing::error!("{} takes nothing; gave up on {lost} records", self.name);
        }
        Totals {
            lost,
            ..self.totals()
        }
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
        let totals = queue.wait();
        assert!(totals.lost > QUEUE_WEIGHT as u64);
        assert_eq!(totals.written + totals.lost, many);
        queue.push(record);
        assert_eq!(
            queue.wait().lost,
            totals.lost + 1,
            "what comes after the end is lost, too"
        );
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
