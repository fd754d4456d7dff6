//! The only clock of the proxy.
//!
//! Durations come from the monotonic clock, labels from the wall clock. `clippy.toml` bans both
//! elsewhere, so that no figure can come from a clock read at the wrong place.

#![allow(clippy::disallowed_methods)]

use std::time::{Duration, Instant, SystemTime};

/// Monotonic now.
pub fn now() -> Instant {
    Instant::now()
}

/// Wall clock now: for labels, and to tell the age of a kernel stamp (which is wall clock time).
pub fn wall() -> SystemTime {
    SystemTime::now()
}

/// The wall clock as RFC 3339 in UTC with microseconds, e.g. `2026-12-02T04:19:51.000123Z`.
pub fn rfc3339(at: SystemTime) -> String {
    let at = jiff::Timestamp::try_from(at).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    format!("{at:.6}")
}

/// One request's time axis: everything the observer is told is a duration since `t0`.
#[derive(Debug, Clone, Copy)]
pub struct Axis {
    t0: Instant,
}

impl Axis {
    /// An axis that starts at `t0`, the arrival of the last byte of the request head.
    pub fn from(t0: Instant) -> Self {
        Axis { t0 }
    }

    /// `at` on this axis. What came before `t0` counts as `t0`: a duration is never negative.
    pub fn at(&self, at: Instant) -> Duration {
        at.saturating_duration_since(self.t0)
    }

    /// Now, on this axis.
    pub fn now(&self) -> Duration {
        self.at(now())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_axis_never_goes_below_zero() {
        let t0 = now();
        let axis = Axis::from(t0);
        assert_eq!(axis.at(t0 - Duration::from_secs(1)), Duration::ZERO);
        assert_eq!(
            axis.at(t0 + Duration::from_millis(7)),
            Duration::from_millis(7)
        );
    }

    #[test]
    fn the_wall_clock_label_is_rfc_3339_in_utc() {
        let at = SystemTime::UNIX_EPOCH + Duration::from_micros(1_500_000);
        assert_eq!(rfc3339(at), "1970-01-01T00:00:01.500000Z");
    }
}
