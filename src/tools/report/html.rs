//! The summary as a page: one file that needs no network and no script, on a desk, on a phone, in the dark and in print.
//!
//! - `table`: tables that become cards where there is no room for columns
//! - `groups`: a row for each group, and how each group's requests ended
//! - `verdicts`: how streams came and requests ended, with what the words mean
//! - `worst`: the few requests to look at first, with their ids
//!
//! The same log gives the same page, byte for byte: nothing of it is of the moment in which it was written.

mod groups;
mod table;
mod verdicts;
mod worst;

use super::charts;
use super::facts;
use super::figures::Figures;
use super::file::Kind;
use super::summary::Summary;
use super::tally::Tally;
use crate::sink::console::text::{NONE, grouped, shown};
use crate::tools::chart::sheet::Panel;
use crate::tools::chart::xml::{Attr, Xml};
use crate::tools::chart::{self, Key};

/// What each such file begins with.
pub const KIND: Kind = Kind {
    name: "HTML page",
    magic: b"<!DOCTYPE html>",
};

/// The looks of the page.
const STYLE: &str = include_str!("html/page.css");
/// Nothing may be loaded or run, whatever a log says.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";
/// Columns of a log's name.
const NAME: usize = 60;
/// Columns of a sentence that a log has.
const SENTENCE: usize = 400;

/// The page.
pub fn text(summary: &Summary) -> String {
    let mut xml = Xml::new("<!DOCTYPE html>");
    xml.element("html", &[("lang", &"en")], |xml| {
        xml.element("head", &[], |xml| head(xml, summary));
        xml.element("body", &[], |xml| {
            xml.element("header", &[], |xml| header(xml, summary));
            xml.element("main", &[], |xml| content(xml, summary));
            xml.element("footer", &[], footer);
        });
    });
    xml.into_text()
}

fn head(xml: &mut Xml, summary: &Summary) {
    xml.empty("meta", &[("charset", &"utf-8")]);
    let policy: [Attr<'_>; 2] = [
        ("http-equiv", &"Content-Security-Policy"),
        ("content", &POLICY),
    ];
    xml.empty("meta", &policy);
    for (name, content) in [
        ("viewport", "width=device-width, initial-scale=1"),
        ("color-scheme", "light dark"),
    ] {
        xml.empty("meta", &[("name", &name), ("content", &content)]);
    }
    let log = summary.logs.first().map(|log| shown(log, NAME));
    xml.words(
        "title",
        &[],
        &format!("{} – dripline report", log.unwrap_or_default()),
    );
    xml.element("style", &[], |xml| {
        xml.verbatim(chart::STYLE);
        xml.verbatim(STYLE);
    });
}

fn header(xml: &mut Xml, summary: &Summary) {
    xml.words("h1", &[], "dripline report");
    pairs(xml, "facts", facts::named(summary));
    if summary.tally.records > 0 {
        tiles(xml, &summary.tally);
    }
}

/// The figures that are asked for first.
fn tiles(xml: &mut Xml, tally: &Tally) {
    let warm = Figures::of_all(tally, false);
    let cold = Figures::of_all(tally, true);
    let (figures, which) = match (warm.n, cold.n) {
        (0, 1..) => (&cold, "cold streams, there are no warm ones"),
        _ => (&warm, "warm streams"),
    };
    let sum = |of: fn(&super::tally::Group) -> u64| -> String {
        grouped(tally.groups.iter().map(of).sum())
    };
    let tiles = [
        ("requests", grouped(tally.records)),
        ("failed", sum(|group| group.errors)),
        ("with a stall", sum(|group| group.stalled)),
        ("TTFT p50", facts::time(figures.ttft.p50_ms)),
        ("TTFT p95", facts::time(figures.ttft.p95_ms)),
        ("TTFT p99", facts::time(figures.ttft.p99_ms)),
        ("gap p50", facts::time(figures.gap_p50.p50_ms)),
        ("gap p99", facts::time(figures.gap_p99.p50_ms)),
        ("cold", grouped(cold.n)),
    ];
    pairs(xml, "tiles", tiles.to_vec());
    let about = format!(
        "Times are of {which} that came whole ({}): time to first token, and the median stream's gap p50 and p99 between \
         token events.",
        grouped(figures.n)
    );
    xml.words("p", &[("class", &"quiet")], &about);
}

