//! What the records of all logs say together.

use std::path::PathBuf;

use jiff::tz::TimeZone;

use super::choice::Choice;
use super::each::check;
use super::histories::Histories;
use super::progress::Progress;
use super::read;
use super::tally::{By, Tally};
use crate::tools::logs::Unread;

/// A summary, and what it is of.
#[derive(Debug)]
pub struct Summary {
    /// What was counted.
    pub tally: Tally,
    /// Names of the logs that were read.
    pub logs: Vec<String>,
    /// Which records were wanted of them.
    pub choice: Choice,
    /// Records in them, whether wanted or not.
    pub read: u64,
    /// Lines that gave none.
    pub unread: Unread,
}

impl Summary {
    /// Of the records of `files` that are wanted.
    ///
    /// # Errors
    ///
    /// A file cannot be opened or read, or no line of any is a record.
    pub fn of(
        files: &[PathBuf],
        choice: &Choice,
        by: By,
        zone: TimeZone,
    ) -> anyhow::Result<Summary> {
        let mut tally = Tally::new(by, zone);
        let mut histories = Histories::default();
        let mut read = 0;
        let progress = Progress::over(files);
        let unread = read::each(files, &progress, |mut record| {
            read += 1;
            // also the ones that are not wanted: limits show in all of them
            histories.apply(&mut record);
            if choice.takes(&record) {
                tally.take(&record);
            }
        })?;
        check(files, read, &unread)?;
        tally.finish();
        Ok(Summary {
            tally,
            logs: files
                .iter()
                .map(|file| file.display().to_string())
                .collect(),
            choice: choice.clone(),
            read,
            unread,
        })
    }
}
