//! `dripline hops`: what stands between two driplines, told from their logs.
//!
//! ```text
//! app → OUTER dripline → hop → INNER dripline → server
//! ```
//!
//! - [`mod@join`]: which records of the two logs are of the same request
//! - [`sent`]: how often the hop sent each
//! - [`compare`], [`changes`]: both records side by side
//! - [`ends`]: what both ends say together
//! - [`flow`]: a timeline as it is taken in
//! - [`align`]: both timelines laid on each other, byte by byte
//! - [`judge`]: the verdict on the hop
//! - [`pair`]: all of that for one request
//! - `print`, `picture`, `json`: as text, as two drips under each other, as JSON Lines
//!
//! All but this file is pure.

pub mod align;
pub mod changes;
pub mod compare;
pub mod ends;
pub mod flow;
pub mod join;
mod json;
pub mod judge;
pub mod pair;
mod picture;
mod print;
pub mod sent;

use std::io::{ErrorKind, Write};
use std::path::PathBuf;

use anyhow::{Context, bail};

use crate::observe::record::RequestRecord;
use crate::tools::logs::{BadLine, Log, no_record};
use crate::tools::plot::Look;
use join::{Joined, KEYS, Key, join};
use pair::Compared;
use sent::{Counts, times_sent};

/// What `dripline hops` was asked to do.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Log of the instance between hop and server; `-` is standard input.
    pub inner: PathBuf,
    /// Log of the instance between app and hop; `-` is standard input.
    pub outer: PathBuf,
    /// Only this request.
    pub id: Option<String>,
    /// All requests, not only the worst.
    pub all: bool,
    /// JSON Lines instead of text.
    pub json: bool,
    /// What `out` can take.
    pub look: Look,
}

/// Both logs, read and compared.
struct Found<'a> {
    names: [String; 2],
    joined: Joined,
    bad: Vec<BadLine>,
    /// Worst first.
    pairs: Vec<Compared<'a>>,
}

/// Compares both logs and writes what it finds to `out`; with `json`, what is no pair goes to `notes`.
///
/// # Errors
///
/// A sentence, when a log cannot be read, nothing could be joined, no pair has the `id`, or `out` cannot be written.
pub fn run(options: &Options, out: &mut dyn Write, notes: &mut dyn Write) -> anyhow::Result<()> {
    let names = [&options.inner, &options.outer].map(|path| path.display().to_string());
    let (inner, mut bad) = Log::open(&options.inner)?.into_records()?;
    let (outer, more) = Log::open(&options.outer)?.into_records()?;
    bad.extend(more);
    let joined = join(&inner, &outer);
    if joined.pairs.is_empty() {
        bail!("{}", nothing_joined(&names, [&inner, &outer], &bad));
    }
    if joined
        .pairs
        .iter()
        .all(|pair| inner[pair.inner].id == outer[pair.outer].id)
    {
        bail!(
            "{} and {} are of the same dripline; two are needed, one on each side of the hop",
            names[0],
            names[1]
        );
    }
    let counts = Counts::of(&inner, &outer);
    let mut pairs: Vec<Compared<'_>> = joined
        .pairs
        .iter()
        .map(|pair| {
            let sent = times_sent(pair, &counts, &outer);
            Compared::of(&inner[pair.inner], &outer[pair.outer], pair.key, sent)
        })
        .collect();
    pairs.sort_by(Compared::worst_first);
    if let Some(id) = &options.id {
        pairs.retain(|pair| pair.has_id(id));
        if pairs.is_empty() {
            bail!(
                "no joined request has the id {id}; it is the `id` of a record, its trace id, the client's request id or the \
                 answer's id. Without --id the worst are listed with theirs"
            );
        }
    }
    let found = Found {
        names,
        joined,
        bad,
        pairs,
    };
    let written = if options.json {
        json::write(&found.pairs, out)
            .and_then(|()| notes.write_all(print::notes(&found).as_bytes()))
    } else {
        out.write_all(print::text(&found, options).as_bytes())
    };
    match written.and_then(|()| out.flush()) {
        // whoever read it has seen enough
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result.context("cannot write the result"),
    }
}

/// Why no pair was found, and what to do.
fn nothing_joined(names: &[String; 2], logs: [&[RequestRecord]; 2], bad: &[BadLine]) -> String {
    for (name, log) in names.iter().zip(logs) {
        if log.is_empty() {
            return no_record(name, bad.iter().find(|line| line.file == *name));
        }
    }
    let has = |key: Key| {
        let [inner, outer] =
            logs.map(|log| log.iter().filter(|record| key.of(record).is_some()).count());
        format!("{} {inner} and {outer}", key.name())
    };
    format!(
        "no request of {} ({}) is in {} ({}). Of them have: {}. Two records are joined by what both have and no other; see \
         that both logs cover the same time, and that the hop passes on `traceparent` or `x-request-id`",
        names[0],
        logs[0].len(),
        names[1],
        logs[1].len(),
        KEYS.map(has).join(", ")
    )
}

#[cfg(test)]
mod tests;
