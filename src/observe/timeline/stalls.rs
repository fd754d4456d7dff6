//! The longest pauses between token events: what may turn out to be stalls.

use crate::observe::stats::Us;

/// No pause below this is a stall: people do not see it, and schedulers cause it all the time.
pub const LEAST_STALL: Us = 250_000;

/// Pauses that are kept.
const KEPT: usize = 5;

/// A gap between two token events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pause {
    /// When it ended.
    pub at: Us,
    /// How long it was.
    pub gap: Us,
    /// Token events before it.
    pub after_token: u64,
    /// Index of the event that ended it.
    pub event: u64,
}

/// The longest pauses so far, longest first; of equal ones the earlier first.
#[derive(Debug, Default)]
pub struct Pauses(Vec<Pause>);

impl Pauses {
    /// Takes the next pause.
    pub fn take(&mut self, pause: Pause) {
        if pause.gap < LEAST_STALL {
            return;
        }
        let place = self.0.partition_point(|kept| kept.gap >= pause.gap);
        self.0.insert(place, pause);
        self.0.truncate(KEPT);
    }

    /// Those of at least `threshold`.
    pub fn from(&self, threshold: Us) -> impl Iterator<Item = &Pause> {
        self.0
            .iter()
            .take_while(move |pause| pause.gap >= threshold)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_five_longest_in_order() {
        let mut pauses = Pauses::default();
        for (i, gap) in [300, 249, 900, 300, 250, 500, 700].into_iter().enumerate() {
            let i = i as u64;
            pauses.take(Pause {
                at: i,
                gap: gap * 1000,
                after_token: i,
                event: i,
            });
        }
        let kept: Vec<_> = pauses
            .from(LEAST_STALL)
            .map(|pause| (pause.gap / 1000, pause.at))
            .collect();
        assert_eq!(kept, [(900, 2), (700, 6), (500, 5), (300, 0), (300, 3)]);
        assert_eq!(pauses.from(600_000).count(), 2);
    }
}
