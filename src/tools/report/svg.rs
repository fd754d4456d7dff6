//! The summary's pictures as one SVG file, for documents.

use super::charts;
use super::facts;
use super::file::Kind;
use super::summary::Summary;
use crate::tools::chart::sheet;

/// What each such file begins with.
pub const KIND: Kind = Kind {
    name: "SVG picture",
    magic: b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg ",
};

/// The file.
pub fn text(summary: &Summary) -> String {
    let lines = facts::named(summary).into_iter();
    let lines: Vec<_> = lines
        .map(|(name, text)| format!("{name}: {text}"))
        .collect();
    sheet::text("dripline report", &lines, charts::all(&summary.tally))
}
