//! Records counted as they come: by group, with a compact row for each measured stream and nothing else of it.

use std::collections::HashMap;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::found::Found;
use super::stream::{Stream, us};
use super::worst::Worst;
use crate::observe::record::{End, RequestRecord, Timing, token_gaps};
use crate::sink::console::text::word;
use crate::tools::plot::Gaps;

pub use crate::cli::By;

/// Groups that are kept apart: a log may have a model's name for each request.
const MOST_GROUPS: usize = 10_000;
/// What further ones are called.
const OTHERS: &str = "(others)";
/// What has no name.
pub const NAMELESS: &str = "(none)";

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
    /// The few to look at first.
    pub worst: Worst,
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
            worst: Worst::default(),
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
        self.worst.take(record, started, is_error(record.end));
        let number = self.group(record, started);
        let group = &mut self.groups[number as usize];
        group.n += 1;
        group.errors += u64::from(is_error(record.end));
        count(&mut group.ends, record.end);
        if let Some(verdict) = &record.verdict {
            count(&mut group.verdicts, verdict.timing);
        }
        group.stalled += u64::from(!record.stalls.is_empty());
        if let Some(stream) = Stream::of(record, started, number) {
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
            token_gaps(rows).for_each(|ms| self.gaps.add(ms));
        }
    }
}

pub(in crate::tools) fn is_error(end: End) -> bool {
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
