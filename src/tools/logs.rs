//! Logs read back: records from JSON Lines, one by one or block by block.
//!
//! - `names`: which files are meant
//! - `order`: which of them is read first
//! - `source`: the bytes of one, unpacked where it is packed
//! - `blocks`: whole lines of it, with their numbers
//! - `follow`: files that grow and are rotated
//! - `line`: what a line gives, a record or what is wrong with it
//! - `unread`: what is told of lines that gave none
//!
//! A log may be damaged: cut by a full disk, mixed with lines of another program, or written by a newer version. Each
//! line that gives no record is named with file, number and problem, and the next one is read.
//!
//! A line may also be an object that has the record under `record`, as `dripline probe --json` writes it.

mod blocks;
mod follow;
mod line;
mod names;
mod order;
mod source;
mod unread;

use std::collections::VecDeque;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use crate::observe::record::RequestRecord;

pub use blocks::{Block, Blocks, LONGEST};
pub use follow::{Followed, Piece};
pub use line::{Versioned, parsed};
pub use names::unfolded;
pub use order::oldest_first;
pub use source::Source;
pub use unread::{BadLine, Unread, broken, no_record};

/// What a line gave.
pub type Line = Result<Box<RequestRecord>, BadLine>;

/// A log that is being read. Its items are lines; an error of reading ends it.
pub struct Log {
    name: String,
    packed: bool,
    blocks: Blocks<Box<dyn Read + Send>>,
    /// Lines that were read and not yet given.
    ready: VecDeque<Line>,
    ended: bool,
}

impl Log {
    /// Opens the file at `path`, packed or not; `-` is standard input.
    ///
    /// # Errors
    ///
    /// A sentence that names the file and what to do.
    pub fn open(path: &Path) -> anyhow::Result<Log> {
        Ok(Log::of(Source::open(path, &Arc::default())?))
    }

    /// Reads from `reader`, which is called `name`.
    ///
    /// # Errors
    ///
    /// Reading failed.
    pub fn read(name: &str, reader: impl Read + Send + 'static) -> anyhow::Result<Log> {
        Ok(Log::of(Source::of(name, reader, &Arc::default())?))
    }

    /// Reads from `source`.
    pub fn of(source: Source) -> Log {
        Log {
            name: source.name,
            packed: source.packed,
            blocks: Blocks::of(source.reader),
            ready: VecDeque::new(),
            ended: false,
        }
    }

    /// All records of the log, and the lines that gave none.
    ///
    /// # Errors
    ///
    /// Reading failed; the sentence names the file.
    pub fn into_records(self) -> anyhow::Result<(Vec<RequestRecord>, Vec<BadLine>)> {
        let (mut records, mut bad) = (Vec::new(), Vec::new());
        for line in self {
            match line? {
                Ok(record) => records.push(*record),
                Err(line) => bad.push(line),
            }
        }
        Ok((records, bad))
    }
}

impl Iterator for Log {
    type Item = anyhow::Result<Line>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.ready.is_empty() && !self.ended {
            match self.blocks.read_block() {
                Ok(Some(block)) => self.ready.extend(parsed(&self.name, &block)),
                Ok(None) => self.ended = true,
                Err(error) => {
                    self.ended = true;
                    return Some(
                        broken(&self.name, self.packed, self.blocks.lines(), error).map(Err),
                    );
                }
            }
        }
        self.ready.pop_front().map(Ok)
    }
}

