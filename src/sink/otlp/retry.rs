//! When to try again: later and later, at a time that others do not choose too, and not for ever.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use xxhash_rust::xxh3::xxh3_64;

/// The first pause.
const FIRST: Duration = Duration::from_secs(1);
/// The longest pause of our own choice.
const LONGEST: Duration = Duration::from_secs(30);
/// All pauses of one message together, as OpenTelemetry's collector has it: what is refused for so long may be what is
/// wrong, and the next is tried.
const IN_ALL: Duration = Duration::from_secs(300);

/// Pauses between the attempts at one message.
#[derive(Debug)]
pub struct Backoff {
    seed: u64,
    next: Duration,
    waited: Duration,
}

impl Backoff {
    /// Two seeds have two sets of pauses: many proxies do not come back to a collector at the same moment.
    pub fn new(seed: u64) -> Self {
        Backoff {
            seed,
            next: FIRST,
            waited: Duration::ZERO,
        }
    }

    /// A message is tried for the first time.
    pub fn start(&mut self) {
        self.next = FIRST;
        self.waited = Duration::ZERO;
    }

    /// How long to wait after a failed attempt, at least as long as the collector `asked`; `None` if it was tried long
    /// enough.
    pub fn next(&mut self, asked: Option<Duration>) -> Option<Duration> {
        self.seed = xxh3_64(&self.seed.to_le_bytes());
        // From a half to the whole.
        let share = 0.5 + 0.5 * (self.seed as f64 / u64::MAX as f64);
        let pause = self.next.mul_f64(share).max(asked.unwrap_or_default());
        self.next = (self.next * 2).min(LONGEST);
        self.waited = self.waited.saturating_add(pause);
        (self.waited <= IN_ALL).then_some(pause)
    }
}

/// Waits, but not longer than the program runs; whether it ends.
pub fn is_over_within(closing: &Receiver<()>, pause: Duration) -> bool {
    closing.recv_timeout(pause) == Err(RecvTimeoutError::Disconnected)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    fn pauses(seed: u64) -> Vec<Duration> {
        let mut backoff = Backoff::new(seed);
        backoff.start();
        std::iter::from_fn(|| backoff.next(None)).collect()
    }

    #[test]
    fn pauses_grow_and_end() {
        let pauses = pauses(1);
        for (n, pause) in pauses.iter().enumerate() {
            let most = (FIRST * 2u32.pow(n.min(5) as u32)).min(LONGEST);
            assert!(*pause >= most / 2 && *pause <= most, "{pauses:?}");
        }
        let all: Duration = pauses.iter().sum();
        assert!(all <= IN_ALL && all > IN_ALL - LONGEST, "{all:?}");
    }

    #[test]
    fn two_proxies_wait_differently() {
        assert_ne!(pauses(1), pauses(2));
    }

    #[test]
    fn what_the_collector_asks_for_is_waited_but_not_without_end() {
        let mut backoff = Backoff::new(1);
        let seconds = |n| Some(Duration::from_secs(n));
        assert_eq!(backoff.next(seconds(60)), seconds(60));
        assert!(backoff.next(seconds(0)) > seconds(0));
        assert_eq!(backoff.next(seconds(u64::MAX)), None);
        backoff.start();
        assert!(backoff.next(None) <= Some(FIRST));
    }

    #[test]
    fn the_end_of_the_program_is_not_waited_for() {
        let (open, closing) = channel();
        assert!(!is_over_within(&closing, Duration::from_millis(1)));
        drop(open);
        assert!(is_over_within(&closing, Duration::from_secs(3600)));
    }
}
