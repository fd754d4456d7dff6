//! `dripline report`: what the records of a log say.
//!
//! - [`explain`]: one request's verdict in full

pub mod explain;

use std::collections::HashMap;
use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, bail};
use jiff::tz::TimeZone;

use super::logs::{BadLine, Log, no_record};
use super::plot::Look;
use crate::observe::across::History;
use crate::observe::record::RequestRecord;
use crate::observe::verdict::words::count;
use crate::sink::console;

/// What is wanted of which logs.
#[derive(Debug)]
pub struct Options {
    /// Files with a record on each line; `-` is standard input.
    pub logs: Vec<PathBuf>,
    /// The request to explain: its id, the client's, the trace's or the answer's, or the beginning of one.
    pub explain: Option<String>,
    /// What standard output can take.
    pub look: Look,
}

/// Prints what is wanted of the logs.
pub fn run(options: &Options, out: &mut impl Write) -> anyhow::Result<()> {
    let mut records = Vec::new();
    let mut bad = Vec::new();
    for path in &options.logs {
        let (more, unread) = Log::open(path)?.into_records()?;
        records.extend(more);
        bad.extend(unread);
    }
    if records.is_empty() && !bad.is_empty() {
        let names: Vec<_> = options
            .logs
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        bail!(no_record(&names.join(", "), bad.first()));
    }
    look_across(&mut records);
    match &options.explain {
        Some(id) => {
            let record = find(&records, id).map_err(|error| match told(&bad) {
                Some(unread) => error.context(unread),
                None => error,
            })?;
            write!(out, "{}", explain::text(record, options.look)).context("cannot print it")
        }
        None => list(&records, &bad, options.look, out).context("cannot print them"),
    }
}

/// Adds to each record what it has in common with those before it, as the proxy does while it runs.
/// Records stand in a log in the order in which they ended; logs are taken in the order given.
fn look_across(records: &mut [RequestRecord]) {
    let mut histories: HashMap<_, History> = HashMap::new();
    for record in records {
        let upstream = (record.instance.clone(), record.upstream.name.clone());
        histories.entry(upstream).or_default().apply(record);
    }
}

/// The one request that `id` is meant for: dripline's own id, or the client's, the trace's or the answer's.
fn find<'a>(records: &'a [RequestRecord], id: &str) -> anyhow::Result<&'a RequestRecord> {
    let ids = |record: &'a RequestRecord| {
        let others = [
            &record.request.request_id,
            &record.request.trace_id,
            &record.response.id,
        ];
        let others = others.into_iter().filter_map(|other| other.as_deref());
        std::iter::once(record.id.as_str()).chain(others)
    };
    let fitting = |fits: fn(&str, &str) -> bool| {
        let mut found = records
            .iter()
            .filter(|record| ids(record).any(|own| fits(own, id)));
        let first = found.next();
        // One log may be given twice.
        let is_another = |other: &&RequestRecord| first.is_some_and(|first| first.id != other.id);
        (first, found.find(is_another))
    };
    if id.is_empty() {
        bail!("--explain needs an id; `dripline report LOG` lists them");
    }
    let whole = fitting(|own, id| own == id);
    let found = if whole.0.is_some() {
        whole
    } else {
        fitting(|own, id| own.starts_with(id))
    };
    match found {
        (Some(record), None) => Ok(record),
        (None, _) => bail!(
            "no request with the id {id:?} among {}; `dripline report LOG` lists them",
            count(records.len() as u64, "record")
        ),
        (Some(one), Some(other)) => bail!(
            "{id:?} stands for several requests, {} and {} among them; write more of the id",
            one.id,
            other.id
        ),
    }
}

/// A line each, its id first, so that one can be chosen.
fn list(
    records: &[RequestRecord],
    bad: &[BadLine],
    look: Look,
    out: &mut impl Write,
) -> std::io::Result<()> {
    let width = records
        .iter()
        .map(|record| record.id.len())
        .max()
        .unwrap_or(0);
    let rest = look
        .terminal
        .map(|columns| columns.saturating_sub(width + 2));
    writeln!(out, "{:width$}  {}", "id", console::header(rest))?;
    for record in records {
        let line = console::line(record, &TimeZone::system(), rest);
        writeln!(out, "{:width$}  {line}", record.id)?;
    }
    match told(bad) {
        Some(unread) => writeln!(out, "{unread}"),
        None => Ok(()),
    }
}

/// How many lines gave no record, if any.
fn told(bad: &[BadLine]) -> Option<String> {
    match bad {
        [] => None,
        [line] => Some(format!("1 line could not be read: {line}")),
        [line, ..] => Some(format!(
            "{} lines could not be read, the first: {line}",
            bad.len()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::record::End;
    use crate::tools::logs::sample;

    fn named(id: &str, request_id: Option<&str>) -> RequestRecord {
        let mut record = sample();
        record.id = id.to_owned();
        record.request.request_id = request_id.map(str::to_owned);
        record
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
        let empty = find(&records, "").unwrap_err().to_string();
        assert!(empty.contains("needs an id"), "{empty}");
        let none = find(&records, "x").unwrap_err().to_string();
        assert!(none.contains("\"x\" among 3 records"), "{none}");
    }

    #[test]
    fn a_file_that_is_no_log_is_an_error() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(&file, "# a readme\n\n- not a log\n").unwrap();
        let options = Options {
            logs: vec![file.path().to_owned()],
            explain: None,
            look: Look::default(),
        };
        let mut out = Vec::new();
        let error = run(&options, &mut out).unwrap_err().to_string();
        assert!(
            error.contains("has no record") && error.contains("line 1"),
            "{error}"
        );
        assert!(out.is_empty());
    }

    #[test]
    fn cuts_at_one_age_are_a_limit_in_a_report_too() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut log = String::new();
        for i in 0..6u32 {
            let mut record = named(&format!("0{i}"), None);
            record.started_at = format!("2026-12-02T05:0{i}:00Z");
            record.end = End::Truncated;
            record.at.end_ms = Some(42_000.0 + f64::from(i));
            record.silence.before_end_ms = Some(20.0 + 400.0 * f64::from(i));
            log += &format!("{}\n", serde_json::to_string(&record).unwrap());
        }
        std::fs::write(&file, log).unwrap();
        let options = Options {
            logs: vec![file.path().to_owned()],
            explain: Some("05".to_owned()),
            look: Look::default(),
        };
        let mut out = Vec::new();
        run(&options, &mut out).unwrap();
        let page = String::from_utf8(out).unwrap();
        assert!(page.contains("total_cut"), "{page}");
    }
}
