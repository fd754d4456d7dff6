//! What the rules look at: the figures, in the unit in which the stream is to be judged.

use std::cell::OnceCell;

use super::rhythm::{Constant, Found, Rhythm};
use super::{evenness, in_steps};
use crate::observe::bursts::{self, Burst};
use crate::observe::media::Media;
use crate::observe::outcome::{Outcome, Reading};
use crate::observe::record::{End, Flag, Framing, Stall};
use crate::observe::stats::{Sorted, Us};
use crate::observe::summary::Summary;

/// What is counted as one step of the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Token events.
    Token,
    /// Events, where nothing is known of what they carry.
    Event,
    /// Chunks, where there are no events.
    Chunk,
}

impl Unit {
    /// Steps in a burst of events; none where only chunks are known.
    pub fn steps(self, burst: &Burst) -> u64 {
        match self {
            Unit::Token => burst.tokens,
            Unit::Event => burst.events,
            Unit::Chunk => 0,
        }
    }
}

/// Steps that share a read on average, when a read is the proof that they were held. Less than two:
/// the first read and the last are often not full.
pub const SHARED: f64 = 1.5;

/// Everything a rule may ask.
pub struct Facts<'a> {
    /// The figures.
    pub summary: &'a Summary,
    /// What decided the end.
    pub outcome: &'a Outcome<'a>,
    /// The end.
    pub end: End,
    /// The flags.
    pub flags: &'a [Flag],
    bursts: Vec<Burst>,
    /// What several rules ask for is found once.
    in_steps: OnceCell<bool>,
    rhythm: OnceCell<Option<(Rhythm, Found)>>,
}

impl<'a> Facts<'a> {
    /// Of one request.
    pub fn new(
        summary: &'a Summary,
        outcome: &'a Outcome<'a>,
        end: End,
        flags: &'a [Flag],
    ) -> Self {
        Facts {
            summary,
            outcome,
            end,
            flags,
            bursts: bursts::with_rest_of_large(&summary.bursts),
            in_steps: OnceCell::new(),
            rhythm: OnceCell::new(),
        }
    }
}

