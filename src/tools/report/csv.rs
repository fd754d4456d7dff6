//! A row for each request, for spreadsheets: RFC 4180, with a head.
//!
//! Names come from clients and may hold anything. A cell that a spreadsheet would take for a formula gets an apostrophe in
//! front, which it does not show.

use std::fmt::Write as _;

use crate::observe::record::RequestRecord;
use crate::sink::columns::{COLUMNS, Of};

/// The first line: the names of the columns.
pub fn head() -> String {
    COLUMNS.map(|column| column.name).join(",") + "\r\n"
}

/// A record's line; a cell is empty where nothing was measured.
pub fn row(record: &RequestRecord) -> String {
    let cells = COLUMNS.map(|column| match column.of {
        Of::Text(of) => cell(of(record).as_deref().unwrap_or_default()),
        Of::Time(of) => cell(of(record)),
        Of::Number(of) => known(of(record)),
        Of::Count(of) => known(of(record)),
        Of::Flag(of) => known(of(record)),
    });
    cells.join(",") + "\r\n"
}

fn known<T: ToString>(value: Option<T>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// Text as a cell.
fn cell(text: &str) -> String {
    // white space in front of a formula is passed over
    let first = text
        .trim_start_matches(|c: char| c.is_whitespace() || c.is_control())
        .chars()
        .next();
    let is_formula = first
        .is_some_and(|c| matches!(c, '=' | '+' | '-' | '@' | '＝' | '＋' | '－' | '＠'))
        || text.starts_with(|c: char| c.is_control());
    let mut cell = String::new();
    let quoted =
        text.contains([',', '"', '\r', '\n']) || text.starts_with(' ') || text.ends_with(' ');
    if quoted {
        cell.push('"');
    }
    if is_formula {
        cell.push('\'');
    }
    for c in text.chars() {
        match c {
            '"' => cell.push_str("\"\""),
            // a spreadsheet has no use for it, and a terminal may be steered by it
            c if c.is_control() && !matches!(c, '\n' | '\t' | '\r') => {
                let _ = write!(cell, "\u{fffd}");
            }
            c => cell.push(c),
        }
    }
    if quoted {
        cell.push('"');
    }
    cell
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::tools::logs::sample;

    #[test]
    fn a_record_as_a_row() {
        let mut hostile = sample();
        hostile.request.model = Some("=HYPERLINK(\"http://x\",\"a, b\")".to_owned());
        hostile.label = Some(" @SUM(A1)\nnext".to_owned());
        hostile.verdict = None;
        hostile.ttft_ms = None;
        let text = head() + &row(&sample()) + &row(&hostile);
        insta::assert_snapshot!(text.replace('\r', ""));
    }

    /// Rows of cells as a spreadsheet reads them.
    fn read(text: &str) -> Vec<Vec<String>> {
        let (mut rows, mut row, mut cell, mut quoted) =
            (Vec::new(), Vec::new(), String::new(), false);
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            match c {
                '"' if quoted && chars.peek() == Some(&'"') => cell.extend(chars.next()),
                '"' => quoted = !quoted,
                ',' if !quoted => row.push(std::mem::take(&mut cell)),
                '\r' if !quoted && chars.peek() == Some(&'\n') => {
                    chars.next();
                    row.push(std::mem::take(&mut cell));
                    rows.push(std::mem::take(&mut row));
                }
                c => cell.push(c),
            }
        }
        rows
    }

    proptest! {
        #[test]
        fn any_name_is_one_cell_and_no_formula(model in "\\PC*|[=+@\\-\t\r\n \",a]{0,12}") {
            let mut record = sample();
            record.request.model = Some(model.clone());
            let rows = read(&(head() + &row(&record)));
            prop_assert_eq!(rows.len(), 2);
            prop_assert_eq!(rows[1].len(), COLUMNS.len());
            let cell = &rows[1][6];
            let first = cell.trim_start().chars().next();
            prop_assert!(!matches!(first, Some('=' | '+' | '-' | '@')), "{}", cell);
            prop_assert!(cell.ends_with(model.trim_start_matches('\'')) || model.chars().any(char::is_control));
        }
    }
}
