//! Both runs in one picture: how often gaps of which length came, and each stream as a letter.

use super::print::quoted;
use super::side::{Side, Stream};
use crate::tools::plot::{Group, Look, Overlay, Scatter};

/// Points of one run that are drawn one by one: more of them do not show more on a terminal.
const POINTS: usize = 20_000;

/// Each picture as lines.
pub fn all(before: &Side, after: &Side, look: Look) -> Vec<Vec<String>> {
    if before.streams.is_empty() && after.streams.is_empty() {
        return Vec::new();
    }
    let is_warm = |side: &Side| side.streams(false).next().is_some();
    let mut pictures = Vec::new();
    if is_warm(before) || is_warm(after) {
        pictures.push(gaps(before, after, look));
        pictures.push(ttft(before, after, look));
    }
    pictures.push(scatter(before, after, look));
    pictures
}

fn ttft(before: &Side, after: &Side, look: Look) -> Vec<String> {
    let of = |side: &Side| {
        let streams = side.streams(false);
        streams.map(|stream| stream.ttft as f64 / 1000.0).collect()
    };
    let gaps = &[of(before), of(after)];
    Overlay {
        title: "Time to first token of each warm stream",
        what: "TTFT",
        gaps,
    }
    .lines(look)
}

/// All gaps where both runs have timelines, else the longest of each stream.
fn gaps(before: &Side, after: &Side, look: Look) -> Vec<String> {
    let with = |side: &Side| side.gaps.clone().filter(|gaps| gaps.total() > 0);
    let (title, gaps) = match (with(before), with(after)) {
        (Some(before), Some(after)) => ("Gaps between token events", [before, after]),
        _ => (
            "The longest gap between token events of each warm stream",
            [before.longest.clone(), after.longest.clone()],
        ),
    };
    Overlay {
        title,
        what: "gap",
        gaps: &gaps,
    }
    .lines(look)
}

fn scatter(before: &Side, after: &Side, look: Look) -> Vec<String> {
    let named = |when: &str, side: &Side| {
        let name = side.label().unwrap_or(&side.name);
        format!("{when}: {}", quoted(name))
    };
    let mut groups = vec![
        group(named("before", before), before, false),
        group(named("after", after), after, false),
    ];
    for (name, side) in [("cold, before", before), ("cold, after", after)] {
        if side.streams(true).next().is_some() {
            groups.push(group(name.to_owned(), side, true));
        }
    }
    Scatter {
        title: "Each stream: time to first token against gap p99",
        groups: &groups,
    }
    .lines(look)
}

fn group(name: String, side: &Side, cold: bool) -> Group {
    let all = side.streams(cold).count();
    let point = |stream: &Stream| {
        let p99 = stream.gaps[2].get()?;
        Some((stream.ttft as f64 / 1000.0, p99 as f64 / 1000.0))
    };
    let step = all.div_ceil(POINTS).max(1);
    let with = side.streams(cold).filter(|s| point(s).is_some()).count();
    Group {
        name,
        points: side.streams(cold).step_by(step).filter_map(point).collect(),
        without: all - with,
    }
}