impl Facts<'_> {
    /// Whether there is a stream to judge.
    pub fn is_stream(&self) -> bool {
        let no_answer = matches!(
            self.end,
            End::HttpError | End::Refused | End::NotAStream | End::Upgraded
        );
        !no_answer && !self.has_failed() && (self.outcome.is_stream() || self.is_byte_stream())
    }

    /// Whether a stream was asked for and no answer came at all.
    pub fn is_awaited(&self) -> bool {
        self.outcome.asked && self.outcome.response.is_none()
    }

    /// Whether it is sound or the like, sent as it is made.
    pub fn is_byte_stream(&self) -> bool {
        let length_known = self.framing() == Some(Framing::Length);
        self.outcome.media == Media::Binary
            && self.outcome.reading == Reading::Whole
            && !length_known
    }

    /// What is counted as one step.
    pub fn unit(&self) -> Unit {
        if self.is_byte_stream() {
            Unit::Chunk
        } else if self.summary.n_tokens == 0 && !self.outcome.content.api.has_protocol_end() {
            Unit::Event
        } else {
            Unit::Token
        }
    }

    /// Steps of the stream.
    pub fn n(&self) -> u64 {
        match self.unit() {
            Unit::Token => self.summary.n_tokens,
            Unit::Event => self.summary.n_events,
            Unit::Chunk => self.summary.n_chunks,
        }
    }

    /// Chunks that brought a step.
    pub fn n_reads(&self) -> u64 {
        match self.unit() {
            Unit::Token => self.summary.n_token_chunks,
            Unit::Event | Unit::Chunk => self.summary.n_chunks,
        }
    }

    /// Gaps between the steps.
    pub fn gaps(&self) -> &Sorted {
        match self.unit() {
            Unit::Token => &self.summary.token.gaps,
            Unit::Event => &self.summary.event.gaps,
            Unit::Chunk => &self.summary.chunk.gaps,
        }
    }

    /// The first step.
    pub fn first(&self) -> Option<Us> {
        let at = &self.summary.at;
        match self.unit() {
            Unit::Token => at.first_token,
            Unit::Event => at.first_event,
            Unit::Chunk => at.first_byte,
        }
    }

    /// First step to the last.
    pub fn span(&self) -> Us {
        let last = match self.unit() {
            Unit::Token => self.summary.token.last,
            Unit::Event => self.summary.event.last,
            Unit::Chunk => self.summary.chunk.last,
        };
        last.zip(self.first())
            .map_or(0, |(last, first)| last - first)
    }

    /// When the upstream could begin to answer: it had the request.
    pub fn began(&self) -> Us {
        self.summary.at.sent.unwrap_or(0)
    }

    /// The upstream's time to the first step.
    pub fn wait(&self) -> Us {
        self.first().unwrap_or(0).saturating_sub(self.began())
    }

    /// Choices that come side by side; each burst may bring a step of each.
    pub fn choices(&self) -> u64 {
        self.outcome.content.choices()
    }

    /// Steps in each burst that has any; none where only chunks are known.
    pub fn steps_by_burst(&self) -> impl Iterator<Item = u64> + Clone {
        let unit = self.unit();
        self.bursts
            .iter()
            .map(move |burst| unit.steps(burst))
            .filter(|&steps| steps > 0)
    }

    /// Median time from one burst with a step to the next.
    pub fn burst_period(&self) -> Option<Us> {
        bursts::period(&self.bursts())
    }

    /// The bursts with a step.
    pub fn bursts(&self) -> Vec<Burst> {
        let unit = self.unit();
        let bursts = self.bursts.iter();
        bursts
            .filter(|burst| unit.steps(burst) > 0)
            .copied()
            .collect()
    }

    /// Whether an engine of several tokens a step made it, with a pause in it perhaps.
    pub fn is_in_steps(&self) -> bool {
        *self.in_steps.get_or_init(|| in_steps::is_in_steps(self))
    }

    /// The rhythm of the bursts, if `constant` is what is constant in it.
    pub fn constant(&self, constant: Constant) -> Option<&(Rhythm, Found)> {
        let rhythm = self.rhythm.get_or_init(|| self.find_rhythm()).as_ref();
        rhythm.filter(|(_, found)| found.constant == constant)
    }

    fn find_rhythm(&self) -> Option<(Rhythm, Found)> {
        if evenness::is_even(self) || self.is_in_steps() {
            return None;
        }
        let unit = self.unit();
        let steps = |burst: &Burst| unit.steps(burst);
        let shared = self.steps_per_read() >= SHARED;
        let rhythm = Rhythm::of(&self.bursts, steps, self.choices(), shared)?;
        let found = rhythm.constant(self.has(Flag::AzureFilter))?;
        Some((rhythm, found))
    }

    /// Steps per burst and choice, on average; 1 where nothing is known.
    pub fn steps_per_burst(&self) -> f64 {
        let (bursts, steps) = self
            .steps_by_burst()
            .fold((0u64, 0), |(n, sum), steps| (n + 1, sum + steps));
        if bursts == 0 {
            1.0
        } else {
            steps as f64 / bursts as f64 / self.choices() as f64
        }
    }

    /// Steps per read and choice, on average.
    pub fn steps_per_read(&self) -> f64 {
        self.n() as f64 / self.n_reads().max(1) as f64 / self.choices() as f64
    }

    /// Token events that came at once when `stall` ended; `None` past the events that are kept.
    pub fn lump_after(&self, stall: &Stall) -> Option<u64> {
        stall.catch_up_events?;
        let at = (stall.at_ms * 1000.0).round() as Us;
        let from_first = at.checked_sub(self.summary.at.first_event?)?;
        let bursts = self.bursts.iter();
        let burst = bursts.rev().find(|burst| burst.start <= from_first)?;
        Some(burst.tokens)
    }

    /// Whether the bursts are those of the whole stream, not of its beginning alone.
    pub fn is_kept_whole(&self) -> bool {
        let kept: u64 = self.bursts.iter().map(|burst| burst.events).sum();
        kept == self.summary.n_events
    }

    /// The body's compression.
    pub fn encoding(&self) -> Option<&str> {
        self.outcome.response?.codings()
    }

    /// How the upstream framed the body.
    pub fn framing(&self) -> Option<Framing> {
        self.outcome.response.and_then(|head| head.framing)
    }

    /// Whether `flag` is set.
    pub fn has(&self, flag: Flag) -> bool {
        self.flags.contains(&flag)
    }

    fn has_failed(&self) -> bool {
        self.outcome.response.is_some_and(|head| head.status >= 400)
    }
}
