//! How streams came and how requests ended, with what each word means.

use super::table::{self, Cell, Row};
use crate::sink::console::text::grouped;
use crate::tools::chart::marks::Look;
use crate::tools::chart::xml::Xml;
use crate::tools::report::tally::{Group, Tally};
use crate::tools::report::{facts, meaning};

/// A row for each verdict.
pub(super) fn write(xml: &mut Xml, tally: &Tally) {
    let counts = sum(tally, |group| &group.verdicts);
    if counts.is_empty() {
        return xml.words("p", &[], "No request was a stream, so none has a verdict.");
    }
    let all: u64 = counts.iter().map(|(_, n)| n).sum();
    let rows = facts::sorted(&counts)
        .into_iter()
        .map(|(&timing, word, n)| {
            Row::of(vec![
                Cell::Verdict(timing, word),
                Cell::Figure(grouped(n)),
                share(n, all, Look::of(timing).hue),
                Cell::Text(meaning::of_timing(timing).to_owned()),
            ])
        });
    let rows: Vec<_> = rows.collect();
    table::write(
        xml,
        &["verdict", "streams", "share", "what was seen"],
        &rows,
    );
}

/// A row for each end.
pub(super) fn write_ends(xml: &mut Xml, tally: &Tally) {
    let counts = sum(tally, |group| &group.ends);
    let rows = facts::sorted(&counts).into_iter().map(|(&end, word, n)| {
        Row::of(vec![
            Cell::Text(word),
            Cell::Figure(grouped(n)),
            share(n, tally.records, "plain"),
            Cell::Text(meaning::of_end(end).to_owned()),
        ])
    });
    let rows: Vec<_> = rows.collect();
    table::write(xml, &["end", "requests", "share", "what it means"], &rows);
}

fn share(n: u64, of: u64, hue: &'static str) -> Cell {
    let part = n as f64 / of.max(1) as f64;
    let words = match part * 100.0 {
        ..0.1 => "< 0.1 %".to_owned(),
        percent @ ..10.0 => format!("{percent:.1} %"),
        percent => format!("{percent:.0} %"),
    };
    Cell::Share(part, hue, words)
}

/// The counts of all groups.
fn sum<T: Copy + PartialEq>(tally: &Tally, of: fn(&Group) -> &Vec<(T, u64)>) -> Vec<(T, u64)> {
    let mut sums: Vec<(T, u64)> = Vec::new();
    for &(value, n) in tally.groups.iter().flat_map(of) {
        match sums.iter_mut().find(|(known, _)| *known == value) {
            Some((_, sum)) => *sum += n,
            None => sums.push((value, n)),
        }
    }
    sums
}
