//! Runs as rows of a table, each printed as it ends.

use anstyle::{AnsiColor, Style};

use super::run::Run;
use crate::observe::record::{End, RequestRecord, Timing};
use crate::sink::console::text::{NONE, columns, duration, word};

/// Figures of a row: title, width, and the terminal's width from which there is room for it.
const COLUMNS: [(Column, &str, usize, usize); 8] = [
    (Column::Ttft, "ttft", 7, 0),
    (Column::Total, "total", 7, 88),
    (Column::P50, "gap p50", 7, 0),
    (Column::P99, "gap p99", 7, 0),
    (Column::Max, "gap max", 7, 96),
    (Column::Tps, "per s", 6, 0),
    (Column::Events, "events", 6, 0),
    (Column::Chars, "chars", 6, 104),
];

#[derive(Clone, Copy)]
enum Column {
    Ttft,
    Total,
    P50,
    P99,
    Max,
    Tps,
    Events,
    Chars,
}

/// The width of the names of runs.
const NAMES: usize = 8;
/// The width of the sides, where there are two.
const SIDES: usize = 8;

/// How rows look.
#[derive(Debug, Clone, Copy)]
pub(super) struct Table {
    /// Columns of the place it is printed to.
    pub width: usize,
    /// Whether rows say which way the request went.
    pub sides: bool,
}

impl Table {
    /// The names of the columns.
    pub fn header(self) -> String {
        let dim = Style::new().dimmed();
        let row = self.row("run", "", |column| {
            let found = COLUMNS.iter().find(|(own, ..)| *own as u8 == column as u8);
            found.map_or(String::new(), |(_, title, ..)| (*title).to_owned())
        });
        format!("{dim}{row}  verdict{dim:#}")
    }

    /// One run. What is cold stands back.
    pub fn line(self, run: &Run) -> String {
        let record = &run.record;
        let gaps = &record.gaps.token;
        let count = |n: Option<u64>| n.map_or(NONE.to_owned(), |n| n.to_string());
        let row = self.row(&run.name(), run.side.name(), |column| match column {
            Column::Ttft => duration(record.ttft_ms),
            Column::Total => duration(record.at.end_ms),
            Column::P50 => duration(gaps.p50_ms),
            Column::P99 => duration(gaps.p99_ms),
            Column::Max => duration(gaps.max_ms),
            Column::Tps => run
                .tps_after_first()
                .map_or(NONE.to_owned(), |tps| format!("{tps:.1}")),
            Column::Events => count(record.counts.token_events),
            Column::Chars => count(record.counts.chars),
        });
        let style = match (run.is_cold(), run.is_whole()) {
            (_, false) => AnsiColor::Red.on_default(),
            (true, _) => Style::new().dimmed(),
            _ => match record.verdict.as_ref().map(|verdict| verdict.timing) {
                Some(Timing::Steady) => AnsiColor::Green.on_default(),
                Some(_) => AnsiColor::Yellow.on_default(),
                None => Style::new(),
            },
        };
        let dim = match run.is_cold() {
            true => Style::new().dimmed(),
            false => Style::new(),
        };
        format!("{dim}{row}{dim:#}  {style}{}{style:#}", ended(record))
    }

    fn row(self, name: &str, side: &str, cell: impl Fn(Column) -> String) -> String {
        let mut row = format!("{name:<NAMES$}");
        if self.sides {
            row += &format!(" {side:<SIDES$}");
        }
        for (column, _, width, from) in COLUMNS {
            if self.width >= from {
                let text = cell(column);
                row += &" ".repeat(1 + width.saturating_sub(columns(&text)));
                row += &text;
            }
        }
        row
    }
}

/// The verdict, after the end where that is not the usual one.
fn ended(record: &RequestRecord) -> String {
    let mut parts = Vec::new();
    match (record.end, record.response.status) {
        (End::Complete, _) => {}
        (End::HttpError, Some(status)) => parts.push(format!("{} {status}", word(&record.end))),
        (end, _) => parts.push(word(&end)),
    }
    parts.extend(record.verdict.as_ref().map(verdict));
    match parts.is_empty() {
        true => NONE.to_owned(),
        false => parts.join(", "),
    }
}

/// A verdict and on which side it is.
pub(super) fn verdict(verdict: &crate::observe::record::Verdict) -> String {
    match &verdict.side {
        Some(side) => format!("{} ({})", word(&verdict.timing), word(side)),
        None => word(&verdict.timing),
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::super::run::{Side, sample};
    use super::*;

    fn text(table: Table, runs: &[Run]) -> String {
        let lines = std::iter::once(table.header()).chain(runs.iter().map(|run| table.line(run)));
        let plain = lines.map(|line| anstream::adapter::strip_str(&line).to_string());
        plain.collect::<Vec<_>>().join("\n")
    }

    fn runs() -> [Run; 3] {
        let mut failed = sample(Some(2), 80.89);
        failed.record.end = End::HttpError;
        failed.record.response.status = Some(429);
        failed.record.ttft_ms = None;
        failed.record.verdict = None;
        failed.record.counts = Default::default();
        failed.side = Side::Through;
        [sample(None, 912.4), sample(Some(1), 80.89), failed]
    }

    #[test]
    fn a_row_for_each_run_cold_ones_marked() {
        let table = Table {
            width: 110,
            sides: true,
        };
        assert_snapshot!(text(table, &runs()), @r"
        run                  ttft   total gap p50 gap p99 gap max  per s events  chars  verdict
        warm-up  direct     912ms   2.71s  20.0ms   1.02s   1.02s   21.9     40    203  stall_no_catch_up (upstream)
        1        direct    80.9ms   1.88s  20.0ms   1.02s   1.02s   21.9     40    203  stall_no_catch_up (upstream)
        2        through        –   1.88s  20.0ms   1.02s   1.02s      –      –      –  http_error 429
        ");
    }

    #[test]
    fn a_narrow_table_spares_what_tells_least() {
        let table = Table {
            width: 80,
            sides: false,
        };
        let text = text(table, &runs());
        assert_snapshot!(text, @r"
        run         ttft gap p50 gap p99  per s events  verdict
        warm-up    912ms  20.0ms   1.02s   21.9     40  stall_no_catch_up (upstream)
        1         80.9ms  20.0ms   1.02s   21.9     40  stall_no_catch_up (upstream)
        2              –  20.0ms   1.02s      –      –  http_error 429
        ");
        assert!(
            text.lines().all(|line| line.chars().count() <= 80),
            "{text}"
        );
    }
}
