//! What a line gives: a record, a part of one, or what is wrong with it.

use serde::Deserialize;
use serde_json::error::Category;

use super::blocks::{Block, LONGEST};
use super::unread::BadLine;
use crate::observe::record::{RequestRecord, SCHEMA};

/// So much of a problem is told.
const TOLD: usize = 160;
/// What is wrong with a line that ends too early.
const CUT_OFF: &str = "is cut off";

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
pub(super) fn parse<'a, T: Deserialize<'a> + Versioned>(text: &'a [u8]) -> Result<T, String> {
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
pub(super) fn plain(text: &str) -> String {
    text.chars()
        .filter(|c| !c.is_control())
        .take(TOLD)
        .collect()
}
