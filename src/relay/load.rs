//! How busy the upstream was when a request came: `load` in the record.

use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use crate::observe::record::Load;

/// Counts the requests that are open, and knows when the last one ended.
#[derive(Debug)]
pub struct Gauge {
    cold_after: Duration,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    in_flight: u64,
    last_end: Option<Instant>,
}

impl Gauge {
    /// A request counts as cold when the upstream was idle for `cold_after`, or never asked before.
    pub fn new(cold_after: Duration) -> Self {
        Gauge {
            cold_after,
            state: Mutex::default(),
        }
    }

    /// Takes note of a request that came at `at`, and says what it met.
    pub fn enter(&self, at: Instant) -> Load {
        let mut state = self.state();
        let idle = state.last_end.filter(|_| state.in_flight == 0);
        let idle = idle.map(|end| at.saturating_duration_since(end));
        let load = Load {
            in_flight: state.in_flight,
            cold: state.in_flight == 0 && idle.is_none_or(|idle| idle >= self.cold_after),
            idle_before_ms: idle.map(crate::observe::record::ms),
        };
        state.in_flight += 1;
        load
    }

    /// Takes note that a request ended at `at`.
    pub fn leave(&self, at: Instant) {
        let mut state = self.state();
        state.in_flight -= 1;
        state.last_end = Some(at);
    }

    /// How many requests are open. One whose record was emitted is not.
    pub fn in_flight(&self) -> u64 {
        self.state().in_flight
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nothing in here panics")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::relay::clock;

    #[test]
    fn cold_first_then_warm_then_cold_after_a_pause_and_null_while_overlapping() {
        let (t, s) = (clock::now(), Duration::from_secs);
        let gauge = Gauge::new(s(60));
        let first = gauge.enter(t);
        assert!(first.cold && first.in_flight == 0 && first.idle_before_ms.is_none());
        let beside = gauge.enter(t + s(1));
        assert!(!beside.cold && beside.in_flight == 1 && beside.idle_before_ms.is_none());
        assert_eq!(gauge.in_flight(), 2);
        gauge.leave(t + s(2));
        gauge.leave(t + s(3));
        assert_eq!(gauge.in_flight(), 0);
        let warm = gauge.enter(t + s(5));
        assert_eq!((warm.cold, warm.idle_before_ms), (false, Some(2000.0)));
        gauge.leave(t + s(6));
        assert!(gauge.enter(t + s(66)).cold);
    }
}
