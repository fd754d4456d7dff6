//! Lines on their way to a stream that may be stuck.
//!
//! A pipe that nobody reads and a paused terminal (Ctrl-S) block whoever writes to them. So one thread
//! writes, behind a bounded queue, and nobody else waits: a line without room is lost, and told of when
//! the stream takes lines again.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

/// Lines that may wait: a few hundred kB.
const ROOM: usize = 1024;
/// How long the end of the program waits for a stream that takes nothing.
const WAIT: Duration = Duration::from_secs(1);

/// The queue, and the thread behind it, which clones share.
#[derive(Clone)]
pub struct Lines {
    sender: Sender<Message>,
    counts: Arc<Counts>,
}

enum Message {
    Line(Vec<u8>),
    /// Dropped once all before it is written.
    Flush(Sender<()>),
}

#[derive(Default)]
struct Counts {
    waiting: AtomicUsize,
    lost: AtomicU64,
}

impl Lines {
    /// Starts the thread that writes to `out`.
    pub fn onto(out: impl Write + Send + 'static) -> io::Result<Self> {
        let (sender, receiver) = channel();
        let counts = Arc::new(Counts::default());
        let own = Arc::clone(&counts);
        thread::Builder::new()
            .name("dripline-lines".into())
            .spawn(move || write_all(&receiver, out, &own))?;
        Ok(Lines { sender, counts })
    }

    /// Takes a line with its end. Never blocks.
    pub fn push(&self, line: Vec<u8>) {
        let waiting = self.counts.waiting.fetch_add(1, Relaxed);
        if waiting >= ROOM || self.sender.send(Message::Line(line)).is_err() {
            self.counts.waiting.fetch_sub(1, Relaxed);
            self.counts.lost.fetch_add(1, Relaxed);
        }
    }

    /// Waits until all that was pushed before is written, but not for long.
    pub fn wait(&self) {
        let (flush, flushed) = channel();
        if self.sender.send(Message::Flush(flush)).is_ok() {
            let _ = flushed.recv_timeout(WAIT); // stuck: so be it
        }
    }
}

/// For a subscriber, which writes each formatted line at once.
impl Write for Lines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.push(line.to_vec());
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn write_all(messages: &Receiver<Message>, mut out: impl Write, counts: &Counts) {
    while let Ok(message) = messages.recv() {
        match message {
            // A stream that fails (its reader has gone) is nobody's trouble.
            Message::Line(line) => {
                let _ = out.write_all(&line);
                counts.waiting.fetch_sub(1, Relaxed);
            }
            Message::Flush(flush) => drop(flush),
        }
        let lost = counts.lost.swap(0, Relaxed);
        if lost > 0 {
            let _ = writeln!(out, "({lost} lines are missing here: nobody took them)");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn lines_come_out_whole_and_in_order() {
        let (mut reader, writer) = io::pipe().unwrap();
        let lines = Lines::onto(writer).unwrap();
        for n in 0..100 {
            lines.push(format!("{n}\n").into());
        }
        lines.wait();
        drop(lines);
        let mut all = String::new();
        reader.read_to_string(&mut all).unwrap();
        assert_eq!(all, (0..100).map(|n| format!("{n}\n")).collect::<String>());
    }

    #[test]
    fn a_stuck_stream_blocks_nobody_and_what_it_missed_is_told() {
        let (mut reader, writer) = io::pipe().unwrap();
        let lines = Lines::onto(writer).unwrap();
        let line = [&[b'x'; 999][..], b"\n"].concat();
        (0..ROOM + 500).for_each(|_| lines.push(line.clone()));
        lines.wait(); // returns, though nobody reads
        drop(lines);
        let mut all = String::new();
        reader.read_to_string(&mut all).unwrap();
        let whole = all.lines().filter(|line| line.len() == 999).count();
        let told = all.lines().filter_map(|line| line.strip_prefix('('));
        let lost: usize = told
            .map(|line| line.split(' ').next().unwrap().parse::<usize>().unwrap())
            .sum();
        assert!(lost > 0 && whole >= ROOM);
        assert_eq!(whole + lost, ROOM + 500);
    }
}
