//! Lines that gave no record, and logs that give none: what is told of them.

use std::fmt;
use std::io;

use anyhow::Context;

use super::line::plain;

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
