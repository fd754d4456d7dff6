//! What is on the tracks of one request.

use std::borrow::Cow;
use std::cmp::Reverse;

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::judged;
use crate::observe::phases::{lead, length, phases, us};
use crate::observe::record::{End, RequestRecord, Row, Stall};
use crate::observe::stats::Us;
use crate::sink::columns::{COLUMNS, Of};
use crate::sink::console::text::word;

/// A slice or an instant, µs from the request's start.
#[derive(Debug)]
pub struct Item<'a> {
    /// What it is called.
    pub name: Cow<'a, str>,
    /// What kind of thing it is.
    pub cat: &'static str,
    /// When it is, or begins.
    pub from: Us,
    /// When it ends; `None` for an instant.
    pub to: Option<Us>,
    /// What else is known.
    pub args: Args<'a>,
}

/// What else is known of an item.
#[derive(Debug, serde::Serialize)]
#[serde(untagged)]
pub enum Args<'a> {
    /// Nothing.
    None,
    /// All of the request.
    Request(Facts<'a>),
    /// What was waited for never came.
    Phase {
        /// Always `true`.
        in_vain: bool,
    },
    /// A stall, as the record has it.
    Stall(&'a Stall),
    /// A chunk.
    Chunk {
        /// Its bytes.
        bytes: u64,
        /// Events that it completed.
        events: u64,
        /// Token events among them.
        token_events: u64,
    },
    /// A chunk on its way to the client.
    Hold {
        /// Its bytes.
        bytes: u64,
        /// From its arrival until the client's socket had it.
        held_us: Us,
    },
}

/// What is on one track.
#[derive(Debug, Default)]
pub struct Track<'a> {
    /// In any order, but those around others before these.
    pub items: Vec<Item<'a>>,
}

impl<'a> Track<'a> {
    /// The end of the last.
    pub fn length(&self) -> Us {
        let ends = self.items.iter().filter_map(|item| item.to);
        ends.max().unwrap_or(0)
    }

    /// In the order of time, and what is around others before these.
    pub fn in_order(mut self) -> Vec<Item<'a>> {
        self.items
            .sort_by_key(|item| (item.from, Reverse(item.to.unwrap_or(item.from))));
        self.items
    }

    fn slice(&mut self, cat: &'static str, name: Cow<'a, str>, span: (Us, Us), args: Args<'a>) {
        let (from, to) = (span.0, Some(span.1));
        self.items.push(Item {
            name,
            cat,
            from,
            to,
            args,
        });
    }

    fn instant(&mut self, cat: &'static str, name: Cow<'a, str>, at: Us, args: Args<'a>) {
        self.items.push(Item {
            name,
            cat,
            from: at,
            to: None,
            args,
        });
    }
}

/// The track of a request, and that of its chunks on their way to the client, which may be empty. Nothing lasts longer
/// than `room`.
pub fn tracks(record: &RequestRecord, room: Us) -> (Track<'_>, Track<'_>) {
    let lead = lead(record).min(room);
    let at = |ms: f64| us(ms).saturating_add(lead).min(room);
    let length = length(record, at);
    let mut main = Track::default();
    main.slice(
        "request",
        judged(record).into(),
        (0, length),
        Args::Request(Facts(record)),
    );
    let mut streaming = (0, 0);
    for phase in phases(record, length) {
        if phase.name == "streaming" {
            streaming = (phase.from, phase.to);
        }
        let args = match phase.is_vain {
            true => Args::Phase { in_vain: true },
            false => Args::None,
        };
        main.slice("phase", phase.name.into(), (phase.from, phase.to), args);
    }
    for (stall, span) in stalls(record, at, streaming) {
        main.slice("stall", "stall".into(), span, Args::Stall(stall));
    }
    for (name, ms) in marks(record) {
        main.instant("mark", name, at(ms).min(length), Args::None);
    }
    let rows = record.timeline.as_deref().unwrap_or_default();
    for &Row(arrived, _, bytes, events, token_events) in rows {
        let args = Args::Chunk {
            bytes,
            events,
            token_events,
        };
        let arrived = arrived.saturating_add(lead).min(length);
        main.instant("chunk", "chunk".into(), arrived, args);
    }
    (main, holds(rows, lead, room))
}

