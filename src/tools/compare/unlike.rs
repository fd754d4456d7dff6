//! Warnings: what else differs between the two runs, so that nobody compares unlike things.

use super::facts::{self, WORDS, Words};
use super::share::Share;
use super::side::{Side, Stream};

/// Names of a kind that are told.
const NAMES: usize = 3;
/// From here on one run has so many times the streams of the other.
const MANY_TIMES: u64 = 10;

/// Something that should be alike and is not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unlike {
    /// What differs, for programs.
    pub kind: &'static str,
    /// In words, with both values and what to do.
    pub sentence: String,
}

/// What is said of each of [`WORDS`]: what differs, and what to do about it.
const SAID: [(&str, &str, &str); WORDS.len()] = [
    (
        "model",
        "The models asked for differ",
        "Keep one of them with `--where model=NAME`, or ask for the same",
    ),
    (
        "model_answered",
        "The models that answered differ though the same was asked for",
        "An alias may have moved on; ask for a fixed version",
    ),
    (
        "path",
        "The paths differ",
        "Keep one with `--where path=PATH`",
    ),
    (
        "api",
        "The APIs differ",
        "Their events differ too; compare runs of one API",
    ),
    (
        "upstream",
        "The upstreams differ",
        "If that is not what you compare, keep one with `--where upstream=NAME`",
    ),
    (
        "encoding",
        "The answers are encoded differently",
        "A compressor may hold bytes back; ask with the same Accept-Encoding",
    ),
    (
        "stamps",
        "Arrival times were taken differently",
        "The kernel's are earlier than those of reads, on a busy machine by milliseconds; measure both on the same machine",
    ),
    (
        "label",
        "The labels are mixed differently",
        "A run should have one; keep it with `--where-before label=TEXT` or `--where-after label=TEXT`",
    ),
    (
        "connections",
        "Connections were reused differently",
        "A new one adds its connect and TLS to the time to first token of a proxy; let both keep them, or neither",
    ),
];

/// What to do where answers are longer.
const LENGTH: &str =
    "Total and stalls grow with it; ask for the same with the same limit of tokens";

/// A number that each stream may have.
type Number = fn(&Stream) -> Option<u64>;

/// Numbers whose distribution should be alike.
const NUMBERS: [(&str, Number, &str, &str, &str); 5] = [
    (
        "prompt",
        |stream| stream.request.get(),
        "The requests differ in size",
        "bytes",
        "Send both runs the same prompts",
    ),
    (
        "prompt_tokens",
        |stream| stream.prompt.get(),
        "The prompts differ in length",
        "tokens",
        "Send both runs the same prompts",
    ),
    (
        "prompt_cache",
        |stream| stream.cached.get(),
        "Prompts came from a cache differently",
        "% of the tokens",
        "Cached ones have their first token earlier; begin both runs with the cache in the same state",
    ),
    (
        "answers",
        |stream| stream.answer.get(),
        "The answers differ in length",
        "tokens",
        LENGTH,
    ),
    (
        "answer_characters",
        |stream| stream.chars.get(),
        "The answers differ in length",
        "characters",
        LENGTH,
    ),
];

