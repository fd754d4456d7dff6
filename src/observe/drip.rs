//! What a picture of a stream needs while it runs: a tick for each chunk, in bounded memory.
//!
//! Of a long stream the ticks that stand closest together become one that lasts from the first to the last of them, so
//! that a pause never gets lost, and none is seen where there was none.

use super::stats::Us;

/// So many ticks are kept: as many as a wide screen has columns for them.
const MOST: usize = 1024;

/// One tick: a chunk, or several that stand close together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tick {
    /// When its first chunk came, from `t0`, in units of 100 µs (which leaves room for five days).
    pub at: u32,
    /// When its last chunk came, in the same units: later than `at` only where several were made one.
    pub last: u32,
    /// Events in it.
    pub events: u32,
}

impl Tick {
    /// When its first chunk came, ms from `t0`.
    pub fn at_ms(self) -> f64 {
        f64::from(self.at) / 10.0
    }

    /// When its last chunk came, ms from `t0`.
    pub fn last_ms(self) -> f64 {
        f64::from(self.last) / 10.0
    }
}

/// The ticks of one stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Drip {
    ticks: Vec<Tick>,
    thinned: u64,
}

impl Drip {
    /// Takes the next chunk, with so many events in it.
    pub fn push(&mut self, at: Us, events: u64) {
        let at = u32::try_from(at / 100).unwrap_or(u32::MAX);
        let events = u32::try_from(events).unwrap_or(u32::MAX);
        if self.ticks.len() == MOST {
            self.thin();
        }
        self.ticks.push(Tick {
            at,
            last: at,
            events,
        });
    }

    /// The chunk that came last has more events.
    pub fn add(&mut self, events: u64) {
        if let Some(last) = self.ticks.last_mut() {
            let events = u32::try_from(events).unwrap_or(u32::MAX);
            last.events = last.events.saturating_add(events);
        }
    }

    /// The ticks, in their order.
    pub fn ticks(&self) -> &[Tick] {
        &self.ticks
    }

    /// How often ticks were made fewer: numbers of ticks known from before mean others since.
    pub fn thinned(&self) -> u64 {
        self.thinned
    }

    /// Makes half of them one with the tick before, those that came soonest after it.
    fn thin(&mut self) {
        let distance = |pair: &[Tick]| pair[1].at.saturating_sub(pair[0].last);
        let mut distances: Vec<u32> = self.ticks.windows(2).map(distance).collect();
        let middle = distances.len() / 2;
        let close = *distances.select_nth_unstable(middle).1;
        let mut kept: Vec<Tick> = Vec::with_capacity(MOST);
        let mut joined = 0;
        for &tick in &self.ticks {
            match kept.last_mut() {
                // enough is enough: of equal distances all would go
                Some(before)
                    if tick.at.saturating_sub(before.last) <= close && joined <= middle =>
                {
                    before.events = before.events.saturating_add(tick.events);
                    before.last = tick.last;
                    joined += 1;
                }
                _ => kept.push(tick),
            }
        }
        self.ticks = kept;
        self.thinned += 1;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn drip(gaps: &[u32]) -> Drip {
        let mut drip = Drip::default();
        let mut at = 0;
        for (i, gap) in gaps.iter().enumerate() {
            at += u64::from(*gap);
            drip.push(at, i as u64 % 3);
        }
        drip
    }

    #[test]
    fn a_short_stream_has_a_tick_for_each_chunk() {
        let drip = drip(&[120_000, 30_000, 0]);
        let at: Vec<_> = drip.ticks().iter().map(|tick| tick.at_ms()).collect();
        assert_eq!(at, [120.0, 150.0, 150.0]);
        assert_eq!(drip.thinned(), 0);
    }

    proptest! {
        #[test]
        fn memory_is_bounded_and_neither_events_nor_the_longest_pause_get_lost(
            gaps in prop::collection::vec(0u32..100_000, 1..6000),
            pause in 200_000u32..1_000_000,
            place in any::<prop::sample::Index>(),
        ) {
            let mut gaps = gaps;
            let place = place.index(gaps.len());
            gaps[place] = pause;
            let drip = drip(&gaps);
            let ticks = drip.ticks();
            prop_assert!(ticks.len() <= MOST && ticks.len() >= gaps.len().min(MOST / 4));
            prop_assert!(ticks.is_sorted_by_key(|tick| tick.at));
            let events: u64 = ticks.iter().map(|tick| u64::from(tick.events)).sum();
            prop_assert_eq!(events, (0..gaps.len() as u64).map(|i| i % 3).sum::<u64>());
            let start: u64 = gaps[..place].iter().map(|gap| u64::from(*gap)).sum();
            let end = ((start + u64::from(pause)) / 100) as u32;
            prop_assert!(ticks.iter().any(|tick| tick.at == end), "the pause's end is a tick");
            let inside = |tick: &&Tick| u64::from(tick.last) > start / 100 && tick.at < end;
            prop_assert_eq!(ticks.iter().filter(inside).count(), 0, "and nothing is in it");
            let mut at = 0;
            for gap in gaps {
                at += u64::from(gap);
                let came = (at / 100) as u32;
                prop_assert!(ticks.iter().any(|tick| tick.at <= came && came <= tick.last), "each chunk is in a tick");
            }
            for pair in ticks.windows(2) {
                prop_assert!(pair[0].at <= pair[0].last && pair[0].last <= pair[1].at);
            }
        }
    }
}
