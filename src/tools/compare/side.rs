//! One of the two runs: its log read, and of each measured stream a row.

use std::path::PathBuf;

use jiff::Timestamp;

use super::facts::{self, Words};
use crate::config::threshold::{Of, Quantity};
use crate::observe::record::{End, RequestRecord, Timing, token_gaps};
use crate::observe::stats::Us;
use crate::tools::logs::{Unread, unfolded};
use crate::tools::plot::Gaps;
use crate::tools::probe::tps_after_first;
use crate::tools::report::choice::{Choice, Wanted};
use crate::tools::report::each::check;
use crate::tools::report::progress::Progress;
use crate::tools::report::read;
use crate::tools::report::tally::is_error;

/// What there may be none of, in 4 bytes; what is more than they hold becomes the most that they hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Short(u32);

impl Short {
    /// Of whole numbers.
    pub fn of(value: Option<u64>) -> Short {
        let most = u64::from(u32::MAX - 1);
        Short(value.map_or(u32::MAX, |value| value.min(most) as u32))
    }

    /// Of milliseconds or the like, kept in thousandths. A file may say anything: what is below 0 becomes 0.
    fn of_thousandths(value: Option<f64>) -> Short {
        // a cast stays within the type's range
        Short::of(value.map(|value| (value * 1000.0).round() as u64))
    }

    /// The number, if there is one.
    pub fn get(self) -> Option<u64> {
        (self.0 != u32::MAX).then_some(self.0.into())
    }
}

/// A stream that came whole and whose first token is known.
#[derive(Debug, Clone, Copy)]
pub struct Stream {
    /// First token, µs.
    pub ttft: Us,
    /// End, µs.
    pub total: Option<Us>,
    /// First token of the answer, µs.
    pub ttfa: Short,
    /// Gaps between its token events, µs: p50, p90, p99, longest.
    pub gaps: [Short; 4],
    /// Token events per second after the first, thousandths.
    pub tps: Short,
    /// Bytes of the request but for the model's name.
    pub request: Short,
    /// Tokens of the prompt.
    pub prompt: Short,
    /// The part of them that came from a cache, percent.
    pub cached: Short,
    /// Tokens of the answer, as the server counts them.
    pub answer: Short,
    /// Its characters.
    pub chars: Short,
    /// Other requests open at its start.
    pub in_flight: Short,
    /// Stalls that are in its record, which has 5 at most.
    pub stalls: u8,
    /// First to its upstream, or first after a pause.
    pub cold: bool,
}

/// A run.
#[derive(Debug)]
pub struct Side {
    /// The log as it was named.
    pub name: String,
    /// Records in it, whether wanted or not.
    pub read: u64,
    /// Those that are wanted.
    pub records: u64,
    /// Cold ones among them.
    pub cold: u64,
    /// Failed ones among them.
    pub failed: u64,
    /// How they ended.
    pub ends: Vec<(End, u64)>,
    /// How warm streams came.
    pub verdicts: Vec<(Timing, u64)>,
    /// Measured ones, whole.
    pub streams: Vec<Stream>,
    /// What else is known of these.
    pub words: [Words; facts::WORDS.len()],
    /// All gaps of the warm ones, where each has a timeline.
    pub gaps: Option<Gaps>,
    /// The longest gap of each warm one.
    pub longest: Gaps,
    /// First and last start.
    pub range: Option<(Timestamp, Timestamp)>,
    /// Lines that gave no record.
    pub unread: Unread,
}

impl Side {
    /// Reads the log called `name`: a file, a pattern, or `-`.
    ///
    /// # Errors
    ///
    /// It cannot be read, or nothing in it is wanted; the sentence names it and says what to do.
    pub fn read(name: &PathBuf, wanted: &[Wanted]) -> anyhow::Result<Side> {
        let files = unfolded(std::slice::from_ref(name))?;
        let choice = Choice {
            wanted: wanted.to_vec(),
            ..Choice::default()
        };
        let mut side = Side::empty(match name.as_os_str() == "-" {
            true => "standard input".to_owned(),
            false => name.display().to_string(),
        });
        let progress = Progress::over(&files);
        let unread = read::each(&files, &progress, |record| {
            side.read += 1;
            if choice.takes(&record) {
                side.take(&record);
            }
        })?;
        check(&files, side.read, &unread)?;
        side.unread = unread;
        if side.records == 0 {
            anyhow::bail!("{}", side.nothing());
        }
        Ok(side)
    }

    /// Without a record yet.
    pub(super) fn empty(name: String) -> Side {
        Side {
            name,
            read: 0,
            records: 0,
            cold: 0,
            failed: 0,
            ends: Vec::new(),
            verdicts: Vec::new(),
            streams: Vec::new(),
            words: Default::default(),
            gaps: Some(Gaps::default()),
            longest: Gaps::default(),
            range: None,
            unread: Unread::default(),
        }
    }

