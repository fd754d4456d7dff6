//! Records counted as they come: by group, with a compact row for each measured stream and nothing else of it.

use std::collections::HashMap;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::found::Found;
use crate::cli::GroupBy;
use crate::observe::record::{End, RequestRecord, Row, Timing};
use crate::observe::stats::Us;
use crate::sink::console::text::word;
use crate::tools::plot::Gaps;

/// Groups that are kept apart: a log may have a model's name for each request.
const MOST_GROUPS: usize = 10_000;
/// What further ones are called.
const OTHERS: &str = "(others)";
/// What has no name.
pub const NAMELESS: &str = "(none)";

/// What groups have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum By {
    /// Model asked for.
    #[default]
    Model,
    /// Path asked for.
    Path,
    /// Upstream asked.
    Upstream,
    /// How the stream came.
    Verdict,
    /// Hour of the start, local time.
    Hour,
    /// Label of the run.
    Label,
}

impl From<GroupBy> for By {
    fn from(typed: GroupBy) -> Self {
        match typed {
            GroupBy::Model => By::Model,
            GroupBy::Path => By::Path,
            GroupBy::Upstream => By::Upstream,
            GroupBy::Verdict => By::Verdict,
            GroupBy::Hour => By::Hour,
            GroupBy::Label => By::Label,
        }
    }
}

impl By {
    /// Its name, as it is typed.
    pub fn name(self) -> &'static str {
        match self {
            By::Model => "model",
            By::Path => "path",
            By::Upstream => "upstream",
            By::Verdict => "verdict",
            By::Hour => "hour",
            By::Label => "label",
        }
    }
}

/// One measured stream, in µs: it came whole, and its first token is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stream {
    /// Start, wall clock.
    pub started: Option<i64>,
    /// First token.
    pub ttft: Us,
    /// Median gap between token events.
    pub gap_p50: Option<u32>,
    /// Their 99th percentile.
    pub gap_p99: Option<u32>,
    /// From first to last token, for each token but the first, as the server counts them.
    pub per_token: Option<u32>,
    /// End.
    pub end: Us,
    /// Requests open at its start.
    pub in_flight: u32,
    /// Which group.
    pub group: u32,
    /// First to its upstream, or first after a pause.
    pub cold: bool,
}

/// What is counted of one group.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Group {
    /// What its records have in common.
    pub name: String,
    /// Records.
    pub n: u64,
    /// Those that failed.
    pub errors: u64,
    /// How they ended.
    pub ends: Vec<(End, u64)>,
    /// How their streams came.
    pub verdicts: Vec<(Timing, u64)>,
    /// Streams with a stall.
    pub stalled: u64,
    /// Warm measured streams.
    pub warm: Totals,
    /// Cold ones.
    pub cold: Totals,
    /// All gaps of the streams that have a timeline.
    pub gaps: Gaps,
    /// The longest gap of each measured stream.
    pub longest: Gaps,
    /// Measured streams with a timeline.
    pub with_timeline: u64,
}

/// Sums over measured streams.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Totals {
    /// How many.
    pub n: u64,
    /// Gaps between their token events.
    pub gaps: u64,
    /// All of these together, ms.
    pub gaps_ms: f64,
    /// Prompt tokens as servers count them, of how many streams.
    pub prompt: (u64, u64),
    /// Completion tokens, of how many streams.
    pub completion: (u64, u64),
}

/// All that is kept of the records.
#[derive(Debug)]
pub struct Tally {
    /// What groups have in common.
    pub by: By,
    /// Where hours are.
    pub zone: TimeZone,
    /// Records.
    pub records: u64,
    /// Earliest and latest start.
    pub range: Option<(Timestamp, Timestamp)>,
    /// In the order in which they came.
    pub groups: Vec<Group>,
    /// Measured ones, by group after [`Tally::finish`].
    pub streams: Vec<Stream>,
    /// What only several records show, and cuts.
    pub found: Found,
    index: HashMap<String, u32>,
    /// Latest end, µs, wall clock.
    ended: Option<i64>,
}

