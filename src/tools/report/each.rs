//! Whole records, one after the other, with what only several of them show: for lists, and for one that is looked for.

use std::path::PathBuf;

use anyhow::bail;

use super::choice::Choice;
use super::histories::Histories;
use super::progress::Progress;
use crate::observe::record::RequestRecord;
use crate::observe::verdict::words::count;
use crate::tools::logs::{Log, Source, Unread, no_record};

/// Hands on the records of `files` that are wanted. Gives the lines that were none.
///
/// # Errors
///
/// A file cannot be opened or read, no line of any is a record, or `take` fails.
pub fn each(
    files: &[PathBuf],
    choice: &Choice,
    mut take: impl FnMut(RequestRecord) -> anyhow::Result<()>,
) -> anyhow::Result<Unread> {
    let mut histories = Histories::default();
    let (mut unread, mut records) = (Unread::default(), 0u64);
    let progress = Progress::over(files);
    for path in files {
        for line in Log::of(Source::open(path, &progress.done)?) {
            match line? {
                Ok(mut record) => {
                    records += 1;
                    histories.apply(&mut record);
                    if choice.takes(&record) {
                        take(*record)?;
                    }
                }
                Err(line) => unread.push(line),
            }
            if records % 1000 == 0 {
                progress.show();
            }
        }
    }
    check(files, records, &unread)?;
    Ok(unread)
}

/// Whether anything was read.
///
/// # Errors
///
/// There were lines, and none is a record: it is no log.
pub fn check(files: &[PathBuf], records: u64, unread: &Unread) -> anyhow::Result<()> {
    if records == 0 && unread.count > 0 {
        let names = files.iter().map(|path| path.display().to_string());
        let names: Vec<_> = names.collect();
        bail!(no_record(&names.join(", "), unread.first.first()));
    }
    Ok(())
}

/// A request that is looked for.
#[derive(Debug)]
pub struct Search<'a> {
    id: &'a str,
    /// It has the very id.
    whole: Hit,
    /// An id of it begins so.
    begun: Hit,
    seen: u64,
}

#[derive(Debug, Default)]
struct Hit {
    first: Option<RequestRecord>,
    /// The id of another one that fits.
    other: Option<String>,
}

impl Hit {
    fn take(&mut self, record: &RequestRecord) {
        match &self.first {
            None => self.first = Some(record.clone()),
            // one log may be given twice
            Some(first) if first.id != record.id => {
                self.other.get_or_insert_with(|| record.id.clone());
            }
            Some(_) => {}
        }
    }
}

impl<'a> Search<'a> {
    /// For dripline's own id, or the client's, the trace's or the answer's, or the beginning of one.
    ///
    /// # Errors
    ///
    /// There is no id.
    pub fn of(id: &'a str) -> anyhow::Result<Self> {
        if id.is_empty() {
            bail!("--explain needs an id; `dripline report --list LOG` lists them");
        }
        Ok(Search {
            id,
            whole: Hit::default(),
            begun: Hit::default(),
            seen: 0,
        })
    }

    /// Looks at a record.
    pub fn look(&mut self, record: &RequestRecord) {
        self.seen += 1;
        let others = [
            &record.request.request_id,
            &record.request.trace_id,
            &record.response.id,
        ];
        let others = others.into_iter().filter_map(|other| other.as_deref());
        for id in std::iter::once(record.id.as_str()).chain(others) {
            if id == self.id {
                self.whole.take(record);
            } else if id.starts_with(self.id) {
                self.begun.take(record);
            }
        }
    }

    /// The one request that was meant.
    ///
    /// # Errors
    ///
    /// There is none, or several.
    pub fn found(self) -> anyhow::Result<RequestRecord> {
        let is_whole = self.whole.first.is_some();
        let hit = if is_whole { self.whole } else { self.begun };
        match (hit.first, hit.other) {
            (Some(record), None) => Ok(record),
            (None, _) => bail!(
                "no request with the id {:?} among {}; `dripline report --list LOG` lists them",
                self.id,
                count(self.seen, "record")
            ),
            (Some(one), Some(other)) => bail!(
                "{:?} stands for several requests, {} and {other} among them; write more of the id",
                self.id,
                one.id
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::logs::sample;

    fn named(id: &str, request_id: Option<&str>) -> RequestRecord {
        let mut record = sample();
        record.id = id.to_owned();
        record.request.request_id = request_id.map(str::to_owned);
        record
    }

    fn find(records: &[RequestRecord], id: &str) -> anyhow::Result<RequestRecord> {
        let mut search = Search::of(id)?;
        records.iter().for_each(|record| search.look(record));
        search.found()
    }

    #[test]
    fn a_request_is_found_by_either_id_or_its_beginning() {
        let records = [
            named("01AB", Some("mine")),
            named("01AC", None),
            named("01A", None),
        ];
        assert_eq!(find(&records, "01AC").unwrap().id, "01AC");
        assert_eq!(find(&records, "min").unwrap().id, "01AB");
        assert_eq!(
            find(&records, "01A").unwrap().id,
            "01A",
            "a whole id is no beginning"
        );
        let several = find(&records, "01").unwrap_err().to_string();
        assert!(
            several.contains("01AB") && several.contains("01AC"),
            "{several}"
        );
        let mut twice = records.to_vec();
        twice.extend(records.clone());
        assert_eq!(find(&twice, "01AC").unwrap().id, "01AC");
        let mut answered = named("01B", None);
        answered.response.id = Some("chatcmpl-7".to_owned());
        answered.request.trace_id = Some("4bf92f35".to_owned());
        for id in ["chatcmpl-7", "4bf9"] {
            assert_eq!(find(&[answered.clone()], id).unwrap().id, "01B");
        }
        let none = find(&records, "x").unwrap_err().to_string();
        assert!(none.contains("\"x\" among 3 records"), "{none}");
        let empty = find(&records, "").unwrap_err().to_string();
        assert!(empty.contains("needs an id"), "{empty}");
    }
}
