//! What both bodies have in common, so that the one can be laid on the other.

use serde::Serialize;

use crate::observe::record::RequestRecord;
use crate::tools::hops::ends::Ending;
use crate::tools::hops::flow::Piece;

/// What the timelines are aligned by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// The bytes are the same, as far as both go.
    Bytes,
    /// The bytes differ, the events do not, as far as both go.
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
    pub fn common(
        (inner, went_in): (&RequestRecord, &[Piece]),
        (outer, came_out): (&RequestRecord, &[Piece]),
    ) -> Result<Unit, String> {
        let hashes = (&inner.response.body_hash, &outer.response.body_hash);
        let differ = match hashes {
            (Some(a), Some(b)) => a != b,
            _ => inner.counts.bytes != outer.counts.bytes,
        };
        if !differ {
            return Ok(Unit::Bytes);
        }
        let events = (inner.counts.events, outer.counts.events);
        let is_part = Ending::of(inner, outer).is_of_part(inner, outer);
        let same_encoding = inner.response.content_encoding == outer.response.content_encoding;
        let are_events = matches!(events, (Some(1..), Some(1..)));
        match events {
            (Some(a), Some(b)) if a == b && a > 0 && !is_part => Ok(Unit::Events),
            // without events nothing shows that the bytes were the same so far, but nothing speaks against it
            _ if same_encoding && (is_part || are_events) && is_beginning(went_in, came_out) => {
                Ok(Unit::Bytes)
            }
            _ if is_part && are_events => Ok(Unit::Events),
            (Some(a), Some(b)) => Err(format!(
                "the bytes differ and so do the events ({a} went in, {b} came out)"
            )),
            _ => Err("the bytes differ, and a body was not read as events".to_owned()),
        }
    }
}

/// Whether one flow is the beginning of the other, as far as their events tell: wherever a piece came out, as many events
/// had come as had gone in by that byte.
fn is_beginning(went_in: &[Piece], came_out: &[Piece]) -> bool {
    let total: u64 = went_in.iter().map(|piece| piece.bytes).sum();
    let (mut out_bytes, mut out_events) = (0, 0);
    // the pieces that went in and ended by then
    let (mut next, mut in_bytes, mut in_events) = (0, 0, 0);
    for out in came_out {
        out_bytes += out.bytes;
        out_events += out.events;
        if out_bytes > total {
            break;
        }
        while let Some(piece) = went_in.get(next)
            && in_bytes + piece.bytes <= out_bytes
        {
            in_bytes += piece.bytes;
            in_events += piece.events;
            next += 1;
        }
        let begun = went_in.get(next).map_or(0, |piece| piece.events);
        if !(in_events..=in_events + begun).contains(&out_events) {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(list: &[(u64, u64)]) -> Vec<Piece> {
        list.iter()
            .map(|&(bytes, events)| Piece {
                at: 0,
                bytes,
                events,
            })
            .collect()
    }

    #[test]
    fn a_beginning_has_as_many_events_at_each_byte() {
        let whole = pieces(&[(100, 1), (120, 1), (90, 2), (110, 1)]);
        for out in [
            &[(100, 1), (120, 1)][..],
            &[(220, 2), (40, 0)],
            &[(50, 0), (50, 1), (210, 3), (110, 1)],
            // what comes after the end of the other is not looked at
            &[(420, 5), (30, 1)],
            &[],
        ] {
            assert!(is_beginning(&whole, &pieces(out)), "{out:?}");
        }
        for out in [&[(100, 0), (120, 1)][..], &[(130, 1), (130, 1), (100, 1)]] {
            assert!(!is_beginning(&whole, &pieces(out)), "{out:?}");
        }
    }
}