    fn nothing(&self) -> String {
        match self.read {
            0 => format!(
                "{} is empty, so there is nothing to compare; name a log that has requests",
                self.name
            ),
            n => format!(
                "none of the {n} records of {} is as --where asks; `dripline report --list` shows what there is",
                self.name
            ),
        }
    }

    /// Counts a record.
    pub(super) fn take(&mut self, record: &RequestRecord) {
        self.records += 1;
        self.cold += u64::from(record.load.cold);
        self.failed += u64::from(is_error(record.end));
        count(&mut self.ends, record.end);
        if let Ok(at) = record.started_at.parse::<Timestamp>() {
            let (from, to) = self.range.unwrap_or((at, at));
            self.range = Some((from.min(at), to.max(at)));
        }
        if let Some(verdict) = &record.verdict
            && !record.load.cold
        {
            count(&mut self.verdicts, verdict.timing);
        }
        let Some(stream) = measured(record) else {
            return;
        };
        self.streams.push(stream);
        for (words, (_, word)) in self.words.iter_mut().zip(&facts::WORDS) {
            words.add(word(record).as_deref());
        }
        if stream.cold {
            return;
        }
        if let Some(longest) = record.gaps.token.max_ms {
            self.longest.add(longest);
        }
        match (&record.timeline, &mut self.gaps) {
            (Some(rows), Some(gaps)) => token_gaps(rows).for_each(|ms| gaps.add(ms)),
            // gaps of some would be no picture of all
            (None, gaps) => *gaps = None,
            _ => {}
        }
    }

    /// The label that all measured streams have.
    pub fn label(&self) -> Option<&str> {
        let at = facts::WORDS.iter().position(|(name, _)| *name == "label")?;
        self.words[at].only()
    }

    /// Cold or warm streams.
    pub fn streams(&self, cold: bool) -> impl Iterator<Item = &Stream> {
        self.streams
            .iter()
            .filter(move |stream| stream.cold == cold)
    }

    /// What they have of `figure`, sorted.
    pub fn sorted(&self, cold: bool, figure: impl Fn(&Stream) -> Option<u64>) -> Vec<u64> {
        let mut values: Vec<u64> = self.streams(cold).filter_map(figure).collect();
        values.sort_unstable();
        values
    }
}

impl Stream {
    /// A time of it, µs.
    pub fn time(&self, quantity: Quantity) -> Option<Us> {
        match quantity {
            Quantity::Ttft => Some(self.ttft),
            Quantity::Ttfa => self.ttfa.get(),
            Quantity::Total => self.total,
            Quantity::Gap(Of::Percentile(50)) => self.gaps[0].get(),
            Quantity::Gap(Of::Percentile(90)) => self.gaps[1].get(),
            Quantity::Gap(Of::Max) => self.gaps[3].get(),
            Quantity::Gap(_) => self.gaps[2].get(),
        }
    }
}

fn measured(record: &RequestRecord) -> Option<Stream> {
    if record.end != End::Complete || record.verdict.is_none() {
        return None;
    }
    let us = |ms: f64| (ms * 1000.0).round() as Us;
    let gaps = &record.gaps.token;
    let named = record
        .request
        .model
        .as_ref()
        .map_or(0, |name| name.len() as u64);
    let (prompt, cached) = (record.tokens.prompt, record.tokens.cached);
    let percent = |(prompt, cached): (u64, u64)| {
        let percent = u128::from(cached) * 100 / u128::from(prompt.max(1));
        percent.min(100) as u64
    };
    Some(Stream {
        ttft: us(record.ttft_ms?),
        total: record.at.end_ms.map(us),
        ttfa: Short::of_thousandths(record.ttfa_ms),
        gaps: [gaps.p50_ms, gaps.p90_ms, gaps.p99_ms, gaps.max_ms].map(Short::of_thousandths),
        tps: Short::of_thousandths(tps_after_first(record)),
        request: Short::of(Some(record.request.bytes.saturating_sub(named))),
        prompt: Short::of(prompt),
        cached: Short::of(prompt.zip(cached).map(percent)),
        answer: Short::of(record.tokens.completion),
        chars: Short::of(record.counts.chars),
        in_flight: Short::of(Some(record.load.in_flight)),
        stalls: record.stalls.len().min(usize::from(u8::MAX)) as u8,
        cold: record.load.cold,
    })
}

fn count<T: PartialEq>(counts: &mut Vec<(T, u64)>, value: T) {
    match counts.iter_mut().find(|(known, _)| *known == value) {
        Some((_, n)) => *n += 1,
        None => counts.push((value, 1)),
    }
}
