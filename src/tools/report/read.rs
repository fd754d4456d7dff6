//! Logs read for a summary: in blocks, by several threads, and handed on in their order.
//!
//! ```text
//!          ┌→ lines of block 1 →┐
//! blocks ──┤                    ├── each record, in order
//!          └→ lines of block 2 →┘
//! ```
//!
//! All that is in memory at a time is a few blocks, however long the logs are.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use anyhow::anyhow;

use super::light::Light;
use super::progress::Progress;
use crate::observe::record::RequestRecord;
use crate::tools::logs::{BadLine, Block, Blocks, Source, Unread, broken, parsed};

/// Past so many threads the one that takes the records in is what takes the time.
const MOST_THREADS: usize = 8;
/// Blocks that wait for a thread, and of which the records wait to be taken in, for each thread.
const WAITING: usize = 2;

/// What a block's lines gave.
type Lines = Vec<Result<Light, BadLine>>;

/// A block to be read, and where its records go.
struct Job {
    name: Arc<str>,
    block: Block,
    to: SyncSender<Lines>,
}

/// Hands on the records of `files`, one file after the other. Gives the lines that were none.
///
/// # Errors
///
/// A file cannot be opened or read; the sentence names it.
pub fn each(
    files: &[PathBuf],
    progress: &Progress,
    mut take: impl FnMut(RequestRecord),
) -> anyhow::Result<Unread> {
    let threads = thread::available_parallelism()
        .map_or(1, usize::from)
        .min(MOST_THREADS);
    let (jobs, waiting) = sync_channel::<Job>(threads * WAITING);
    let (order, in_order) = sync_channel::<Receiver<Lines>>(threads * WAITING);
    let waiting = Mutex::new(waiting);
    let mut unread = Unread::default();
    thread::scope(|scope| {
        let reader = scope.spawn(|| split(files, progress, jobs, order));
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(Job { name, block, to }) = next(&waiting) {
                    // whoever no longer listens has failed, and is told so by its panic
                    let _ = to.send(parsed(&name, &block).collect());
                }
            });
        }
        for lines in in_order.iter().filter_map(|lines| lines.recv().ok()) {
            for line in lines {
                match line {
                    Ok(Light(record)) => take(record),
                    Err(line) => unread.push(line),
                }
            }
            progress.show();
        }
        reader
            .join()
            .unwrap_or_else(|_| Err(anyhow!("reading the logs failed (please report)")))
    })?;
    Ok(unread)
}

fn next(waiting: &Mutex<Receiver<Job>>) -> Option<Job> {
    // one at a time waits, which is as good as all of them
    waiting
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .recv()
        .ok()
}

/// Reads the files in their order, and gives each block to a thread and its place to the order.
fn split(
    files: &[PathBuf],
    progress: &Progress,
    jobs: SyncSender<Job>,
    order: SyncSender<Receiver<Lines>>,
) -> anyhow::Result<()> {
    for path in files {
        let Source {
            name,
            reader,
            packed,
        } = Source::open(path, &progress.done)?;
        let shared: Arc<str> = name.as_str().into();
        let mut blocks = Blocks::of(reader);
        loop {
            let (to, lines) = sync_channel(1);
            match blocks.read_block() {
                Ok(None) => break,
                Ok(Some(block)) => {
                    let name = Arc::clone(&shared);
                    if order.send(lines).is_err() || jobs.send(Job { name, block, to }).is_err() {
                        return Ok(()); // nobody listens any more
                    }
                }
                Err(error) => {
                    let line = broken(&name, packed, blocks.lines(), error)?;
                    let _ = to.send(vec![Err(line)]);
                    let _ = order.send(lines);
                    break;
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::tools::logs::sample;

    #[test]
    fn records_of_many_blocks_come_in_their_order() {
        let dir = tempfile::tempdir().unwrap();
        let mut text = String::new();
        for i in 0..3000 {
            let mut record = sample();
            record.id = format!("{i:05}");
            text += &serde_json::to_string(&record).unwrap();
            text += if i % 1000 == 7 {
                "\n{\"schema\":1\n"
            } else {
                "\n"
            };
        }
        let files = [dir.path().join("a.jsonl"), dir.path().join("b.jsonl.gz")];
        fs::write(&files[0], &text).unwrap();
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut gzip, text.as_bytes()).unwrap();
        let gzip = gzip.finish().unwrap();
        fs::write(&files[1], &gzip[..gzip.len() - 20]).unwrap();
        let mut ids: Vec<u32> = Vec::new();
        let take = |record: RequestRecord| ids.push(record.id.parse().unwrap());
        let unread = each(&files, &Progress::hidden(), take).unwrap();
        assert_eq!(ids[..3000], (0..3000).collect::<Vec<_>>());
        assert!(ids[3000..].iter().zip(0..).all(|(id, i)| *id == i));
        assert!(ids.len() > 5900, "{}", ids.len());
        assert!(unread.count >= 7, "{unread:?}");
        let first = &unread.first[0];
        assert!(
            first.to_string().ends_with("a.jsonl, line 9: is cut off"),
            "{first}"
        );
    }

    #[test]
    fn a_file_that_is_not_there_is_an_error() {
        let none = each(&["no/such".into()], &Progress::hidden(), drop).unwrap_err();
        assert!(format!("{none:#}").contains("no/such"), "{none:#}");
    }
}