/// Everything that is unlike in the streams that were measured. `quote` makes the names of a log fit to be shown.
pub fn unlike(before: &Side, after: &Side, quote: fn(&str) -> String) -> Vec<Unlike> {
    let mut found: Vec<Unlike> = Vec::new();
    for (i, (kind, what, to_do)) in SAID.into_iter().enumerate() {
        let (one, other) = (&before.words[i], &after.words[i]);
        let is_told_by = |known: &str| found.iter().any(|unlike| unlike.kind == known);
        let is_known = match kind {
            "model_answered" => is_told_by("model"),
            "api" => is_told_by("path"),
            // that a label is another is what labels are for
            "label" => one.kinds() < 2 && other.kinds() < 2,
            _ => false,
        };
        if !is_known && one.differ(other) {
            let (one, other) = (told(one, quote), told(other, quote));
            found.push(Unlike {
                kind,
                sentence: format!("{what}: {one} before, {other} after. {to_do}."),
            });
        }
    }
    for (kind, of, what, unit, to_do) in NUMBERS {
        let [one, other] = [before, after].map(|side| all(side, of));
        let is_told_by = |known: &str| found.iter().any(|unlike| unlike.kind == known);
        let is_known = match kind {
            "prompt_tokens" => is_told_by("prompt"),
            // tokens tell it better where servers count them
            "answer_characters" => [before, after].iter().all(|side| {
                side.streams
                    .iter()
                    .any(|stream| stream.answer.get().is_some())
            }),
            _ => false,
        };
        if !is_known && facts::numbers_differ(&one, &other) {
            let (one, other) = (range(&one, unit), range(&other, unit));
            found.push(Unlike {
                kind,
                sentence: format!("{what}: {one} before, {other} after. {to_do}."),
            });
        }
    }
    found.extend(load(before, after));
    found.extend(cold(before, after));
    found.extend(many(before, after));
    found
}

fn load(before: &Side, after: &Side) -> Option<Unlike> {
    let [one, other] = [before, after].map(|side| all(side, |stream| stream.in_flight.get()));
    facts::loads_differ(&one, &other).then(|| Unlike {
        kind: "concurrency",
        sentence: format!(
            "The load differs: {} before, {} after. Compare runs of one concurrency or rate.",
            range(&one, "other requests open"),
            range(&other, "other requests open")
        ),
    })
}

fn cold(before: &Side, after: &Side) -> Option<Unlike> {
    let share = |side: &Side| Share {
        of: side.cold,
        all: side.records,
    };
    facts::shares_differ(share(before), share(after)).then(|| Unlike {
        kind: "cold",
        sentence: format!(
            "The shares of cold requests differ: {} of {} before, {} of {} after. Cold ones stand apart below; let both \
             runs pause and warm up alike.",
            before.cold, before.records, after.cold, after.records
        ),
    })
}

fn many(before: &Side, after: &Side) -> Option<Unlike> {
    let [one, other] = [before, after].map(|side| side.streams(false).count() as u64);
    let (few, more) = (one.min(other), one.max(other));
    (few > 0 && more / few >= MANY_TIMES).then(|| Unlike {
        kind: "n",
        sentence: format!(
            "The runs differ in size: {one} warm streams before, {other} after. The intervals are as wide as the smaller \
             one makes them; make it longer."
        ),
    })
}

/// What all measured streams have of a number, sorted.
fn all(side: &Side, of: Number) -> Vec<u64> {
    let mut values: Vec<u64> = side.streams.iter().filter_map(of).collect();
    values.sort_unstable();
    values
}

/// The words of a run with their shares: `a`, or `a 75 %, b 25 %`.
fn told(words: &Words, quote: fn(&str) -> String) -> String {
    let shares = words.shares();
    let shown = |word: &str| match word {
        facts::NONE => word.to_owned(),
        name => quote(name),
    };
    if let [(word, _)] = shares[..] {
        return shown(word);
    }
    let named = shares.iter().take(NAMES);
    let mut named: Vec<String> = named
        .map(|(word, share)| format!("{} {:.0} %", shown(word), share * 100.0))
        .collect();
    if shares.len() > NAMES {
        named.push(format!("{} more", shares.len() - NAMES));
    }
    named.join(", ")
}

/// `75 bytes`, or `75 to 1204 bytes (median 80)`.
fn range(sorted: &[u64], unit: &str) -> String {
    let median = crate::observe::stats::percentile(sorted, 50).unwrap_or(0);
    match (sorted.first(), sorted.last()) {
        (Some(first), Some(last)) if first < last => {
            format!("{first} to {last} {unit} (median {median})")
        }
        _ => format!("{median} {unit}"),
    }
}
