//! The table: a row for each figure.

use super::estimate::Differs;
use super::figures::Figure;
use super::unit::relative;
use crate::sink::console::text::{NONE, columns};
use crate::tools::page::Page;

/// A column: its head, and its width with the space before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    Before,
    After,
    Difference,
    Relative,
    Interval,
    Differs,
}

use Column::*;

const COLUMNS: [(Column, &str, usize); 6] = [
    (Before, "before", 9),
    (After, "after", 9),
    (Difference, "change", 10),
    (Relative, "", 8),
    (Interval, "95% CI", 23),
    (Differs, "differs", 9),
];

/// What a narrow page goes without, in this order.
const SPARED: [Column; 3] = [Relative, Interval, Differs];
/// The longest word for a verdict is a little longer; it is cut.
const NAME: usize = 19;

/// Writes the rows.
pub fn write(page: &mut Page, figures: &[Figure]) {
    let mut kept = COLUMNS.to_vec();
    for spared in SPARED {
        if NAME + kept.iter().map(|(.., width)| width).sum::<usize>() > page.width() {
            kept.retain(|(column, ..)| *column != spared);
        }
    }
    let names = figures.iter().map(|figure| columns(&figure.name));
    let rest: usize = kept.iter().map(|(.., width)| width).sum();
    let name_width = names
        .max()
        .unwrap_or(NAME)
        .min(page.width().saturating_sub(rest))
        .max(NAME.min(page.width().saturating_sub(rest)));
    let row = |name: &str, cell: &dyn Fn(Column, &str) -> String| {
        let mut name = name.to_owned();
        if columns(&name) > name_width {
            name = name.chars().take(name_width.saturating_sub(1)).collect();
            name.push('…');
        }
        let mut row = format!("{name}{}", " ".repeat(name_width - columns(&name)));
        for &(column, head, width) in &kept {
            let text = cell(column, head);
            // the last word reads better from the left
            let (before, after) = match column {
                Differs => ("  ".len(), 0),
                _ => (width.saturating_sub(columns(&text)), 0),
            };
            row += &" ".repeat(before);
            row += &text;
            row += &" ".repeat(after);
        }
        row
    };
    page.strong(&row("", &|_, head| head.to_owned()));
    let figures = figures.iter().filter(|figure| is_known(figure));
    for figure in figures {
        page.line(&row(&figure.name, &|column, _| cell(figure, column)));
    }
}

/// Whether either run has it.
pub fn is_known(figure: &Figure) -> bool {
    figure.estimate.before.is_some() || figure.estimate.after.is_some()
}

fn cell(figure: &Figure, column: Column) -> String {
    let (estimate, unit) = (&figure.estimate, figure.unit);
    let none = || NONE.to_owned();
    match column {
        Before => unit.value(estimate.before),
        After => unit.value(estimate.after),
        Difference => estimate
            .difference()
            .map_or_else(none, |difference| unit.signed(difference)),
        // of a share it would be taken for the difference
        Relative if unit == super::unit::Unit::Share => String::new(),
        Relative => relative(estimate).unwrap_or_else(none),
        Interval => interval(figure),
        Differs => answer(figure.differs).to_owned(),
    }
}

/// The interval, or why there is none.
pub fn interval(figure: &Figure) -> String {
    match (figure.interval, figure.estimate.needed()) {
        (Some(ends), _) => figure.unit.interval(ends),
        (None, Some(needed)) => format!("too few, needs {needed}"),
        (None, None) => NONE.to_owned(),
    }
}

/// One word for how sure a difference is.
pub fn answer(differs: Differs) -> &'static str {
    match differs {
        Differs::Clear => "clear",
        Differs::Perhaps => "perhaps",
        Differs::No => "no",
        Differs::TooFew | Differs::Unknown => NONE,
    }
}
