//! Which of bytes, period and count is the constant, where more than one may be.
//!
//! Over a stream of equal events at an even rate all three are constant together, but for one
//! event: a timer of 250 ms over events each 20 ms lets go of 12 or 13, so its bytes are constant
//! "within one event"; a buffer that cuts its blocks within an event has a period of 66 or 67 event
//! times. So all three are measured in events, and the one that varies least is the constant. Where
//! that does not tell, sizes and times that people set do: a block just above 4 KiB, a period of
//! 250 ms. Else the order is bytes, period, count, and the verdict says that both fit.

use super::{Constant, Found, Rhythm};
use crate::observe::verdict::engine;

/// Bytes and periods of a coefficient of variation up to this are constant.
const CONSTANT: f64 = 0.1;

/// Counts are told from chance by ± 1 only from here on.
const LEAST_COUNT: f64 = 4.0;

/// A difference of so many events says nothing, and one of less than a factor of two neither.
const NOISE: f64 = 0.25;

/// Nor does one of so much time, µs: releases and reads are late now and then.
pub(super) const JITTER: f64 = 2e3;

/// A buffer that lets go of whole events overshoots by up to one, be their number constant or not.
const OVERSHOOT: f64 = 0.5;

/// How sure one is: nothing else is as constant; a clue tells it from another, or it is a number of
/// events ± 1, which a buffer that takes whole writes gives as well; nothing tells it; not even from
/// two others. The part that was right of real hops (docs/calibration.md).
const ALONE: f64 = 0.9;
const BY_A_CLUE: f64 = 0.6;
const TORN: f64 = 0.5;
const TORN_THREEFOLD: f64 = 0.35;

impl Rhythm {
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
        let could_be_engine = self.could_be_engine();
        let most = if could_be_engine { BY_A_CLUE } else { ALONE };
        let found = |constant, rival, confidence: f64| {
            Some(Found {
                constant,
                rival,
                could_be_engine,
                confidence: confidence.min(most),
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

    /// Whether an engine with a draft in each of its steps could have made it. A round period and a
    /// buffer's cut are none's.
    fn could_be_engine(&self) -> bool {
        !self.is_any
            && engine::could_draft(self.steps.max / self.choices, self.period.mean)
            && !self.is_cut()
            && !self.has_round_period()
            && self.timer_from_event().is_none()
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
        match what {
            Constant::Bytes if self.steps.range() == 0.0 && self.block().is_some() => OVERSHOOT,
            Constant::Period => NOISE.max(JITTER / self.event_time()),
            _ => NOISE,
        }
    }

    fn fits(&self, what: Constant) -> bool {
        // An engine that drafts has a step of its own, and some tokens in each.
        let is_draft = !self.is_any
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
                        || self.is_any && self.steps.range() == 0.0)
            }
        }
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
}
