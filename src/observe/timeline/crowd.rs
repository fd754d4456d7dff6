//! How many events each chunk completed, as counts.

use crate::observe::distribution::{Distribution, EVENTS_BOUNDS};

/// Chunks by the number of events that they completed.
#[derive(Debug, Default)]
pub struct Crowds {
    /// Chunks with more events than each of the bounds.
    above: [u64; EVENTS_BOUNDS.len()],
}

impl Crowds {
    /// A chunk that had completed `before` events completed another.
    pub fn on_event(&mut self, before: u64) {
        if let Ok(crossed) = EVENTS_BOUNDS.binary_search(&before) {
            self.above[crossed] += 1;
        }
    }

    /// Chunks with more than one event.
    pub fn of_many(&self) -> u64 {
        self.above[1]
    }

    /// How the `chunks` lie that completed `events` together.
    pub fn distribution(&self, chunks: u64, events: u64) -> Distribution {
        let up_to = self.above.iter().map(|above| chunks.saturating_sub(*above));
        Distribution::new(up_to, chunks, events)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_chunk_lies_where_its_events_put_it() {
        let chunks = [0, 1, 1, 2, 3, 5, 200];
        let mut crowds = Crowds::default();
        for events in chunks {
            (0..events).for_each(|before| crowds.on_event(before));
        }
        let lie = crowds.distribution(chunks.len() as u64, chunks.iter().sum());
        for (i, bound) in EVENTS_BOUNDS.iter().enumerate() {
            let naive = chunks.iter().filter(|events| *events <= bound).count() as u64;
            assert_eq!(lie.up_to(i), naive, "{bound}");
        }
        assert_eq!((lie.n, lie.sum, crowds.of_many()), (7, 212, 4));
    }
}
