//! Timers: how exact a period is, and whether it is one that people set.

use super::Rhythm;
use super::choice::JITTER;
use crate::observe::bursts::{self, Burst};

/// Periods that people set, ms: delayed acknowledgements (40), flush intervals, corks (200), moderation.
const PERIODS: [f64; 11] = [
    40.0, 50.0, 100.0, 200.0, 250.0, 500.0, 1e3, 2e3, 3e3, 5e3, 10e3,
];

/// A timer's periods and their mean are exact within this.
const EXACT: f64 = 0.01;

/// Bursts that prove a timer by its exactness alone.
const MANY: usize = 8;

/// The event that starts a timer comes within such a part of a gap once in a few times.
const SOON: f64 = 0.5;

impl Rhythm {
    /// As exact as a timer.
    pub fn is_exact(&self) -> bool {
        self.n >= MANY && self.period.cv() <= EXACT
    }

    /// Whether its mean is a period that people set.
    pub fn has_round_period(&self) -> bool {
        let is_near =
            |period: &f64| (self.period.mean - period * 1e3).abs() <= EXACT * period * 1e3;
        PERIODS.iter().any(is_near)
    }

    /// The round period (µs) of a timer that the first event it holds back starts: the wait for that
    /// event is added, between nothing and a gap.
    pub fn timer_from_event(&self) -> Option<f64> {
        if self.is_exact() || self.has_round_period() {
            return None;
        }
        let (least, mean) = (self.period.min, self.period.mean);
        let fits = |period: &f64| {
            (period - JITTER..period + SOON * self.event_time()).contains(&least)
                && (*period..period + self.event_time()).contains(&mean)
        };
        PERIODS.iter().map(|period| period * 1e3).find(fits)
    }
}

/// Start to start, those of several periods divided by their number.
pub(super) fn periods(bursts: &[Burst]) -> impl Iterator<Item = f64> + Clone {
    let usual = bursts::period(bursts).unwrap_or(0).max(1) as f64;
    bursts::starts(bursts).map(move |period| {
        let period = period as f64;
        period / (period / usual).round().max(1.0)
    })
}
