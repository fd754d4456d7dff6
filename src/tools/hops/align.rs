//! What came out of the hop laid on what went in, byte by byte (or event by event).
//!
//! The two timelines count from the starts of two instances, which are an unknown time apart: the request's own way
//! through the hop. So a raw wait, time out less time in, is the wait in the hop and that time together. Neither can be
//! negative, so the least raw wait bounds both: it is the *floor*, and waits are told above it. What the floor hides
//! is a delay that is the same for all bytes; it is told apart, as a constant.

mod unit;

use super::flow::{Flow, Piece};
use crate::observe::record::RequestRecord;
use crate::observe::stats::Us;
pub use unit::Unit;

/// What left the hop at once, and how long it had waited above the floor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Release {
    /// When it left, µs from the outer start.
    pub at: Us,
    /// Body bytes.
    pub bytes: u64,
    /// Events.
    pub events: u64,
    /// The wait of its first unit, µs.
    pub oldest: Us,
    /// The wait of its last unit, µs.
    pub newest: Us,
}

/// What went into the hop at once, and when the last of it had left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// When it went in, µs from the inner start.
    pub at: Us,
    /// When the last of it left, µs from the outer start.
    pub out: Us,
    /// The wait above the floor, µs.
    pub wait: Us,
}

/// Both timelines laid on each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Aligned {
    /// By what.
    pub unit: Unit,
    /// The least raw wait, µs: what the request's way and the answer's take at least. Negative only if the clocks of the
    /// two instances do not run alike, or the logs are not of one request.
    pub floor: i64,
    /// What came out, in order.
    pub releases: Vec<Release>,
    /// What went in, in order.
    pub entries: Vec<Entry>,
}

/// Aligns two records of one request by what was taken in of their timelines, or says why that cannot be.
pub fn align(
    (inner, went_in): (&RequestRecord, Option<&Flow>),
    (outer, came_out): (&RequestRecord, Option<&Flow>),
) -> Result<Aligned, String> {
    let (went_in, came_out) = match (went_in, came_out) {
        (Some(went_in), Some(came_out)) => (&went_in.pieces, &came_out.pieces),
        (None, None) => return Err("there is no timeline on either side".to_owned()),
        (None, _) => return Err("there is no timeline on the inner side".to_owned()),
        (_, None) => return Err("there is no timeline on the outer side".to_owned()),
    };
    let unit = Unit::common((inner, went_in), (outer, came_out))?;
    lay(went_in, came_out, unit).ok_or_else(|| "a timeline is empty".to_owned())
}

/// Lays what came out on what went in, as far as both go; `None` if that is nowhere.
pub fn lay(went_in: &[Piece], came_out: &[Piece], unit: Unit) -> Option<Aligned> {
    let units = |piece: &Piece| unit.of(piece);
    let went_in: Vec<&Piece> = went_in.iter().filter(|piece| units(piece) > 0).collect();
    let total: u64 = went_in.iter().map(|piece| units(piece)).sum();
    let mut raw: Vec<(&Piece, i64, i64)> = Vec::new();
    let mut outs: Vec<Us> = Vec::with_capacity(went_in.len());
    // `next`: the piece that went in whose last unit has not left; `end`: units up to its end
    let (mut next, mut end) = (0, units(went_in.first()?));
    let mut left: u64 = 0;
    for out in came_out.iter().filter(|piece| units(piece) > 0) {
        if units(out) > total - left {
            break;
        }
        let oldest = went_in[next].at;
        left += units(out);
        let mut newest = went_in[next].at;
        while next < went_in.len() && end <= left {
            newest = went_in[next].at;
            outs.push(out.at);
            next += 1;
            end += went_in.get(next).map_or(0, |piece| units(piece));
        }
        if let Some(begun) = went_in.get(next)
            && left > end - units(begun)
        {
            newest = begun.at;
        }
        raw.push((out, wait(out.at, oldest), wait(out.at, newest)));
    }
    let floor = raw.iter().map(|(_, _, newest)| *newest).min()?;
    let above = |raw: i64| (raw - floor).max(0) as Us;
    let releases = raw.iter().map(|(out, oldest, newest)| Release {
        at: out.at,
        bytes: out.bytes,
        events: out.events,
        oldest: above(*oldest),
        newest: above(*newest),
    });
    let entries = went_in.iter().zip(outs).map(|(piece, out)| Entry {
        at: piece.at,
        out,
        wait: above(wait(out, piece.at)),
    });
    Some(Aligned {
        unit,
        floor,
        releases: releases.collect(),
        entries: entries.collect(),
    })
}