impl Tally {
    /// Nothing counted yet.
    pub fn new(by: By, zone: TimeZone) -> Self {
        Tally {
            by,
            zone,
            records: 0,
            range: None,
            groups: Vec::new(),
            streams: Vec::new(),
            found: Found::default(),
            index: HashMap::new(),
            ended: None,
        }
    }

    /// Counts a record.
    pub fn take(&mut self, record: &RequestRecord) {
        self.records += 1;
        let started = record.started_at.parse::<Timestamp>().ok();
        if let Some(at) = started {
            let (from, to) = self.range.unwrap_or((at, at));
            self.range = Some((from.min(at), to.max(at)));
            let lasted = us(record.at.end_ms.unwrap_or(0.0));
            let ended = at.as_microsecond().saturating_add_unsigned(lasted);
            self.ended = Some(self.ended.unwrap_or(ended).max(ended));
        }
        self.found.take(record);
        let number = self.group(record, started);
        let group = &mut self.groups[number as usize];
        group.n += 1;
        group.errors += u64::from(is_error(record.end));
        count(&mut group.ends, record.end);
        if let Some(verdict) = &record.verdict {
            count(&mut group.verdicts, verdict.timing);
        }
        group.stalled += u64::from(!record.stalls.is_empty());
        if let Some(stream) = measured(record, started, number) {
            group.measure(record, stream.cold);
            self.streams.push(stream);
        }
    }

    /// Sorts the streams by group, cold ones last, so that those of one are found. To be called after the last record.
    pub fn finish(&mut self) {
        self.streams
            .sort_unstable_by_key(|stream| (stream.group, stream.cold));
    }

    /// From the first start to the last end.
    pub fn seconds(&self) -> Option<f64> {
        let (from, ended) = (self.range?.0.as_microsecond(), self.ended?);
        Some(ended.saturating_sub(from) as f64 / 1e6)
    }

    /// The streams of one group, its cold ones or the others.
    pub fn streams_of(&self, group: usize, cold: bool) -> &[Stream] {
        let place = |stream: &Stream| (stream.group as usize, stream.cold);
        let from = self
            .streams
            .partition_point(|stream| place(stream) < (group, cold));
        let to = self
            .streams
            .partition_point(|stream| place(stream) <= (group, cold));
        &self.streams[from..to]
    }

    /// The numbers of the groups, the largest first; hours by time.
    pub fn sorted_groups(&self) -> Vec<usize> {
        let mut numbers: Vec<usize> = (0..self.groups.len()).collect();
        match self.by {
            By::Hour => numbers.sort_by_key(|&number| &self.groups[number].name),
            _ => numbers.sort_by_key(|&number| {
                let group = &self.groups[number];
                (std::cmp::Reverse(group.n), &group.name)
            }),
        }
        numbers
    }

    /// The number of the record's group.
    fn group(&mut self, record: &RequestRecord, started: Option<Timestamp>) -> u32 {
        let named;
        let name = match self.by {
            By::Model => record.request.model.as_deref(),
            By::Path => record.request.path.as_deref(),
            By::Upstream => record.upstream.name.as_deref(),
            By::Label => record.label.as_deref(),
            By::Verdict => {
                named = record.verdict.as_ref().map(|verdict| word(&verdict.timing));
                named.as_deref()
            }
            By::Hour => {
                let hour = |at| {
                    self.zone
                        .to_datetime(at)
                        .strftime("%Y-%m-%d %H:00")
                        .to_string()
                };
                named = started.map(hour);
                named.as_deref()
            }
        };
        let name = name.unwrap_or(NAMELESS);
        if let Some(&number) = self.index.get(name) {
            return number;
        }
        let is_full = self.groups.len() >= MOST_GROUPS;
        let name = if is_full { OTHERS } else { name };
        // fits: there are but so many
        let next = self.groups.len() as u32;
        let number = *self.index.entry(name.to_owned()).or_insert(next);
        if number == next {
            self.groups.push(Group {
                name: name.to_owned(),
                ..Group::default()
            });
        }
        number
    }
}

