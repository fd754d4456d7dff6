//! A line each, its id first, so that one can be chosen.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;

use super::{Options, each};
use crate::observe::record::RequestRecord;
use crate::sink::console;

/// Columns of dripline's own ids.
const ID: usize = 26;
const FAILED: &str = "cannot print them";

/// Prints those that are wanted of `files`.
///
/// # Errors
///
/// A file cannot be read, or `out` cannot be written.
pub fn write(files: &[PathBuf], options: &Options, out: &mut impl Write) -> anyhow::Result<()> {
    // where no file is a log, nothing is printed
    let mut head = Some(head(options));
    let unread = each::each(files, &options.choice, |record| {
        let text = head.take().unwrap_or_default() + &line(&record, options);
        out.write_all(text.as_bytes()).context(FAILED)
    })?;
    let mut text = head.unwrap_or_default();
    if let Some(unread) = unread.told() {
        text += &(unread + "\n");
    }
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .context(FAILED)
}

/// What stands above the lines.
pub fn head(options: &Options) -> String {
    let head = console::header(beside_id(options));
    format!("{:ID$}  {head}\n", "id")
}

/// The line of a request.
pub fn line(record: &RequestRecord, options: &Options) -> String {
    let line = console::line(record, &options.zone, beside_id(options));
    let id = console::text::shown(&record.id, ID);
    format!("{id:ID$}  {line}\n")
}

/// Columns for the rest of a line, where the terminal has so many.
fn beside_id(options: &Options) -> Option<usize> {
    let columns = options.look.terminal?;
    Some(columns.saturating_sub(ID + 2))
}
