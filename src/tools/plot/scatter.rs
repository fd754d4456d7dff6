//! The scatter: each request a letter, TTFT across, gap p99 up, both logarithmic.
//!
//! Low and left is a stream that begins early and flows. High is a hole in the middle, right a long wait before the first
//! token, and low on the right a text that came all at once. An average would put a point where no request was.

mod legend;

use std::ops::Range;

use ratatui_core::buffer::{Buffer, CellWidth};
use ratatui_core::style::{Modifier, Style};

use super::axis::{LogAxis, readable};
use super::upward::Upward;
use super::{Look, QUIET, TITLE, group_color, lines, set_right, sheet};

/// How far, in columns, a letter may stand aside where another is: right and left in turn. A column is a few percent of
/// time, a row is far more.
const ASIDE: [i16; 7] = [0, 1, -1, 2, -2, 3, -3];
/// How many of them for a letter of the same group: two requests are seen as two, and a thousand do not spread.
const ASIDE_OF_OWN: usize = 3;
/// Where even that does not help.
const SHARED: char = '+';

/// Requests of one kind.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Group {
    /// What they have in common.
    pub name: String,
    /// TTFT and gap p99 of each request, in ms.
    pub points: Vec<(f64, f64)>,
    /// Requests without one of the two figures; they have no place on the plot and are counted below it.
    pub without: usize,
}

/// The plot.
#[derive(Debug, Clone)]
pub struct Scatter<'a> {
    /// What the points are, such as `TTFT against gap p99`.
    pub title: &'a str,
    /// One letter each.
    pub groups: &'a [Group],
}

impl Scatter<'_> {
    /// The plot as lines, no longer than the look's width.
    pub fn lines(&self, look: Look) -> Vec<String> {
        let points = || self.groups.iter().flat_map(|group| &group.points);
        let axes = LogAxis::around(points().map(|point| point.0))
            .zip(LogAxis::around(points().map(|point| point.1)));
        let Some((x, y)) = axes else {
            return vec![format!("{}: no request has both", self.title)];
        };
        let letters = legend::letters(self.groups);
        let width = look.plot_width();
        let (field, any_shared) = self.field(&letters, x, y, width);
        let mut drawn = lines(&field, look.color);
        drawn.push(String::new());
        let legend = legend::sheet(self.groups, &letters, any_shared, width);
        drawn.extend(lines(&legend, look.color));
        drawn
    }

    /// Title, axes and letters, and whether a cell is shared.
    fn field(&self, letters: &[char], x: LogAxis, y: LogAxis, width: u16) -> (Buffer, bool) {
        let height = (width / 5).clamp(12, 20);
        let points = || self.groups.iter().flat_map(|group| &group.points);
        let is_low = points().any(|point| y.is_below(point.1));
        let up = Upward::of(y, height, is_low);
        let (top, left) = (2, up.margin() + 1);
        let (bottom, across) = (top + height, width - left - 1);

        let mut sheet = sheet(width, usize::from(bottom) + 3);
        sheet.set_string(0, 0, self.title, TITLE);
        up.draw(&mut sheet, top, "gap p99");
        x_axis(&mut sheet, x, left, bottom, across);
        let mut any_shared = false;
        for (index, group) in self.groups.iter().enumerate() {
            let mark = Mark {
                letter: letters[index],
                style: letter_style(index),
                columns: left..left + across,
            };
            for &(ttft, p99) in &group.points {
                let column = left + x.cell(ttft, across);
                any_shared |= !mark.put(&mut sheet, column, up.row(p99, top));
            }
        }
        (sheet, any_shared)
    }
}

/// How the letter of group number `index` looks.
fn letter_style(index: usize) -> Style {
    Style::new()
        .fg(group_color(index))
        .add_modifier(Modifier::BOLD)
}

/// The line under the field, its labels, and its name.
fn x_axis(sheet: &mut Buffer, x: LogAxis, left: u16, row: u16, across: u16) {
    let width = sheet.area.width;
    // a label is centred under its tick, but stays on the sheet
    let start = |tick: f64| {
        let label = readable(tick).cell_width();
        (left + x.cell(tick, across))
            .saturating_sub(label / 2)
            .min(width - label)
    };
    let ticks = x.ticks(|ticks| {
        ticks
            .windows(2)
            .all(|pair| start(pair[0]) + readable(pair[0]).cell_width() + 2 <= start(pair[1]))
    });
    sheet.set_string(left - 1, row, "└", QUIET);
    sheet.set_string(left, row, "─".repeat(usize::from(across)), QUIET);
    for tick in ticks {
        sheet.set_string(left + x.cell(tick, across), row, "┬", QUIET);
        sheet.set_string(start(tick), row + 1, readable(tick), QUIET);
    }
    set_right(
        sheet,
        left + across,
        row + 2,
        "time to first token (TTFT)",
        QUIET,
    );
}

/// A group's letter, and where it may stand.
struct Mark {
    letter: char,
    style: Style,
    columns: Range<u16>,
}

