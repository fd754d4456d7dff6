//! What is said of a log in every form: what was read, from when to when, how it ended.

use jiff::Timestamp;
use serde::Serialize;

use super::summary::Summary;
use super::tally::{Group, Tally};
use crate::observe::verdict::words::count;
use crate::sink::console::text::{duration, grouped, shown, word};

/// Logs that are named; the rest is counted.
const NAMED: usize = 5;
/// Columns of a log's name.
const NAME: usize = 80;
/// Columns of a text.
const TEXT: usize = 1000;

/// All of it, each with a name, safe to show.
pub fn named(summary: &Summary) -> Vec<(&'static str, String)> {
    let tally = &summary.tally;
    let all = [
        ("logs", Some(logs(&summary.logs))),
        ("records", Some(records(summary))),
        ("chosen", summary.choice.told(&tally.zone)),
        ("started", started(tally)),
        ("measured", (tally.records > 0).then(|| measured(tally))),
        ("unread", summary.unread.told()),
    ];
    let known = all
        .into_iter()
        .filter_map(|(name, text)| Some((name, shown(&text?, TEXT))));
    known.collect()
}

/// The names of the logs.
fn logs(names: &[String]) -> String {
    let first = names.iter().take(NAMED).map(|name| shown(name, NAME));
    let first: Vec<_> = first.collect();
    match names.len().saturating_sub(NAMED) {
        0 => first.join(", "),
        more => format!("{} and {}", first.join(", "), counted(more as u64, "other")),
    }
}

/// How many records were read of how many logs, and how many of them were wanted.
pub fn records(summary: &Summary) -> String {
    let (tally, read) = (&summary.tally, summary.read);
    let files = count(summary.logs.len() as u64, "log");
    match (read == tally.records, tally.records) {
        (true, 1) => format!("1 in {files}"),
        (true, n) => format!("{} in {files}", grouped(n)),
        (false, n) => format!(
            "{} of {} in {files} are as was asked for",
            grouped(n),
            grouped(read)
        ),
    }
}

/// The start of a request, local time; without the day where all started on the same.
pub fn start(tally: &Tally, at: Timestamp) -> String {
    let local = |at: Timestamp| tally.zone.to_datetime(at);
    let one_day = tally
        .range
        .is_some_and(|(from, to)| local(from).date() == local(to).date());
    let form = if one_day {
        "%H:%M:%S"
    } else {
        "%Y-%m-%d %H:%M:%S"
    };
    local(at).strftime(form).to_string()
}

/// From the first start to the last, local time.
pub fn started(tally: &Tally) -> Option<String> {
    let (from, to) = tally.range?;
    let zoned = |at: Timestamp| at.to_zoned_datetime(tally.zone.clone());
    let (from, to) = (zoned(from), zoned(to));
    let same_day = from.date() == to.date();
    let end = to.strftime(if same_day {
        "%H:%M:%S"
    } else {
        "%Y-%m-%d %H:%M:%S"
    });
    let from = from.strftime("%Y-%m-%d %H:%M:%S");
    Some(format!("{from} to {end} {}", to.strftime("%Z")))
}

/// How many streams were measured, and how many requests failed.
pub fn measured(tally: &Tally) -> String {
    let errors: u64 = tally.groups.iter().map(|group| group.errors).sum();
    // also those whose rows are no longer kept
    let streams = |group: &Group| group.warm.n + group.cold.n;
    let streams: u64 = tally.groups.iter().map(streams).sum();
    format!(
        "{}; failed: {}",
        counted(streams, "stream"),
        grouped(errors)
    )
}

/// A number in groups of three digits, and what it counts.
pub fn counted(n: u64, what: &str) -> String {
    format!("{} {what}{}", grouped(n), if n == 1 { "" } else { "s" })
}

/// Three digits and a unit, with a space between.
pub fn time(ms: Option<f64>) -> String {
    let text = duration(ms);
    match text.find(|c: char| c.is_ascii_alphabetic()) {
        Some(unit) => format!("{} {}", &text[..unit], &text[unit..]),
        None => text,
    }
}

/// Words and how often, most first.
pub fn words<T: Serialize>(counts: &[(T, u64)]) -> String {
    let words = sorted(counts)
        .into_iter()
        .map(|(_, word, n)| format!("{word} {}", grouped(n)));
    words.collect::<Vec<_>>().join(", ")
}

/// Values, their words and how often, most first.
pub fn sorted<T: Serialize>(counts: &[(T, u64)]) -> Vec<(&T, String, u64)> {
    let mut counts: Vec<_> = counts
        .iter()
        .map(|(value, n)| (value, word(value), *n))
        .collect();
    counts.sort_by(|one, other| other.2.cmp(&one.2).then_with(|| one.1.cmp(&other.1)));
    counts
}
