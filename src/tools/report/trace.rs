//! The trace of logs, as a file: what `sink/trace.rs` writes of each record that is wanted.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::choice::Choice;
use super::each::each;
use super::file::{Kind, Output};
use crate::observe::verdict::words::count;
use crate::sink::trace::{MAGIC, Trace};
use crate::tools::logs::Unread;

/// How each such file begins.
pub const KIND: Kind = Kind {
    name: "trace of dripline's",
    magic: MAGIC,
};

/// What was written.
#[derive(Debug, Default)]
pub struct Written {
    /// Requests.
    pub requests: u64,
    /// Requests that have no place: their start cannot be read, or is in no time that the format has.
    pub unplaced: u64,
    /// Lines that were no record.
    pub unread: Unread,
}

impl Written {
    /// What is missing, in words, if anything is.
    pub fn missing(&self) -> Option<String> {
        let unplaced = (self.unplaced > 0).then(|| {
            format!(
                "{} left out: the start cannot be read",
                count(self.unplaced, "request")
            )
        });
        let told: Vec<String> = unplaced.into_iter().chain(self.unread.told()).collect();
        (!told.is_empty()).then(|| told.join("\n"))
    }
}

/// Writes the records of `logs` that are wanted into the file at `path`, to `out` if that is `-`.
///
/// # Errors
///
/// It cannot be written, or a log cannot be read; the sentence names it.
pub fn file(
    logs: &[PathBuf],
    choice: &Choice,
    path: &Path,
    out: &mut impl Write,
) -> anyhow::Result<Written> {
    if path.as_os_str() == "-" {
        let written = write(logs, choice, &mut *out, "cannot print it")?;
        out.flush().context("cannot print it")?;
        return Ok(written);
    }
    let failed = format!("cannot write {}", path.display());
    let mut output = Output::begin(path, KIND)?;
    let written = write(logs, choice, &mut output, &failed)?;
    output.finish().context(failed)?;
    Ok(written)
}

fn write(
    logs: &[PathBuf],
    choice: &Choice,
    to: impl Write,
    failed: &str,
) -> anyhow::Result<Written> {
    let failed = || failed.to_owned();
    let mut written = Written::default();
    let mut trace = Trace::begin(to).with_context(failed)?;
    written.unread = each(logs, choice, |record| {
        let is_placed = trace.request(&record).with_context(failed)?;
        written.requests += u64::from(is_placed);
        written.unplaced += u64::from(!is_placed);
        Ok(())
    })?;
    trace.end().with_context(failed)?;
    Ok(written)
}
