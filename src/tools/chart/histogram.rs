//! The histogram: a bar for each length of gap, on a logarithmic axis of time.
//!
//! The scale of the counts is logarithmic too: a gap that came once stands beside one that came a million times, and the
//! lonely tail is what one looks for. The number over a bar says how many it is.

use super::axis::Axis;
use super::frame::{self, x, y};
use super::xml::{Attr, Xml};
use super::{Chart, units};
use crate::sink::console::text::grouped;
use crate::tools::plot::{Bucket, readable};

/// Above the longest edge, a bucket is drawn as wide as one to twice of it.
const OPEN: f64 = 2.0;
/// The place of what is below the shortest edge, as a share of the axis.
const BELOW: f64 = 0.1;
/// Bars that still have room for their numbers on a phone.
const DENSE: usize = 14;
/// Units between bars.
const BETWEEN: f64 = 1.5;

/// The picture.
#[derive(Debug)]
pub struct Histogram<'a> {
    /// What it shows, such as `Gaps between token events`.
    pub title: &'a str,
    /// From the first that has any to the last.
    pub buckets: &'a [Bucket],
}

impl Histogram<'_> {
    /// Draws it; none without a gap.
    pub fn draw(&self) -> Option<Chart> {
        let (first, last) = (self.buckets.first()?, self.buckets.last()?);
        let (from, to) = (first.from.or(first.to)?, end(last).max(end(first) * OPEN));
        let mut across = Axis::durations([from, to].into_iter(), 0.16)?;
        if first.from.is_none() {
            across = across.with_place_before(BELOW, format!("< {}", readable(from)));
        }
        let counts = || self.buckets.iter().map(|bucket| bucket.count);
        let up = Axis::counts(counts().max()?);
        let mut xml = Xml::default();
        frame::draw(&mut xml, (&up, "count, logarithmic"), (&across, "gap"));
        let numbers = match self.buckets.len() {
            ..=DENSE => "number",
            _ => "number dense",
        };
        for bucket in self.buckets.iter().filter(|bucket| bucket.count > 0) {
            let from = bucket.from.map_or(0.0, |from| across.share(from));
            let (from, to) = (x(from), x(across.share(end(bucket))));
            let top = y(up.share(bucket.count as f64));
            let bar = [
                units(from + BETWEEN / 2.0),
                units(top),
                units((to - from - BETWEEN).max(1.0)),
                units(y(0.0) - top),
            ];
            let attrs: [Attr<'_>; 5] = [
                ("class", &"bar"),
                ("x", &bar[0]),
                ("y", &bar[1]),
                ("width", &bar[2]),
                ("height", &bar[3]),
            ];
            xml.element("rect", &attrs, |xml| {
                xml.words("title", &[], &bucket.told())
            });
            let middle = ((from + to) / 2.0, top - 4.0);
            frame::text(&mut xml, numbers, middle, &short(bucket.count));
        }
        let all: u64 = counts().fold(0, u64::saturating_add);
        Some(Chart {
            label: format!(
                "{}: {} from {} to {}",
                self.title,
                grouped(all),
                readable(first.from.unwrap_or_default()),
                readable(to)
            ),
            keys: Vec::new(),
            body: xml,
        })
    }
}

/// Where a bucket ends on the axis, ms.
fn end(bucket: &Bucket) -> f64 {
    match bucket.to {
        Some(to) => to,
        None => bucket.from.unwrap_or_default() * OPEN,
    }
}

/// A number in four characters at most.
fn short(n: u64) -> String {
    match n {
        ..1000 => n.to_string(),
        1000..10_000 => format!("{:.1}k", (n / 100) as f64 / 10.0),
        10_000..1_000_000 => format!("{}k", n / 1000),
        1_000_000..10_000_000 => format!("{:.1}M", (n / 100_000) as f64 / 10.0),
        10_000_000..1_000_000_000 => format!("{}M", n / 1_000_000),
        _ => format!("{}G", n / 1_000_000_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::plot::{self, Gaps};

    fn drawn(gaps: &[(f64, u64)]) -> Option<String> {
        let mut counted = Gaps::default();
        for &(ms, n) in gaps {
            (0..n).for_each(|_| counted.add(ms));
        }
        let groups = [("a".to_owned(), counted), ("b".to_owned(), Gaps::default())];
        let title = "Gaps between token events";
        let groups = &groups;
        let buckets = &plot::Histogram { title, groups }.buckets();
        let chart = Histogram { title, buckets }.draw()?;
        let mut xml = Xml::default();
        chart.write(&mut xml);
        Some(xml.into_text())
    }

    #[test]
    fn bars_stand_where_their_gaps_are_on_the_axis_of_time() {
        insta::assert_snapshot!(drawn(&[(0.0, 3), (25.0, 1200), (90.0, 40), (3000.0, 1)]).unwrap());
    }

    #[test]
    fn one_among_a_million_is_seen() {
        let text = drawn(&[(25.0, 1_000_000), (3000.0, 1)]).unwrap();
        let svg = roxmltree::Document::parse(&text).unwrap();
        let bars = svg
            .descendants()
            .filter(|node| node.attribute("class") == Some("bar"));
        let heights: Vec<f64> = bars
            .map(|bar| bar.attribute("height").unwrap().parse().unwrap())
            .collect();
        assert_eq!(heights.len(), 2);
        assert!(
            heights[1] > 8.0 && heights[0] > 15.0 * heights[1],
            "{heights:?}"
        );
        assert!(
            text.contains("<title>2 s to 5 s: 1, of a</title>"),
            "{text}"
        );
    }

    #[test]
    fn all_lengths_at_once_and_none() {
        for gaps in [
            &[(0.0, 1)][..],
            &[(1e9, 2)],
            &[(0.0, 1), (1e9, 1)],
            &[(0.15, 1)],
        ] {
            assert!(drawn(gaps).is_some(), "{gaps:?}");
        }
        assert!(drawn(&[]).is_none());
    }

    #[test]
    fn numbers_fit_over_bars() {
        let all = [
            0,
            999,
            1204,
            34_567,
            999_999,
            1_250_000,
            45_000_000,
            u64::MAX,
        ];
        assert_eq!(
            all.map(short)[..7],
            ["0", "999", "1.2k", "34k", "999k", "1.2M", "45M"]
        );
    }
}
