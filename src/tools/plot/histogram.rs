//! The gap histogram: logarithmic buckets, one bar each.
//!
//! Bars are linear, so that twice as long is twice as many. A bucket with a single gap among thousands still gets a sliver
//! of ink and its count, and where its gaps come from is named after the bar: that lonely row is what one looks for.
//! Empty buckets between others keep their row, so that the distance to the tail is seen.

use ratatui_core::buffer::{Buffer, CellWidth};
use ratatui_core::style::{Color, Style};

use super::axis::{LogAxis, readable, round};
use super::{Look, QUIET, TITLE, lines, sheet};
use crate::sink::console::text::grouped;

/// The last edge, as a step of the axis: 1000 s. Longer gaps share one bucket.
const LAST_EDGE: i32 = 18;
/// Below 0.1 ms, between the edges, over 1000 s.
pub(super) const BUCKETS: usize = (LAST_EDGE - LogAxis::FLOOR) as usize + 2;

/// Where the bars begin: after the bucket's edges and the count.
const BARS: u16 = 27;
/// Where the counts end.
const COUNTS_END: u16 = BARS - 2;

/// A bar's last cell, in eighths of its width.
const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/// Names that one row may give for where its gaps come from.
const NAMES: usize = 2;

/// Gaps counted by length, in buckets of 1, 2 and 5 times each power of ten.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Gaps {
    counts: [u64; BUCKETS],
}

impl Gaps {
    /// Counts a gap of `ms`.
    pub fn add(&mut self, ms: f64) {
        let bucket = (LogAxis::FLOOR..=LAST_EDGE)
            .take_while(|&step| round(step) <= ms)
            .count();
        self.counts[bucket] += 1;
    }

    /// How many are in a bucket.
    pub(super) fn count(&self, bucket: usize) -> u64 {
        self.counts[bucket]
    }

    /// How many were counted.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }
}

/// Gaps of one length, of all groups.
#[derive(Debug, Clone, PartialEq)]
pub struct Bucket {
    /// From so many ms on; none for the shortest ones.
    pub from: Option<f64>,
    /// To below so many; none for the longest ones.
    pub to: Option<f64>,
    /// How many.
    pub count: u64,
    /// Whose they are, if few groups have any.
    pub names: String,
}

impl FromIterator<f64> for Gaps {
    fn from_iter<T: IntoIterator<Item = f64>>(gaps: T) -> Self {
        let mut counted = Gaps::default();
        gaps.into_iter().for_each(|ms| counted.add(ms));
        counted
    }
}

impl Bucket {
    /// In words: `20 ms to 50 ms: 1,204, of steady`.
    pub fn told(&self) -> String {
        let length = match (self.from, self.to) {
            (Some(from), Some(to)) => format!("{} to {}", readable(from), readable(to)),
            (Some(from), None) => format!("over {}", readable(from)),
            (None, to) => format!("under {}", readable(to.unwrap_or_default())),
        };
        let whose = match self.names.as_str() {
            "" => String::new(),
            names => format!(", of {names}"),
        };
        format!("{length}: {}{whose}", grouped(self.count))
    }
}

/// The plot: gaps of one or more groups, drawn together, each row saying whose they are where few have any.
#[derive(Debug, Clone)]
pub struct Histogram<'a> {
    /// What the gaps are, such as `Gaps between token events`.
    pub title: &'a str,
    /// Names and gaps.
    pub groups: &'a [(String, Gaps)],
}

