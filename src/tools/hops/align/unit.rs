//! What both bodies have in common, so that the one can be laid on the other.

use serde::Serialize;

use crate::observe::record::RequestRecord;
use crate::tools::hops::flow::Piece;

/// What the timelines are aligned by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// The bytes are the same.
    Bytes,
    /// The bytes differ, the number of events does not.
    Events,
}

impl Unit {
    /// How many units a piece has.
    pub fn of(self, piece: &Piece) -> u64 {
        match self {
            Unit::Bytes => piece.bytes,
            Unit::Events => piece.events,
        }
    }

    /// What both bodies have in common, or why that is nothing.
    pub fn common(inner: &RequestRecord, outer: &RequestRecord) -> Result<Unit, String> {
        let hashes = (&inner.response.body_hash, &outer.response.body_hash);
        let same_length = inner.counts.bytes == outer.counts.bytes;
        let differ = match hashes {
            (Some(a), Some(b)) => a != b,
            _ => !same_length,
        };
        if !differ {
            return Ok(Unit::Bytes);
        }
        match (inner.counts.events, outer.counts.events) {
            (Some(a), Some(b)) if a == b && a > 0 => Ok(Unit::Events),
            (Some(a), Some(b)) => Err(format!(
                "the bytes differ and so do the events ({a} went in, {b} came out)"
            )),
            _ => Err("the bytes differ, and a body was not read as events".to_owned()),
        }
    }
}
