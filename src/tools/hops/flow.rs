//! What went into the hop or came out of it over time, taken in from a record's timeline.
//!
//! A record comes from a file, where any number may stand in any order. Here it is put in order, once: times never fall,
//! and all numbers are so small that what reads a flow may add and subtract them.

use crate::observe::record::Row;
use crate::observe::stats::Us;

/// No stream is later, µs: 35 years.
const LATEST: Us = 1 << 50;

/// No read brings more bytes or events; the sums over all rows of the longest line of a log fit as well.
const MOST: u64 = 1 << 32;

/// What came or went at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// When, µs from the instance's own start.
    pub at: Us,
    /// Body bytes.
    pub bytes: u64,
    /// Events that it completed.
    pub events: u64,
}

/// All pieces of one side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flow {
    /// In order of time.
    pub pieces: Vec<Piece>,
    /// Whether the rows were, and their numbers possible.
    pub is_in_order: bool,
}

impl Flow {
    /// What went into the hop, from the inner timeline: when the hop's socket had taken it, or when it came if it never did.
    pub fn into_hop(rows: &[Row]) -> Flow {
        Flow::of(rows, |row| row.1.unwrap_or(row.0))
    }

    /// What came out of the hop, from the outer timeline.
    pub fn out_of_hop(rows: &[Row]) -> Flow {
        Flow::of(rows, |row| row.0)
    }

    fn of(rows: &[Row], at: impl Fn(&Row) -> Us) -> Flow {
        let mut latest = 0;
        let piece = |row: &Row| {
            latest = at(row).min(LATEST).max(latest);
            Piece {
                at: latest,
                bytes: row.2.min(MOST),
                events: row.3.min(MOST),
            }
        };
        Flow {
            pieces: rows.iter().map(piece).collect(),
            is_in_order: are_in_order(rows),
        }
    }
}

/// Whether these may be the rows of one stream. A piece that was never taken is looked at by its arrival alone: that may
/// be earlier than when the one before it was taken.
fn are_in_order(rows: &[Row]) -> bool {
    let possible = |row: &Row| {
        row.0 <= LATEST && row.1.is_none_or(|at| at <= LATEST) && row.2 <= MOST && row.3 <= MOST
    };
    rows.iter().all(possible)
        && rows.is_sorted_by_key(|row| row.0)
        && rows.iter().filter_map(|row| row.1).is_sorted()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(flow: &Flow) -> Vec<Us> {
        flow.pieces.iter().map(|piece| piece.at).collect()
    }

    #[test]
    fn rows_as_they_should_be_are_taken_as_they_are() {
        let rows = [
            Row(5, Some(9), 10, 1, 1),
            Row(7, Some(12), 20, 2, 2),
            Row(8, None, 1, 0, 0),
        ];
        let flow = Flow::out_of_hop(&rows);
        assert_eq!((times(&flow), flow.is_in_order), (vec![5, 7, 8], true));
        let flow = Flow::into_hop(&rows);
        assert_eq!((times(&flow), flow.is_in_order), (vec![9, 12, 12], true));
        let sizes: Vec<_> = flow.pieces.iter().map(|p| (p.bytes, p.events)).collect();
        assert_eq!(sizes, [(10, 1), (20, 2), (1, 0)]);
    }

    #[test]
    fn rows_out_of_order_are_put_in_order_and_told() {
        let flow = Flow::out_of_hop(&[Row(9, None, 1, 1, 1), Row(4, None, 1, 1, 1)]);
        assert_eq!((times(&flow), flow.is_in_order), (vec![9, 9], false));
        for row in [
            Row(1 << 63, None, 1, 1, 1),
            Row(1, Some(u64::MAX), 1, 1, 1),
            Row(1, None, u64::MAX, 1, 1),
            Row(1, None, 1, u64::MAX, 1),
        ] {
            let flow = Flow::into_hop(&[row, Row(2, Some(3), 1, 1, 1)]);
            assert!(!flow.is_in_order, "{row:?}");
            let [first, last] = flow.pieces[..] else {
                panic!("two rows")
            };
            assert!(first.at <= last.at && last.at <= LATEST, "{row:?}");
            assert!(first.bytes <= MOST && first.events <= MOST, "{row:?}");
        }
    }
}
