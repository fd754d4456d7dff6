//! A stream as it drips: one line, time from left to right, a mark where something came. Unlike the plots beside it, its
//! axis is linear: what is looked for is a rhythm, and two lines that stand under each other are compared column by column.
//!
//! ```text
//! ··········|··|·||··|···3····||·|········#········
//! ╵0 ms          ╵200 ms        ╵400 ms
//! ```

use super::axis::{readable, round};
use crate::observe::stats::{Us, in_ms};

/// How to read a drip, for the line under it.
pub const LEGEND: &str = "| 1 event, 2–9 so many, # 10 or more, : part of an event, · nothing";

/// Space between two labels of the axis.
const APART: usize = 2;
/// The greatest step between two labels: 5 × 10⁸ s. No stream is that long.
const LARGEST_STEP: i32 = 35;

/// One line of `width` columns: what came at which time (µs) and how many events it completed, on an axis from 0 to
/// `axis_us`. What comes at or after the end of the axis is in the last column.
pub fn drip(points: &[(Us, u64)], axis_us: Us, width: usize) -> String {
    let mut columns: Vec<Option<u64>> = vec![None; width.max(1)];
    for &(at, events) in points {
        let sum = columns[column(at, axis_us, width)].get_or_insert(0);
        *sum = sum.saturating_add(events);
    }
    columns.into_iter().map(mark).collect()
}

/// The line under drips of the same axis and width: round times, each at its column.
pub fn drip_axis(axis_us: Us, width: usize) -> String {
    let labels = (-6..=LARGEST_STEP)
        .map(round)
        .map(|step| labels(step, axis_us, width))
        .find(|labels| fit(labels));
    let mut line = String::new();
    let mut used = 0;
    for (at, label) in labels.unwrap_or_default() {
        let long = label.chars().count();
        if at + long <= width {
            line.extend(std::iter::repeat_n(' ', at - used));
            line.push_str(&label);
            used = at + long;
        }
    }
    line
}

/// In which column `at` lies.
fn column(at: Us, axis_us: Us, width: usize) -> usize {
    let last = width.max(1) - 1;
    let share = at.min(axis_us) as f64 / axis_us.max(1) as f64;
    ((share * width as f64) as usize).min(last)
}

fn mark(events: Option<u64>) -> char {
    match events {
        None => '·',
        Some(0) => ':',
        Some(1) => '|',
        // below ten, so it is one digit
        Some(few @ 2..=9) => char::from(b'0' + few as u8),
        Some(_) => '#',
    }
}

/// Columns and texts of the labels, one each `step` ms. No more than there are columns.
fn labels(step: f64, axis_us: Us, width: usize) -> Vec<(usize, String)> {
    (0..=width)
        .map(|n| n as f64 * step)
        .take_while(|at| *at <= in_ms(axis_us))
        .map(|at| {
            let us = (at * 1000.0).round() as Us;
            (column(us, axis_us, width), format!("╵{}", readable(at)))
        })
        .collect()
}

/// Whether each ends well before the next begins, and they reach as far as the axis.
fn fit(labels: &[(usize, String)]) -> bool {
    labels
        .windows(2)
        .all(|pair| pair[0].0 + pair[0].1.chars().count() + APART <= pair[1].0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_tells_how_many_events_came_in_its_column() {
        let points = [(0, 1), (10, 2), (11, 1), (20, 9), (21, 1), (30, 0), (95, 1)];
        assert_eq!(drip(&points, 100, 10), "|3#:·····|");
    }

    #[test]
    fn what_comes_at_the_end_or_after_it_is_in_the_last_column() {
        assert_eq!(drip(&[(100, 1), (999, 1)], 100, 4), "···2");
        assert_eq!(drip(&[(0, 1)], 0, 4), "|···");
        assert_eq!(drip(&[], 0, 0), "·");
    }

    #[test]
    fn sums_never_overflow() {
        assert_eq!(drip(&[(0, u64::MAX), (0, 5)], 100, 2), "#·");
    }

    #[test]
    fn labels_are_round_times_that_stand_at_their_columns() {
        assert_eq!(
            drip_axis(1_000_000, 60),
            "╵0 ms       ╵200 ms     ╵400 ms     ╵600 ms     ╵800 ms"
        );
        assert_eq!(
            drip_axis(2_500_000, 40),
            "╵0 ms           ╵1 s            ╵2 s"
        );
        assert_eq!(drip_axis(30, 40), "╵0 ms        ╵0.01 ms     ╵0.02 ms");
    }

    #[test]
    fn an_axis_of_any_size_ends_within_its_width() {
        for axis in [0, 1, 999, 1_000_000, 86_400_000_000, u64::MAX] {
            for width in [0, 1, 5, 40, 160] {
                let line = drip_axis(axis, width);
                assert!(line.chars().count() <= width, "{axis} {width}: {line}");
            }
        }
    }
}
