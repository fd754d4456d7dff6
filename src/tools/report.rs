//! `dripline report`: what the records of logs say, together and one by one.
//!
//! - [`choice`]: which records are wanted
//! - [`summary`]: all of them together: [`read`] by several threads as [`light`] records, [`tally`] counts and keeps a row
//!   of each [`stream`], [`figures`] are the quantiles, [`found`] the limits, [`worst`] the few to look at first
//! - [`print`](mod@print): the summary in the terminal, with its `table` and `pictures`
//! - [`html`], [`svg`]: the same as a page and as a sheet of pictures, which [`charts`] are; `pages` writes them
//! - [`facts`], [`meaning`]: words that all of these have in common
//! - [`each`]: one after the other, for the `list` and for one that is looked for
//! - [`csv`], [`parquet`], [`json`]: for other programs; `sink/columns.rs` has the columns of the first two
//! - [`trace`]: on a time line, for Perfetto (`sink/trace.rs` writes it); [`file`](mod@file) is what all files are written through
//! - [`follow`]: going on as the logs grow
//! - [`explain`]: one request's verdict in full
//! - [`histories`]: what only several records show
//! - [`progress`]: how far the reading is

pub mod charts;
pub mod choice;
pub mod csv;
pub mod each;
pub mod explain;
pub mod facts;
pub mod figures;
pub mod file;
pub mod follow;
pub mod found;
pub mod histories;
pub mod html;
pub mod json;
pub mod light;
mod list;
pub mod meaning;
mod pages;
pub mod parquet;
mod pictures;
pub mod print;
pub mod progress;
pub mod read;
pub mod stream;
pub mod summary;
pub mod svg;
mod table;
pub mod tally;
pub mod trace;
pub mod worst;

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use jiff::ZonedDateTime;
use jiff::tz::TimeZone;

use super::logs::{oldest_first, unfolded};
use super::plot::Look;
use crate::cli;
use crate::observe::verdict::words::count;
use choice::Choice;
use each::Search;
use pages::Pages;
use summary::Summary;
use tally::By;

/// What is wanted of which logs.
#[derive(Debug)]
pub struct Options {
    /// Files with a record on each line, or patterns for such; `-` is standard input.
    pub logs: Vec<PathBuf>,
    /// What to print.
    pub form: Form,
    /// Of which records.
    pub choice: Choice,
    /// To go on as the logs grow, by [`follow::run`].
    pub follow: bool,
    /// What standard output can take.
    pub look: Look,
    /// Where times of day are.
    pub zone: TimeZone,
}

impl Options {
    /// What was typed, where it is `now` and standard output takes that look.
    ///
    /// # Errors
    ///
    /// A value that is none; the sentence names its flag and what is allowed.
    pub fn of(typed: cli::Report, now: &ZonedDateTime, look: Look) -> Result<Options, String> {
        let time = |flag: &str, text: Option<String>| {
            let time = text.map(|text| choice::instant(&text, now)).transpose();
            time.map_err(|problem| format!("{flag}: {problem}"))
        };
        let wanted = typed.wanted.iter().map(|text| text.parse());
        let wanted: Result<_, String> = wanted.collect();
        let form = match typed.explain {
            Some(id) => Form::Explain(id),
            None if typed.list => Form::List,
            None if typed.csv => Form::Csv,
            None if typed.json => Form::Json(typed.by),
            None if typed.html.is_some() || typed.svg.is_some() => Form::Pages {
                by: typed.by,
                html: typed.html,
                svg: typed.svg,
            },
            None => match (typed.parquet, typed.trace) {
                (Some(file), _) if file.as_os_str() == "-" => {
                    return Err("--parquet: it is no text; name a file".to_owned());
                }
                (Some(file), _) => Form::Parquet(file),
                (None, Some(file)) => Form::Trace(file),
                (None, None) => Form::Summary(typed.by),
            },
        };
        if typed.follow {
            follow::check(&form, &typed.logs, look)?;
        }
        Ok(Options {
            logs: typed.logs,
            form,
            follow: typed.follow,
            choice: Choice {
                since: time("--since", typed.since)?,
                until: time("--until", typed.until)?,
                wanted: wanted.map_err(|problem| format!("--where: {problem}"))?,
            },
            look,
            zone: now.time_zone().clone(),
        })
    }
}

