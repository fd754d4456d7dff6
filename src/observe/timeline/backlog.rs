//! Bytes that the client's kernel has not acknowledged: what tells a client that stops reading while
//! our own writes never wait, because the send buffer (up to megabytes) takes it all.
//!
//! Samples, not events: a few a second, each after a write. A link with a long way has many bytes
//! under way and acknowledges them as fast as they are given; a client that does not read
//! acknowledges nothing. What fits into the client's own receive buffer is not seen: its kernel
//! acknowledges in its name.

use crate::observe::stats::Us;

/// Less may be on its way on any link and says nothing.
const LEAST: u64 = 64 * 1024;

/// What the samples say.
#[derive(Debug, Default)]
pub struct Backlog {
    last: Option<Sample>,
    max: Option<u64>,
    stuck: Us,
    rwnd_limited: Option<Us>,
}

#[derive(Debug, Clone, Copy)]
struct Sample {
    at: Us,
    /// Bytes given to the kernel since the connection began.
    given: u64,
    waiting: u64,
}

impl Backlog {
    /// At `at` the kernel had got `given` bytes in all, of which `waiting` were not acknowledged.
    pub fn on_sample(&mut self, at: Us, given: u64, waiting: u64) {
        let now = Sample { at, given, waiting };
        let before = self.last.replace(now);
        let much = |sample: &Sample| sample.waiting > LEAST;
        if let Some(before) = before.filter(much).filter(|_| much(&now))
            && !falls(before, now)
        {
            self.stuck += at.saturating_sub(before.at);
        }
        self.max = self.max.max(Some(waiting));
    }

    /// For so long the client's window was what held the kernel back.
    pub fn on_rwnd_limited(&mut self, time: Us) {
        self.rwnd_limited = Some(time);
    }

    /// The most that waited; `None` when it was never asked.
    pub fn max(&self) -> Option<u64> {
        self.max
    }

    /// Time in which more than 64 KiB waited and did not become less.
    pub fn stuck(&self) -> Option<Us> {
        self.max.map(|_| self.stuck)
    }

    /// See [`Backlog::on_rwnd_limited`].
    pub fn rwnd_limited(&self) -> Option<Us> {
        self.rwnd_limited
    }
}

/// Whether the client takes bytes: more than half as many were acknowledged as were given.
fn falls(before: Sample, now: Sample) -> bool {
    let acknowledged = |sample: Sample| sample.given.saturating_sub(sample.waiting);
    let taken = acknowledged(now).saturating_sub(acknowledged(before));
    taken * 2 > now.given.saturating_sub(before.given)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Us = 1_000;

    /// Samples each 50 ms of a stream of `rate` bytes/ms over a way of `rtt` ms that takes `link`
    /// bytes/ms; the client reads but between `stops` and `goes_on`.
    fn backlog(rate: u64, rtt: u64, link: u64, (stops, goes_on): (u64, u64)) -> Backlog {
        let mut backlog = Backlog::default();
        let (mut taken, mut acknowledged) = (0, std::collections::VecDeque::new());
        for at in 0..4_000 {
            let given = rate * at;
            if !(stops..goes_on).contains(&at) {
                taken = given.min(taken + link);
            }
            acknowledged.push_back(taken);
            let known = match at.checked_sub(rtt) {
                Some(_) => acknowledged.pop_front().unwrap_or(0),
                None => 0,
            };
            if at % 50 == 0 {
                backlog.on_sample(at * MS, given, given - known);
            }
        }
        backlog
    }

    #[test]
    fn a_client_that_stops_reading_acknowledges_nothing() {
        let stopped = backlog(300, 1, 10_000, (500, 2_000));
        // From 64 KiB on, which took 0.22 s.
        assert!((1_200 * MS..1_300 * MS).contains(&stopped.stuck));
        assert!(stopped.max() > Some(400_000));
    }

    #[test]
    fn a_long_way_is_no_backlog() {
        for (rate, rtt) in [(300, 1), (1_000, 200), (5_000, 300), (100, 600)] {
            let healthy = backlog(rate, rtt, 10_000, (0, 0));
            // Until the first acknowledgement comes back.
            assert!(healthy.stuck <= (rtt + 50) * MS, "{rate} {rtt} {healthy:?}");
        }
        assert_eq!(
            backlog(20, 1, 10_000, (500, 2_000)).stuck,
            0,
            "never 64 KiB"
        );
    }

    #[test]
    fn a_client_that_reads_far_too_slowly() {
        let slow = backlog(300, 1, 30, (0, 0));
        assert!(slow.stuck > 3_000 * MS, "{slow:?}");
        let never = Backlog::default();
        assert_eq!(
            (never.max(), never.stuck(), never.rwnd_limited()),
            (None, None, None)
        );
    }
}
