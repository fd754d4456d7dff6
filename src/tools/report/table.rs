//! The table: a row for each group, and one for its cold streams.

use super::figures::Figures;
use super::print::figures;
use super::tally::Tally;
use crate::sink::console::text::{NONE, columns, duration, grouped, shown};
use crate::tools::page::Page;

/// A column: its head, its width with the space before it, and whether it may be left out, those first that say least.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    N,
    Errors,
    TtftP50,
    TtftP95,
    TtftP99,
    GapP50,
    GapP99,
    Stalled,
}

use Column::*;

const COLUMNS: [(Column, &str, usize); 8] = [
    (N, "n", 6),
    (Errors, "errors", 7),
    (TtftP50, "TTFT p50", 9),
    (TtftP95, "p95", 7),
    (TtftP99, "p99", 7),
    (GapP50, "gap p50", 8),
    (GapP99, "gap p99", 8),
    (Stalled, "stalled", 8),
];

/// What a narrow page goes without, in this order.
const SPARED: [Column; 5] = [TtftP95, GapP50, Stalled, TtftP99, Errors];
/// Names get at least so many columns …
const LEAST_NAME: usize = 14;
/// … and at most so many.
const MOST_NAME: usize = 40;
/// How the row of cold streams begins.
const COLD: &str = "  cold";

/// Writes the rows of `groups`.
pub fn write(page: &mut Page, tally: &Tally, groups: &[usize]) {
    let names = groups
        .iter()
        .map(|&number| shown(&tally.groups[number].name, MOST_NAME));
    let names: Vec<String> = names.collect();
    let longest = names.iter().map(|name| columns(name)).max().unwrap_or(0);
    let wanted = longest.max(LEAST_NAME);
    let most = groups.iter().map(|&number| tally.groups[number].n).max();
    let numbers = grouped(most.unwrap_or(0)).len() + 1;
    let widths = COLUMNS.map(|(column, head, width)| match column {
        N => (column, head, width.max(numbers)),
        _ => (column, head, width),
    });
    let width = |kept: &[Column]| -> usize {
        let kept = widths.iter().filter(|(column, ..)| kept.contains(column));
        kept.map(|(_, _, width)| width).sum()
    };
    let mut kept: Vec<Column> = COLUMNS.iter().map(|(column, ..)| *column).collect();
    for spared in SPARED {
        if width(&kept) + LEAST_NAME > page.width() {
            kept.retain(|column| *column != spared);
        }
    }
    let name_width = wanted.min(page.width().saturating_sub(width(&kept)));
    let row = |name: &str, cell: &dyn Fn(Column, &str) -> String| {
        let name = shown_again(name, name_width);
        let mut row = format!("{name}{}", " ".repeat(name_width - columns(&name)));
        for (column, head, width) in widths
            .into_iter()
            .filter(|(column, ..)| kept.contains(column))
        {
            let text = cell(column, head);
            row += &" ".repeat(width.saturating_sub(columns(&text)));
            row += &text;
        }
        row
    };
    page.strong(&row(tally.by.name(), &|_, head| head.to_owned()));
    for (&number, name) in groups.iter().zip(&names) {
        let group = &tally.groups[number];
        for (cold, name) in [(false, name.as_str()), (true, COLD)] {
            let Some(figures) = figures(tally, number, cold) else {
                continue;
            };
            page.line(&row(name, &|column, _| match column {
                N if cold => grouped(figures.n),
                N => grouped(group.n),
                Errors if cold => String::new(),
                Errors => grouped(group.errors),
                Stalled if cold => String::new(),
                Stalled => grouped(group.stalled),
                time => self::time(&figures, time),
            }));
        }
    }
}

fn time(figures: &Figures, column: Column) -> String {
    let ms = match column {
        TtftP50 => figures.ttft.p50_ms,
        TtftP95 => figures.ttft.p95_ms,
        TtftP99 => figures.ttft.p99_ms,
        GapP50 => figures.gap_p50.p50_ms,
        GapP99 => figures.gap_p99.p50_ms,
        N | Errors | Stalled => return NONE.to_owned(),
    };
    duration(ms)
}

/// A name that is safe already, cut to fewer columns.
fn shown_again(name: &str, width: usize) -> String {
    if columns(name) <= width {
        return name.to_owned();
    }
    let mut cut = String::new();
    for c in name.chars() {
        cut.push(c);
        if columns(&cut) >= width {
            break;
        }
    }
    while columns(&cut) >= width && cut.pop().is_some() {}
    cut + "…"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_to_columns() {
        assert_eq!(shown_again("llama-3.1", 9), "llama-3.1");
        assert_eq!(shown_again("llama-3.1", 6), "llama…");
        assert_eq!(columns(&shown_again("模型名字很长", 6)), 5);
        assert_eq!(shown_again("ab", 1), "…");
    }
}
