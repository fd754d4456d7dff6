//! One request's verdict in full: what was said of it, how the stream came, and which rules did and did not fire.

use serde_json::Value;

use crate::observe::record::{Finding, RequestRecord, Side};
use crate::observe::verdict::RULES;
use crate::sink::console::text::{NONE, duration, shown, word};
use crate::tools::page::Page;
use crate::tools::plot::{DRIP_LEGEND, Look, drip, drip_axis};

/// Columns that a name from outside may take.
const NAME: usize = 48;

/// Of these rules one fires at most, the one that fits best.
const CONSTANTS: [&str; 3] = ["block_burst", "tick_burst", "count_burst"];

/// Between the edge and what belongs to a heading.
const INDENT: &str = "  ";

/// Between the edge and what belongs to such a line.
const INNER: &str = "      ";

/// All that is known of why `record` was judged as it was.
pub fn text(record: &RequestRecord, look: Look) -> String {
    let mut page = Page::new(look);
    request(&mut page, record);
    verdict(&mut page, record);
    arrivals(&mut page, record);
    rules(&mut page, record);
    page.text
}

/// What was asked, and how it ended.
fn request(page: &mut Page, record: &RequestRecord) {
    page.heading(&format!("request {}", shown(&record.id, NAME)));
    let asked = &record.request;
    let known = |name: &Option<String>| {
        name.as_deref()
            .map_or(NONE.to_owned(), |name| shown(name, NAME))
    };
    page.wrapped(
        INDENT,
        &format!(
            "{} {}, model {}, from {} by {}",
            known(&asked.method),
            known(&asked.path),
            known(&asked.model),
            record.started_at,
            shown(&record.instance, NAME),
        ),
    );
    let upstream = known(&record.upstream.addr);
    page.wrapped(
        INDENT,
        &match record.response.status {
            Some(status) => format!(
                "upstream {upstream}: {status}, {}",
                known(&record.response.content_type)
            ),
            None => format!("upstream {upstream}: no answer"),
        },
    );
    let flags: Vec<String> = record.flags.iter().map(word).collect();
    let flags = if flags.is_empty() {
        String::new()
    } else {
        format!(" ({})", flags.join(", "))
    };
    page.wrapped(INDENT, &format!(
        "{}{flags} after {}; first token after {}, token gaps {} at the median, {} at the 99th percentile, {} at most",
        word(&record.end),
        duration(record.at.end_ms),
        duration(record.ttft_ms),
        duration(record.gaps.token.p50_ms),
        duration(record.gaps.token.p99_ms),
        duration(record.gaps.token.max_ms),
    ));
}

fn verdict(page: &mut Page, record: &RequestRecord) {
    let Some(verdict) = &record.verdict else {
        page.heading("no verdict");
        page.wrapped(INDENT, "There is no stream to judge.");
        return;
    };
    let side = verdict.side.as_ref().map(place).unwrap_or_default();
    page.heading(&format!(
        "{}{side}, confidence {:.2}",
        word(&verdict.timing),
        verdict.confidence
    ));
    page.wrapped(INDENT, &verdict.summary);
    let main = verdict
        .findings
        .iter()
        .find(|finding| finding.sentence == verdict.summary);
    if let Some(main) = main {
        page.wrapped(
            INDENT,
            &format!("To try: {}.", main.hint.trim_end_matches('.')),
        );
    }
    if !verdict.evidence.is_empty() {
        let numbers: Vec<String> = verdict
            .evidence
            .iter()
            .map(|(name, value)| format!("{name} {value}"))
            .collect();
        page.wrapped(INDENT, &format!("It rests on: {}.", numbers.join(", ")));
    }
}

/// The drip: when what came, on one line of time.
fn arrivals(page: &mut Page, record: &RequestRecord) {
    page.heading("arrivals");
    let Some(rows) = &record.timeline else {
        page.wrapped(INDENT, "There is no timeline in this record: `dripline proxy --timeline` keeps one row for each chunk.");
        return;
    };
    let end = record.at.end_ms.map_or(0, |end| (end * 1000.0) as u64);
    let points: Vec<(u64, u64)> = rows.iter().map(|row| (row.0, row.3)).collect();
    let width = page.width() - INDENT.len();
    for line in [drip(&points, end, width), drip_axis(end, width)] {
        page.line(&format!("{INDENT}{line}"));
    }
    page.wrapped(
        INDENT,
        &format!(
            "{DRIP_LEGEND}; {} chunks, time from the request on",
            rows.len()
        ),
    );
}