impl Histogram<'_> {
    /// The plot as lines, no longer than the look's width.
    pub fn lines(&self, look: Look) -> Vec<String> {
        let buckets = self.buckets();
        if buckets.is_empty() {
            return vec![format!("{}: none", self.title)];
        }
        let counts = buckets.iter().map(|bucket| bucket.count);
        let highest = counts.max().unwrap_or(1);

        let width = look.plot_width();
        let mut sheet = sheet(width, buckets.len() + 2);
        sheet.set_string(0, 0, self.title, TITLE);
        super::set_right(&mut sheet, COUNTS_END, 1, "gap         count", QUIET);
        for (row, bucket) in (2..).zip(&buckets) {
            sheet.set_string(0, row, edges(bucket.from, bucket.to), QUIET);
            let (count, style) = match bucket.count {
                0 => ("·".to_owned(), QUIET),
                count => (count.to_string(), Style::new()),
            };
            super::set_right(&mut sheet, COUNTS_END, row, &count, style);
            let end = bar(&mut sheet, row, bucket.count, highest);
            if end + 1 + bucket.names.cell_width() <= width {
                sheet.set_string(end + 1, row, &bucket.names, QUIET);
            }
        }
        lines(&sheet, look.color)
    }

    /// From the first bucket with a gap to the last, empty ones between them too.
    pub fn buckets(&self) -> Vec<Bucket> {
        let has_some = |&bucket: &usize| self.count(bucket) > 0;
        let first = (0..BUCKETS).find(has_some).unwrap_or(BUCKETS);
        let last = (0..BUCKETS).rfind(has_some).map_or(first, |last| last + 1);
        let bucket = |bucket: usize| {
            let (from, to) = bounds(bucket);
            Bucket {
                from,
                to,
                count: self.count(bucket),
                names: self.names(bucket),
            }
        };
        (first..last).map(bucket).collect()
    }

    fn count(&self, bucket: usize) -> u64 {
        self.groups
            .iter()
            .map(|(_, gaps)| gaps.counts[bucket])
            .sum()
    }

    /// Whose gaps a bucket holds, most first; empty where too many have some, and where there is but one group.
    fn names(&self, bucket: usize) -> String {
        let mut groups: Vec<_> = self
            .groups
            .iter()
            .map(|(name, gaps)| (gaps.counts[bucket], name.as_str()))
            .filter(|&(count, _)| count > 0)
            .collect();
        if self.groups.len() < 2 || groups.len() > NAMES {
            return String::new();
        }
        groups.sort_by_key(|&(count, _)| std::cmp::Reverse(count));
        let names: Vec<_> = groups.into_iter().map(|(_, name)| name).collect();
        names.join(", ")
    }
}

/// Where a bucket begins and ends, in ms; none where it is open.
pub(super) fn bounds(bucket: usize) -> (Option<f64>, Option<f64>) {
    // fits: there are but BUCKETS of them
    let high = LogAxis::FLOOR + bucket as i32;
    let from = (bucket > 0).then(|| round(high - 1));
    let to = (high <= LAST_EDGE).then(|| round(high));
    (from, to)
}

/// The edges of a bucket, in columns: `   10 –   20 ms`.
pub(super) fn edges(from: Option<f64>, to: Option<f64>) -> String {
    let (divisor, unit) = match to.or(from) {
        Some(ms) if ms > 1000.0 || to.is_none() => (1000.0, "s"),
        _ => (1.0, "ms"),
    };
    match (from, to) {
        (Some(from), Some(to)) => format!("{:>7} – {:>4} {unit}", from / divisor, to / divisor),
        (Some(from), None) => format!("{:>7}  {:>5} {unit}", "over", from / divisor),
        (None, to) => format!("{:>7}  {:>5} {unit}", "under", to.unwrap_or_default()),
    }
}

