//! Plots for a terminal, as lines of text.
//!
//! - [`Histogram`]: how often gaps of which length came, with the few long ones in sight
//! - [`Overlay`]: the same of two runs over each other
//! - [`Scatter`]: each request as one letter, its TTFT against the gap p99
//! - [`Heatmap`]: durations over time or load, darker where there are more
//! - [`drip`] and [`drip_axis`]: a stream as it drips, one mark per arrival, on an axis of its own
//! - [`LogAxis`]: where a duration lies on a logarithmic axis, and which round durations to name
//!
//! All other axes of time are logarithmic: 20 ms between tokens and a hole of 2 s belong on one plot, and a plot that hides
//! either is of no use. Nothing is averaged.
//!
//! A plot is drawn into an off-screen buffer of cells and read out row by row, so that the same code serves a terminal, a
//! pipe and a file. Without colour it says the same.

mod axis;
mod drip;
mod heatmap;
mod histogram;
mod overlay;
mod scatter;
mod upward;

use std::fmt::Write as _;

use anstyle::AnsiColor;
use ratatui_core::buffer::{Buffer, CellWidth};
use ratatui_core::layout::Rect;
use ratatui_core::style::{Color, Modifier, Style};

pub use axis::{LogAxis, readable};
pub use drip::{LEGEND as DRIP_LEGEND, drip, drip_axis};
pub use heatmap::Heatmap;
pub use histogram::{Bucket, Gaps, Histogram};
pub use overlay::Overlay;
pub use scatter::{Group, Scatter};

/// The narrowest plot that can still be read; what is asked to be narrower comes this wide.
const NARROWEST: u16 = 40;
/// The widest plot whose ends the eye still joins.
const WIDEST: u16 = 160;

/// What the place that lines are printed to can take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// Columns; plots are between 40 and 160 wide.
    pub width: u16,
    /// The columns of the terminal; `None` where it is none.
    pub terminal: Option<usize>,
    /// Whether to add ANSI colours.
    pub color: bool,
}

impl Default for Look {
    /// A pipe or a file: 80 columns, no colour.
    fn default() -> Self {
        Look {
            width: 80,
            terminal: None,
            color: false,
        }
    }
}

impl Look {
    /// What standard output can take: colour only on a terminal and without `NO_COLOR`, and the terminal's width.
    pub fn of_stdout() -> Self {
        let stdout = std::io::stdout();
        let plain = Look::default();
        let columns = terminal_size::terminal_size_of(&stdout)
            .map(|(terminal_size::Width(columns), _)| columns);
        Look {
            width: columns.unwrap_or(plain.width),
            terminal: columns.map(usize::from),
            color: anstream::AutoStream::choice(&stdout) != anstream::ColorChoice::Never,
        }
    }

    /// The width that a plot takes.
    fn plot_width(self) -> u16 {
        self.width.clamp(NARROWEST, WIDEST)
    }
}

/// What a plot's title looks like.
const TITLE: Style = Style::new().add_modifier(Modifier::BOLD);
/// What stands back: axes, units, hints.
const QUIET: Style = Style::new().add_modifier(Modifier::DIM);

/// The colour of group number `index`: readable on dark and on light.
fn group_color(index: usize) -> Color {
    const COLORS: [Color; 6] = [
        Color::Cyan,
        Color::Magenta,
        Color::Green,
        Color::Yellow,
        Color::Blue,
        Color::Red,
    ];
    COLORS[index % COLORS.len()]
}

/// An empty sheet of `width` × `height` cells.
fn sheet(width: u16, height: usize) -> Buffer {
    // a plot has a few dozen rows; the bound only keeps the cast true
    Buffer::empty(Rect::new(0, 0, width, height.min(1000) as u16))
}

/// Text that ends before column `end`.
fn set_right(sheet: &mut Buffer, end: u16, row: u16, text: &str, style: Style) {
    sheet.set_string(end.saturating_sub(text.cell_width()), row, text, style);
}

/// The sheet, row by row, without the space at the ends.
fn lines(sheet: &Buffer, color: bool) -> Vec<String> {
    let width = usize::from(sheet.area.width);
    sheet
        .content
        .chunks(width)
        .map(|row| {
            let mut line = String::new();
            let mut open = Style::reset();
            let used = row.iter().rposition(|cell| cell.symbol() != " ");
            let mut column = 0;
            while used.is_some_and(|used| column <= used) {
                let cell = &row[column];
                let style = cell.style();
                if color && style != open {
                    switch(&mut line, open, style);
                    open = style;
                }
                line.push_str(cell.symbol());
                // a wide character covers the cells after it
                column += usize::from(cell.symbol().cell_width()).max(1);
            }
            if color {
                switch(&mut line, open, Style::reset());
            }
            line
        })
        .collect()
}

/// Closes one style and opens the next.
fn switch(line: &mut String, from: Style, to: Style) {
    let (from, to) = (ansi(from), ansi(to));
    // writing to a String cannot fail
    let _ = write!(line, "{from:#}{to}");
}

/// The same style in the words of `anstyle`, as far as plots use it.
fn ansi(style: Style) -> anstyle::Style {
    let color = match style.fg {
        Some(Color::Red) => Some(AnsiColor::Red),
        Some(Color::Green) => Some(AnsiColor::Green),
        Some(Color::Yellow) => Some(AnsiColor::Yellow),
        Some(Color::Blue) => Some(AnsiColor::Blue),
        Some(Color::Magenta) => Some(AnsiColor::Magenta),
        Some(Color::Cyan) => Some(AnsiColor::Cyan),
        _ => None,
    };
    let mut effects = anstyle::Effects::new();
    if style.add_modifier.contains(Modifier::BOLD) {
        effects |= anstyle::Effects::BOLD;
    }
    if style.add_modifier.contains(Modifier::DIM) {
        effects |= anstyle::Effects::DIMMED;
    }
    anstyle::Style::new()
        .fg_color(color.map(Into::into))
        .effects(effects)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_end_where_their_text_ends_and_wide_characters_keep_their_width() {
        let mut sheet = sheet(12, 3);
        sheet.set_string(1, 0, "日本 x", Style::new());
        set_right(&mut sheet, 12, 2, "end", Style::new());
        assert_eq!(lines(&sheet, false), [" 日本 x", "", "         end"]);
    }

    #[test]
    fn colours_are_opened_and_closed_on_each_line() {
        let mut sheet = sheet(6, 1);
        sheet.set_string(0, 0, "ab", group_color(0));
        sheet.set_string(2, 0, "cd", Style::new());
        assert_eq!(lines(&sheet, true), ["\u{1b}[36mab\u{1b}[0mcd"]);
        assert_eq!(lines(&sheet, false), ["abcd"]);
    }
}