/// Which rules fired and which did not, each with what it looks for and the figures that tell.
fn rules(page: &mut Page, record: &RequestRecord) {
    let Some(verdict) = &record.verdict else {
        return;
    };
    page.heading("what fired");
    if verdict.findings.is_empty() {
        page.wrapped(
            INDENT,
            "No rule: the stream is judged by how even its gaps are.",
        );
    }
    for Finding {
        code,
        side,
        at_ms,
        sentence,
        hint,
    } in &verdict.findings
    {
        let at = at_ms
            .map(|at| format!(" at {}", duration(Some(at))))
            .unwrap_or_default();
        page.wrapped(INDENT, &format!("{code}{}{at}", place(side)));
        if *sentence == verdict.summary {
            page.wrapped(INNER, "As above.");
            continue;
        }
        page.wrapped(INNER, sentence);
        page.wrapped(INNER, &format!("To try: {}.", hint.trim_end_matches('.')));
    }
    page.heading("what did not");
    let json = serde_json::to_value(record).unwrap_or_default();
    let has_fired = |code: &str| verdict.findings.iter().any(|finding| finding.code == code);
    let constant = CONSTANTS.into_iter().find(|code| has_fired(code));
    for rule in RULES.iter().filter(|rule| !has_fired(rule.code)) {
        page.wrapped(INDENT, &format!("{}: looks for {}", rule.code, rule.about));
        let figures: Vec<String> = rule
            .rests_on
            .iter()
            .map(|field| format!("{field} {}", value(&json, field)))
            .collect();
        let outdone = match constant {
            Some(other) if CONSTANTS.contains(&rule.code) => format!("; {other} fits better"),
            _ => String::new(),
        };
        page.wrapped(INNER, &format!("Here: {}{outdone}.", figures.join(", ")));
    }
}

/// On which side, after what was found there.
fn place(side: &Side) -> String {
    match side {
        Side::Unknown => ", side unknown".to_owned(),
        side => format!(", {}", word(side)),
    }
}

/// A field of the record in a few words.
fn value(record: &Value, field: &str) -> String {
    match record.pointer(&format!("/{}", field.replace('.', "/"))) {
        None | Some(Value::Null) => NONE.to_owned(),
        Some(Value::String(text)) => shown(text, NAME),
        Some(Value::Array(all)) if all.is_empty() => "none".to_owned(),
        Some(Value::Array(all)) if all.iter().all(|each| !each.is_object()) => all
            .iter()
            .map(|each| {
                each.as_str()
                    .map_or(each.to_string(), |text| shown(text, NAME))
            })
            .collect::<Vec<_>>()
            .join(" "),
        Some(Value::Array(all)) => all.len().to_string(),
        Some(other) => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::record::Row;
    use crate::tools::logs::sample;

    #[test]
    fn every_field_that_a_rule_rests_on_is_in_a_record() {
        let record = serde_json::to_value(sample()).unwrap();
        for rule in &RULES {
            for field in rule.rests_on {
                let pointer = format!("/{}", field.replace('.', "/"));
                assert!(record.pointer(&pointer).is_some(), "{}: {field}", rule.code);
            }
        }
    }

    #[test]
    fn a_stall_in_full() {
        let mut record = sample();
        let (mut at, mut rows) = (80_000, Vec::new());
        for i in 0..40 {
            at += if i == 20 { 1_020_000 } else { 20_000 };
            rows.push(Row(at, Some(at + 40), 180, 1, 1));
        }
        record.timeline = Some(rows);
        let page = anstream::adapter::strip_str(&text(&record, Look::default())).to_string();
        insta::assert_snapshot!("stall", page);
        record.timeline = None;
        record.verdict = None;
        let page = anstream::adapter::strip_str(&text(&record, Look::default())).to_string();
        assert!(
            page.contains("--timeline") && page.contains("no verdict"),
            "{page}"
        );
    }

    #[test]
    fn of_rules_that_exclude_each_other_the_better_one_is_named() {
        let mut record = sample();
        let findings = &mut record.verdict.as_mut().unwrap().findings;
        findings[0].code = "tick_burst".into();
        let page = anstream::adapter::strip_str(&text(&record, Look::default())).to_string();
        let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(
            page.matches("; tick_burst fits better.").count(),
            2,
            "{page}"
        );
        assert!(
            page.contains("stalls 1, stalls.0.catch_up_events 1"),
            "{page}"
        );
    }
}
