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

use jiff::Timestamp;
use serde::Serialize;

use super::console::text::{shown, word};
use crate::observe::record::RequestRecord;
use event::{Event, Named, Place};
use flights::Flights;
use request::Track;

/// How each trace begins.
pub const MAGIC: &[u8] = br#"{"displayTimeUnit":"ms","otherData":{"written_by":"dripline"#;

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

/// A trace that is being written.
#[derive(Debug)]
pub struct Trace<W> {
    to: W,
    /// The process of each instance.
    processes: HashMap<String, u32>,
    flights: Flights,
    next_track: u64,
    is_empty: bool,
}

impl<W: Write> Trace<W> {
    /// Begins one.
    ///
    /// # Errors
    ///
    /// As of all others: it cannot be written.
    pub fn begin(mut to: W) -> io::Result<Self> {
        to.write_all(MAGIC)?;
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
    ///
    /// # Errors
    ///
    /// It cannot be written.
    pub fn request(&mut self, record: &RequestRecord) -> io::Result<bool> {
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

    /// Writes what is known at the end only.
    ///
    /// # Errors
    ///
    /// It cannot be written.
    pub fn end(mut self) -> io::Result<()> {
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