/// Time out less time in.
pub fn wait(out: Us, went_in: Us) -> i64 {
    // a flow's times are far below the largest number
    out as i64 - went_in as i64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pieces(list: &[(Us, u64)]) -> Vec<Piece> {
        list.iter()
            .map(|&(at, bytes)| Piece {
                at,
                bytes,
                events: 0,
            })
            .collect()
    }

    #[test]
    fn waits_of_a_held_block() {
        let ins = pieces(&[(100, 10), (200, 10), (300, 10)]);
        let outs = pieces(&[(1205, 15), (1310, 15)]);
        let aligned = lay(&ins, &outs, Unit::Bytes).unwrap();
        assert_eq!(aligned.floor, 1005);
        let waits: Vec<_> = aligned
            .releases
            .iter()
            .map(|r| (r.oldest, r.newest))
            .collect();
        assert_eq!(waits, [(100, 0), (105, 5)]);
        let entries: Vec<_> = aligned.entries.iter().map(|e| (e.out, e.wait)).collect();
        assert_eq!(entries, [(1205, 100), (1310, 105), (1310, 5)]);
    }

    #[test]
    fn a_cut_side_is_aligned_as_far_as_it_goes_and_nothing_with_nothing() {
        let ins = pieces(&[(0, 10), (10, 0), (100, 10)]);
        let aligned = lay(&ins, &pieces(&[(5, 10)]), Unit::Bytes).unwrap();
        assert_eq!((aligned.releases.len(), aligned.entries.len()), (1, 1));
        let longer = lay(&ins, &pieces(&[(5, 10), (105, 10), (106, 1)]), Unit::Bytes).unwrap();
        assert_eq!(longer.releases.len(), 2);
        assert_eq!(lay(&[], &ins, Unit::Bytes), None);
        assert_eq!(lay(&ins, &[], Unit::Bytes), None);
        assert_eq!(lay(&pieces(&[(0, 0)]), &ins, Unit::Bytes), None);
    }

    /// Each unit on its own: the time at which it went in, and at which it came out.
    fn each(pieces: &[Piece]) -> Vec<Us> {
        pieces
            .iter()
            .flat_map(|piece| std::iter::repeat_n(piece.at, piece.bytes as usize))
            .collect()
    }

    /// The same units cut into pieces in another way, at times that rise.
    fn split(total: u64) -> impl Strategy<Value = Vec<Piece>> {
        proptest::collection::vec((0..2_000_u64, 0..9_u64), 1..60).prop_map(move |list| {
            let (mut at, mut left) = (0, total);
            let mut out = Vec::new();
            for (gap, units) in list {
                at += gap;
                let units = units.min(left);
                left -= units;
                out.push((at, units));
            }
            out.push((at + 1, left));
            pieces(&out)
        })
    }

    proptest! {
        #[test]
        fn alignment_is_what_each_unit_says_alone(
            (ins, outs) in (1..200_u64).prop_flat_map(|total| (split(total), split(total)))
        ) {
            let aligned = lay(&ins, &outs, Unit::Bytes).unwrap();
            let (went_in, came_out) = (each(&ins), each(&outs));
            prop_assert_eq!(went_in.len(), came_out.len());
            let raw: Vec<i64> = came_out.iter().zip(&went_in).map(|(o, i)| wait(*o, *i)).collect();
            let mut first = 0;
            let mut expected = Vec::new();
            for out in outs.iter().filter(|out| out.bytes > 0) {
                let last = first + out.bytes as usize - 1;
                expected.push((raw[first], raw[last]));
                first = last + 1;
            }
            let floor = raw.iter().copied().min().unwrap();
            prop_assert_eq!(aligned.floor, floor);
            let waits: Vec<_> = aligned.releases.iter().map(|r| (r.oldest as i64 + floor, r.newest as i64 + floor)).collect();
            prop_assert_eq!(waits, expected);
            let mut last = 0;
            let mut entries = Vec::new();
            for piece in ins.iter().filter(|piece| piece.bytes > 0) {
                last += piece.bytes as usize;
                entries.push((came_out[last - 1], raw[last - 1] - floor));
            }
            let got: Vec<_> = aligned.entries.iter().map(|e| (e.out, e.wait as i64)).collect();
            prop_assert_eq!(got, entries);
        }
    }
}