impl Group {
    /// Of its measured streams, the cold ones or the others.
    pub fn totals(&self, cold: bool) -> Totals {
        if cold { self.cold } else { self.warm }
    }

    fn measure(&mut self, record: &RequestRecord, cold: bool) {
        let totals = if cold { &mut self.cold } else { &mut self.warm };
        totals.n += 1;
        let gaps = &record.gaps.token;
        totals.gaps = totals.gaps.saturating_add(gaps.n);
        totals.gaps_ms += gaps.mean_ms.unwrap_or(0.0) * gaps.n as f64;
        for (sum, tokens) in [
            (&mut totals.prompt, record.tokens.prompt),
            (&mut totals.completion, record.tokens.completion),
        ] {
            if let Some(tokens) = tokens {
                *sum = (sum.0.saturating_add(tokens), sum.1 + 1);
            }
        }
        if let Some(longest) = gaps.max_ms {
            self.longest.add(longest);
        }
        if let Some(rows) = &record.timeline {
            self.with_timeline += 1;
            token_gaps(rows, |ms| self.gaps.add(ms));
        }
    }
}

/// The gaps between token events out of a timeline; events of one chunk came at the same time.
fn token_gaps(timeline: &[Row], mut take: impl FnMut(f64)) {
    let mut last = None;
    for &Row(arrived, _, _, events, token_events) in timeline {
        if let (Some(last), 1..) = (last, token_events) {
            take(arrived.saturating_sub(last) as f64 / 1000.0);
        }
        // a file may say anything, and each event stands for one step here
        for _ in 1..token_events.min(events).min(1 << 20) {
            take(0.0);
        }
        if token_events > 0 {
            last = Some(arrived);
        }
    }
}

/// Its figures, if it is a stream that came whole: failures, cuts and whole replies have no place beside them.
fn measured(record: &RequestRecord, started: Option<Timestamp>, group: u32) -> Option<Stream> {
    if record.end != End::Complete || record.verdict.is_none() {
        return None;
    }
    let gaps = &record.gaps.token;
    let (first, last) = (record.at.first_token_ms, record.at.last_token_ms);
    let steps = record.tokens.completion.and_then(|n| n.checked_sub(1));
    let per_token = match (first.zip(last), steps) {
        (Some((first, last)), Some(steps @ 1..)) => Some((last - first).max(0.0) / steps as f64),
        _ => None,
    };
    Some(Stream {
        started: started.map(Timestamp::as_microsecond),
        ttft: us(record.ttft_ms?),
        gap_p50: gaps.p50_ms.map(short),
        gap_p99: gaps.p99_ms.map(short),
        per_token: per_token.map(short),
        end: us(record.at.end_ms.unwrap_or(0.0)),
        in_flight: u32::try_from(record.load.in_flight).unwrap_or(u32::MAX),
        group,
        cold: record.load.cold,
    })
}

/// Milliseconds in whole µs. Logs may hold anything; what is no duration becomes 0.
fn us(ms: f64) -> Us {
    // a cast stays within the type's range
    (ms * 1000.0).round() as Us
}

/// The same; what is longer than 71 minutes becomes that.
fn short(ms: f64) -> u32 {
    (ms * 1000.0).round() as u32
}

fn is_error(end: End) -> bool {
    !matches!(
        end,
        End::Complete | End::Upgraded | End::NotAStream | End::ClientGone | End::ProxyStopped
    )
}

fn count<T: PartialEq>(counts: &mut Vec<(T, u64)>, value: T) {
    match counts.iter_mut().find(|(known, _)| *known == value) {
        Some((_, n)) => *n += 1,
        None => counts.push((value, 1)),
    }
}
