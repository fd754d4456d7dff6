//! The summary's pictures as SVG: what the terminal's show, and each stream a mark of its verdict's shape.

use jiff::Timestamp;

use super::facts::{counted, start};
use super::stream::Stream;
use super::tally::{Group, NAMELESS, Tally};
use crate::observe::stats::in_ms;
use crate::sink::console::text::{grouped, shown, word};
use crate::tools::chart::sheet::Panel;
use crate::tools::chart::{Axis, Chart, Heatmap, Histogram, Mark, Scatter};
use crate::tools::plot::{self, Gaps, readable};

/// Columns of a name in a title.
const NAME: usize = 40;
/// Labels of durations are so far apart, as shares of the axis.
const ACROSS: f64 = 0.16;
const UP: f64 = 0.09;
/// How all of them are to be read.
const READING: &str = "Each mark is a request whose stream came whole; its shape and colour are the verdict, and a hollow one was \
    cold: the first to its upstream, or the first after a pause. Marks that nobody could tell apart are drawn once, and rare \
    verdicts on top, so that an area says nothing of how many there are. Scales of time are logarithmic, so that 20 ms between \
    tokens and a hole of 2 s belong on one picture.";

/// All pictures, in their order; those of which there is nothing to draw say why.
pub fn all(tally: &Tally) -> Vec<Panel> {
    vec![
        gaps(tally),
        ttft_and_gaps(tally),
        gaps_over_time(tally),
        ttft_over_time(tally),
        ttft_by_load(tally),
        nothing("How to read them", READING),
    ]
}

/// Gaps where timelines have them all, else the longest of each stream.
fn gaps(tally: &Tally) -> Panel {
    let with_timeline: u64 = tally.groups.iter().map(|group| group.with_timeline).sum();
    let (title, of): (_, fn(&Group) -> &Gaps) = match with_timeline {
        0 => (
            "The longest gap between token events of each stream",
            |group| &group.longest,
        ),
        _ => ("Gaps between token events", |group| &group.gaps),
    };
    let groups = tally.sorted_groups().into_iter().map(|number| {
        let group = &tally.groups[number];
        (name(group), of(group).clone())
    });
    let groups: Vec<_> = groups.collect();
    let buckets = plot::Histogram {
        title,
        groups: &groups,
    }
    .buckets();
    let Some(longest) = buckets.last() else {
        return nothing(title, "No stream that came whole has two token events.");
    };
    let whole = match with_timeline {
        0 => String::new(),
        n => format!("All gaps of {} with a timeline. ", counted(n, "stream")),
    };
    let about = format!(
        "{whole}The scale of counts is logarithmic, so that one gap is seen beside a million; the number over a bar is \
         the count. Longest: {}.",
        longest.told()
    );
    let buckets = &buckets;
    panel(title, about, Histogram { title, buckets }.draw())
}

fn ttft_and_gaps(tally: &Tally) -> Panel {
    let title = "Time to first token against gap p99";
    let drawn = || {
        let streams = tally.streams.iter();
        streams.filter_map(|stream| Some((stream, in_ms(stream.gap_p99?.into()))))
    };
    let axes = Axis::durations(drawn().map(|(stream, _)| in_ms(stream.ttft)), ACROSS)
        .zip(Axis::durations(drawn().map(|(_, gap)| gap), UP));
    let Some((across, up)) = axes else {
        return nothing(title, "No stream that came whole has both figures.");
    };
    let streams: Vec<&Stream> = drawn().map(|(stream, _)| stream).collect();
    let scatter = Scatter {
        title,
        up: (&up, "gap p99"),
        across: (&across, "time to first token (TTFT)"),
        about: &|nth| told_of(tally, streams[nth]),
    };
    let marks = drawn().map(|(stream, gap)| mark(stream, (in_ms(stream.ttft), gap)));
    let without = tally.records - streams.len() as u64;
    let without = match without {
        0 => String::new(),
        1 => " 1 request has no place here: it failed, was cut, was no stream, or has one token event at most.".to_owned(),
        n => format!(
            " {} requests have no place here: they failed, were cut, were no streams, or have one token event at most.",
            grouped(n)
        ),
    };
    let about = format!(
        "Right: a long wait for the first token. High: a hole in the middle. At the bottom: no gaps, all in one \
         piece.{without}"
    );
    panel(title, about, scatter.draw(marks))
}

