//! `--follow`: goes on as the logs grow.
//!
//! - [`page`]: the summary, redrawn in place on the terminal's other `screen`
//! - [`rows`]: a line or a row for each new request
//! - `reader`: whether anybody still reads
//! - `stops`: Ctrl-Z
//!
//! Memory does not grow with the months: counts and histograms are of all records, quantiles and maps of the latest
//! [`page::KEPT`] streams at least, histories are what `histories` keeps, and files what [`Followed`] keeps.

pub mod page;
mod reader;
pub mod rows;
mod screen;
mod stops;

use std::io::Write;
use std::path::PathBuf;
use std::pin::pin;
use std::time::Duration;

use anyhow::Context;
use serde::de::DeserializeOwned;

use super::histories::Histories;
use super::{Form, Options, is_closed};
use crate::observe::record::RequestRecord;
use crate::relay::clock;
use crate::tools::logs::{BadLine, Followed, Piece, Versioned, parsed};
use crate::tools::plot::Look;
use page::Page;
use rows::Rows;
use stops::Stops;

/// Between two reads of what has come.
const READ: Duration = Duration::from_millis(200);
/// Between two looks at the names: a folder may have thousands.
const LOOK: Duration = Duration::from_secs(1);

/// What is made of records as they come.
trait View {
    /// What is read of a line.
    type Read: DeserializeOwned + Versioned;

    /// The record in it.
    fn record(read: Self::Read) -> RequestRecord;

    /// A record that is wanted, or one that is not.
    fn take(&mut self, record: RequestRecord, is_wanted: bool) -> anyhow::Result<()>;

    /// A line that gave none.
    fn take_bad(&mut self, line: BadLine);

    /// So far it is read; `is_all` if nothing more has come.
    fn show(&mut self, followed: &Followed, is_all: bool) -> anyhow::Result<()>;

    /// The process stops, and may go on later.
    fn rest(&mut self);

    /// It ends here.
    fn end(&mut self) -> anyhow::Result<()>;
}

/// Whether a form can go on as `logs` grow.
///
/// # Errors
///
/// It cannot; the sentence says what can.
pub fn check(form: &Form, logs: &[PathBuf], look: Look) -> Result<(), String> {
    let is_screen = look.terminal.is_some() && screen::is_able();
    let problem = match form {
        Form::Summary(_) if !is_screen => {
            "the summary is redrawn on a terminal; into a file or a pipe go --list and --csv"
        }
        Form::Summary(_) | Form::List | Form::Csv => {
            match logs.iter().any(|log| log.as_os_str() == "-") {
                true => "standard input is no file that can be followed; name the log",
                false => return Ok(()),
            }
        }
        _ => "only the summary, --list and --csv can go on; leave it out, or the other form",
    };
    Err(format!("--follow: {problem}"))
}

/// Prints what is wanted of the logs, and then what is added to them, until `stop` is ready or nobody reads it any more.
///
/// # Errors
///
/// A sentence that names the file, and what to do.
pub async fn run(
    options: &Options,
    out: &mut impl Write,
    notes: &mut impl Write,
    stop: impl Future<Output = ()>,
) -> anyhow::Result<()> {
    let followed = Followed::of(options.logs.clone())?;
    let done = match &options.form {
        Form::Summary(by) => {
            let page = Page::new(out, *by, options);
            follow(followed, options, page, stop, Stops::listen()?).await
        }
        _ => {
            let rows = Rows::new(out, notes, options)?;
            follow(followed, options, rows, stop, Stops::default()).await
        }
    };
    match done {
        Err(error) if is_closed(&error) => Ok(()),
        done => done,
    }
}

async fn follow<V: View>(
    mut followed: Followed,
    options: &Options,
    mut view: V,
    stop: impl Future<Output = ()>,
    mut stops: Stops,
) -> anyhow::Result<()> {
    let (mut stop, mut gone) = (pin!(stop), pin!(reader::gone()));
    let mut histories = Histories::default();
    let mut take = |view: &mut V, Piece { name, lines }: Piece| -> anyhow::Result<()> {
        let block = match lines {
            Ok(block) => block,
            Err(line) => {
                view.take_bad(line);
                return Ok(());
            }
        };
        for line in parsed::<V::Read>(&name, &block) {
            match line {
                Ok(read) => {
                    let mut record = V::record(read);
                    histories.apply(&mut record);
                    let is_wanted = options.choice.takes(&record);
                    view.take(record, is_wanted)?;
                }
                Err(line) => view.take_bad(line),
            }
        }
        Ok(())
    };
    let mut next = clock::now() + LOOK;
    loop {
        let piece = followed.piece()?;
        let is_all = piece.is_none();
        for piece in piece.map_or_else(|| followed.left(), |piece| vec![piece]) {
            take(&mut view, piece)?;
        }
        view.show(&followed, is_all)?;
        let pause = async {
            match is_all {
                true => tokio::time::sleep(READ).await,
                false => tokio::task::yield_now().await,
            }
        };
        tokio::select! {
            biased;
            () = &mut stop => break,
            () = &mut gone => break,
            () = stops.come() => {
                view.rest();
                stops::stop();
            }
            () = pause => {}
        }
        if is_all && clock::now() >= next {
            followed.look();
            next = clock::now() + LOOK;
        }
    }
    view.end().context("cannot print it")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::report::tally::By;

    #[test]
    fn what_cannot_go_on_is_told() {
        let problem = |form, log: &str| check(&form, &[log.into()], Look::default()).unwrap_err();
        let summary = problem(Form::Summary(By::Model), "a.jsonl");
        assert!(summary.contains("on a terminal"), "here is none: {summary}");
        assert!(problem(Form::List, "-").contains("name the log"));
        for form in [
            Form::Json(By::Model),
            Form::Trace("a".into()),
            Form::Parquet("a".into()),
            Form::Explain("a".to_owned()),
        ] {
            let problem = problem(form, "a.jsonl");
            assert!(
                problem.contains("only the summary, --list and --csv"),
                "{problem}"
            );
        }
        assert_eq!(
            check(&Form::Csv, &["a.jsonl".into()], Look::default()),
            Ok(())
        );
    }
}
