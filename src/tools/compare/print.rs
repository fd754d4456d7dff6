//! The comparison for a person: both runs, what changed in words, what is unlike, the table and the pictures.

use super::estimate::{Differs, Estimate};
use super::figures::{Figure, Figures};
use super::resample::RESAMPLES;
use super::sentences::sentences;
use super::side::Side;
use super::unlike::unlike;
use super::{Compared, pictures, table};
use crate::observe::verdict::words::count;
use crate::sink::console::text::{grouped, shown};
use crate::tools::page::Page;
use crate::tools::plot::Look;

/// Columns of a name.
const NAME: usize = 48;
/// So many requests and fewer have their greatest as the 95th percentile.
const GREATEST: u64 = 11;

/// The comparison as lines.
pub fn text(compared: &Compared, look: Look) -> String {
    let Compared {
        before,
        after,
        figures,
        seed,
    } = compared;
    let mut page = Page::new(look);
    for (name, side) in [("before", before), ("after", after)] {
        page.figure(name, &about(side, quoted));
        if let Some(unread) = side.unread.told() {
            page.figure("", &unread);
        }
    }
    page.line("");
    for sentence in sentences(figures, before, after) {
        page.wrapped("", &sentence);
    }
    let unlike = unlike(before, after, quoted);
    if !unlike.is_empty() {
        page.heading("Not alike");
        for unlike in unlike {
            page.wrapped("  ", &unlike.sentence);
        }
    }
    page.line("");
    table::write(&mut page, &figures.all);
    page.line("");
    for note in notes(figures, *seed) {
        page.wrapped("", &note);
    }
    for picture in pictures::all(before, after, look) {
        page.text.push('\n');
        for line in picture {
            page.text += line.trim_end();
            page.text.push('\n');
        }
    }
    page.text
}

/// A name out of a log or off the command line, as a terminal may show it.
pub fn quoted(name: &str) -> String {
    shown(name, NAME)
}

/// Which log, and what is in it.
pub fn about(side: &Side, quote: fn(&str) -> String) -> String {
    let label = side
        .label()
        .map_or(String::new(), |label| format!(" ({})", quote(label)));
    let chosen = match side.read == side.records {
        true => count_of(side.records, "request"),
        false => format!(
            "{} of {}",
            grouped(side.records),
            count_of(side.read, "request")
        ),
    };
    let warm = side.streams(false).count() as u64;
    let cold = side.streams(true).count() as u64;
    format!(
        "{}{label}: {chosen}, {} and {} cold, {} failed",
        quote(&side.name),
        count_of(warm, "warm stream"),
        grouped(cold),
        grouped(side.failed)
    )
}

fn count_of(n: u64, what: &str) -> String {
    count(n, what).replacen(&n.to_string(), &grouped(n), 1)
}

/// How the figures are meant, and how sure the answers are.
pub fn notes(figures: &Figures, seed: u64) -> Vec<String> {
    let mut notes = vec![
        "p50 and p95 are over the warm streams that came whole; each has its own gap p99 (between token events) and its own \
         events/s (token events after the first). Failed: of all requests. Verdicts: of warm streams that have one."
            .to_owned(),
        format!(
            "CI: requests drawn again {} times (--seed {seed}), of shares Newcombe's. It says what other requests of these \
             runs would give, not what another day would.",
            grouped(RESAMPLES as u64)
        ),
    ];
    match figures.looked_at {
        0 | 1 => {}
        n => notes.push(format!(
            "Differs: clear, even if it is allowed for that {n} figures were looked at; perhaps, by itself, as 1 of 20 looks \
             by chance; no, none that so few could show."
        )),
    }
    let apart = |figure: &Figure| {
        figure.interval.is_none() && matches!(figure.differs, Differs::Clear | Differs::Perhaps)
    };
    if figures.all.iter().any(apart) {
        notes.push(
            "Without an interval it differs because all of one run are beyond all of the other."
                .to_owned(),
        );
    }
    let of_few = |figure: &Figure| {
        let Estimate { n, .. } = figure.estimate;
        figure.key.ends_with("_p95") && n.into_iter().any(|n| 0 < n && n <= GREATEST)
    };
    if figures.all.iter().any(of_few) {
        notes.push(format!(
            "The p95 of {GREATEST} streams or fewer is the greatest of them."
        ));
    }
    notes
}
