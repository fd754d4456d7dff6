//! What is constant in a stream that comes in bursts. A buffer that fills lets go of equal bytes
//! ([`blocks`]), a timer of what came in equal times ([`timers`]), a guard or a batcher of equal
//! numbers of events; [`choice`] tells which it is.

mod blocks;
mod choice;
mod timers;

use super::engine;
use super::spread::{Spread, slope};
use crate::observe::bursts::{self, Burst};
use crate::observe::stats::Us;
pub use blocks::are_cut;

/// Fewer full bursts prove no constant.
const LEAST_FULL: usize = 4;

/// Parts of a burst that are so near to each other came at once, beside the pauses that a held
/// stream has, µs. No burst lasts longer than half its period.
pub(crate) const AT_ONCE: Us = 3_000;

/// Bursts as they came: full ones, all but the last, which is what was left; and but for the first,
/// which may share its buffer with the header or begin within a period, if there are enough.
#[derive(Debug)]
pub struct Rhythm {
    /// How many.
    pub n: usize,
    /// Bytes.
    pub bytes: Spread,
    /// Start to start, µs. Periods in which nothing came count as several.
    pub period: Spread,
    /// Steps.
    pub steps: Spread,
    /// Bytes that a burst has more for each step more; `None` where their number is constant.
    growth: Option<f64>,
    choices: f64,
    /// No engine's own step is to be told from it.
    is_any: bool,
}

/// What is constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Constant {
    /// Bytes per burst.
    Bytes,
    /// Start to start.
    Period,
    /// Steps per burst.
    Count,
}

/// The constant that was found.
#[derive(Debug, Clone, Copy)]
pub struct Found {
    /// What is constant.
    pub constant: Constant,
    /// Another that is as constant.
    pub rival: Option<Constant>,
    /// Whether an engine that speculates in long steps gives the same.
    pub could_be_engine: bool,
    /// From 0 to 1.
    pub confidence: f64,
}

impl Found {
    /// What else gives the same, as a sentence to append.
    pub fn doubt(&self) -> &'static str {
        if self.could_be_engine {
            engine::AS_WELL
        } else {
            ""
        }
    }
}

impl Rhythm {
    /// The rhythm of `bursts`, if there are enough. `steps` counts those of a burst, `shared` tells
    /// whether steps share reads.
    pub fn of(
        bursts: &[Burst],
        steps: impl Fn(&Burst) -> u64,
        choices: u64,
        shared: bool,
    ) -> Option<Rhythm> {
        let (rhythm, full) = Rhythm::measured(bursts, steps, choices)?;
        let lasting = Spread::of(full.iter().map(|burst| (burst.end - burst.start) as f64));
        let is_apart = 2.0 * lasting.mean <= rhythm.period.mean;
        (is_apart && rhythm.is_held(shared)).then_some(rhythm)
    }

    /// The rhythm of bursts of events of which it is known elsewhere whether they were held: nothing has to be shown of
    /// how large and how far apart they are.
    pub fn of_any(bursts: &[Burst]) -> Option<Rhythm> {
        let (mut rhythm, _) = Rhythm::measured(bursts, |burst| burst.events, 1)?;
        rhythm.is_any = true;
        Some(rhythm)
    }

    /// The figures, and the full bursts that they are of.
    fn measured(
        bursts: &[Burst],
        steps: impl Fn(&Burst) -> u64,
        choices: u64,
    ) -> Option<(Rhythm, Vec<Burst>)> {
        let mut bursts = bursts::merged(bursts, AT_ONCE);
        bursts.retain(|burst| steps(burst) > 0);
        let (_, full) = bursts.split_last()?;
        let full = match full {
            [_, rest @ ..] if rest.len() >= LEAST_FULL => rest,
            all if all.len() >= LEAST_FULL => all,
            _ => return None,
        };
        // The first may share its buffer with the header.
        let sized = &full[usize::from(full.len() == LEAST_FULL)..];
        let sizes = blocks::each(sized, &steps);
        let sizes = sizes.iter().copied();
        let rhythm = Rhythm {
            n: full.len(),
            bytes: Spread::of(sizes.clone().map(|(_, bytes)| bytes)),
            period: Spread::of(timers::periods(full)),
            steps: Spread::of(sizes.clone().map(|(steps, _)| steps)),
            growth: slope(sizes),
            choices: choices as f64,
            is_any: false,
        };
        Some((rhythm, full.to_vec()))
    }

    /// Bytes of a step and what belongs to it, on average.
    pub fn event_bytes(&self) -> f64 {
        self.bytes.mean / self.steps.mean
    }

    /// How much the period varies, in percent, as a sentence says it.
    pub fn period_percent(&self) -> String {
        format!("{:.1}", self.period.cv() * 100.0)
    }

    /// The numbers that a verdict rests on.
    pub fn evidence(&self) -> Vec<(&'static str, f64)> {
        let rounded = |value: f64| (value * 1000.0).round() / 1000.0;
        vec![
            ("full_bursts", self.n as f64),
            ("burst_bytes", rounded(self.bytes.mean)),
            ("burst_bytes_spread", self.bytes.range()),
            ("burst_period_ms", rounded(self.period.mean / 1e3)),
            ("burst_period_cv", rounded(self.period.cv())),
            ("events_per_burst", rounded(self.steps.mean)),
            ("events_per_burst_spread", self.steps.range()),
            ("event_bytes", rounded(self.event_bytes())),
        ]
    }

    /// Time in which a step of each choice was made, on average, µs.
    fn event_time(&self) -> f64 {
        self.period.mean * self.choices / self.steps.mean
    }

    /// Whether so many steps at once, so far apart, are not an engine's own.
    fn is_held(&self, shared: bool) -> bool {
        let least = if self.is_cut() {
            Some(engine::CUT)
        } else if shared && self.is_exact() {
            engine::least_of_timer(self.period.mean)
        } else {
            engine::least_held(self.period.mean, shared)
        };
        let steps = self.steps.mean / self.choices;
        least.is_some_and(|least| steps >= least) && engine::can_make(steps, self.period.mean)
    }
}