/// A record to make others of, for the tests of what reads logs: a stall of the simulated server.
#[cfg(test)]
pub(crate) fn sample() -> RequestRecord {
    serde_json::from_str(include_str!("logs/record.json")).expect("it is a record")
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    fn one_line() -> String {
        serde_json::to_string(&sample()).unwrap()
    }

    fn read(text: String) -> (usize, Vec<String>) {
        read_bytes(text.into_bytes())
    }

    fn read_bytes(text: Vec<u8>) -> (usize, Vec<String>) {
        let log = Log::read("a.jsonl", io::Cursor::new(text)).unwrap();
        let (records, bad) = log.into_records().unwrap();
        (records.len(), bad.iter().map(BadLine::to_string).collect())
    }

    #[test]
    fn records_are_read_and_lines_that_are_none_are_named() {
        let good = one_line();
        let half = &good[..good.len() / 2];
        let newer = good.replace(r#""schema":1"#, r#""schema":7"#);
        let more = good.replacen('{', r#"{"a_field_of_tomorrow":[1],"#, 1);
        let (records, bad) = read(format!(
            "{good}\n\n{half}\n{more}\r\nnot JSON\n{newer}\n{{}}\n{good}"
        ));
        assert_eq!(records, 3);
        assert_eq!(
            bad,
            [
                "a.jsonl, line 3: is cut off",
                "a.jsonl, line 5: is not JSON from column 2 on",
                "a.jsonl, line 6: has schema 7, newer than this dripline, which knows 1",
                "a.jsonl, line 7: is no record of dripline's: missing field `schema` at line 1 column 2",
            ]
        );
    }

    #[test]
    fn a_log_that_is_still_being_written_is_read_up_to_its_last_line() {
        let good = one_line();
        let text = format!("{good}\n{}", &good[..good.len() - 9]);
        let (records, bad) = read(text.clone());
        assert_eq!(
            (records, &bad[..]),
            (1, &["a.jsonl, line 2: is cut off".to_owned()][..])
        );
        let log = Log::read("a.jsonl", io::Cursor::new(text)).unwrap();
        let mut unread = Unread::default();
        for line in log.into_records().unwrap().1 {
            unread.push(line);
        }
        assert_eq!(
            unread.told().unwrap(),
            "1 line could not be read: a.jsonl, line 2: is cut off, the last one: the log is still being written, or its \
             writer was stopped"
        );
        assert_eq!(read(format!("{good}\n{good}")).0, 2, "it lacks but its end");
    }

    #[test]
    fn a_row_of_a_probe_is_the_record_in_it() {
        let good = one_line();
        let row = |record: &str| format!(r#"{{"ttft_s":0.08,"run":1,"record":{record}}}"#);
        let newer = good.replace(r#""schema":1"#, r#""schema":7"#);
        let (rows, torn) = (row(&good), row("{}"));
        let (records, bad) = read(format!(
            "{rows}\n{good}\n{torn}\n{}\n{}\n{}",
            row("null"),
            row(&newer),
            &rows[..rows.len() - 1]
        ));
        assert_eq!(records, 2);
        let problems: Vec<_> = bad
            .iter()
            .map(|line| line.split(": ").nth(1).unwrap())
            .collect();
        assert_eq!(
            problems,
            [
                "is no record of dripline's",
                "is no record of dripline's",
                "has schema 7, newer than this dripline, which knows 1",
                "is cut off",
            ]
        );
        let found = Log::read("a.jsonl", io::Cursor::new(rows))
            .unwrap()
            .into_records()
            .unwrap()
            .0;
        assert_eq!(found, [sample()]);
    }

    #[test]
    fn packed_logs_are_read_whatever_their_name_and_also_when_cut() {
        let text = (one_line() + "\n").repeat(3000).into_bytes();
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        io::Write::write_all(&mut gzip, &text).unwrap();
        let gzip = gzip.finish().unwrap();
        for packed in [gzip, zstd::encode_all(&text[..], 1).unwrap()] {
            assert_eq!(read_bytes(packed.clone()), (3000, vec![]));
            assert_eq!(
                read_bytes(packed.repeat(2)),
                (6000, vec![]),
                "two of them in one file"
            );
            let (records, bad) = read_bytes(packed[..packed.len() / 2].to_vec());
            assert!(records < 3000, "{records}");
            let last = bad.last().unwrap();
            assert!(last.contains("cannot be unpacked"), "{bad:?}");
        }
    }

    #[test]
    fn what_a_file_says_cannot_steer_the_terminal() {
        let sly = one_line().replace(r#""schema":1"#, r#""schema":"\u001b[2J""#);
        let (records, bad) = read(sly);
        assert_eq!(records, 0);
        assert!(!bad[0].contains('\x1b'), "{bad:?}");
    }

    #[test]
    fn what_cannot_be_opened_is_named_with_what_to_do() {
        let error = |path: &str| format!("{:#}", Log::open(Path::new(path)).err().unwrap());
        let missing = error("no/such.jsonl");
        assert!(
            missing.contains("no/such.jsonl") && missing.contains("--log FILE"),
            "{missing}"
        );
        assert!(error(".").contains("is a folder"));
    }
}
