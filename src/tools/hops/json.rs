//! The pairs as JSON Lines, one object each. Keys may be added; none is renamed.

use std::io::{self, Write};

use serde::Serialize;

use super::align::{Release, Unit};
use super::compare::{Both, Figures};
use super::join::Key;
use super::judge::Judgement;
use super::pair::Compared;
use crate::observe::record::RequestRecord;

/// One pair.
#[derive(Serialize)]
struct Object<'a> {
    joined_by: Key,
    inner: Side<'a>,
    outer: Side<'a>,
    model: Option<&'a str>,
    #[serde(flatten)]
    judgement: &'a Judgement,
    #[serde(flatten)]
    figures: &'a Figures,
    /// How often the hop sent the request, as far as the client's ids tell.
    times_sent: usize,
    /// How often each dripline sent it.
    attempts: Both<u32>,
    /// Whether the rows of each timeline were in order; `null` where there is none.
    timelines_in_order: Both<Option<bool>>,
    /// `null` where the timelines cannot be laid on each other.
    waits: Option<Waits>,
    /// Why they cannot.
    no_waits: Option<&'a str>,
}

#[derive(Serialize)]
struct Side<'a> {
    id: &'a str,
    instance: &'a str,
    label: Option<&'a str>,
}

/// How long what came out had waited in the hop.
#[derive(Serialize)]
struct Waits {
    aligned_by: Unit,
    /// The least time between in and out; it bounds how far the starts of the two instances are apart, and all waits
    /// below are counted above it.
    floor_ms: f64,
    /// `[left_us, bytes, events, oldest_wait_us, newest_wait_us]` for each chunk that came out.
    releases: Vec<(u64, u64, u64, u64, u64)>,
}

/// Writes one line for each pair.
pub fn write(pairs: &[Compared<'_>], out: &mut dyn Write) -> io::Result<()> {
    for pair in pairs {
        serde_json::to_writer(&mut *out, &object(pair))?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

fn object<'a>(pair: &'a Compared<'a>) -> Object<'a> {
    let row = |r: &Release| (r.at, r.bytes, r.events, r.oldest, r.newest);
    Object {
        joined_by: pair.key,
        inner: side(pair.inner),
        outer: side(pair.outer),
        model: pair.outer.request.model.as_deref(),
        judgement: &pair.judgement,
        figures: &pair.figures,
        times_sent: pair.times_sent,
        attempts: pair.attempts,
        timelines_in_order: Both {
            inner: pair.flows.inner.as_ref().map(|flow| flow.is_in_order),
            outer: pair.flows.outer.as_ref().map(|flow| flow.is_in_order),
        },
        waits: pair.aligned.as_ref().ok().map(|aligned| Waits {
            aligned_by: aligned.unit,
            floor_ms: aligned.floor as f64 / 1000.0,
            releases: aligned.releases.iter().map(row).collect(),
        }),
        no_waits: pair.aligned.as_ref().err().map(String::as_str),
    }
}

fn side(record: &RequestRecord) -> Side<'_> {
    Side {
        id: &record.id,
        instance: &record.instance,
        label: record.label.as_deref(),
    }
}
