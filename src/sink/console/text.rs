//! What stands in a line's cells.
//!
//! A model's name comes from the client and may hold anything, terminal escapes included: it is shown
//! escaped and cut.

use jiff::{Timestamp, tz::TimeZone};
use serde::Serialize;
use unicode_width::UnicodeWidthChar;

/// Stands for what was not measured.
pub const NONE: &str = "–";

/// Text of others made safe for a terminal: no control or invisible characters, at most `width`
/// columns.
pub fn shown(text: &str, width: usize) -> String {
    let mut shown = String::new();
    let mut used = 0;
    for c in text.chars() {
        let piece = if matches!(c, '"' | '\'' | '\\') {
            c.to_string()
        } else {
            c.escape_debug().to_string()
        };
        used += columns(&piece);
        if used > width {
            // Makes room for the mark.
            while columns(&shown) > width - 1 {
                shown.pop();
            }
            shown.push('…');
            break;
        }
        shown += &piece;
    }
    shown
}

/// Columns that `text` takes in a terminal.
pub fn columns(text: &str) -> usize {
    text.chars().filter_map(UnicodeWidthChar::width).sum()
}

/// The time of day in `zone`.
pub fn time_of_day(started_at: &str, zone: &TimeZone) -> String {
    match started_at.parse::<Timestamp>() {
        Ok(at) => zone.to_datetime(at).strftime("%H:%M:%S").to_string(),
        Err(_) => NONE.to_owned(),
    }
}

/// Three digits and a unit: `3.21ms`, `412ms`, `1.32s`, `125s`.
pub fn duration(ms: Option<f64>) -> String {
    let Some(ms) = ms else { return NONE.to_owned() };
    let (value, unit) = if ms < 999.5 {
        (ms, "ms")
    } else {
        (ms / 1000.0, "s")
    };
    let digits = match value {
        v if v < 9.995 => 2,
        v if v < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.digits$}{unit}")
}

/// A number in groups of three digits: `1,204`.
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut grouped = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// The word that a record has for an enum's value.
pub fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => NONE.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        let all = [0, 12, 999, 1000, 1_234_567].map(grouped);
        assert_eq!(all, ["0", "12", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn durations_have_three_digits() {
        let shown = [
            0.0, 0.004, 3.2149, 9.996, 99.96, 412.3, 999.4, 999.6, 1320.5, 61_240.0, 125_000.0,
        ];
        assert_eq!(
            shown.map(|ms| duration(Some(ms))).join(" "),
            "0.00ms 0.00ms 3.21ms 10.0ms 100ms 412ms 999ms 1.00s 1.32s 61.2s 125s"
        );
        assert_eq!(duration(None), "–");
    }
}
