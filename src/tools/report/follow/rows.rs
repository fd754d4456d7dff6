//! A line or a row for each request, printed as it comes.

use std::io::Write;

use anyhow::Context;

use super::View;
use crate::observe::record::RequestRecord;
use crate::tools::logs::{BadLine, Followed, Unread};
use crate::tools::report::{Form, Options, csv, list};

const FAILED: &str = "cannot print them";

/// Rows so far.
pub struct Rows<'a, W, N> {
    out: &'a mut W,
    notes: &'a mut N,
    options: &'a Options,
    /// Something was printed and not yet sent off.
    is_new: bool,
    unread: Unread,
    /// Troubles that were told.
    told: Vec<String>,
}

impl<'a, W: Write, N: Write> Rows<'a, W, N> {
    /// Prints the head.
    ///
    /// # Errors
    ///
    /// It cannot be printed.
    pub fn new(out: &'a mut W, notes: &'a mut N, options: &'a Options) -> anyhow::Result<Self> {
        let head = match options.form {
            Form::Csv => csv::head(),
            _ => list::head(options),
        };
        out.write_all(head.as_bytes()).context(FAILED)?;
        Ok(Rows {
            out,
            notes,
            options,
            is_new: true,
            unread: Unread::default(),
            told: Vec::new(),
        })
    }
}

impl<W: Write, N: Write> Rows<'_, W, N> {
    fn say(&mut self, what: &str) {
        // names of files may hold anything; who does not read it does not want it
        let _ = writeln!(self.notes, "{}", what.replace(char::is_control, " "));
    }
}

impl<W: Write, N: Write> View for Rows<'_, W, N> {
    type Read = Box<RequestRecord>;

    fn record(read: Self::Read) -> RequestRecord {
        *read
    }

    fn take(&mut self, record: RequestRecord, is_wanted: bool) -> anyhow::Result<()> {
        if !is_wanted {
            return Ok(());
        }
        let row = match self.options.form {
            Form::Csv => csv::row(&record),
            _ => list::line(&record, self.options),
        };
        self.is_new = true;
        self.out.write_all(row.as_bytes()).context(FAILED)
    }

    /// The first few are told at once, all of them at the end.
    fn take_bad(&mut self, line: BadLine) {
        if self.unread.count < Unread::NAMED as u64 {
            self.say(&format!("not read: {line}"));
        }
        self.unread.push(line);
    }

    fn show(&mut self, followed: &Followed, is_all: bool) -> anyhow::Result<()> {
        if is_all && std::mem::take(&mut self.is_new) {
            self.out.flush().context(FAILED)?;
        }
        let troubles = followed.troubles();
        if self.told != troubles {
            let told = std::mem::replace(&mut self.told, troubles.to_vec());
            for trouble in troubles.iter().filter(|trouble| !told.contains(trouble)) {
                self.say(trouble);
            }
        }
        Ok(())
    }

    fn rest(&mut self) {}

    fn end(&mut self) -> anyhow::Result<()> {
        self.out.flush().context(FAILED)?;
        if self.unread.count > Unread::NAMED as u64
            && let Some(unread) = self.unread.told()
        {
            self.say(&unread);
        }
        Ok(())
    }
}
