//! `dripline compare`: two logs side by side, what changed, and whether that is more than chance.
//!
//! - [`side`]: a log read, with [`facts`] about it; [`unlike`]: what should be alike in both and is not
//! - [`resample`], [`share`]: intervals of a difference, of percentiles and of shares
//! - [`estimate`]: one figure of both; [`figures`]: all of them, judged together
//! - [`limits`] holds `--fail-if` against both
//! - [`mod@unit`], `sentences`: in words
//! - `print`, `table`, `pictures`: for a person; `markdown`, `json`: for pull requests and programs
//!
//! All but this file and `side` is pure.

pub mod estimate;
pub mod facts;
pub mod figures;
mod json;
pub mod limits;
mod markdown;
mod pictures;
mod print;
pub mod resample;
mod sentences;
pub mod share;
pub mod side;
mod table;
pub mod unit;
pub mod unlike;

use std::io::{ErrorKind, Write};
use std::path::PathBuf;

use anyhow::{Context, bail};

use super::plot::Look;
use super::probe::sound;
use super::report::choice::Wanted;
use crate::cli;
use crate::config::threshold::Condition;
use figures::Figures;
use limits::{Checked, Held};
use side::Side;

/// What is wanted of which two logs.
#[derive(Debug)]
pub struct Options {
    /// The log of the run before, or a pattern for several; `-` is standard input.
    pub before: PathBuf,
    /// That of the run after.
    pub after: PathBuf,
    /// Which records of the former.
    pub wanted_before: Vec<Wanted>,
    /// Which of the latter.
    pub wanted_after: Vec<Wanted>,
    /// What is not good enough.
    pub fail_if: Vec<Condition>,
    /// Seed of the draws.
    pub seed: u64,
    /// What to print.
    pub form: Form,
    /// What standard output can take.
    pub look: Look,
}

/// What to print.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A page with pictures.
    Page,
    /// A table for a pull request.
    Markdown,
    /// One object for other programs.
    Json,
}

/// How a comparison ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// No condition of `--fail-if` holds.
    Well,
    /// One does.
    Crossed,
}

impl Options {
    /// What was typed, where standard output takes that look.
    ///
    /// # Errors
    ///
    /// A value that is none; the sentence names its flag and what is allowed.
    pub fn of(typed: cli::Compare, look: Look) -> Result<Options, String> {
        let read = |flag: &str, texts: &[String]| -> Result<Vec<Wanted>, String> {
            let wanted = texts.iter().map(|text| text.parse());
            let wanted: Result<_, String> = wanted.collect();
            wanted.map_err(|problem| format!("{flag}: {problem}"))
        };
        let both = read("--where", &typed.wanted)?;
        let with = |more: Vec<Wanted>| [both.clone(), more].concat();
        for condition in &typed.fail_if {
            if let Condition::Bound(threshold) = condition {
                sound(std::slice::from_ref(threshold)).map_err(|error| error.to_string())?;
            }
        }
        Ok(Options {
            wanted_before: with(read("--where-before", &typed.wanted_before)?),
            wanted_after: with(read("--where-after", &typed.wanted_after)?),
            before: typed.before,
            after: typed.after,
            fail_if: typed.fail_if,
            seed: typed.seed,
            form: match (typed.markdown, typed.json) {
                (true, _) => Form::Markdown,
                (_, true) => Form::Json,
                _ => Form::Page,
            },
            look,
        })
    }
}

/// Both runs and what they say together.
#[derive(Debug)]
pub struct Compared {
    /// The run before.
    pub before: Side,
    /// The run after.
    pub after: Side,
    /// All figures.
    pub figures: Figures,
    /// Seed of the draws.
    pub seed: u64,
}

/// Compares both logs and writes what it finds to `out`; what became of the conditions goes to `notes`.
///
/// # Errors
///
/// A sentence, when a log cannot be read, a condition cannot be told, or `out` cannot be written.
pub fn run(
    options: &Options,
    out: &mut impl Write,
    notes: &mut impl Write,
) -> anyhow::Result<Ended> {
    let before = Side::read(&options.before, &options.wanted_before)?;
    let after = Side::read(&options.after, &options.wanted_after)?;
    let compared = Compared {
        figures: Figures::of(&before, &after, options.seed),
        before,
        after,
        seed: options.seed,
    };
    let check =
        |condition| limits::check(condition, &compared.before, &compared.after, options.seed);
    let checked: Vec<Checked> = options.fail_if.iter().map(check).collect();
    let text = match options.form {
        Form::Page => print::text(&compared, options.look),
        Form::Markdown => markdown::text(&compared, &checked),
        Form::Json => json::text(&compared, &checked)?,
    };
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        // whoever closed the pipe has seen enough; the exit code is for someone else
        Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
        written => written.context("cannot print it")?,
    }
    for Checked {
        condition, found, ..
    } in &checked
    {
        // who does not read it does not want it
        let _ = writeln!(notes, "--fail-if '{condition}' {found}");
    }
    let with = |held| checked.iter().filter(move |checked| checked.held == held);
    match (with(Held::Holds).count(), with(Held::Unknown).count()) {
        (0, 0) => Ok(Ended::Well),
        (0, unknown) => bail!(
            "{unknown} of {} conditions could not be told, so this says neither yes nor no",
            checked.len()
        ),
        _ => Ok(Ended::Crossed),
    }
}

#[cfg(test)]
mod tests;
