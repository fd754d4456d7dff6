//! Logs read back: records from a JSON Lines file or standard input, one by one.
//!
//! A log may be damaged: cut by a full disk, mixed with lines of another program, or written by a newer version. Each
//! line that gives no record is named with file, number and problem, and the next one is read.
//!
//! A line may also be an object that has the record under `record`, as `dripline probe --json` writes it.

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use anyhow::{Context, bail};
use serde::Deserialize;
use serde_json::error::Category;

use crate::observe::record::{RequestRecord, SCHEMA};

/// Longest line that is looked into. A record with the longest timeline has some 5 MB.
const LONGEST: u64 = 64 << 20;
/// So much of a problem is told.
const TOLD: usize = 160;

/// A line that gave no record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadLine {
    /// The file's name as it was given.
    pub file: String,
    /// Its number in the file, from 1.
    pub line: u64,
    /// What is wrong with it, such as `is cut off`.
    pub problem: String,
}

impl fmt::Display for BadLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, line {}: {}", self.file, self.line, self.problem)
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
    reader: Box<dyn BufRead>,
    line: u64,
    buffer: Vec<u8>,
    ended: bool,
}

impl Log {
    /// Opens the file at `path`; `-` is standard input.
    ///
    /// # Errors
    ///
    /// A sentence that names the file and what to do.
    pub fn open(path: &Path) -> anyhow::Result<Log> {
        let name = path.display().to_string();
        if path.as_os_str() == "-" {
            return Ok(Log::read("standard input", BufReader::new(io::stdin())));
        }
        if path.is_dir() {
            bail!(
                "{name} is a folder; name the log file in it, the one of `dripline proxy --log FILE`"
            );
        }
        let file = File::open(path).with_context(|| {
            format!("cannot read {name}; name a log that `dripline proxy --log FILE` wrote")
        })?;
        Ok(Log::read(&name, BufReader::with_capacity(1 << 20, file)))
    }

    /// Reads from `reader`, which is called `name`.
    pub fn read(name: &str, reader: impl BufRead + 'static) -> Log {
        Log {
            name: name.to_owned(),
            reader: Box::new(reader),
            line: 0,
            buffer: Vec::new(),
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

    /// The next line into the buffer, without its end; the number of bytes it has, 0 at the end of the log.
    fn fill(&mut self) -> io::Result<u64> {
        self.buffer.clear();
        let mut read = (&mut self.reader)
            .take(LONGEST)
            .read_until(b'\n', &mut self.buffer)? as u64;
        if read == LONGEST && !self.buffer.ends_with(b"\n") {
            read += self.reader.skip_until(b'\n')? as u64;
        }
        Ok(read)
    }
}

impl Iterator for Log {
    type Item = anyhow::Result<Line>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.ended {
            let long = match self.fill() {
                Ok(0) => break,
                Ok(read) => read > LONGEST,
                Err(error) => {
                    self.ended = true;
                    let place = format!("cannot read {} after line {}", self.name, self.line);
                    return Some(Err(error).context(place));
                }
            };
            self.line += 1;
            let parsed = match self.buffer.trim_ascii() {
                b"" => continue,
                _ if long => Err(format!("is longer than {} MiB", LONGEST >> 20)),
                text => parse(text),
            };
            return Some(Ok(parsed.map_err(|problem| BadLine {
                file: self.name.clone(),
                line: self.line,
                problem,
            })));
        }
        self.ended = true;
        None
    }
}

/// A row that has a record among its keys.
#[derive(Deserialize)]
struct Row {
    record: Option<Box<RequestRecord>>,
}

/// The record that a line is, or has. Logs of proxies, where no line is a row, are looked at once.
fn record(text: &[u8]) -> serde_json::Result<Box<RequestRecord>> {
    serde_json::from_slice(text).or_else(|error| {
        if error.classify() != Category::Data {
            return Err(error);
        }
        serde_json::from_slice(text).and_then(|row: Row| row.record.ok_or(error))
    })
}

/// The record of a line, or what is wrong with it.
fn parse(text: &[u8]) -> Result<Box<RequestRecord>, String> {
    match record(text) {
        Ok(record) if record.schema > SCHEMA => Err(format!(
            "has schema {}, newer than this dripline, which knows {SCHEMA}",
            record.schema
        )),
        Ok(record) => Ok(record),
        Err(error) => Err(match error.classify() {
            Category::Eof => "is cut off".to_owned(),
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
        let (records, bad) = Log::read("a.jsonl", io::Cursor::new(text))
            .into_records()
            .unwrap();
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
            .into_records()
            .unwrap()
            .0;
        assert_eq!(found, [sample()]);
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
