//! One pair as text: the verdict, what to try, and the figures on both sides.

use std::collections::HashSet;
use std::fmt::Write as _;

use super::NAME;
use crate::observe::stats::{Us, in_ms, percentile};
use crate::sink::console::text::{NONE, shown};
use crate::tools::hops::changes::word;
use crate::tools::hops::compare::Both;
use crate::tools::hops::pair::Compared;
use crate::tools::page::Page;
use crate::tools::plot::readable;

/// One pair. `hints` were given before: many requests have the same.
pub fn one<'a>(pair: &'a Compared<'_>, page: &mut Page, hints: &mut HashSet<&'a str>) {
    let (judgement, figures) = (&pair.judgement, &pair.figures);
    page.strong(&format!(
        "{}, confidence {:.2}",
        word(&judgement.verdict).unwrap_or_default(),
        judgement.confidence
    ));
    page.wrapped("  ", &judgement.sentence);
    if let Some(hint) = &judgement.hint {
        if hints.insert(hint) {
            page.wrapped("  ", &format!("try: {hint}"));
        } else {
            page.line("  try: the same as above");
        }
    }
    let model = pair.outer.request.model.as_deref();
    let model = model.map_or(NONE.to_owned(), |model| shown(model, NAME));
    page.figure(
        "  request",
        &format!(
            "{} outside, {} inside, model {model}, joined by {}",
            shown(&pair.outer.id, NAME),
            shown(&pair.inner.id, NAME),
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
        None if figures.bytes.inner != figures.bytes.outer => format!(
            "{}, one side has only a part",
            change(figures.bytes, |n| n.to_string())
        ),
        None => "of the same length; a hash would tell if they are the same".to_owned(),
    };
    page.figure("  bytes", &bytes);
    for item in &figures.changes {
        let side = |value: &Option<String>| shown(value.as_deref().unwrap_or("none"), NAME);
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
    let flows = [("inner", &pair.flows.inner), ("outer", &pair.flows.outer)];
    for (side, flow) in flows {
        if flow.as_ref().is_some_and(|flow| !flow.is_in_order) {
            page.figure(
                "  damaged",
                &format!(
                    "the {side} timeline is not in order or has impossible numbers; each chunk was taken as no earlier than \
                     the one before it"
                ),
            );
        }
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

/// A difference.
pub fn signed(ms: f64) -> String {
    let sign = if ms < 0.0 { '-' } else { '+' };
    format!("{sign}{}", readable(ms.abs()))
}
