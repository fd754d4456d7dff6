//! The summary as one JSON object.
//!
//! Beside what the page says it has the key names of the results of vLLM's `bench serve`, so that both can be laid side by
//! side. They are of the warm streams that came whole. What a log does not tell is `null`: the distribution of all gaps
//! (`itl`) is not in it, only its mean, and the server's own count of tokens only where it sent one.

use std::collections::BTreeMap;

use serde::Serialize;

use super::figures::Figures;
use super::found::Found;
use super::summary::Summary;
use super::tally::Group;
use crate::sink::console::text::word;

/// The object.
#[derive(Debug, Serialize)]
struct Report<'a> {
    records: u64,
    read: u64,
    logs: usize,
    unread: Unread,
    from: Option<String>,
    until: Option<String>,
    errors: u64,
    #[serde(flatten)]
    bench: Bench,
    warm: Figures,
    cold: Figures,
    found: &'a Found,
    by: &'static str,
    groups: Vec<Row<'a>>,
}

#[derive(Debug, Serialize)]
struct Unread {
    n: u64,
    first: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Row<'a> {
    name: &'a str,
    n: u64,
    errors: u64,
    stalled: u64,
    ends: BTreeMap<String, u64>,
    verdicts: BTreeMap<String, u64>,
    warm: Figures,
    cold: Figures,
}

/// Keys as vLLM's benchmark has them.
#[derive(Debug, Serialize)]
struct Bench {
    duration: Option<f64>,
    completed: u64,
    failed: u64,
    total_input_tokens: Option<u64>,
    total_output_tokens: Option<u64>,
    request_throughput: Option<f64>,
    output_throughput: Option<f64>,
    total_token_throughput: Option<f64>,
    mean_ttft_ms: Option<f64>,
    median_ttft_ms: Option<f64>,
    std_ttft_ms: Option<f64>,
    p99_ttft_ms: Option<f64>,
    mean_tpot_ms: Option<f64>,
    median_tpot_ms: Option<f64>,
    std_tpot_ms: Option<f64>,
    p99_tpot_ms: Option<f64>,
    mean_itl_ms: Option<f64>,
    median_itl_ms: Option<f64>,
    std_itl_ms: Option<f64>,
    p99_itl_ms: Option<f64>,
    mean_e2el_ms: Option<f64>,
    median_e2el_ms: Option<f64>,
    std_e2el_ms: Option<f64>,
    p99_e2el_ms: Option<f64>,
}

impl Bench {
    fn of(warm: &Figures, failed: u64, duration: Option<f64>) -> Bench {
        let per_second = |n: Option<u64>| Some(round(n? as f64 / duration?));
        let (input, output) = (warm.prompt_tokens, warm.completion_tokens);
        Bench {
            duration,
            completed: warm.n,
            failed,
            total_input_tokens: input,
            total_output_tokens: output,
            request_throughput: per_second(Some(warm.n)),
            output_throughput: per_second(output),
            total_token_throughput: per_second(
                input
                    .zip(output)
                    .map(|(input, output)| input.saturating_add(output)),
            ),
            mean_ttft_ms: warm.ttft.mean_ms,
            median_ttft_ms: warm.ttft.p50_ms,
            std_ttft_ms: warm.ttft.std_ms,
            p99_ttft_ms: warm.ttft.p99_ms,
            mean_tpot_ms: warm.per_token.mean_ms,
            median_tpot_ms: warm.per_token.p50_ms,
            std_tpot_ms: warm.per_token.std_ms,
            p99_tpot_ms: warm.per_token.p99_ms,
            mean_itl_ms: warm.gap_mean_ms,
            median_itl_ms: None,
            std_itl_ms: None,
            p99_itl_ms: None,
            mean_e2el_ms: warm.end.mean_ms,
            median_e2el_ms: warm.end.p50_ms,
            std_e2el_ms: warm.end.std_ms,
            p99_e2el_ms: warm.end.p99_ms,
        }
    }
}

/// The summary as one object, on one line.
///
/// # Errors
///
/// It cannot be written as JSON.
pub fn text(summary: &Summary) -> anyhow::Result<String> {
    let tally = &summary.tally;
    let errors = tally.groups.iter().map(|group| group.errors).sum();
    let warm = Figures::of_all(tally, false);
    let duration = tally.seconds().filter(|seconds| *seconds > 0.0).map(round);
    let groups = tally.sorted_groups();
    let rows = groups.iter().map(|&number| {
        let group: &Group = &tally.groups[number];
        Row {
            name: &group.name,
            n: group.n,
            errors: group.errors,
            stalled: group.stalled,
            ends: group.ends.iter().map(|(end, n)| (word(end), *n)).collect(),
            verdicts: group
                .verdicts
                .iter()
                .map(|(timing, n)| (word(timing), *n))
                .collect(),
            warm: Figures::of_group(tally, number, false),
            cold: Figures::of_group(tally, number, true),
        }
    });
    let report = Report {
        records: tally.records,
        read: summary.read,
        logs: summary.logs.len(),
        unread: Unread {
            n: summary.unread.count,
            first: summary
                .unread
                .first
                .iter()
                .map(ToString::to_string)
                .collect(),
        },
        from: tally.range.map(|(from, _)| from.to_string()),
        until: tally.range.map(|(_, until)| until.to_string()),
        errors,
        bench: Bench::of(&warm, errors, duration),
        warm,
        cold: Figures::of_all(tally, true),
        found: &tally.found,
        by: tally.by.name(),
        groups: rows.collect(),
    };
    Ok(serde_json::to_string(&report)? + "\n")
}

fn round(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}
