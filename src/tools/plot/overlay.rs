//! Two histograms of durations over each other: each bucket a row, each bar the share of a run.
//!
//! Runs have different numbers of gaps and streams, so shares are compared and not counts. The bar is drawn in halves, the upper one
//! the first run's, so that it reads without colour: where both reach they are whole, and what stands out is one's own.

use ratatui_core::buffer::Buffer;
use ratatui_core::style::{Color, Style};

use super::histogram::{BUCKETS, Gaps, bounds, edges};
use super::{Look, QUIET, TITLE, group_color, lines, set_right, sheet};

/// Where the shares of the two runs end, and where the bars begin.
const ENDS: [u16; 2] = [28, 36];
const BARS: u16 = 37;

/// The plot.
#[derive(Debug, Clone)]
pub struct Overlay<'a> {
    /// What they are, such as `Gaps between token events`.
    pub title: &'a str,
    /// What stands over their lengths, such as `gap`.
    pub what: &'a str,
    /// Before and after.
    pub gaps: &'a [Gaps; 2],
}

impl Overlay<'_> {
    /// The plot as lines, no longer than the look's width.
    pub fn lines(&self, look: Look) -> Vec<String> {
        let is_used = |&bucket: &usize| self.gaps.iter().any(|gaps| gaps.count(bucket) > 0);
        let Some(first) = (0..BUCKETS).find(is_used) else {
            return vec![format!("{}: none", self.title)];
        };
        // what has a first has a last
        let last = (0..BUCKETS).rev().find(is_used).unwrap_or(first);
        let share = |side: usize, bucket: usize| {
            let gaps = &self.gaps[side];
            gaps.count(bucket) as f64 / gaps.total().max(1) as f64
        };
        let highest = (first..=last)
            .flat_map(|bucket| [share(0, bucket), share(1, bucket)])
            .fold(0.0, f64::max);

        let width = look.plot_width();
        let mut sheet = sheet(width, last - first + 5);
        sheet.set_string(0, 0, self.title, TITLE);
        set_right(&mut sheet, 15, 1, self.what, QUIET);
        for (end, name) in ENDS.into_iter().zip(["before", "after"]) {
            set_right(&mut sheet, end, 1, name, QUIET);
        }
        for (row, bucket) in (2..).zip(first..=last) {
            let (from, to) = bounds(bucket);
            sheet.set_string(0, row, edges(from, to), QUIET);
            let shares = [share(0, bucket), share(1, bucket)];
            for (end, share) in ENDS.into_iter().zip(shares) {
                let (text, style) = match share {
                    0.0 => ("·".to_owned(), QUIET),
                    share => (percent(share), Style::new()),
                };
                set_right(&mut sheet, end, row, &text, style);
            }
            bar(&mut sheet, row, shares, highest);
        }
        // fits: there are but BUCKETS rows
        let row = (last - first) as u16 + 4;
        legend(&mut sheet, row);
        lines(&sheet, look.color)
    }
}

/// Draws both shares into one row; what is there at all is seen.
fn bar(sheet: &mut Buffer, row: u16, shares: [f64; 2], highest: f64) {
    let room = f64::from(sheet.area.width - BARS);
    let cells = shares.map(|share| match share {
        0.0 => 0,
        share => ((share / highest * room).round() as u16).max(1),
    });
    for cell in 0..cells[0].max(cells[1]) {
        let (symbol, style) = halves(cell < cells[0], cell < cells[1]);
        sheet.set_string(BARS + cell, row, symbol, style);
    }
}

/// A cell of a bar: the first run's half, the second's, or both.
fn halves(first: bool, second: bool) -> (&'static str, Style) {
    match (first, second) {
        (true, false) => ("▀", Style::new().fg(group_color(0))),
        (false, _) => ("▄", Style::new().fg(group_color(1))),
        (true, true) => ("█", Style::new().fg(Color::Blue)),
    }
}

fn legend(sheet: &mut Buffer, row: u16) {
    let marks = [
        (true, false, "before"),
        (false, true, "after"),
        (true, true, "both"),
    ];
    let mut column = 0;
    for (first, second, name) in marks {
        let (symbol, style) = halves(first, second);
        sheet.set_string(column, row, symbol, style);
        sheet.set_string(column + 2, row, name, Style::new());
        column += name.len() as u16 + 5;
    }
    let rest = sheet.area.width.saturating_sub(column);
    let what = "share of each run";
    if usize::from(rest) >= what.len() {
        sheet.set_string(column, row, what, QUIET);
    }
}

/// A share in few columns: what is less than a tenth of a percent is not shown as nothing.
fn percent(share: f64) -> String {
    match share * 100.0 {
        ..0.1 => "<0.1 %".to_owned(),
        100.0 => "100 %".to_owned(),
        percent => format!("{percent:.1} %"),
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use ratatui_core::buffer::CellWidth;

    use super::*;

    fn gaps() -> [Gaps; 2] {
        let even = (18..32).map(f64::from);
        [
            even.clone().chain([0.01; 30]).chain([210.0; 4]).collect(),
            (0..300)
                .flat_map(|_| even.clone())
                .chain([1200.0])
                .collect(),
        ]
    }

    fn plot(gaps: &[Gaps; 2], width: u16) -> String {
        let title = "Gaps between token events";
        let look = Look {
            width,
            ..Look::default()
        };
        let what = "gap";
        Overlay { title, what, gaps }.lines(look).join("\n")
    }

    #[test]
    fn both_runs_are_told_apart_without_colour() {
        assert_snapshot!(plot(&gaps(), 80));
    }

    #[test]
    fn no_line_is_longer_than_the_look_is_wide() {
        for width in 40..=160 {
            let plot = plot(&gaps(), width);
            let longest = plot.lines().map(CellWidth::cell_width).max();
            assert!(longest <= Some(width), "{width}:\n{plot}");
        }
    }

    #[test]
    fn runs_of_any_size_are_compared_by_share() {
        let once: Gaps = [20.5, 300.0].into_iter().collect();
        let often: Gaps = (0..1000).flat_map(|_| [20.5, 300.0]).collect();
        let plot = plot(&[once, often], 80);
        let bars = plot.lines().filter(|line| line.contains("50.0 %"));
        assert_eq!(
            bars.filter(|line| line.contains('█') && !line.contains(['▀', '▄']))
                .count(),
            2,
            "{plot}"
        );
    }

    #[test]
    fn no_gap_is_said_in_words() {
        assert_eq!(
            plot(&Default::default(), 80),
            "Gaps between token events: none"
        );
    }
}
