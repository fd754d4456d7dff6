//! Numbers that agree, and the windows they are in.

use std::collections::VecDeque;

use crate::observe::stats::Us;
use crate::observe::verdict::words::range;

/// Timers fire late, and clocks start at different bytes: durations agree within so many percent …
const PERCENT: Us = 3;

/// … or within this much, which a busy machine takes to notice an end, µs.
const SLACK: Us = 30_000;

/// How far durations up to `most` may lie apart and still agree.
pub fn tolerance(most: Us) -> Us {
    (most * PERCENT / 100).max(SLACK)
}

/// Values that agree with one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Group {
    /// The least.
    pub from: Us,
    /// The most.
    pub to: Us,
    /// The one in the middle.
    pub median: Us,
    /// How many.
    pub n: usize,
}

impl Group {
    /// The largest group of `values` that holds `value`, if that is one of them.
    pub fn around(value: Us, values: impl IntoIterator<Item = Us>) -> Option<Group> {
        let mut sorted: Vec<Us> = values.into_iter().collect();
        sorted.sort_unstable();
        let groups = (0..sorted.len()).map(|first| {
            let from = sorted[first];
            let agreeing = |to: &&Us| **to - from <= tolerance(**to);
            let n = sorted[first..].iter().take_while(agreeing).count();
            &sorted[first..first + n]
        });
        let holding = groups.filter(|group| group.contains(&value));
        let best = holding.max_by_key(|group| group.len())?;
        Some(Group {
            from: best[0],
            to: best[best.len() - 1],
            median: best[best.len() / 2],
            n: best.len(),
        })
    }

    /// Whether `value` is of the group.
    pub fn holds(&self, value: Us) -> bool {
        (self.from..=self.to).contains(&value)
    }
}

/// Whether `values` lie further apart than those that agree.
pub fn differ(values: impl IntoIterator<Item = Us>) -> bool {
    let (least, most) = values
        .into_iter()
        .fold((Us::MAX, 0), |(least, most), value| {
            (least.min(value), most.max(value))
        });
    most.saturating_sub(least) > tolerance(most)
}

/// Two durations as a range: "47.0 to 47.3 s", "702 to 731 ms", "47.0 s".
pub fn span(from: Us, to: Us) -> String {
    let (unit, places, word) = if to < 1_000_000 {
        (1e3, 0, "ms")
    } else {
        (1e6, 1, "s")
    };
    let number = |us: Us| format!("{:.places$}", us as f64 / unit);
    format!("{} {word}", range(number(from), number(to)))
}

/// The latest `N` of something.
#[derive(Debug)]
pub struct Latest<T, const N: usize>(VecDeque<T>);

impl<T, const N: usize> Default for Latest<T, N> {
    fn default() -> Self {
        Latest(VecDeque::new())
    }
}

impl<T, const N: usize> Latest<T, N> {
    /// Takes one more, and forgets the oldest past `N`.
    pub fn push(&mut self, one: T) {
        if self.0.len() == N {
            self.0.pop_front();
        }
        self.0.push_back(one);
    }

    /// Takes one more if there is one.
    pub fn take(&mut self, one: Option<T>) {
        if let Some(one) = one {
            self.push(one);
        }
    }

    /// From the oldest to the latest.
    pub fn iter(&self) -> impl Iterator<Item = &T> + Clone {
        self.0.iter()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: Us = 1_000_000;

    #[test]
    fn the_largest_group_with_the_value_in_it() {
        let values = [47 * S, 10 * S, 47 * S + 300_000, 47 * S + 100_000, 90 * S];
        let group = Group::around(47 * S + 100_000, values).unwrap();
        assert_eq!((group.from, group.to, group.n), (47 * S, 47_300_000, 3));
        assert_eq!(group.median, 47_100_000);
        assert!(group.holds(47_200_000) && !group.holds(10 * S));
        assert_eq!(Group::around(10 * S, values).unwrap().n, 1);
        assert_eq!(Group::around(11 * S, values), None);
        // A chain of neighbours is no group.
        let chain = (0..20).map(|i| 10 * S + i * 200_000);
        assert_eq!(Group::around(10 * S, chain).unwrap().n, 2);
    }

    #[test]
    fn short_ones_agree_within_what_a_busy_machine_takes() {
        assert!(!differ([700_000, 728_000]) && differ([700_000, 740_000]));
        assert!(!differ([100 * S, 103 * S]) && differ([100 * S, 104 * S]));
        assert!(!differ([]) && !differ([5]));
    }

    #[test]
    fn ranges_read_well() {
        assert_eq!(span(47 * S, 47_300_000), "47.0 to 47.3 s");
        assert_eq!(span(702_000, 731_400), "702 to 731 ms");
        assert_eq!(span(47 * S, 47 * S), "47.0 s");
    }

    #[test]
    fn a_window_forgets_the_oldest() {
        let mut latest = Latest::<u32, 3>::default();
        (0..5).for_each(|i| latest.push(i));
        assert_eq!((latest.len(), latest.iter().sum::<u32>()), (3, 9));
    }
}
