//! When things of a record were by the wall clock.
//!
//! The wall clock is read once, at the start of the request; all else is that and a monotonic duration. So what follows
//! each other in the record does so here, whatever became of the clock meanwhile.

use jiff::Timestamp;

use crate::observe::phases::{length, us};
use crate::observe::record::RequestRecord;
use crate::observe::stats::Us;

/// The wall clock of one request, ns since 1970.
#[derive(Debug, Clone, Copy)]
pub struct WallClock {
    t0: u64,
    length: Us,
}

impl WallClock {
    /// That of `record`. A start that cannot be read is 1970.
    pub fn of(record: &RequestRecord) -> Self {
        let start = record.started_at.parse::<Timestamp>();
        let t0 = start.map_or(0, |at| at.as_nanosecond().clamp(0, i128::from(i64::MAX)));
        WallClock {
            t0: u64::try_from(t0).unwrap_or_default(),
            length: length(record, us),
        }
    }

    /// The start of the request.
    pub fn start(self) -> u64 {
        self.t0
    }

    /// Its end: never before its start.
    pub fn end(self) -> u64 {
        self.at(self.length)
    }

    /// How long it was.
    pub fn length(self) -> Us {
        self.length
    }

    /// So long after its start, but not after its end.
    pub fn at(self, us: Us) -> u64 {
        let after = us.min(self.length).saturating_mul(1_000);
        self.t0.saturating_add(after)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sink::sample::sample;

    fn clock(started_at: &str, end_ms: Option<f64>) -> WallClock {
        let mut record = sample();
        record.started_at = started_at.to_owned();
        record.at.end_ms = end_ms;
        record.at.header_ms = Some(2.0);
        WallClock::of(&record)
    }

    #[test]
    fn times_are_the_start_and_what_came_after() {
        let clock = clock("2026-12-02T12:03:44.125Z", Some(1500.25));
        assert_eq!(clock.start(), 1_796_213_024_125_000_000);
        assert_eq!(clock.end() - clock.start(), 1_500_250_000);
        assert_eq!(clock.at(7) - clock.start(), 7_000);
        assert_eq!(clock.at(u64::MAX), clock.end());
    }

    #[test]
    fn what_cannot_be_told_is_no_panic() {
        assert_eq!(clock("soon", None).end(), 2_000_000);
        assert_eq!(clock("-009999-01-01T00:00:00Z", None).start(), 0);
        for ms in [f64::NAN, -1.0, f64::INFINITY, 1e300] {
            let clock = clock("9999-12-30T00:00:00Z", Some(ms));
            assert!(clock.end() >= clock.start(), "{ms}");
        }
    }
}