/// The stalls, in the order of time. They are gaps between token events, so they lie within the streaming and do not
/// overlap; what a damaged log says otherwise is left out.
fn stalls(
    record: &RequestRecord,
    at: impl Fn(f64) -> Us,
    streaming: (Us, Us),
) -> Vec<(&Stall, (Us, Us))> {
    let span = |stall: &Stall| (at(stall.at_ms - stall.gap_ms), at(stall.at_ms));
    let mut all: Vec<_> = record
        .stalls
        .iter()
        .map(|stall| (stall, span(stall)))
        .collect();
    all.sort_by_key(|(_, span)| *span);
    let mut free = streaming.0;
    all.retain(|(_, (from, to))| {
        let is_right = free <= *from && from < to && *to <= streaming.1;
        if is_right {
            free = *to;
        }
        is_right
    });
    all
}

/// Moments that have a name.
fn marks(record: &RequestRecord) -> Vec<(Cow<'static, str>, f64)> {
    let at = &record.at;
    let is_late = at
        .sent_ms
        .zip(at.header_ms)
        .filter(|(sent, header)| sent > header);
    let later = at
        .first_content_ms
        .filter(|first| at.first_token_ms.is_some_and(|token| token < *first));
    let cut = at.end_ms.filter(|_| record.end != End::Complete);
    [
        ("request sent".into(), is_late.map(|(sent, _)| sent)),
        ("first token".into(), at.first_token_ms),
        ("first answer token".into(), later),
        ("end marker".into(), at.done_ms),
        (word(&record.end).into(), cut),
    ]
    .into_iter()
    .filter_map(|(name, ms)| Some((name, ms?)))
    .collect()
}

/// The chunks on their way to the client. They leave in their order; where several wait, each has the time in which it is
/// the first of them, so that none overlaps another.
fn holds(rows: &[Row], lead: Us, room: Us) -> Track<'_> {
    let mut track = Track::default();
    let mut free = 0;
    for &Row(arrived, flushed, bytes, ..) in rows {
        let Some(held_us) = flushed.and_then(|flushed| flushed.checked_sub(arrived)) else {
            continue;
        };
        let from = arrived.saturating_add(lead).min(room).max(free);
        let to = arrived
            .saturating_add(held_us)
            .saturating_add(lead)
            .min(room)
            .max(from);
        free = to;
        track.slice(
            "hold",
            "hold".into(),
            (from, to),
            Args::Hold { bytes, held_us },
        );
    }
    track
}

/// What is known of a request: the columns of its row, its flags, and what the verdict says, rests on and found.
/// What was not measured is left out.
#[derive(Debug)]
pub struct Facts<'a>(&'a RequestRecord);

impl Serialize for Facts<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let record = self.0;
        let mut map = serializer.serialize_map(None)?;
        for column in COLUMNS {
            let name = column.name;
            match column.of {
                Of::Text(of) => known(&mut map, name, of(record))?,
                Of::Time(of) => map.serialize_entry(name, of(record))?,
                Of::Number(of) => known(&mut map, name, of(record))?,
                Of::Count(of) => known(&mut map, name, of(record))?,
                Of::Flag(of) => known(&mut map, name, of(record))?,
            }
        }
        let flags = Some(&record.flags).filter(|flags| !flags.is_empty());
        known(&mut map, "flags", flags)?;
        if let Some(verdict) = &record.verdict {
            map.serialize_entry("summary", &verdict.summary)?;
            map.serialize_entry("evidence", &verdict.evidence)?;
            map.serialize_entry("findings", &verdict.findings)?;
        }
        map.end()
    }
}

fn known<M: SerializeMap, T: Serialize>(
    map: &mut M,
    name: &str,
    value: Option<T>,
) -> Result<(), M::Error> {
    match value {
        Some(value) => map.serialize_entry(name, &value),
        None => Ok(()),
    }
}
