//! What stands under the rows: connections, verdicts, what differs, what a proxy adds, and the pictures.

use super::differs::compared;
use super::failure::failure;
use super::pairs::added;
use super::plan::Plan;
use super::run::{Run, Side};
use super::table::verdict;
use crate::observe::record::RequestRecord;
use crate::sink::console::text::duration;
use crate::tools::page::Page;
use crate::tools::plot::{Gaps, Group, Histogram, Look, Scatter};

/// How to read the scatter.
const READING: &str = "Right: a long wait for the first token. High: a hole in the middle. At the bottom: no gaps, all in one piece.";

/// The text under the rows. Cold runs are in none of its figures, and have a letter of their own in the scatter.
pub(super) fn text(plan: &Plan, runs: &[Run], look: Look) -> String {
    let mut page = Page::new(look);
    let warm = |side: Side| -> Vec<&Run> {
        let of_side = |run: &&Run| run.side == side && !run.is_cold() && run.is_whole();
        runs.iter().filter(of_side).collect()
    };
    let sides: &[Side] = match plan.is_paired() {
        true => &[Side::Direct, Side::Through],
        false => &[Side::Direct],
    };
    for &side in sides {
        let warm = warm(side);
        if warm.is_empty() {
            continue;
        }
        let title = match plan.is_paired() {
            true => format!("{}, {} warm runs", side.name(), warm.len()),
            false => format!("{} warm runs", warm.len()),
        };
        page.heading(&title.replace("1 warm runs", "1 warm run"));
        page.figure("connection", &connection(&warm));
        verdicts(&mut page, &warm);
        let (same, differs) = compared(&warm);
        page.figure("the same", &same.join(", "));
        if !differs.is_empty() {
            page.figure("differs", &differs.join(", "));
        }
    }
    if plan.is_paired() {
        path(&mut page, runs);
    }
    let mut text = page.text;
    for line in pictures(plan, runs, sides, look) {
        text.push_str(&line);
        text.push('\n');
    }
    text
}

/// The steps before t0, each from the least to the most.
fn connection(runs: &[&Run]) -> String {
    let range = |name: &str, of: fn(&RequestRecord) -> Option<f64>| {
        let mut ms: Vec<f64> = runs.iter().filter_map(|run| of(&run.record)).collect();
        ms.sort_by(f64::total_cmp);
        let (least, most) = (*ms.first()?, *ms.last()?);
        let [least, most] = [least, most].map(|ms| duration(Some(ms)));
        Some(match least == most {
            true => format!("{name} {least}"),
            false => format!("{name} {least} to {most}"),
        })
    };
    let steps = [
        range("DNS", |record| record.upstream.dns_ms),
        range("connect", |record| record.upstream.connect_ms),
        range("TLS", |record| record.upstream.tls_ms),
    ];
    let steps: Vec<_> = steps.into_iter().flatten().collect();
    format!("{}, all before the clock of TTFT starts", steps.join(", "))
}

/// How often each verdict came, and what the first of each says, if it says that something is wrong.
fn verdicts(page: &mut Page, runs: &[&Run]) {
    let mut kinds: Vec<(String, Vec<&Run>)> = Vec::new();
    for run in runs {
        let told = run
            .record
            .verdict
            .as_ref()
            .map_or("none".to_owned(), verdict);
        match kinds.iter_mut().find(|(known, _)| *known == told) {
            Some((_, same)) => same.push(run),
            None => kinds.push((told, vec![run])),
        }
    }
    kinds.sort_by_key(|(_, runs)| std::cmp::Reverse(runs.len()));
    let counts: Vec<_> = kinds
        .iter()
        .map(|(told, of)| match kinds.len() {
            1 => format!("{} {told}", of.len()),
            _ => format!("{} {told} ({})", of.len(), names(of)),
        })
        .collect();
    page.figure("verdicts", &counts.join(", "));
    for (_, runs) in &kinds {
        let Some(verdict) = runs.first().and_then(|run| run.record.verdict.as_ref()) else {
            continue;
        };
        page.figure("", &format!("run {}: {}", runs[0].name(), verdict.summary));
        let hint = verdict
            .findings
            .iter()
            .find(|finding| finding.sentence == verdict.summary);
        if let Some(finding) = hint {
            page.figure("", &format!("to try: {}", finding.hint));
        }
    }
}

/// `run 3`, or `runs 1, 4, 5 and others`.
fn names(runs: &[&Run]) -> String {
    const NAMED: usize = 5;
    let numbers = runs.iter().filter_map(|run| run.number);
    let named: Vec<_> = numbers.take(NAMED).map(|n| n.to_string()).collect();
    let more = if runs.len() > NAMED {
        " and others"
    } else {
        ""
    };
    let word = if runs.len() == 1 { "run" } else { "runs" };
    format!("{word} {}{more}", named.join(", "))
}

/// What the path of `--via` adds.
fn path(page: &mut Page, runs: &[Run]) {
    let (pairs, added) = added(runs);
    let through = runs.iter().find(|run| run.side == Side::Through);
    let name = through
        .and_then(|run| run.record.upstream.name.as_deref())
        .unwrap_or("the proxy");
    page.heading(&format!("what the path through {name} adds, {pairs} pairs"));
    if pairs == 0 {
        return page.line("no pair is warm and whole on both sides");
    }
    page.figure(
        "",
        &format!("{:>9}  {:>9}  {:>9}", "median", "least", "most"),
    );
    for figure in added {
        if let Some(line) = figure.line() {
            page.figure(figure.what, &line);
        }
    }
    let warm = runs.iter().filter(|run| !run.is_cold() && run.is_whole());
    let (_, mut differs) = compared(&warm.collect::<Vec<_>>());
    differs.retain(|fact| !fact.starts_with("address ")); // of course
    if !differs.is_empty() {
        page.figure("differs", &differs.join(", "));
    }
}