impl Mark {
    /// Puts the letter where it belongs, or beside what is there. Else makes the cell a shared one, and returns false.
    fn put(&self, sheet: &mut Buffer, column: u16, row: u16) -> bool {
        let is_own = |column: u16| sheet[(column, row)].symbol().starts_with(self.letter);
        let reach = if is_own(column) {
            ASIDE_OF_OWN
        } else {
            ASIDE.len()
        };
        let near: Vec<u16> = ASIDE[..reach]
            .iter()
            .filter_map(|&aside| column.checked_add_signed(aside))
            .filter(|near| self.columns.contains(near))
            .collect();
        let blank = near
            .iter()
            .find(|&&near| sheet[(near, row)].symbol() == " ");
        match blank.or_else(|| near.iter().find(|&&near| is_own(near))) {
            Some(&near) => {
                sheet[(near, row)]
                    .set_char(self.letter)
                    .set_style(self.style);
                true
            }
            None => {
                sheet[(column, row)].set_char(SHARED).set_style(TITLE);
                false
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    fn group(name: &str, points: &[(f64, f64)], without: usize) -> Group {
        Group {
            name: name.to_owned(),
            points: points.to_vec(),
            without,
        }
    }

    fn groups() -> Vec<Group> {
        vec![
            group("steady", &[(104.0, 31.9), (106.0, 31.4), (103.0, 32.2)], 0),
            group(
                "slow_first_token",
                &[(1203.0, 31.0), (1201.0, 31.6), (1210.0, 31.8)],
                0,
            ),
            group(
                "stall",
                &[(101.0, 1003.0), (101.5, 1004.0), (103.0, 1003.5)],
                0,
            ),
            group(
                "whole_body",
                &[(1090.0, 0.0), (1091.0, 0.004), (1088.0, 0.01)],
                0,
            ),
            group("gzip_unflushed", &[], 3),
            group("truncated", &[(105.0, 25.4), (105.0, 25.3)], 1),
        ]
    }

    fn plot(groups: &[Group], width: u16) -> String {
        Scatter {
            title: "TTFT against gap p99",
            groups,
        }
        .lines(Look {
            width,
            color: false,
            ..Look::default()
        })
        .join("\n")
    }

    #[test]
    fn each_request_is_a_letter_of_its_group() {
        assert_snapshot!(plot(&groups(), 80), @r"
        TTFT against gap p99
           gap p99
                 │
             1 s ┤ttt
                 │
                 │
                 │
          100 ms ┤
                 │sss                                                     lll
                 │ rr
           10 ms ┤
                 │
                 │
                 │
            1 ms ┤
                 │
                 │
        ≤ 0.1 ms ┤                                                     www
                 └┬───────────────┬────────────────────┬──────────────┬───────────────┬
               100 ms          200 ms               500 ms           1 s             2 s
                                                             time to first token (TTFT)

        s steady                      w whole_body
        l slow_first_token            g gzip_unflushed (no point)
        t stall                       r truncated (1 without)
        ");
    }

    #[test]
    fn no_line_is_longer_than_the_look_is_wide() {
        for width in 40..=160 {
            let plot = plot(&groups(), width);
            let longest = plot.lines().map(CellWidth::cell_width).max();
            assert!(longest <= Some(width), "{width}:\n{plot}");
        }
    }

    #[test]
    fn a_narrow_plot_has_fewer_labels() {
        assert_snapshot!(plot(&groups(), 44), @r"
        TTFT against gap p99
           gap p99
                 │
             1 s ┤tt
                 │
          100 ms ┤
                 │
                 │ssrr                      lll
           10 ms ┤
                 │
            1 ms ┤
                 │
                 │
        ≤ 0.1 ms ┤                         www
                 └┬────────────────┬───────┬───────
               100 ms           500 ms    1 s
                         time to first token (TTFT)

        s steady
        l slow_first_token
        t stall
        w whole_body
        g gzip_unflushed (no point)
        r truncated (1 without)
        ");
    }

    #[test]
    fn groups_on_one_spot_stand_aside_and_then_share_it() {
        let spot = [(150.0, 15.0)];
        let groups: Vec<_> = ('a'..='i')
            .map(|name| group(&name.to_string(), &spot, 0))
            .collect();
        let plot = plot(&groups, 80);
        assert!(plot.contains(" gec+bdf\n"), "{plot}");
        assert!(plot.contains("+ several of them"), "{plot}");
    }

    #[test]
    fn requests_of_one_group_are_told_apart_but_do_not_spread() {
        let many = |n| plot(&[group("a", &vec![(150.0, 15.0); n], 0)], 80);
        assert!(many(1).contains(" a\n"));
        assert!(many(2).contains(" aa\n"));
        assert!(many(1000).contains(" aaa\n"));
    }

    #[test]
    fn no_point_is_said_in_words() {
        assert_eq!(
            plot(&[group("a", &[], 2)], 80),
            "TTFT against gap p99: no request has both"
        );
    }
}
