//! The heatmap: durations up, time across, and each cell darker the more streams are in it.
//!
//! A shade stands for a power of ten, and one stream is seen beside a million.

use std::collections::BTreeMap;

use super::frame::{self, ACROSS, Named, UP, x, y};
use super::xml::Xml;
use super::{Chart, Key, units};
use crate::sink::console::text::grouped;

/// Cells across and up.
const COLUMNS: u16 = 53;
const ROWS: u16 = 20;
/// Shades: one stream, 2 to 9, 10 to 99 and so on; the last takes all that is more.
const SHADES: usize = 6;
/// So many cells have a title each.
const TITLED: usize = 500;

/// The picture.
#[derive(Debug)]
pub struct Heatmap<'a> {
    /// What it shows, such as `Gaps over time`.
    pub title: &'a str,
    /// The upright axis and its name.
    pub up: Named<'a>,
    /// The other.
    pub across: Named<'a>,
}

impl Heatmap<'_> {
    /// Draws the points, across and up as the axes have it; none without any.
    pub fn draw(&self, points: impl Iterator<Item = (f64, f64)>) -> Option<Chart> {
        let mut cells: BTreeMap<(u16, u16), u64> = BTreeMap::new();
        for (across, up) in points {
            let cell = |share: f64, cells: u16| ((share * f64::from(cells)) as u16).min(cells - 1);
            let column = cell(self.across.0.share(across), COLUMNS);
            let row = cell(self.up.0.share(up), ROWS);
            *cells.entry((column, row)).or_default() += 1;
        }
        let most = shade(cells.values().copied().max()?);
        let mut xml = Xml::default();
        frame::draw(&mut xml, self.up, self.across);
        let is_titled = cells.len() <= TITLED;
        for step in 0..=most {
            let class = format!("cell shade-{}", step + 1);
            let of_step = cells.iter().filter(|(_, n)| shade(**n) == step);
            if !is_titled {
                let all: String = of_step.map(|(&cell, _)| path(cell)).collect();
                xml.empty("path", &[("class", &class), ("d", &all)]);
                continue;
            }
            for (&cell, &n) in of_step {
                let path = path(cell);
                xml.element("path", &[("class", &class), ("d", &path)], |xml| {
                    xml.words("title", &[], &streams(n));
                });
            }
        }
        let all = cells.values().sum();
        Some(Chart {
            label: format!("{}: {}", self.title, streams(all)),
            keys: (0..=most).map(key).collect(),
            body: xml,
        })
    }
}

/// A cell's outline.
fn path((column, row): (u16, u16)) -> String {
    let (left, bottom) = (
        x(f64::from(column) / f64::from(COLUMNS)),
        y(f64::from(row) / f64::from(ROWS)),
    );
    let (width, height) = (
        units(ACROSS / f64::from(COLUMNS)),
        units(UP / f64::from(ROWS)),
    );
    format!(
        "M{} {}h{width}v-{height}h-{width}z",
        units(left),
        units(bottom)
    )
}

/// The power of ten.
fn shade(n: u64) -> usize {
    match n {
        ..=1 => 0,
        n => (n.ilog10() as usize + 1).min(SHADES - 1),
    }
}

fn key(step: usize) -> Key {
    let (from, to) = (
        10u64.pow(step.saturating_sub(1) as u32),
        10u64.pow(step as u32) - 1,
    );
    Key {
        class: format!("cell shade-{}", step + 1),
        path: "M-5-5h10v10h-10z".to_owned(),
        words: match step {
            0 => "1 stream".to_owned(),
            1 => "2 to 9".to_owned(),
            _ if step == SHADES - 1 => format!("{} or more", grouped(from)),
            _ => format!("{} to {}", grouped(from), grouped(to)),
        },
    }
}

fn streams(n: u64) -> String {
    let what = if n == 1 { "stream" } else { "streams" };
    format!("{} {what}", grouped(n))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::chart::Axis;

    fn drawn(points: &[(f64, f64)]) -> Option<(String, Vec<String>)> {
        let (across, up) = (
            Axis::numbers(60),
            Axis::durations([10.0, 1000.0].into_iter(), 0.1),
        );
        let heatmap = Heatmap {
            title: "Gaps over time",
            up: (&up?, "gap p99"),
            across: (&across, "start"),
        };
        let chart = heatmap.draw(points.iter().copied())?;
        let keys = chart.keys.iter().map(|key| key.words.clone()).collect();
        let mut xml = Xml::default();
        chart.write(&mut xml);
        Some((xml.into_text(), keys))
    }

    #[test]
    fn a_lonely_stream_has_a_cell_beside_many() {
        let mut points = vec![(1.0, 20.0); 120];
        points.extend([(50.0, 900.0), (f64::NAN, -1.0), (1e300, 1e300)]);
        let (text, keys) = drawn(&points).unwrap();
        insta::assert_snapshot!(text);
        assert_eq!(keys, ["1 stream", "2 to 9", "10 to 99", "100 to 999"]);
    }

    #[test]
    fn many_cells_are_a_path_of_each_shade() {
        let points: Vec<_> = (0..40_000u32)
            .map(|i| (f64::from(i % 60), 10.0 + f64::from(i * 7919 % 991)))
            .collect();
        let (text, _) = drawn(&points).unwrap();
        assert!(!text.contains("<title>"));
        assert!(text.matches("class=\"cell").count() <= SHADES);
        assert!(drawn(&[]).is_none());
    }

    #[test]
    fn shades_are_powers_of_ten() {
        let shades = [1, 2, 9, 10, 99, 100, 10_000, u64::MAX].map(shade);
        assert_eq!(shades, [0, 1, 1, 2, 2, 3, 5, 5]);
        assert_eq!(key(5).words, "10,000 or more");
    }
}
