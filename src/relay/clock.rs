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

/// Wall clock now: for labels.
pub fn wall() -> SystemTime {
    SystemTime::now()
}

/// The wall clock as RFC 3339 in UTC with microseconds, e.g. `2026-12-02T04:19:51.000123Z`.
pub fn rfc3339(at: SystemTime) -> String {
    let at = jiff::Timestamp::try_from(at).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    format!("{at:.6}")
}

/// Two reads of the clocks this close together are of one moment. They take 0.1 µs, unless the thread
/// was taken off its processor between them.
const TOGETHER: Duration = Duration::from_micros(20);

/// The wall clock counts as set when it went further than this from the monotonic one.
const SET_BY: Duration = Duration::from_micros(100);

/// How long a stamped packet may be on its way to the socket, which is seen empty meanwhile. An older
/// stamp is not of the wall clock that this process reads.
const DELIVERY: Duration = Duration::from_millis(5);

/// Both clocks at one moment: what makes a monotonic time of a kernel's stamp, which is wall clock
/// time.
///
/// On Linux the two run alike, slewed by NTP or not (clock_gettime(2)): the lead of the wall clock
/// changes only when it is set, which is by hand, by an NTP step, by a leap second, by sleep. A stamp
/// from before that and a wall clock read after it give no age, so between two moments in which the
/// clock was set no stamp is used, and the time of the read stands.
///
/// What error remains: a step of less than 0.1 ms moves one arrival by itself, and a step that is
/// taken back before the next moment goes unseen. Neither moves an arrival past its read, nor before
/// the moment in which the socket was last empty.
#[derive(Debug, Clone, Copy)]
pub struct Moment {
    /// Monotonic.
    pub now: Instant,
    /// Wall clock.
    pub wall: SystemTime,
}

impl Moment {
    /// Reads both clocks. If that is never undisturbed, their lead is off, and the clock seems set.
    pub fn read() -> Self {
        let mut moment = Moment::read_once();
        for _ in 0..3 {
            if now().saturating_duration_since(moment.now) <= TOGETHER {
                break;
            }
            moment = Moment::read_once();
        }
        moment
    }

    fn read_once() -> Self {
        Moment {
            now: now(),
            wall: wall(),
        }
    }

    /// How old `stamp` is at this moment, if that can be told: of bytes that came after `empty`, when
    /// the socket was seen empty.
    pub fn age_of(&self, stamp: SystemTime, empty: &Moment) -> Option<Duration> {
        let since = self.now.saturating_duration_since(empty.now);
        let expected = empty.wall.checked_add(since)?;
        if distance(self.wall, expected) > SET_BY {
            return None;
        }
        match self.wall.duration_since(stamp) {
            Ok(age) if age <= since + DELIVERY => Some(age.min(since)),
            Err(ahead) if ahead.duration() <= SET_BY => Some(Duration::ZERO),
            _ => None,
        }
    }
}

fn distance(a: SystemTime, b: SystemTime) -> Duration {
    a.duration_since(b).unwrap_or_else(|error| error.duration())
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

    /// The same, or now where no time is known.
    pub fn at_or_now(&self, at: Option<Instant>) -> Duration {
        at.map_or_else(|| self.now(), |at| self.at(at))
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

    const MS: Duration = Duration::from_millis(1);

    /// The age of a stamp made `age` before a read that came `since` after the socket was empty, where
    /// the wall clock was set by `step` ms `before` the stamp was made or after it.
    fn age(age: Duration, since: Duration, step: i32, before: bool) -> Option<Duration> {
        let set = |wall: SystemTime| match step {
            0.. => wall + MS * step.unsigned_abs(),
            _ => wall - MS * step.unsigned_abs(),
        };
        let empty = Moment {
            now: now(),
            wall: SystemTime::UNIX_EPOCH + 2_000_000 * Duration::from_secs(1),
        };
        let read = Moment {
            now: empty.now + since,
            wall: set(empty.wall + since),
        };
        let stamp = empty.wall + since - age;
        read.age_of(if before { set(stamp) } else { stamp }, &empty)
    }

    #[test]
    fn a_stamp_has_the_age_that_the_clocks_agree_on() {
        assert_eq!(age(3 * MS, 20 * MS, 0, false), Some(3 * MS));
        assert_eq!(age(Duration::ZERO, 20 * MS, 0, false), Some(Duration::ZERO));
        // Stamped, and on its way to the socket when that was found empty.
        assert_eq!(age(25 * MS, 20 * MS, 0, false), Some(20 * MS));
    }

    #[test]
    fn no_stamp_is_used_where_the_wall_clock_was_set_by_little_or_much() {
        for step in [1, 2, 10, 50, 1_000, 3_600_000] {
            for (step, before) in [(step, true), (step, false), (-step, true), (-step, false)] {
                assert_eq!(age(3 * MS, 20 * MS, step, before), None, "{step} ms");
                assert_eq!(
                    age(3 * MS, 3600 * 1000 * MS, step, before),
                    None,
                    "{step} ms"
                );
            }
        }
    }

    #[test]
    fn a_stamp_of_another_wall_clock_is_not_used() {
        let empty = Moment::read_once();
        let read = Moment {
            now: empty.now + 20 * MS,
            wall: empty.wall + 20 * MS,
        };
        let hour = 3_600_000 * MS;
        assert_eq!(read.age_of(read.wall - hour, &empty), None);
        assert_eq!(read.age_of(read.wall + hour, &empty), None);
        assert_eq!(read.age_of(read.wall + MS, &empty), None);
    }

    #[test]
    fn the_clocks_run_alike_and_are_read_as_one() {
        // Undisturbed in most tries on the busiest machine.
        let agree = (0..50).filter(|_| {
            let empty = Moment::read();
            std::thread::sleep(MS);
            let read = Moment::read();
            read.age_of(read.wall, &empty) == Some(Duration::ZERO)
        });
        assert!(agree.count() > 25);
    }

    #[test]
    fn the_wall_clock_label_is_rfc_3339_in_utc() {
        let at = SystemTime::UNIX_EPOCH + Duration::from_micros(1_500_000);
        assert_eq!(rfc3339(at), "1970-01-01T00:00:01.500000Z");
    }
}
