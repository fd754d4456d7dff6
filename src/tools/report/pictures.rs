//! The summary's pictures, as far as there is something to draw.

use jiff::Timestamp;

use super::stream::Stream;
use super::tally::{Group, NAMELESS, Tally};
use crate::observe::stats::{Us, in_ms};
use crate::sink::console::text::shown;
use crate::tools::plot::{self, Gaps, Heatmap, Histogram, Look, Scatter};

/// Distances between the labels across, if they fit.
const LABELS: i64 = 4;
/// Columns of a name in a legend.
const NAME: usize = 32;
/// Points of one group that are drawn one by one: more of them do not show more on a terminal.
const POINTS: usize = 100_000;

/// Fewer streams are told one by one, and no map of them says more.
const FEW: usize = 8;

/// Each picture as lines, `groups` being those that are shown.
pub fn all(tally: &Tally, groups: &[usize], look: Look) -> Vec<Vec<String>> {
    if tally.streams.is_empty() {
        return Vec::new();
    }
    let mut pictures = vec![gaps(tally, groups, look), scatter(tally, groups, look)];
    if tally.streams.len() >= FEW {
        pictures.extend(over_time(tally, look));
        pictures.extend(by_load(tally, look));
    }
    pictures
}

/// Gaps where timelines have them all, else the longest of each stream.
fn gaps(tally: &Tally, groups: &[usize], look: Look) -> Vec<String> {
    let of = |gaps: fn(&Group) -> &Gaps| -> Vec<(String, Gaps)> {
        let groups = groups.iter().map(|&number| &tally.groups[number]);
        groups
            .map(|group| (shown(&group.name, NAME), gaps(group).clone()))
            .collect()
    };
    let with_timeline: u64 = tally.groups.iter().map(|group| group.with_timeline).sum();
    let (title, groups) = match with_timeline {
        0 => (
            "The longest gap between token events of each stream",
            of(|group| &group.longest),
        ),
        _ => (
            "Gaps between token events, of the streams with a timeline",
            of(|group| &group.gaps),
        ),
    };
    let groups = &groups;
    Histogram { title, groups }.lines(look)
}

fn scatter(tally: &Tally, groups: &[usize], look: Look) -> Vec<String> {
    let of = |&number: &usize| {
        let group = &tally.groups[number];
        let streams = || {
            let of = |cold| tally.streams_of(number, cold);
            of(false).iter().chain(of(true))
        };
        let step = streams().count().div_ceil(POINTS).max(1);
        let point =
            |ttft: u64, p99: Option<u32>| Some((ttft as f64 / 1000.0, f64::from(p99?) / 1000.0));
        let points: Vec<_> = streams()
            .step_by(step)
            .filter_map(|stream| point(stream.ttft, stream.gap_p99))
            .collect();
        let with = streams().filter(|stream| stream.gap_p99.is_some()).count();
        let name = if group.name.is_empty() {
            NAMELESS
        } else {
            &group.name
        };
        plot::Group {
            name: shown(name, NAME),
            points,
            without: (group.n as usize).saturating_sub(with),
        }
    };
    let groups: Vec<plot::Group> = groups.iter().map(of).collect();
    let title = "Each stream: time to first token against gap p99";
    Scatter {
        title,
        groups: &groups,
    }
    .lines(look)
}

/// Gap p99 and TTFT of each stream over the time of its start.
fn over_time(tally: &Tally, look: Look) -> Vec<Vec<String>> {
    let started = || tally.streams.iter().filter_map(|stream| stream.started);
    let (Some(from), Some(to)) = (started().min(), started().max()) else {
        return Vec::new();
    };
    let span = to.saturating_sub(from);
    if span <= 0 {
        return Vec::new();
    }
    let across = |at: i64| at.saturating_sub(from) as f64 / span as f64;
    let labels = labels_of_time(tally, from, span);
    let draw = |title, up, duration: fn(&Stream) -> Option<Us>| {
        let point = |stream: &Stream| Some((across(stream.started?), in_ms(duration(stream)?)));
        let points: Vec<_> = tally.streams.iter().filter_map(point).collect();
        let heatmap = Heatmap {
            title,
            up,
            across: "start of the request",
            points: &points,
            labels: &labels,
        };
        heatmap.lines(look)
    };
    vec![
        draw(
            "Gaps over time: the gap p99 of each stream",
            "gap p99",
            |stream| stream.gap_p99.map(Us::from),
        ),
        draw("Time to first token over time", "TTFT", |stream| {
            Some(stream.ttft)
        }),
    ]
}

/// Times at even distances, as short as they are told apart.
fn labels_of_time(tally: &Tally, from: i64, span: i64) -> Vec<(f64, String)> {
    const SECOND: i64 = 1_000_000;
    let form = match span / SECOND {
        0..600 => "%H:%M:%S",
        600..172_800 => "%H:%M",
        _ => "%b %d",
    };
    (0..=LABELS)
        .filter_map(|i| {
            let at = Timestamp::from_microsecond(from.saturating_add(span / LABELS * i)).ok()?;
            let text = tally.zone.to_datetime(at).strftime(form).to_string();
            Some((i as f64 / LABELS as f64, text))
        })
        .collect()
}

/// TTFT of each stream over the requests that were open at its start.
fn by_load(tally: &Tally, look: Look) -> Option<Vec<String>> {
    let most = tally.streams.iter().map(|stream| stream.in_flight).max()?;
    if most == 0 {
        return None;
    }
    let across = |in_flight: u32| f64::from(in_flight) / f64::from(most);
    let points: Vec<_> = tally
        .streams
        .iter()
        .map(|stream| (across(stream.in_flight), in_ms(stream.ttft)))
        .collect();
    let steps = most.min(LABELS as u32);
    let label = |step: u32| {
        let in_flight = (u64::from(most) * u64::from(step) / u64::from(steps)) as u32;
        (across(in_flight), in_flight.to_string())
    };
    let labels: Vec<_> = (0..=steps).map(label).collect();
    let heatmap = Heatmap {
        title: "Time to first token by load",
        up: "TTFT",
        across: "other requests open at the start",
        points: &points,
        labels: &labels,
    };
    Some(heatmap.lines(look))
}
