//! The heatmap: durations up, time or load across, and each cell darker the more streams are in it.
//!
//! What is rare stays in sight: one stream is a dot, and the shades go by the logarithm of how many there are.

use ratatui_core::buffer::{Buffer, CellWidth};
use ratatui_core::style::{Color, Style};

use super::axis::LogAxis;
use super::upward::Upward;
use super::{Look, QUIET, TITLE, lines, set_right, sheet};

/// From two streams to the most of all cells.
const SHADES: [&str; 4] = ["░", "▒", "▓", "█"];
/// One stream.
const ONE: &str = ".";

/// The plot.
#[derive(Debug, Clone)]
pub struct Heatmap<'a> {
    /// What the points are, such as `TTFT over time`.
    pub title: &'a str,
    /// What is up.
    pub up: &'a str,
    /// What is across.
    pub across: &'a str,
    /// Where each point lies across, from 0 to 1, and its duration in ms.
    pub points: &'a [(f64, f64)],
    /// Names of places across, from 0 to 1 and ascending; those that do not fit are left out.
    pub labels: &'a [(f64, String)],
}

impl Heatmap<'_> {
    /// The plot as lines, no longer than the look's width.
    pub fn lines(&self, look: Look) -> Vec<String> {
        let durations = || self.points.iter().map(|point| point.1);
        let Some(axis) = LogAxis::around(durations()) else {
            return vec![format!("{}: none", self.title)];
        };
        let width = look.plot_width();
        let height = (width / 8).clamp(8, 14);
        let is_low = durations().any(|ms| axis.is_below(ms));
        let up = Upward::of(axis, height, is_low);
        let (top, left) = (2, up.margin() + 1);
        let (bottom, columns) = (top + height, width - left - 1);
        let cells = self.cells(&up, top, (height, columns));
        let most = cells.iter().copied().max().unwrap_or(1);

        let mut sheet = sheet(width, usize::from(bottom) + 4);
        sheet.set_string(0, 0, self.title, TITLE);
        up.draw(&mut sheet, top, self.up);
        for (place, &count) in cells.iter().enumerate().filter(|(_, count)| **count > 0) {
            // both are less than a sheet has
            let (row, column) = (place / usize::from(columns), place % usize::from(columns));
            let at = (left + column as u16, top + row as u16);
            sheet.set_string(at.0, at.1, shade(count, most), Color::Cyan);
        }
        self.foot(&mut sheet, left, bottom, columns);
        let legend = match most {
            1 => "a cell: . 1 stream".to_owned(),
            _ => format!("a cell: . 1 stream, ░▒▓█ more, up to {most}"),
        };
        sheet.set_string(left, bottom + 3, legend, Style::new());
        lines(&sheet, look.color)
    }

    /// How many streams are in each cell, row by row.
    fn cells(&self, up: &Upward, top: u16, (height, columns): (u16, u16)) -> Vec<u64> {
        let mut cells = vec![0; usize::from(height) * usize::from(columns)];
        for &(across, ms) in self.points {
            let row = usize::from(up.row(ms, top) - top);
            let column = column(across, columns);
            cells[row * usize::from(columns) + usize::from(column)] += 1;
        }
        cells
    }

    /// The line under the field, its labels, and its name.
    fn foot(&self, sheet: &mut Buffer, left: u16, row: u16, columns: u16) {
        sheet.set_string(left - 1, row, "└", QUIET);
        sheet.set_string(left, row, "─".repeat(usize::from(columns)), QUIET);
        let mut free = 0;
        for (across, label) in self.labels {
            let at = left + column(*across, columns);
            let start = at
                .saturating_sub(label.cell_width() / 2)
                .min(sheet.area.width.saturating_sub(label.cell_width()));
            if start >= free {
                sheet.set_string(at, row, "┬", QUIET);
                sheet.set_string(start, row + 1, label, QUIET);
                free = start + label.cell_width() + 2;
            }
        }
        set_right(sheet, left + columns, row + 2, self.across, QUIET);
    }
}

fn column(across: f64, columns: u16) -> u16 {
    // a cast stays within the type's range, and what is no number is 0
    (across.clamp(0.0, 1.0) * f64::from(columns.saturating_sub(1))).round() as u16
}

fn shade(count: u64, most: u64) -> &'static str {
    if count <= 1 {
        return ONE;
    }
    let share = (count as f64).ln() / (most as f64).ln();
    // the most of all is 1, which is the last shade
    let shade = (share * SHADES.len() as f64).ceil() as usize;
    SHADES[shade.clamp(1, SHADES.len()) - 1]
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    fn plot(points: &[(f64, f64)], width: u16) -> String {
        let labels: Vec<_> = (0..=4)
            .map(|i| (f64::from(i) / 4.0, format!("1{i}:00")))
            .collect();
        let heatmap = Heatmap {
            title: "TTFT over time",
            up: "TTFT",
            across: "start",
            points,
            labels: &labels,
        };
        let look = Look {
            width,
            ..Look::default()
        };
        heatmap.lines(look).join("\n")
    }

    fn day() -> Vec<(f64, f64)> {
        let busy = (0..900u32).map(|i| {
            (
                0.5 + f64::from(i % 30) / 200.0,
                100.0 + f64::from(i % 100) * 9.0,
            )
        });
        let calm = (0..300u32).map(|i| (f64::from(i) / 300.0, 80.0 + f64::from(i % 7) * 5.0));
        busy.chain(calm).chain([(0.9, 30_000.0)]).collect()
    }

    #[test]
    fn the_busy_hour_is_dark_and_the_lonely_one_is_seen() {
        assert_snapshot!(plot(&day(), 80));
    }

    #[test]
    fn no_line_is_longer_than_the_look_is_wide() {
        for width in 40..=160 {
            let plot = plot(&day(), width);
            let longest = plot.lines().map(CellWidth::cell_width).max();
            assert!(longest <= Some(width), "{width}:\n{plot}");
        }
    }

    #[test]
    fn hostile_numbers_have_a_place() {
        let points = [
            (f64::NAN, 1.0),
            (f64::INFINITY, f64::MAX),
            (-1.0, 0.0),
            (0.5, -3.0),
        ];
        plot(&points, 80);
        assert_eq!(plot(&[], 80), "TTFT over time: none");
    }
}
