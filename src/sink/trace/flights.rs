//! How many of the requests were in flight when.
//!
//! Records come in the order in which they ended, so the count of a moment is known once the last of those that were open
//! then has ended: the changes are kept, and counted at the end.

use std::collections::BTreeMap;

/// Changes that are kept; past that, those of a longer and longer step become one.
const MOST: usize = 1 << 20;
/// How much longer.
const COARSER: i64 = 10;

/// Starts and ends.
#[derive(Debug)]
pub struct Flights {
    /// By process and time, µs.
    changes: BTreeMap<(u32, i64), i64>,
    /// Times are multiples of this, µs.
    step: i64,
    most: usize,
}

impl Default for Flights {
    fn default() -> Self {
        Flights {
            changes: BTreeMap::new(),
            step: 1,
            most: MOST,
        }
    }
}

impl Flights {
    /// Takes note of a request.
    pub fn add(&mut self, pid: u32, started: i64, ended: i64) {
        for (at, change) in [(started, 1), (ended, -1)] {
            self.change((pid, at - at.rem_euclid(self.step)), change);
        }
        while self.changes.len() > self.most {
            self.step = self.step.saturating_mul(COARSER);
            for ((pid, at), change) in std::mem::take(&mut self.changes) {
                self.change((pid, at - at.rem_euclid(self.step)), change);
            }
        }
    }

    fn change(&mut self, at: (u32, i64), change: i64) {
        *self.changes.entry(at).or_default() += change;
    }

    /// Process, time and count from then on, in their order.
    pub fn counts(self) -> impl Iterator<Item = (u32, i64, i64)> {
        let mut running = (0, 0);
        let counts = self.changes.into_iter().map(move |((pid, at), change)| {
            if running.0 != pid {
                running = (pid, 0);
            }
            running.1 += change;
            (pid, at, running.1, change)
        });
        let told = counts.filter(|(.., change)| *change != 0);
        told.map(|(pid, at, n, _)| (pid, at, n))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_log_without_end_takes_bounded_memory_and_ends_at_none() {
        let mut flights = Flights {
            most: 100,
            ..Flights::default()
        };
        for i in 0..10_000 {
            flights.add(1, i * 700, i * 700 + 900);
        }
        assert!(flights.changes.len() <= 100 && flights.step > 1);
        let counts: Vec<_> = flights.counts().collect();
        assert_eq!(counts.last().unwrap().2, 0);
        assert!(counts.iter().all(|(.., n)| *n >= 0));
    }

    proptest! {
        #[test]
        fn counts_are_those_of_a_naive_look(all in prop::collection::vec((1u32..3, 0i64..50, 0i64..30), 0..40)) {
            let mut flights = Flights::default();
            for (pid, started, lasted) in &all {
                flights.add(*pid, *started, started + lasted);
            }
            let counts: Vec<_> = flights.counts().collect();
            for pid in 1..3 {
                for at in 0..90 {
                    let open = all.iter().filter(|(p, s, l)| *p == pid && *s <= at && at < s + l);
                    let told = counts.iter().rfind(|(p, from, _)| *p == pid && *from <= at);
                    prop_assert_eq!(told.map_or(0, |told| told.2), open.count() as i64);
                }
            }
        }
    }
}