fn gaps_over_time(tally: &Tally) -> Panel {
    let title = "Gaps over time";
    let points = || {
        let streams = tally.streams.iter();
        streams.filter_map(|stream| Some((stream.started?, in_ms(stream.gap_p99?.into()))))
    };
    let axes = times(tally, points().map(|point| point.0))
        .zip(Axis::durations(points().map(|point| point.1), UP));
    let Some((across, up)) = axes else {
        return nothing(title, NO_TIME);
    };
    let heatmap = Heatmap {
        title,
        up: (&up, "gap p99"),
        across: (&across, "start of the request"),
    };
    let about = "The gap p99 of each stream by its start. A shade is a power of ten, so that one stream is seen beside \
                 many."
        .to_owned();
    panel(
        title,
        about,
        heatmap.draw(points().map(|(at, gap)| (at as f64, gap))),
    )
}

fn ttft_over_time(tally: &Tally) -> Panel {
    let title = "Time to first token over time";
    let streams: Vec<(&Stream, i64)> = tally
        .streams
        .iter()
        .filter_map(|stream| Some((stream, stream.started?)))
        .collect();
    let ttft = streams.iter().map(|(stream, _)| in_ms(stream.ttft));
    let axes = times(tally, streams.iter().map(|(_, at)| *at)).zip(Axis::durations(ttft, UP));
    let Some((across, up)) = axes else {
        return nothing(title, NO_TIME);
    };
    let scatter = Scatter {
        title,
        up: (&up, "TTFT"),
        across: (&across, "start of the request"),
        about: &|nth| told_of(tally, streams[nth].0),
    };
    let marks = streams
        .iter()
        .map(|(stream, at)| mark(stream, (*at as f64, in_ms(stream.ttft))));
    let about = "A wave is a queue; a lone mark far up is one request that waited.";
    panel(title, about.to_owned(), scatter.draw(marks))
}

fn ttft_by_load(tally: &Tally) -> Panel {
    let title = "Time to first token by load";
    let streams = || tally.streams.iter();
    let most = streams().map(|stream| stream.in_flight).max().unwrap_or(0);
    let up = Axis::durations(streams().map(|stream| in_ms(stream.ttft)), UP);
    let Some(up) = up.filter(|_| most > 0) else {
        return nothing(
            title,
            "No stream that came whole began while another request was open.",
        );
    };
    let across = Axis::numbers(most.into());
    let scatter = Scatter {
        title,
        up: (&up, "TTFT"),
        across: (&across, "other requests open at the start"),
        about: &|nth| told_of(tally, &tally.streams[nth]),
    };
    let marks = streams().map(|stream| mark(stream, (stream.in_flight.into(), in_ms(stream.ttft))));
    let about = "Rising to the right: requests wait for each other. Flat: they do not.";
    panel(title, about.to_owned(), scatter.draw(marks))
}

const NO_TIME: &str =
    "There is no time to show: fewer than two streams that came whole started at different times.";

fn panel(title: &str, about: String, chart: Option<Chart>) -> Panel {
    Panel {
        title: title.to_owned(),
        about,
        chart,
    }
}

fn nothing(title: &str, why: &str) -> Panel {
    panel(title, why.to_owned(), None)
}

fn times(tally: &Tally, starts: impl Iterator<Item = i64> + Clone) -> Option<Axis> {
    Axis::times(starts.clone().min()?, starts.max()?, &tally.zone)
}

fn mark(stream: &Stream, at: (f64, f64)) -> Mark {
    Mark {
        at,
        timing: stream.timing,
        cold: stream.cold,
    }
}

/// A stream in a line, for whoever points at its mark.
fn told_of(tally: &Tally, stream: &Stream) -> String {
    let started = stream
        .started
        .and_then(|at| Timestamp::from_microsecond(at).ok());
    let started = started.map(|at| format!(", {}", start(tally, at)));
    let gap = stream
        .gap_p99
        .map(|gap| format!(", gap p99 {}", readable(in_ms(gap.into()))));
    format!(
        "{}: {}{}{}, TTFT {}{}, {} open",
        name(&tally.groups[stream.group as usize]),
        word(&stream.timing),
        if stream.cold { ", cold" } else { "" },
        started.unwrap_or_default(),
        readable(in_ms(stream.ttft)),
        gap.unwrap_or_default(),
        stream.in_flight,
    )
}

fn name(group: &Group) -> String {
    match group.name.as_str() {
        "" => NAMELESS.to_owned(),
        name => shown(name, NAME),
    }
}
