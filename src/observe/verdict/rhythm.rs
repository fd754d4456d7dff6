//! What is constant in a stream that comes in bursts. A buffer that fills lets go of equal bytes, a
//! timer of what came in equal times, a guard or a batcher of equal numbers of events.
//!
//! Over a stream of equal events at an even rate all three are constant together, but for one
//! event: a timer of 250 ms over events each 20 ms lets go of 12 or 13, so its bytes are constant
//! "within one event"; a buffer that cuts its blocks within an event has a period of 66 or 67 event
//! times. So all three are measured in events, and the one that varies least is the constant. Where
//! that does not tell, sizes and times that people set do: a block just above 4 KiB, a period of
//! 250 ms. Else the order is bytes, period, count, and the verdict says that both fit.

use super::engine;
use super::spread::{Spread, slope};
use crate::observe::bursts::{self, Burst};
use crate::observe::stats::Us;

/// Fewer full bursts prove no constant.
const LEAST_FULL: usize = 4;

/// Parts of a burst that are so near to each other came at once, beside the pauses that a held
/// stream has, µs. No burst lasts longer than half its period.
const AT_ONCE: Us = 3_000;

/// Bytes and periods of a coefficient of variation up to this are constant.
const CONSTANT: f64 = 0.1;

/// Counts are told from chance by ± 1 only from here on.
const LEAST_COUNT: f64 = 4.0;

/// A difference of so many events says nothing, and one of less than a factor of two neither.
const NOISE: f64 = 0.25;

/// Nor does one of so much time, µs: releases and reads are late now and then.
const JITTER: f64 = 2e3;

/// A buffer that lets go of whole events overshoots by up to one, be their number constant or not,
/// and so does a timer that an event starts.
const OVERSHOOT: f64 = 0.5;

/// Bursts whose bytes grow with their number of events by this part of an event each are no blocks:
/// a buffer that fills lets go of no more bytes for having more events.
const GROWING: f64 = 0.5;

/// Periods that people set, ms: delayed acknowledgements (40), flush intervals, moderation.
const PERIODS: [f64; 11] = [
    40.0, 50.0, 100.0, 200.0, 250.0, 500.0, 1e3, 2e3, 3e3, 5e3, 10e3,
];

/// A timer's periods and their mean are exact within this.
const EXACT: f64 = 0.01;

/// Bursts that prove a timer by its exactness alone.
const MANY: usize = 8;

