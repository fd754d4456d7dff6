//! The upright axis of durations, for the plots that have one.

use ratatui_core::buffer::{Buffer, CellWidth};

use super::axis::{LogAxis, readable};
use super::{QUIET, set_right};

/// An upright axis of so many rows.
pub(super) struct Upward {
    axis: LogAxis,
    height: u16,
    ticks: Vec<(f64, String)>,
    margin: u16,
}

impl Upward {
    /// Of `height` rows. `is_low` says that something is drawn at its foot that is below it.
    pub fn of(axis: LogAxis, height: u16, is_low: bool) -> Self {
        let ticks = axis.ticks(|ticks| {
            let rows: Vec<u16> = ticks.iter().map(|&tick| axis.cell(tick, height)).collect();
            rows.windows(2).all(|pair| pair[1] - pair[0] >= 2)
        });
        let label = |(index, tick): (usize, f64)| match index {
            // only the very lowest axis has something below it, and that begins with a tick
            0 if is_low => (tick, format!("≤ {}", readable(tick))),
            _ => (tick, readable(tick)),
        };
        let ticks: Vec<_> = ticks.into_iter().enumerate().map(label).collect();
        let widest = ticks.iter().map(|(_, label)| label.cell_width()).max();
        Upward {
            axis,
            height,
            ticks,
            margin: widest.unwrap_or(0) + 1,
        }
    }

    /// The column of its line; what is drawn begins after it.
    pub fn margin(&self) -> u16 {
        self.margin
    }

    /// The row of a duration on a sheet whose plot begins at row `top`.
    pub fn row(&self, ms: f64, top: u16) -> u16 {
        top + self.height - 1 - self.axis.cell(ms, self.height)
    }

    /// Draws it with its name above it.
    pub fn draw(&self, sheet: &mut Buffer, top: u16, name: &str) {
        set_right(
            sheet,
            (self.margin + 1).max(name.cell_width()),
            top - 1,
            name,
            QUIET,
        );
        for row in top..top + self.height {
            sheet.set_string(self.margin, row, "│", QUIET);
        }
        for (tick, label) in &self.ticks {
            let row = self.row(*tick, top);
            set_right(sheet, self.margin - 1, row, label, QUIET);
            sheet.set_string(self.margin, row, "┤", QUIET);
        }
    }
}
