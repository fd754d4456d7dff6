//! A row for each group: the figures of its warm and of its cold streams, and how its requests ended.

use super::section;
use super::table::{self, Cell, Row};
use crate::sink::console::text::{grouped, shown};
use crate::tools::chart::xml::Xml;
use crate::tools::report::facts;
use crate::tools::report::figures::Figures;
use crate::tools::report::print::{SHOWN, figures};
use crate::tools::report::tally::{By, Tally};

const HEADS: [&str; 9] = [
    "", "n", "errors", "TTFT p50", "p95", "p99", "gap p50", "gap p99", "stalled",
];
/// Columns of a name.
const NAME: usize = 60;

/// The table of figures.
pub(super) fn write(xml: &mut Xml, tally: &Tally) {
    let title = format!("By {}", tally.by.name());
    section(xml, "groups", &title, |xml| {
        let (groups, more) = groups(tally);
        let mut rows = Vec::new();
        for number in groups {
            let group = &tally.groups[number];
            let counts = [group.n, group.errors, group.stalled];
            rows.extend(row(
                figures(tally, number, false),
                &group.name,
                Some(counts),
            ));
            rows.extend(row(figures(tally, number, true), "", None));
        }
        let mut heads = HEADS;
        heads[0] = tally.by.name();
        table::write(xml, &heads, &rows);
        if let Some(more) = more {
            xml.words("p", &[("class", &"quiet")], &more);
        }
        xml.words(
            "p",
            &[("class", &"quiet")],
            "Of streams that came whole: time to first token, and the median stream's gap p50 and p99 between token \
             events. Cold ones (the first to an upstream, or the first after a pause) stand apart.",
        );
    });
}

/// How the requests of each group ended; of one it is said elsewhere already.
pub(super) fn write_ends(xml: &mut Xml, tally: &Tally) {
    if tally.groups.len() < 2 {
        return;
    }
    let (groups, more) = groups(tally);
    let rows = groups.into_iter().map(|number| {
        let group = &tally.groups[number];
        let mut cells = vec![
            Cell::Name(shown(&group.name, NAME)),
            Cell::Text(facts::words(&group.ends)),
        ];
        if tally.by != By::Verdict {
            cells.push(Cell::Text(facts::words(&group.verdicts)));
        }
        Row::of(cells)
    });
    let rows: Vec<_> = rows.collect();
    table::write(
        xml,
        &[tally.by.name(), "ends", "verdicts"][..rows[0].cells.len()],
        &rows,
    );
    if let Some(more) = more {
        xml.words("p", &[("class", &"quiet")], &more);
    }
}

/// Those that are shown, and what is said of the others.
fn groups(tally: &Tally) -> (Vec<usize>, Option<String>) {
    let mut groups = tally.sorted_groups();
    let more = groups.split_off(groups.len().min(SHOWN));
    let records: u64 = more.iter().map(|&number| tally.groups[number].n).sum();
    let told = (!more.is_empty()).then(|| {
        format!(
            "{} more with {}: --where narrows it down, --json has all.",
            grouped(more.len() as u64),
            facts::counted(records, "record")
        )
    });
    (groups, told)
}

/// A group's row; without counts it is that of its cold streams.
fn row(figures: Option<Figures>, name: &str, counts: Option<[u64; 3]>) -> Option<Row> {
    let figures = figures?;
    let time = |ms: Option<f64>| Cell::Figure(facts::time(ms));
    let count = |which: usize| match counts {
        Some(counts) => Cell::Figure(grouped(counts[which])),
        None => Cell::Empty,
    };
    let (class, name, n) = match counts {
        Some(_) => ("", shown(name, NAME), count(0)),
        None => (
            "cold-row",
            "cold".to_owned(),
            Cell::Figure(grouped(figures.n)),
        ),
    };
    Some(Row {
        class,
        cells: vec![
            Cell::Name(name),
            n,
            count(1),
            time(figures.ttft.p50_ms),
            time(figures.ttft.p95_ms),
            time(figures.ttft.p99_ms),
            time(figures.gap_p50.p50_ms),
            time(figures.gap_p99.p50_ms),
            count(2),
        ],
    })
}