fn pictures(plan: &Plan, runs: &[Run], sides: &[Side], look: Look) -> Vec<String> {
    let name = |side: Side| match sides.len() {
        1 => plan.legend.clone(),
        _ => format!("{}, {}", side.name(), plan.legend),
    };
    let warm = |side: Side| {
        let of_side = move |run: &&Run| run.side == side && !run.is_cold() && run.is_whole();
        runs.iter().filter(of_side)
    };
    let gaps: Vec<(String, Gaps)> = sides
        .iter()
        .map(|&side| {
            let gaps = warm(side).flat_map(|run| run.gaps.iter().copied());
            (name(side), gaps.collect())
        })
        .collect();
    let groups = sides
        .iter()
        .map(|&side| group(name(side), warm(side)))
        .chain(cold(runs))
        .collect::<Vec<_>>();
    let title = "Gaps between token events";
    let histogram = Histogram {
        title,
        groups: &gaps,
    };
    let title = "Each run: time to first token against gap p99";
    let scatter = Scatter {
        title,
        groups: &groups,
    };
    let mut lines = vec![String::new()];
    lines.extend(histogram.lines(look));
    lines.push(String::new());
    lines.extend(scatter.lines(look));
    lines.push(String::new());
    let mut reading = Page::new(look);
    reading.wrapped("", READING);
    lines.extend(reading.text.lines().map(str::to_owned));
    lines
}

/// The cold runs, if there are any, apart from all others.
fn cold(runs: &[Run]) -> Option<Group> {
    let mut cold = runs
        .iter()
        .filter(|run| run.is_cold() && run.is_whole())
        .peekable();
    cold.peek()?;
    Some(group("cold".to_owned(), cold))
}

fn group<'a>(name: String, runs: impl Iterator<Item = &'a Run>) -> Group {
    let mut group = Group {
        name,
        ..Group::default()
    };
    for run in runs {
        match run.record.ttft_ms.zip(run.record.gaps.token.p99_ms) {
            Some(point) => group.points.push(point),
            None => group.without += 1,
        }
    }
    group
}

/// Why runs failed, the same reason once; nothing where none did. Warm-ups do not count.
pub(super) fn failures(runs: &[Run]) -> Option<String> {
    let mut reasons: Vec<(String, Vec<&Run>)> = Vec::new();
    let counted = || runs.iter().filter(|run| run.number.is_some());
    for run in counted() {
        if let Some(reason) = failure(&run.record) {
            match reasons.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, same)) => same.push(run),
                None => reasons.push((reason, vec![run])),
            }
        }
    }
    let failed: usize = reasons.iter().map(|(_, runs)| runs.len()).sum();
    let told: Vec<_> = reasons
        .iter()
        .map(|(reason, runs)| format!("{}: {reason}", names(runs)))
        .collect();
    (failed > 0).then(|| {
        format!(
            "{failed} of {} runs failed; {}",
            counted().count(),
            told.join("; ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::super::run::sample;
    use super::*;
    use crate::cli::{self, Job};
    use crate::observe::record::{End, Timing};

    fn summary(args: &str, runs: &[Run]) -> String {
        let args = format!("dripline probe http://127.0.0.1:8000 hi {args}");
        let Job::Probe(probe) = cli::parse(args.split_whitespace().map(Into::into))
            .unwrap()
            .command
        else {
            panic!("it is a probe");
        };
        text(&Plan::of(&probe, |_| None).unwrap(), runs, Look::default())
    }

    fn runs() -> Vec<Run> {
        let mut runs = vec![sample(None, 905.0)];
        runs.extend((1..=4).map(|n| sample(Some(n), 80.0 + 3.0 * n as f64)));
        let verdict = runs[3].record.verdict.as_mut().unwrap();
        (verdict.timing, verdict.side) = (Timing::Steady, None);
        verdict.summary = "40 token events, even.".to_owned();
        runs[3].record.counts.chars = Some(221);
        runs[3].record.upstream.dns_ms = Some(1.5);
        runs
    }

    #[test]
    fn what_stands_under_the_rows() {
        insta::assert_snapshot!("one_way", summary("--model m", &runs()));
    }

    #[test]
    fn what_stands_under_the_rows_of_two_ways() {
        let mut both = runs();
        for mut run in runs() {
            run.side = Side::Through;
            run.record.upstream.name = Some("127.0.0.1:8080".to_owned());
            run.record.ttft_ms = run.record.ttft_ms.map(|ms| ms + 7.0);
            run.record.response.content_encoding = Some("gzip".to_owned());
            both.push(run);
        }
        let args = "--label mine --via http://127.0.0.1:8080";
        insta::assert_snapshot!("two_ways", summary(args, &both));
    }

    #[test]
    fn failed_runs_are_counted_by_their_reason_and_in_no_figure() {
        let mut runs = runs();
        assert_eq!(failures(&runs), None);
        runs[0].record.end = End::HttpError;
        assert_eq!(failures(&runs), None, "a warm-up does not count");
        runs[1].record.end = End::Truncated;
        runs[2].record.end = End::Truncated;
        let told = failures(&runs).unwrap();
        assert!(
            told.starts_with("2 of 4 runs failed; runs 1, 2: 127.0.0.1:8000 cut"),
            "{told}"
        );
        let text = summary("", &runs);
        assert!(
            text.starts_with("2 warm runs\n") && !text.contains("cold"),
            "{text}"
        );
    }
}
