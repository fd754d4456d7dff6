//! Logs read back: records from JSON Lines, one by one or block by block.
//!
//! - `names`: which files are meant
//! - `source`: the bytes of one, unpacked where it is packed
//! - `blocks`: whole lines of it, with their numbers
//!
//! A log may be damaged: cut by a full disk, mixed with lines of another program, or written by a newer version. Each
//! line that gives no record is named with file, number and problem, and the next one is read.
//!
//! A line may also be an object that has the record under `record`, as `dripline probe --json` writes it.

mod blocks;
mod names;
mod source;

use std::collections::VecDeque;
use std::fmt;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use serde::Deserialize;
use serde_json::error::Category;

use crate::observe::record::{RequestRecord, SCHEMA};

pub use blocks::{Block, Blocks, LONGEST};
pub use names::unfolded;
pub use source::Source;

/// So much of a problem is told.
const TOLD: usize = 160;
/// What is wrong with a line that ends too early.
const CUT_OFF: &str = "is cut off";

/// A line that gave no record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadLine {
    /// The file's name as it was given.
    pub file: String,
    /// Its number in the file, from 1.
    pub line: u64,
    /// What is wrong with it, such as `is cut off`.
    pub problem: String,
    /// It is cut off and has no end: the log is still being written, or its writer was stopped.
    pub is_unended: bool,
}

impl fmt::Display for BadLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, line {}: {}", self.file, self.line, self.problem)
    }
}

/// Lines that gave no record: how many, and the first of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Unread {
    /// All of them.
    pub count: u64,
    /// The first few.
    pub first: Vec<BadLine>,
}

impl Unread {
    /// So many are kept to be named.
    pub const NAMED: usize = 5;

    /// Takes one more.
    pub fn push(&mut self, line: BadLine) {
        self.count += 1;
        if self.first.len() < Unread::NAMED {
            self.first.push(line);
        }
    }

    /// In words, if there are any.
    pub fn told(&self) -> Option<String> {
        let named = |line: &BadLine| match line.is_unended {
            true => format!(
                "{line}, the last one: the log is still being written, or its writer was stopped"
            ),
            false => line.to_string(),
        };
        let named: Vec<String> = self.first.iter().map(named).collect();
        let named = named.join("; ");
        match self.count {
            0 => None,
            1 => Some(format!("1 line could not be read: {named}")),
            n if n as usize > self.first.len() => {
                Some(format!("{n} lines could not be read, the first: {named}"))
            }
            n => Some(format!("{n} lines could not be read: {named}")),
        }
    }
}

/// Why a log is of no use, and what to do.
pub fn no_record(name: &str, first: Option<&BadLine>) -> String {
    let why = first.map_or(String::new(), |line| format!(" ({line})"));
    format!("{name} has no record{why}; name a log that `dripline proxy --log FILE` wrote")
}

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

/// What a failure of reading means: of a packed log that it is damaged or still being written, which is told like a bad
/// line.
///
/// # Errors
///
/// Of any other log it is an error, which names the file and the last line that was read.
pub fn broken(name: &str, packed: bool, lines: u64, error: io::Error) -> anyhow::Result<BadLine> {
    if packed {
        return Ok(BadLine {
            file: name.to_owned(),
            line: lines + 1,
            is_unended: false,
            problem: format!(
                "cannot be unpacked, nor what follows ({}): the file is damaged or still being written",
                plain(&error.to_string())
            ),
        });
    }
    Err(error).with_context(|| format!("cannot read {name} after line {lines}"))
}

/// Of what can be read from a line: a record, or a part of one.
pub trait Versioned {
    /// The field `schema`.
    fn schema(&self) -> u32;
}

impl Versioned for Box<RequestRecord> {
    fn schema(&self) -> u32 {
        self.schema
    }
}

/// What the lines of a block gave.
pub fn parsed<'a, T: Deserialize<'a> + Versioned>(
    name: &'a str,
    block: &'a Block,
) -> impl Iterator<Item = Result<T, BadLine>> + use<'a, T> {
    let bad = move |line, problem: String, ended: bool| BadLine {
        file: name.to_owned(),
        line,
        is_unended: !ended && problem == CUT_OFF,
        problem,
    };
    let too_long = block.too_long.then(|| {
        let problem = format!("is longer than {} MiB", LONGEST >> 20);
        Err(bad(block.first, problem, true))
    });
    let lines = block.lines().map(move |(number, text, ended)| {
        parse(text).map_err(|problem| bad(number, problem, ended))
    });
    too_long.into_iter().chain(lines)
}

/// A line that has a record in it, as `dripline probe --json` writes them.
#[derive(Deserialize)]
struct Around<T> {
    record: T,
}

/// JSON, whose UTF-8 is checked at once: key by key it takes a tenth of the time.
fn json<'a, T: Deserialize<'a>>(text: &'a [u8]) -> serde_json::Result<T> {
    match str::from_utf8(text) {
        Ok(text) => serde_json::from_str(text),
        // tells where it goes wrong
        Err(_) => serde_json::from_slice(text),
    }
}

/// The record of a line, or what is wrong with it.
fn parse<'a, T: Deserialize<'a> + Versioned>(text: &'a [u8]) -> Result<T, String> {
    let read = json::<T>(text).or_else(|error| {
        let around = match error.classify() {
            Category::Data => json::<Around<T>>(text).ok(),
            _ => None,
        };
        around.map(|around| around.record).ok_or(error)
    });
    match read {
        Ok(record) if record.schema() > SCHEMA => Err(format!(
            "has schema {}, newer than this dripline, which knows {SCHEMA}",
            record.schema()
        )),
        Ok(record) => Ok(record),
        Err(error) => Err(match error.classify() {
            Category::Eof => CUT_OFF.to_owned(),
            Category::Data => format!("is no record of dripline's: {}", plain(&error.to_string())),
            Category::Syntax | Category::Io => {
                format!("is not JSON from column {} on", error.column())
            }
        }),
    }
}

/// Text of a file as a terminal may show it: short, and without what would steer the terminal.
fn plain(text: &str) -> String {
    text.chars()
        .filter(|c| !c.is_control())
        .take(TOLD)
        .collect()
}

/// A record to make others of, for the tests of what reads logs: a stall of the simulated server.
#[cfg(test)]
pub(crate) fn sample() -> RequestRecord {
    serde_json::from_str(include_str!("logs/record.json")).expect("it is a record")
}

#[cfg(test)]
mod tests {
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