/// How sure one is: nothing else is as constant; a clue tells it from another, or it is a number of
/// events ± 1, which a buffer that takes whole writes gives as well; nothing tells it; not even from
/// two others. The part that was right of real hops (docs/calibration.md).
const ALONE: f64 = 0.9;
const BY_A_CLUE: f64 = 0.6;
const TORN: f64 = 0.5;
const TORN_THREEFOLD: f64 = 0.35;

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
    /// Another vantage point has shown it, so no engine's own step is to be told from it.
    known_held: bool,
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
    /// From 0 to 1.
    pub confidence: f64,
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

    /// The rhythm of bursts of events that are known to have been held: nothing has to be shown of how large and how
    /// far apart they are.
    pub fn of_held(bursts: &[Burst]) -> Option<Rhythm> {
        let (mut rhythm, _) = Rhythm::measured(bursts, |burst| burst.events, 1)?;
        rhythm.known_held = true;
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
        let block = usual_bytes(sized);
        let sizes = sized.iter().map(|burst| {
            let blocks = blocks_in(burst, block);
            (steps(burst) as f64 / blocks, burst.bytes as f64 / blocks)
        });
        let rhythm = Rhythm {
            n: full.len(),
            bytes: Spread::of(sizes.clone().map(|(_, bytes)| bytes)),
            period: Spread::of(periods(full)),
            steps: Spread::of(sizes.clone().map(|(steps, _)| steps)),
            growth: slope(sizes),
            choices: choices as f64,
            known_held: false,
        };
        Some((rhythm, full.to_vec()))
    }

    /// What is constant, if anything is. `moderated`: there is a known cause for a timer.
    pub fn constant(&self, moderated: bool) -> Option<Found> {
        let all = [Constant::Bytes, Constant::Period, Constant::Count];
        let fits: Vec<Constant> = all.into_iter().filter(|what| self.fits(*what)).collect();
        let best = fits
            .iter()
            .map(|what| self.variation(*what))
            .reduce(f64::min)?;
        let mut near = fits
            .iter()
            .copied()
            .filter(|what| self.variation(*what) <= self.noise(*what).max(2.0 * best));
        let (first, rival) = (near.next()?, near.next());
        let torn = if near.next().is_some() {
            TORN_THREEFOLD
        } else {
            TORN
        };
        let found = |constant, rival, confidence| {
            Some(Found {
                constant,
                rival,
                confidence,
            })
        };
        if moderated && first != Constant::Period && fits.contains(&Constant::Period) {
            return found(Constant::Period, Some(first), BY_A_CLUE);
        }
        let Some(rival) = rival else {
            let is_about = first == Constant::Count && self.steps.range() > 0.0;
            return found(first, None, if is_about { BY_A_CLUE } else { ALONE });
        };
        match self.clue() {
            Some(clue) if clue == rival => found(rival, Some(first), BY_A_CLUE),
            Some(clue) if clue == first => found(first, Some(rival), BY_A_CLUE),
            _ => found(first, Some(rival), torn),
        }
    }

    /// The size in KiB of the buffer that such blocks would fill: a power of two, and no more than
    /// one event is above it.
    pub fn block(&self) -> Option<u64> {
        let block = self.power_of_two();
        let above = self.bytes.mean - block;
        (-1.0..self.event_bytes())
            .contains(&above)
            .then_some(block as u64 / 1024)
    }

    /// Whether a burst has more bytes for having more steps.
    fn is_growing(&self) -> bool {
        self.growth
            .is_some_and(|growth| growth >= GROWING * self.event_bytes())
    }

    /// Whether each burst is what a buffer lets go of that whole events fill.
    fn is_just_above_block(&self) -> bool {
        let block = self.power_of_two();
        self.bytes.min >= block && self.bytes.max < block + self.event_bytes()
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

    /// Equal to the byte though their events are not: that is a buffer's cut.
    fn is_cut(&self) -> bool {
        self.bytes.range() == 0.0 && self.steps.range() > 0.0
    }

    /// As exact as a timer.
    fn is_exact(&self) -> bool {
        self.n >= MANY && self.period.cv() <= EXACT
    }

    /// How much it varies, in events.
    fn variation(&self, what: Constant) -> f64 {
        match what {
            Constant::Bytes => self.bytes.deviation / (self.event_bytes() * self.choices),
            Constant::Period => self.period.deviation / self.event_time(),
            Constant::Count => self.steps.deviation / self.choices,
        }
    }

    /// A variation that says nothing, in events.
    fn noise(&self, what: Constant) -> f64 {
        let one_more = match what {
            Constant::Bytes => self.steps.range() == 0.0 && self.block().is_some(),
            // Nor does such a timer let go of equal numbers of events, unless they are as even as it is.
            Constant::Period => self.steps.range() > 0.0 && self.timer_from_event().is_some(),
            Constant::Count => false,
        };
        match what {
            _ if one_more => OVERSHOOT,
            Constant::Period => NOISE.max(JITTER / self.event_time()),
            _ => NOISE,
        }
    }

    fn fits(&self, what: Constant) -> bool {
        // An engine that drafts has a step of its own, and some tokens in each.
        let is_draft = !self.known_held
            && self.period.mean < engine::LONGEST_STEP as f64
            && self.steps.mean < engine::DRAFT * self.choices
            && !self.has_round_period();
        match what {
            Constant::Bytes => {
                self.bytes.cv() <= CONSTANT
                    && self.variation(what) <= 1.0
                    && (!self.is_growing() || self.is_just_above_block())
            }
            Constant::Period => self.period.cv() <= CONSTANT && !is_draft,
            Constant::Count => {
                self.steps.range() <= 2.0 * self.choices
                    && (self.steps.mean >= LEAST_COUNT * self.choices
                        || self.known_held && self.steps.range() == 0.0)
            }
        }
    }

    /// Whether its mean is a period that people set.
    pub fn has_round_period(&self) -> bool {
        let is_exact =
            |period: &f64| (self.period.mean - period * 1e3).abs() <= EXACT * period * 1e3;
        PERIODS.iter().any(is_exact)
    }

    /// The round period (µs) of a timer that fits and that the first event it holds back starts.
    pub fn timer_from_event(&self) -> Option<f64> {
        let (least, mean) = (self.period.min, self.period.mean);
        PERIODS.iter().map(|period| period * 1e3).find(|period| {
            least >= period - JITTER && (*period..period + self.event_time()).contains(&mean)
        })
    }

    /// What speaks for bytes or for the period where both are constant.
    fn clue(&self) -> Option<Constant> {
        if self.bytes.mean == self.power_of_two() {
            Some(Constant::Bytes)
        } else if self.has_round_period() {
            Some(Constant::Period)
        } else if self.block().is_some() {
            Some(Constant::Bytes)
        } else {
            self.timer_from_event().map(|_| Constant::Period)
        }
    }

    /// The power of two that a buffer of at least 1 KiB may have been set to.
    fn power_of_two(&self) -> f64 {
        self.bytes.mean.log2().floor().max(10.0).exp2()
    }
}

/// The median.
fn usual_bytes(bursts: &[Burst]) -> u64 {
    let mut bytes: Vec<u64> = bursts.iter().map(|burst| burst.bytes).collect();
    bytes.sort_unstable();
    bytes.get(bytes.len() / 2).copied().unwrap_or(0)
}

/// A write that fills a buffer twice lets go of two blocks at once.
fn blocks_in(burst: &Burst, block: u64) -> f64 {
    match burst.bytes.checked_rem(block) {
        Some(0) => (burst.bytes / block).max(1) as f64,
        _ => 1.0,
    }
}

/// Whether a buffer that fills has cut these: equal to the byte, or several blocks of that size,
/// though their numbers of events (`steps`) are not equal.
pub fn are_cut(full: &[Burst], steps: impl Fn(&Burst) -> u64) -> bool {
    let block = usual_bytes(full);
    let is_whole = |burst: &Burst| burst.bytes as f64 == blocks_in(burst, block) * block as f64;
    let of_a_block = |burst: &Burst| steps(burst) as f64 / blocks_in(burst, block);
    full.iter().all(is_whole)
        && full
            .windows(2)
            .any(|two| of_a_block(&two[0]) != of_a_block(&two[1]))
}

/// Start to start, those of several periods divided by their number.
fn periods(bursts: &[Burst]) -> impl Iterator<Item = f64> + Clone {
    let usual = bursts::period(bursts).unwrap_or(0).max(1) as f64;
    bursts.windows(2).map(move |pair| {
        let period = (pair[1].start - pair[0].start) as f64;
        period / (period / usual).round().max(1.0)
    })
}
