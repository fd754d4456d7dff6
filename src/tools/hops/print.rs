//! The comparison as text: what all pairs say together, the pairs, and a picture.

mod pair;

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;

use super::changes::word;
use super::join::Left;
use super::judge::Word;
use super::pair::Compared;
use super::{Found, Options, picture};
use crate::sink::console::text::{NONE, shown};
use crate::tools::page::Page;
use crate::tools::plot::Look;
use pair::{one, signed};

/// Columns that a name from outside may take.
const NAME: usize = 48;
/// Pairs that are shown without `--all`.
const SHOWN: usize = 10;
/// Lines that could not be read and are named.
const NAMED: usize = 5;

/// Everything.
pub fn text(found: &Found<'_>, options: &Options) -> String {
    let mut page = Page::new(options.look);
    let mut hints = HashSet::new();
    if options.id.is_none() {
        overall(found, &mut page);
    }
    let n_shown = if options.all || options.id.is_some() {
        found.pairs.len()
    } else {
        SHOWN.min(found.pairs.len())
    };
    for (i, pair) in found.pairs[..n_shown].iter().enumerate() {
        if i > 0 || options.id.is_none() {
            page.line("");
        }
        one(pair, &mut page, &mut hints);
    }
    if let Some(more @ 1..) = found.pairs.len().checked_sub(n_shown) {
        page.line("");
        page.wrapped(
            "",
            &format!("{more} more, less bad; --all shows them, --id ID one in full."),
        );
    }
    let drawn = if options.id.is_some() { n_shown } else { 1 };
    for pair in &found.pairs[..drawn] {
        page.line("");
        if n_shown > 1 {
            page.strong(&format!("The drips of {}", shown(&pair.outer.id, NAME)));
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
    let instances = |of: for<'a> fn(&'a Compared<'_>) -> &'a str| {
        let mut names: Vec<String> = found
            .pairs
            .iter()
            .map(|pair| shown(of(pair), NAME))
            .collect();
        names.sort();
        names.dedup();
        names.join("', '")
    };
    let outer = instances(|pair| &pair.outer.instance);
    let inner = instances(|pair| &pair.inner.instance);
    page.strong(&format!(
        "The hop between '{outer}' (outer) and '{inner}' (inner)"
    ));
    joined(found, page);
    let ttfts = found
        .pairs
        .iter()
        .filter_map(|pair| pair.figures.ttft_added_ms);
    let mut added: Vec<f64> = ttfts.collect();
    added.sort_by(f64::total_cmp);
    let less = added.iter().filter(|ms| **ms < 0.0).count();
    let at = |p: usize| {
        let rank = (p * added.len().saturating_sub(1) + 50) / 100;
        added.get(rank).map_or(NONE.to_owned(), |ms| signed(*ms))
    };
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