/// What to print.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Form {
    /// What they say together.
    Summary(By),
    /// The same for other programs: one JSON object.
    Json(By),
    /// The same as a page, as pictures, or both: files to write, `-` being standard output.
    Pages {
        /// What groups have in common.
        by: By,
        /// The page.
        html: Option<PathBuf>,
        /// The pictures.
        svg: Option<PathBuf>,
    },
    /// A line each.
    List,
    /// The same for spreadsheets.
    Csv,
    /// The same for DuckDB and its like: a file to write.
    Parquet(PathBuf),
    /// On a time line, for Perfetto: a file to write, or `-`.
    Trace(PathBuf),
    /// One in full: its id, the client's request id, or the beginning of either.
    Explain(String),
}

/// Prints what is wanted of the logs; what could not be read goes to `notes` where it has no place on the page.
///
/// # Errors
///
/// A sentence that names the file, and what to do.
pub fn run(options: &Options, out: &mut impl Write, notes: &mut impl Write) -> anyhow::Result<()> {
    match print(options, out, notes) {
        // as after `dripline report … | head`: whoever closed the pipe has seen enough
        Err(error) if is_closed(&error) => Ok(()),
        done => done,
    }
}

fn is_closed(error: &anyhow::Error) -> bool {
    let cause = error
        .chain()
        .find_map(|cause| cause.downcast_ref::<std::io::Error>());
    cause.is_some_and(|cause| cause.kind() == ErrorKind::BrokenPipe)
}

fn print(options: &Options, out: &mut impl Write, notes: &mut impl Write) -> anyhow::Result<()> {
    let files = oldest_first(unfolded(&options.logs)?);
    let summary = |by: &By| Summary::of(&files, &options.choice, *by, options.zone.clone());
    let text = match &options.form {
        Form::Summary(by) => print::text(&summary(by)?, options.look),
        Form::Json(by) => json::text(&summary(by)?)?,
        Form::Pages { by, html, svg } => {
            let pages = Pages::of(html.as_deref(), svg.as_deref())?;
            return pages.write(&summary(by)?, out, notes);
        }
        Form::List => return list::write(&files, options, out),
        Form::Csv => return rows(&files, options, out, notes),
        Form::Parquet(file) => {
            let (n, unread) = parquet::file(&files, &options.choice, file)?;
            return told(n, file, unread.told(), notes);
        }
        Form::Trace(file) => {
            let written = trace::file(&files, &options.choice, file, out)?;
            return told(written.requests, file, written.missing(), notes);
        }
        Form::Explain(id) => explained(&files, options, id)?,
    };
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .context("cannot print it")
}

fn explained(files: &[PathBuf], options: &Options, id: &str) -> anyhow::Result<String> {
    let mut search = Search::of(id)?;
    let unread = each::each(files, &options.choice, |record| {
        search.look(&record);
        Ok(())
    })?;
    let record = search.found().map_err(|error| match unread.told() {
        Some(unread) => error.context(unread),
        None => error,
    })?;
    Ok(explain::text(&record, options.look))
}

/// A row each. What could not be read is told elsewhere: a row is a request.
fn rows(
    files: &[PathBuf],
    options: &Options,
    out: &mut impl Write,
    notes: &mut impl Write,
) -> anyhow::Result<()> {
    const FAILED: &str = "cannot print them";
    out.write_all(csv::head().as_bytes()).context(FAILED)?;
    let unread = each::each(files, &options.choice, |record| {
        out.write_all(csv::row(&record).as_bytes()).context(FAILED)
    })?;
    out.flush().context(FAILED)?;
    if let Some(unread) = unread.told() {
        // who does not read it does not want it
        let _ = writeln!(notes, "{unread}");
    }
    Ok(())
}

/// What a file has that was written, and what it has not.
fn told(
    n: u64,
    file: &Path,
    missing: Option<String>,
    notes: &mut impl Write,
) -> anyhow::Result<()> {
    let file = (file.as_os_str() != "-").then(|| file.display().to_string());
    let whole = file.map(|file| format!("{file}: {}", count(n, "request")));
    for line in whole.into_iter().chain(missing) {
        // who does not read it does not want it
        let _ = writeln!(notes, "{line}");
    }
    Ok(())
}

#[cfg(test)]
mod tests;