/// Names, each with what it is.
fn pairs(xml: &mut Xml, class: &'static str, pairs: Vec<(&'static str, String)>) {
    xml.element("dl", &[("class", &class)], |xml| {
        for (name, text) in &pairs {
            xml.element("div", &[], |xml| {
                xml.words("dt", &[], name);
                xml.words("dd", &[], text);
            });
        }
    });
}

fn content(xml: &mut Xml, summary: &Summary) {
    let tally = &summary.tally;
    if tally.records == 0 {
        return xml.words(
            "p",
            &[],
            "There is nothing to show: no record was read that is as was asked for.",
        );
    }
    found(xml, tally);
    groups::write(xml, tally);
    section(xml, "verdicts", "How streams came", |xml| {
        verdicts::write(xml, tally)
    });
    section(xml, "pictures", "Pictures", |xml| {
        pictures(xml, charts::all(tally))
    });
    worst::write(xml, tally);
    section(xml, "ends", "How requests ended", |xml| {
        verdicts::write_ends(xml, tally);
        groups::write_ends(xml, tally);
    });
}

fn section(xml: &mut Xml, id: &'static str, title: &str, inside: impl FnOnce(&mut Xml)) {
    xml.element("section", &[("id", &id)], |xml| {
        xml.words("h2", &[], title);
        inside(xml);
    });
}

/// Limits, and what else only several records show.
fn found(xml: &mut Xml, tally: &Tally) {
    let sentences = tally.found.sentences();
    if sentences.is_empty() {
        return;
    }
    section(xml, "found", "Found over several requests", |xml| {
        xml.element("ul", &[], |xml| {
            for sentence in &sentences {
                xml.words("li", &[], &shown(sentence, SENTENCE));
            }
        });
    });
}

fn pictures(xml: &mut Xml, panels: Vec<Panel>) {
    xml.element("div", &[("class", &"pictures")], |xml| {
        for panel in panels {
            xml.element("figure", &[], |xml| {
                xml.words("h3", &[], &panel.title);
                let keys = panel.chart.as_ref().map(|chart| chart.keys.clone());
                if let Some(chart) = panel.chart {
                    chart.write(xml);
                }
                xml.element("figcaption", &[], |xml| {
                    self::keys(xml, &keys.unwrap_or_default());
                    xml.words("p", &[], &panel.about);
                });
            });
        }
    });
}

fn keys(xml: &mut Xml, keys: &[Key]) {
    if keys.is_empty() {
        return;
    }
    xml.element("ul", &[("class", &"keys")], |xml| {
        for key in keys {
            xml.element("li", &[], |xml| {
                key_mark(xml, key);
                xml.text(&key.words);
            });
        }
    });
}

/// A mark in a line of text.
fn key_mark(xml: &mut Xml, key: &Key) {
    let attrs: [Attr<'_>; 3] = [
        ("class", &"key"),
        ("viewBox", &"-6 -6 12 12"),
        ("aria-hidden", &"true"),
    ];
    xml.element("svg", &attrs, |xml| key.draw(xml, (0.0, 0.0)));
}

fn footer(xml: &mut Xml) {
    xml.element("p", &[], |xml| {
        xml.text("TTFT is the time to the first token event of any kind. Gaps are those between token events. A cold stream is the first to its upstream, or the first after a pause. ");
        xml.text("Percentiles are nearest-rank; nothing is averaged. What was not measured is ");
        xml.text(NONE);
        xml.text(". One request in full: ");
        xml.inline("code", &[], "dripline report LOG --explain ID");
        xml.text(".");
    });
    let version = concat!("dripline ", env!("CARGO_PKG_VERSION"));
    xml.words("p", &[], version);
}