/// Draws a bar and returns the column after it.
fn bar(sheet: &mut Buffer, row: u16, count: u64, highest: u64) -> u16 {
    let room = sheet.area.width - BARS; // the narrowest plot is wider
    let exact = u128::from(count) * u128::from(room) * 8 / u128::from(highest);
    // count ≤ highest, so this is at most room × 8; what is there at all is seen
    let eighths = (exact as usize).max(usize::from(count > 0));
    let bar = "█".repeat(eighths / 8) + EIGHTHS[eighths % 8];
    sheet.set_string(BARS, row, &bar, Color::Cyan);
    BARS + bar.cell_width()
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    fn groups() -> Vec<(String, Gaps)> {
        let ramp = |from: u32, to: u32| (from..to).map(f64::from);
        vec![
            (
                "steady".to_owned(),
                ramp(14, 33).cycle().take(400).collect(),
            ),
            (
                "stall".to_owned(),
                ramp(18, 24)
                    .cycle()
                    .take(60)
                    .chain([1003.0, 1004.5])
                    .collect(),
            ),
            (
                "whole_body".to_owned(),
                vec![0.002; 117].into_iter().collect(),
            ),
            (
                "block_buffered".to_owned(),
                [0.01, 0.3, 280.0, 290.0, 310.0].into_iter().collect(),
            ),
        ]
    }

    fn plot(groups: &[(String, Gaps)], width: u16) -> String {
        let title = "Gaps between token events";
        Histogram { title, groups }
            .lines(Look {
                width,
                color: false,
                ..Look::default()
            })
            .join("\n")
    }

    #[test]
    fn the_lonely_tail_is_seen_and_named() {
        assert_snapshot!(plot(&groups(), 80), @r"
        Gaps between token events
                gap         count
          under    0.1 ms     118  ███████████████████▉ whole_body, block_buffered
            0.1 –  0.2 ms       ·
            0.2 –  0.5 ms       1  ▏ block_buffered
            0.5 –    1 ms       ·
              1 –    2 ms       ·
              2 –    5 ms       ·
              5 –   10 ms       ·
             10 –   20 ms     147  ████████████████████████▉ steady, stall
             20 –   50 ms     313  █████████████████████████████████████████████████████
             50 –  100 ms       ·
            100 –  200 ms       ·
            200 –  500 ms       3  ▌ block_buffered
            500 – 1000 ms       ·
              1 –    2 s        2  ▎ stall
        ");
    }

    #[test]
    fn no_line_is_longer_than_the_look_is_wide() {
        for width in 40..=160 {
            let plot = plot(&groups(), width);
            let longest = plot.lines().map(CellWidth::cell_width).max();
            assert_eq!(longest, Some(width), "the longest bar fills it:\n{plot}");
        }
    }

    #[test]
    fn a_narrow_plot_keeps_counts_and_drops_names_that_do_not_fit() {
        assert_snapshot!(plot(&groups(), 50), @r"
        Gaps between token events
                gap         count
          under    0.1 ms     118  ████████▋
            0.1 –  0.2 ms       ·
            0.2 –  0.5 ms       1  ▏ block_buffered
            0.5 –    1 ms       ·
              1 –    2 ms       ·
              2 –    5 ms       ·
              5 –   10 ms       ·
             10 –   20 ms     147  ██████████▊
             20 –   50 ms     313  ███████████████████████
             50 –  100 ms       ·
            100 –  200 ms       ·
            200 –  500 ms       3  ▏ block_buffered
            500 – 1000 ms       ·
              1 –    2 s        2  ▏ stall
        ");
    }

    #[test]
    fn one_group_needs_no_name_and_the_ends_are_open() {
        let gaps = [0.0, 1e9, 1e9].into_iter().collect();
        let plot = plot(&[("only".to_owned(), gaps)], 60);
        let rows: Vec<_> = plot.lines().collect();
        assert_eq!(rows.len(), 2 + BUCKETS);
        assert!(rows[2].starts_with("  under    0.1 ms"), "{plot}");
        assert!(rows[1 + BUCKETS].starts_with("   over   1000 s"), "{plot}");
        assert!(!plot.contains("only"));
    }

    #[test]
    fn no_gap_is_said_in_words() {
        assert_eq!(plot(&[], 80), "Gaps between token events: none");
    }

    #[test]
    fn an_edge_belongs_to_the_bucket_that_it_opens() {
        let gaps: Gaps = [0.1, 0.19, 0.2].into_iter().collect();
        assert_eq!(gaps.counts[..4], [0, 2, 1, 0]);
        assert_eq!(gaps.total(), 3);
    }
}
