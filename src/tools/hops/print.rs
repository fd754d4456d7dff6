//! The comparison as text: what all pairs say together, the pairs, and a picture.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;

use super::compare::{Both, word};
use super::join::Left;
use super::judge::Word;
use super::pair::Compared;
use super::{Found, Options, picture};
use crate::observe::stats::{Us, in_ms, percentile};
use crate::tools::plot::{Look, readable};

/// Pairs that are shown without `--all`.
const SHOWN: usize = 10;
/// Lines that could not be read and are named.
const NAMED: usize = 5;
/// Stands for what was not measured.
const NONE: &str = "–";
/// Columns of the names of figures.
const NAMES: usize = 14;
/// The narrowest text.
const NARROWEST: usize = 40;
/// The widest that the eye follows.
const WIDEST: usize = 110;

/// Everything.
pub fn text(found: &Found<'_>, options: &Options) -> String {
    let mut page = Page::new(options.look);
    if options.id.is_none() {
        overall(found, &mut page);
    }
    let shown = if options.all || options.id.is_some() {
        found.pairs.len()
    } else {
        SHOWN.min(found.pairs.len())
    };
    for (i, pair) in found.pairs[..shown].iter().enumerate() {
        if i > 0 || options.id.is_none() {
            page.line("");
        }
        one(pair, &mut page);
    }
    if let Some(more @ 1..) = found.pairs.len().checked_sub(shown) {
        page.line("");
        page.wrapped(
            "",
            &format!("{more} more, less bad; --all shows them, --id ID one in full."),
        );
    }
    let drawn = if options.id.is_some() { shown } else { 1 };
    for pair in &found.pairs[..drawn] {
        page.line("");
        if shown > 1 {
            page.strong(&format!("The drips of {}", pair.outer.id));
        }
        for line in picture::lines(pair, options.look) {
            page.wrapped("", &line);
        }
        if options.id.is_some() {
            page.line("");
            picture::waits(pair).iter().for_each(|line| page.line(line));
        }
    }
    page.text
}

/// What is no pair, for standard error beside JSON.
pub fn notes(found: &Found<'_>) -> String {
    let mut page = Page::new(Look::default());
    joined(found, &mut page);
    page.text
}

fn overall(found: &Found<'_>, page: &mut Page) {
    let instances = |of: fn(&Compared<'_>) -> String| {
        let mut names: Vec<String> = found.pairs.iter().map(of).collect();
        names.sort();
        names.dedup();
        names.join("', '")
    };
    let outer = instances(|pair| pair.outer.instance.clone());
    let inner = instances(|pair| pair.inner.instance.clone());
    page.strong(&format!(
        "The hop between '{outer}' (outer) and '{inner}' (inner)"
    ));
    joined(found, page);
    let mut added: Vec<Us> = Vec::new();
    let mut less = 0;
    for ms in found
        .pairs
        .iter()
        .filter_map(|pair| pair.figures.ttft_added_ms)
    {
        less += usize::from(ms < 0.0);
        added.push((ms * 1000.0) as Us);
    }
    added.sort_unstable();
    let at = |p| percentile(&added, p).map_or(NONE.to_owned(), |us| readable(in_ms(us)));
    let mut line = format!(
        "{} at the median, {} at least, {} at most",
        at(50),
        at(0),
        at(100)
    );
    if less > 0 {
        let _ = write!(line, "; below 0 in {less}: are the logs swapped?");
    }
    page.figure("TTFT added", &line);
    let mut counts: BTreeMap<Word, usize> = BTreeMap::new();
    for pair in &found.pairs {
        *counts.entry(pair.judgement.verdict).or_default() += 1;
    }
    let counts: Vec<String> = counts
        .iter()
        .map(|(verdict, n)| format!("{n} {}", word(verdict).unwrap_or_default()))
        .collect();
    page.figure("verdicts", &counts.join(", "));
    page.figure(
        "clocks",
        "only durations from each dripline's own start are compared; started_at is not used",
    );
}

fn joined(found: &Found<'_>, page: &mut Page) {
    let mut by: BTreeMap<_, usize> = BTreeMap::new();
    for pair in &found.joined.pairs {
        *by.entry(pair.key).or_default() += 1;
    }
    let by: Vec<String> = by
        .iter()
        .map(|(key, n)| format!("{n} by {}", key.name()))
        .collect();
    let pairs = found.joined.pairs.len();
    let requests = if pairs == 1 { "request" } else { "requests" };
    page.figure("joined", &format!("{pairs} {requests}: {}", by.join(", ")));
    let left = [found.joined.inner_left, found.joined.outer_left];
    for (name, Left { alone, ambiguous }) in found.names.iter().zip(left) {
        if alone + ambiguous > 0 {
            let mut text = format!("{name}: {alone} without a partner");
            if ambiguous > 0 {
                let _ = write!(
                    text,
                    ", {ambiguous} ambiguous (several have the same keys; none is guessed)"
                );
            }
            page.figure("not joined", &text);
        }
    }
    if !found.bad.is_empty() {
        let named: Vec<String> = found
            .bad
            .iter()
            .take(NAMED)
            .map(ToString::to_string)
            .collect();
        let more = found.bad.len() - named.len();
        let more = if more > 0 {
            format!("; and {more} more")
        } else {
            String::new()
        };
        page.figure("not read", &format!("{}{more}", named.join("; ")));
    }
}

