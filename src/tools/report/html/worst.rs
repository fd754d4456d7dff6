//! The few requests to look at first, with the ids that `--explain` takes.

use jiff::Timestamp;

use super::section;
use super::table::{self, Cell, Row};
use crate::observe::record::End;
use crate::observe::stats::in_ms;
use crate::sink::console::text::{NONE, word};
use crate::tools::chart::xml::Xml;
use crate::tools::report::facts::{self, counted, start};
use crate::tools::report::tally::Tally;
use crate::tools::report::worst::{What, Which};

/// Both tables, as far as there is something in them.
pub(super) fn write(xml: &mut Xml, tally: &Tally) {
    let worst = &tally.worst;
    if !worst.waits.is_empty() {
        section(xml, "waits", "The longest waits", |xml| waits(xml, tally));
    }
    if !worst.failures.is_empty() {
        section(xml, "failures", "The latest failures", |xml| {
            failures(xml, tally)
        });
    }
}

fn waits(xml: &mut Xml, tally: &Tally) {
    let waits = &tally.worst.waits;
    let about = format!(
        "The {} in which someone waited longest for a token, be it the first one or the next. Each in full: ",
        counted(waits.len() as u64, "stream")
    );
    explain(xml, &about);
    // mostly all of them came whole, and then nobody has to read so
    let all_whole = waits.iter().all(|wait| wait.request.end == End::Complete);
    let rows = waits.iter().map(|wait| {
        let what = match wait.what {
            What::FirstToken => "first token",
            What::InVain => "first token, in vain",
            What::Gap => "next token",
        };
        let verdict = word(&wait.timing);
        let verdict = if wait.cold {
            verdict + ", cold"
        } else {
            verdict
        };
        let mut cells = vec![
            Cell::Code(wait.request.id.clone()),
            started(tally, wait.request.started),
            model(&wait.request),
            Cell::Verdict(wait.timing, verdict),
            time(Some(in_ms(wait.longest))),
            Cell::Text(what.to_owned()),
            time(wait.ttft_ms),
            time(wait.gap_p99_ms),
            Cell::Figure(wait.in_flight.to_string()),
        ];
        if !all_whole {
            cells.push(Cell::Text(word(&wait.request.end)));
        }
        Row::of(cells)
    });
    let rows: Vec<_> = rows.collect();
    let heads = [
        "id", "started", "model", "verdict", "waited", "for the", "TTFT", "gap p99", "open", "end",
    ];
    table::write(xml, &heads[..rows[0].cells.len()], &rows);
}

fn failures(xml: &mut Xml, tally: &Tally) {
    explain(xml, "The latest in the order of the log. Each in full: ");
    let rows = tally.worst.failures.iter().rev().map(|failure| {
        let status = failure.status.map(|status| status.to_string());
        Row::of(vec![
            Cell::Code(failure.request.id.clone()),
            started(tally, failure.request.started),
            model(&failure.request),
            Cell::Figure(status.unwrap_or(NONE.to_owned())),
            time(failure.end_ms),
            Cell::Text(word(&failure.request.end)),
        ])
    });
    let rows: Vec<_> = rows.collect();
    table::write(
        xml,
        &["id", "started", "model", "status", "after", "end"],
        &rows,
    );
}

fn explain(xml: &mut Xml, about: &str) {
    xml.element("p", &[], |xml| {
        xml.text(about);
        xml.inline("code", &[], "dripline report LOG --explain ID");
        xml.text(".");
    });
}

fn started(tally: &Tally, at: Option<Timestamp>) -> Cell {
    Cell::Text(at.map_or(NONE.to_owned(), |at| start(tally, at)))
}

fn model(request: &Which) -> Cell {
    Cell::Name(request.model.clone().unwrap_or(NONE.to_owned()))
}

fn time(ms: Option<f64>) -> Cell {
    Cell::Figure(facts::time(ms))
}
