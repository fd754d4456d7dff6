//! The comparison as one JSON object. Keys may be added, none is renamed.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::Compared;
use super::estimate::{ALPHA, Differs};
use super::figures::Figure;
use super::limits::{Checked, Held};
use super::print::quoted;
use super::resample::RESAMPLES;
use super::sentences::sentences;
use super::side::Side;
use super::unit::Unit;
use super::unlike::unlike;

#[derive(Serialize)]
struct Object<'a> {
    before: Run<'a>,
    after: Run<'a>,
    sentences: Vec<String>,
    warnings: Vec<Warning>,
    figures: Named<'a>,
    looked_at: usize,
    confidence: f64,
    resamples: usize,
    seed: u64,
    fail_if: Vec<Condition<'a>>,
}

#[derive(Serialize)]
struct Run<'a> {
    log: &'a str,
    label: Option<&'a str>,
    read: u64,
    requests: u64,
    failed: u64,
    warm: u64,
    cold: u64,
    from: Option<String>,
    until: Option<String>,
    unread: u64,
}

#[derive(Serialize)]
struct Warning {
    kind: &'static str,
    sentence: String,
}

/// Figures by their names, in their order.
struct Named<'a>(&'a [Figure]);

#[derive(Serialize)]
struct Row {
    unit: &'static str,
    n_before: u64,
    n_after: u64,
    before: Option<f64>,
    after: Option<f64>,
    difference: Option<f64>,
    relative: Option<f64>,
    ci_low: Option<f64>,
    ci_high: Option<f64>,
    needed: Option<usize>,
    by_chance_apart: Option<f64>,
    differs: &'static str,
}

#[derive(Serialize)]
struct Condition<'a> {
    condition: &'a str,
    holds: Option<bool>,
    found: &'a str,
}

impl Serialize for Named<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for figure in self.0 {
            map.serialize_entry(&figure.key, &row(figure))?;
        }
        map.end()
    }
}

/// The comparison as one object, on one line.
///
/// # Errors
///
/// It cannot be written as JSON.
pub fn text(compared: &Compared, checked: &[Checked]) -> anyhow::Result<String> {
    let Compared {
        before,
        after,
        figures,
        seed,
    } = compared;
    let warnings = unlike(before, after, quoted).into_iter();
    let object = Object {
        before: run(before),
        after: run(after),
        sentences: sentences(figures, before, after),
        warnings: warnings
            .map(|unlike| Warning {
                kind: unlike.kind,
                sentence: unlike.sentence,
            })
            .collect(),
        figures: Named(&figures.all),
        looked_at: figures.looked_at,
        confidence: 1.0 - ALPHA,
        resamples: RESAMPLES,
        seed: *seed,
        fail_if: checked.iter().map(condition).collect(),
    };
    Ok(serde_json::to_string(&object)? + "\n")
}

fn run(side: &Side) -> Run<'_> {
    Run {
        log: &side.name,
        label: side.label(),
        read: side.read,
        requests: side.records,
        failed: side.failed,
        warm: side.streams(false).count() as u64,
        cold: side.streams(true).count() as u64,
        from: side.range.map(|(from, _)| from.to_string()),
        until: side.range.map(|(_, until)| until.to_string()),
        unread: side.unread.count,
    }
}

fn row(figure: &Figure) -> Row {
    let estimate = &figure.estimate;
    // µs of times, as in records; of shares as much as a million requests tell
    let places = match figure.unit {
        Unit::Ms | Unit::PerSecond => 1e3,
        Unit::Share => 1e6,
    };
    let round = |value: Option<f64>| value.map(|value| (value * places).round() / places);
    let part = |value: Option<f64>| value.map(|value| (value * 1e6).round() / 1e6);
    Row {
        unit: figure.unit.name(),
        n_before: estimate.n[0],
        n_after: estimate.n[1],
        before: round(estimate.before),
        after: round(estimate.after),
        difference: round(estimate.difference()),
        relative: part(estimate.relative()),
        ci_low: round(figure.interval.map(|ends| ends.0)),
        ci_high: round(figure.interval.map(|ends| ends.1)),
        needed: estimate.needed(),
        by_chance_apart: estimate.apart,
        differs: match figure.differs {
            Differs::Clear => "clear",
            Differs::Perhaps => "perhaps",
            Differs::No => "no",
            Differs::TooFew => "too_few",
            Differs::Unknown => "not_measured",
        },
    }
}

fn condition(checked: &Checked) -> Condition<'_> {
    Condition {
        condition: &checked.condition,
        holds: match checked.held {
            Held::Holds => Some(true),
            Held::DoesNot => Some(false),
            Held::Unknown => None,
        },
        found: &checked.found,
    }
}
