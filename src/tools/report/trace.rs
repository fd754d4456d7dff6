//! Requests on a time line: JSON in Chrome's trace-event format, which Perfetto (<https://ui.perfetto.dev>) and
//! `chrome://tracing` open.
//!
//! - `request`: what is on the track of a request, from its [phases](crate::observe::phases)
//! - `event`: one event as the format has it
//! - `flights`: how many requests were in flight
//!
//! A process is a dripline, by its instance. Each request has a track of its own (a thread), since slices of one track must
//! nest and requests overlap; where its timeline tells when chunks were taken by the client's socket, a second one.
//!
//! Two clocks: a request stands at its `started_at`, which is wall clock; all within it is monotonic and counts from there.
//! So one request is exact, and how two lie to each other is as good as the wall clock was: of two machines not better than
//! their clocks agree.
//!
//! Written as it is read: in memory is one record at a time, a number for each instance, and what the counter needs.
//!
//! Format: "Trace Event Format", <https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU>

mod event;
mod flights;
mod request;

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use jiff::Timestamp;
use serde::Serialize;

use super::choice::Choice;
use super::each::each;
use super::file::{Kind, Output};
use crate::observe::record::RequestRecord;
use crate::observe::verdict::words::count;
use crate::sink::console::text::{shown, word};
use crate::tools::logs::Unread;
use event::{Event, Named, Place};
use flights::Flights;
use request::Track;

/// How each such file begins.
pub const KIND: Kind = Kind {
    name: "trace of dripline's",
    magic: br#"{"displayTimeUnit":"ms","otherData":{"written_by":"dripline"#,
};

/// Times of events are below this, µs since 1970: whole as a JSON number for everyone, in ns a 64-bit integer.
const END_OF_TIME: i64 = 9_000_000_000_000_000;
/// Instances that are kept apart: a file may say anything.
const MOST_INSTANCES: usize = 1000;
/// Processes and threads share no number, so that no track is taken for a process's main thread.
const FIRST_TRACK: u64 = 10_000;
/// Columns of a model's name.
const NAME: usize = 32;
/// So much of an id is shown: the time in it and a little more.
const ID: usize = 12;

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

/// A trace that is being written.
struct Trace<W> {
    to: W,
    /// The process of each instance.
    processes: HashMap<String, u32>,
    flights: Flights,
    next_track: u64,
    is_empty: bool,
}

impl<W: Write> Trace<W> {
    fn begin(mut to: W) -> io::Result<Self> {
        to.write_all(KIND.magic)?;
        writeln!(
            to,
            " {}\",\"clocks\":\"a request stands at its started_at, wall clock; all within it counts from there, monotonic\"}},\"traceEvents\":[",
            env!("CARGO_PKG_VERSION")
        )?;
        Ok(Trace {
            to,
            processes: HashMap::new(),
            flights: Flights::default(),
            next_track: FIRST_TRACK,
            is_empty: true,
        })
    }

    /// Adds a request; whether it has a place in time.
    fn request(&mut self, record: &RequestRecord) -> io::Result<bool> {
        let started = record
            .started_at
            .parse()
            .ok()
            .map(Timestamp::as_microsecond);
        let Some(started) = started.filter(|at| (0..END_OF_TIME).contains(at)) else {
            return Ok(false);
        };
        let pid = self.process(&record.instance)?;
        let room = END_OF_TIME.abs_diff(started);
        let (main, holds) = request::tracks(record, room);
        let ended = started.saturating_add_unsigned(main.length());
        self.flights.add(pid, started, ended);
        let name = name(record);
        self.track(pid, started, &name, main)?;
        if !holds.items.is_empty() {
            self.track(pid, started, &format!("{name}, to the client"), holds)?;
        }
        Ok(true)
    }

    /// Writes a track: its name, then its events in their order.
    fn track(&mut self, pid: u32, started: i64, name: &str, track: Track) -> io::Result<()> {
        let tid = Some(self.next_track);
        self.next_track += 1;
        self.event(&Event::name("thread_name", pid, tid, name))?;
        for item in track.in_order() {
            let at = Place { pid, tid, started };
            self.event(&Event::of(&item, at))?;
        }
        Ok(())
    }

    fn process(&mut self, instance: &str) -> io::Result<u32> {
        if let Some(&pid) = self.processes.get(instance) {
            return Ok(pid);
        }
        // there are but so many
        let known = self.processes.len() as u32;
        if self.processes.len() > MOST_INSTANCES {
            return Ok(known);
        }
        let pid = known + 1;
        let name = match self.processes.len() {
            MOST_INSTANCES => "(others)".to_owned(),
            _ => format!("dripline {}", shown(instance, NAME)),
        };
        self.processes.insert(instance.to_owned(), pid);
        self.event(&Event::name("process_name", pid, None, &name))?;
        Ok(pid)
    }

    fn event(&mut self, event: &Event<impl Serialize>) -> io::Result<()> {
        if !std::mem::take(&mut self.is_empty) {
            self.to.write_all(b",\n")?;
        }
        Ok(serde_json::to_writer(&mut self.to, event)?)
    }

    fn end(mut self) -> io::Result<()> {
        for (pid, at, n) in std::mem::take(&mut self.flights).counts() {
            self.event(&Event::counter("requests", pid, at, Named("in flight", n)))?;
        }
        self.to.write_all(b"\n]}\n")
    }
}

/// By what a reader finds a request: model, beginning of the id, verdict or else end.
fn name(record: &RequestRecord) -> String {
    let model = record.request.model.as_deref();
    let id: String = record.id.chars().take(ID).collect();
    format!(
        "{} {} {}",
        shown(model.unwrap_or("(no model)"), NAME),
        shown(&id, ID),
        judged(record)
    )
}

/// The verdict, or how it ended where there is none.
fn judged(record: &RequestRecord) -> String {
    match &record.verdict {
        Some(verdict) => word(&verdict.timing),
        None => word(&record.end),
    }
}

#[cfg(test)]
mod tests;