/// One pair.
fn one(pair: &Compared<'_>, page: &mut Page) {
    let (judgement, figures) = (&pair.judgement, &pair.figures);
    page.strong(&format!(
        "{}, confidence {:.2}",
        word(&judgement.verdict).unwrap_or_default(),
        judgement.confidence
    ));
    page.wrapped("  ", &judgement.sentence);
    if let Some(hint) = &judgement.hint {
        if page.hints.insert(hint.clone()) {
            page.wrapped("  ", &format!("try: {hint}"));
        } else {
            page.line("  try: the same as above");
        }
    }
    let model = pair.outer.request.model.as_deref().unwrap_or(NONE);
    page.figure(
        "  request",
        &format!(
            "{} outside, {} inside, model {model}, joined by {}",
            pair.outer.id,
            pair.inner.id,
            pair.key.name()
        ),
    );
    let mut ttft = change(figures.ttft_ms, |ms| ms.map_or(NONE.to_owned(), readable));
    if let Some(added) = figures.ttft_added_ms {
        let _ = write!(ttft, " ({})", signed(added));
    }
    page.figure("  TTFT", &ttft);
    let gaps = figures.gaps;
    let series = [
        (
            "p50",
            Both {
                inner: gaps.inner.p50_ms,
                outer: gaps.outer.p50_ms,
            },
        ),
        (
            "p99",
            Both {
                inner: gaps.inner.p99_ms,
                outer: gaps.outer.p99_ms,
            },
        ),
        (
            "max",
            Both {
                inner: gaps.inner.max_ms,
                outer: gaps.outer.max_ms,
            },
        ),
    ];
    let series = series.map(|(name, both)| {
        format!(
            "{name} {}",
            change(both, |ms| ms.map_or(NONE.to_owned(), readable))
        )
    });
    let of = word(&figures.gaps_of).unwrap_or_default();
    page.figure(&format!("  {of} gaps"), &series.join(", "));
    let mut chunks = change(figures.chunks, |n| n.to_string());
    if figures.events_per_chunk.inner.is_some() {
        let each = change(figures.events_per_chunk, |n| {
            n.map_or(NONE.to_owned(), |n| format!("{n:.1}"))
        });
        let _ = write!(chunks, ", {each} events each");
    }
    page.figure("  chunks", &chunks);
    let bytes = match figures.bytes_changed {
        Some(false) => "the same".to_owned(),
        Some(true) => format!("changed, {}", change(figures.bytes, |n| n.to_string())),
        None => "of the same length; a hash would tell if they are the same".to_owned(),
    };
    page.figure("  bytes", &bytes);
    for item in &figures.changes {
        let side = |value: &Option<String>| value.as_deref().unwrap_or("none").to_owned();
        page.figure(
            "  changed",
            &format!(
                "{} {} → {}",
                item.field,
                side(&item.inner),
                side(&item.outer)
            ),
        );
    }
    if pair.times_sent > 1 {
        page.figure("  sent", &format!("{} times by the hop", pair.times_sent));
    }
    if pair.attempts.inner > 1 || pair.attempts.outer > 1 {
        page.figure("  attempts", &change(pair.attempts, |n| n.to_string()));
    }
    match &pair.aligned {
        Ok(aligned) => {
            let wait = |p| {
                let mut waits: Vec<Us> = aligned.releases.iter().map(|r| r.oldest).collect();
                waits.sort_unstable();
                percentile(&waits, p).map_or(NONE.to_owned(), |us| readable(in_ms(us)))
            };
            page.figure(
                "  waits",
                &format!(
                    "oldest byte of a chunk p50 {}, max {}, above the hop's least time of {}",
                    wait(50),
                    wait(100),
                    readable(aligned.floor as f64 / 1000.0)
                ),
            );
        }
        Err(reason) => page.figure("  waits", &format!("unknown: {reason}")),
    }
}

/// What went in and what came out.
fn change<T>(both: Both<T>, say: impl Fn(T) -> String) -> String {
    format!("{} → {}", say(both.inner), say(both.outer))
}

fn signed(ms: f64) -> String {
    let sign = if ms < 0.0 { '-' } else { '+' };
    format!("{sign}{}", readable(ms.abs()))
}

/// Lines of text that fit the terminal.
struct Page {
    text: String,
    width: usize,
    bold: anstyle::Style,
    /// Hints that were given: many requests have the same.
    hints: HashSet<String>,
}

impl Page {
    fn new(look: Look) -> Page {
        let bold = anstyle::Style::new().bold();
        Page {
            text: String::new(),
            hints: HashSet::new(),
            width: usize::from(look.width).clamp(NARROWEST, WIDEST),
            bold: if look.color {
                bold
            } else {
                anstyle::Style::new()
            },
        }
    }

    fn line(&mut self, line: &str) {
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    fn strong(&mut self, line: &str) {
        let bold = self.bold;
        // writing to a String cannot fail
        let _ = writeln!(self.text, "{bold}{line}{bold:#}");
    }

    /// A named figure; what does not fit goes on under itself.
    fn figure(&mut self, name: &str, text: &str) {
        let indent = " ".repeat(NAMES);
        self.flow(&format!("{name:<NAMES$}"), &indent, text);
    }

    fn wrapped(&mut self, indent: &str, text: &str) {
        self.flow(indent, indent, text);
    }

    fn flow(&mut self, first: &str, rest: &str, text: &str) {
        if first.chars().count() + text.chars().count() <= self.width {
            return self.line(&format!("{first}{text}"));
        }
        let mut line = first.to_owned();
        let mut is_empty = true;
        for part in text.split(' ') {
            if !is_empty && line.chars().count() + 1 + part.chars().count() > self.width {
                self.line(&line);
                line = rest.to_owned();
                is_empty = true;
            }
            if !is_empty {
                line.push(' ');
            }
            line.push_str(part);
            is_empty = false;
        }
        self.line(&line);
    }
}
