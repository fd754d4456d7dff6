//! What two runs should have in common, and whether they do.
//!
//! A warning that comes without a cause is soon read by nobody. So what differs must be more than chance brings into two
//! samples of one traffic, and large enough to matter.

use std::borrow::Cow;
use std::collections::HashMap;

use super::share::{self, Share};
use crate::observe::record::RequestRecord;
use crate::sink::console::text::word;

/// What words there are of a record.
type Word = fn(&RequestRecord) -> Option<Cow<'_, str>>;

/// What is known of a stream in words. The names are those of the warnings.
pub const WORDS: [(&str, Word); 9] = [
    ("model", |r| own(&r.request.model)),
    ("model_answered", |r| own(&r.response.model)),
    ("path", |r| own(&r.request.path)),
    ("api", |r| Some(word(&r.api?).into())),
    ("upstream", |r| own(&r.upstream.name)),
    ("encoding", |r| own(&r.response.content_encoding)),
    ("stamps", |r| Some(word(&r.stamps?).into())),
    ("label", |r| own(&r.label)),
    ("connections", |r| {
        Some(if r.upstream.reused? { "reused" } else { "new" }.into())
    }),
];

fn own(text: &Option<String>) -> Option<Cow<'_, str>> {
    text.as_deref().map(Cow::Borrowed)
}

/// Words that are told apart; a log may have a model's name for each request.
const MOST: usize = 1000;
/// What further ones are called.
const OTHERS: &str = "(others)";
/// What stands for no word.
pub const NONE: &str = "none";

/// A share has to differ by so much to matter.
const SHARE: f64 = 0.1;
/// And by more than chance brings in one of so many comparisons.
const RARE: f64 = 0.001;
/// Distributions have to differ by so much: the largest difference between the shares below any value.
const DISTANCE: f64 = 0.2;
/// Numbers have to differ by a tenth to matter.
const TENTH: f64 = 0.1;

/// Words, counted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Words {
    counts: HashMap<String, u64>,
    all: u64,
}

impl Words {
    /// Takes the word of one more stream.
    pub fn add(&mut self, word: Option<&str>) {
        self.all += 1;
        let word = word.unwrap_or(NONE);
        if let Some(count) = self.counts.get_mut(word) {
            *count += 1;
            return;
        }
        let is_full = self.counts.len() >= MOST;
        let word = if is_full { OTHERS } else { word };
        *self.counts.entry(word.to_owned()).or_default() += 1;
    }

    /// The one word that all streams have; none where there are several, or no word.
    pub fn only(&self) -> Option<&str> {
        let mut words = self.counts.keys();
        let only = words.next().filter(|word| *word != NONE)?;
        words.next().is_none().then_some(only.as_str())
    }

    /// How many different ones.
    pub fn kinds(&self) -> usize {
        self.counts.len()
    }

    /// The words with their shares, most first.
    pub fn shares(&self) -> Vec<(&str, f64)> {
        let counts = self.counts.iter().map(|(word, n)| (*n, word.as_str()));
        let mut sorted: Vec<(u64, &str)> = counts.collect();
        sorted.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| one.1.cmp(other.1)));
        let share = |(n, word)| (word, n as f64 / self.all as f64);
        sorted.into_iter().map(share).collect()
    }

    fn share(&self, word: &str) -> Share {
        Share {
            of: self.counts.get(word).copied().unwrap_or(0),
            all: self.all,
        }
    }

    /// Whether the other run has other words, or the same ones in other shares.
    pub fn differ(&self, other: &Words) -> bool {
        if self.all == 0 || other.all == 0 {
            return false;
        }
        let both = self
            .counts
            .keys()
            .filter(|word| other.counts.contains_key(*word));
        if both.count() == 0 {
            return true;
        }
        let mut words = self.counts.keys().chain(other.counts.keys());
        words.any(|word| shares_differ(self.share(word), other.share(word)))
    }
}

/// Whether two shares differ by more than chance brings, and by a tenth of all or more.
pub fn shares_differ(before: Share, after: Share) -> bool {
    let Some((low, high)) = share::interval(before, after, RARE) else {
        return false;
    };
    let by = before
        .value()
        .zip(after.value())
        .map(|(before, after)| (after - before).abs());
    by.is_some_and(|by| by >= SHARE) && (low > 0.0 || high < 0.0)
}

/// Whether numbers differ by more than chance brings: those of one run all lie beyond those of the other, or the test of
/// Kolmogorov and Smirnov finds at 1 % that they are of two distributions (Smirnov, Ann. Math. Stat. 19, 1948, p. 279).
/// Each run's are sorted.
pub fn numbers_differ(before: &[u64], after: &[u64]) -> bool {
    let is_large = [25, 50, 75, 95].into_iter().any(|p| {
        let at = |sorted| crate::observe::stats::percentile(sorted, p).unwrap_or(0) as f64;
        let (one, other) = (at(before), at(after));
        (one - other).abs() > TENTH * one.max(other)
    });
    is_large && are_other(before, after, 1.628)
}

/// Whether the requests that were open at the start differ: on average by half a request and half of what it was, and at
/// 10 % by the same test. Such numbers are few and small, and those of one plan are nearly the same each time.
pub fn loads_differ(before: &[u64], after: &[u64]) -> bool {
    let mean = |values: &[u64]| values.iter().sum::<u64>() as f64 / values.len().max(1) as f64;
    let (one, other) = (mean(before), mean(after));
    let (less, more) = (one.min(other), one.max(other));
    more - less >= 0.5 && more >= 1.5 * less && are_other(before, after, 1.224)
}

fn are_other(before: &[u64], after: &[u64], critical: f64) -> bool {
    let (Some(first), Some(last)) = (before.first(), before.last()) else {
        return false;
    };
    let (Some(first_after), Some(last_after)) = (after.first(), after.last()) else {
        return false;
    };
    let (n, m) = (before.len() as f64, after.len() as f64);
    let distance = distance(before, after);
    let is_rare = distance > critical * ((n + m) / (n * m)).sqrt();
    last < first_after || last_after < first || (distance >= DISTANCE && is_rare)
}

/// The largest difference between the shares that lie at or below any value.
fn distance(before: &[u64], after: &[u64]) -> f64 {
    let (mut i, mut j, mut most) = (0, 0, 0.0f64);
    while let (Some(&one), Some(&other)) = (before.get(i), after.get(j)) {
        let value = one.min(other);
        i += upto(&before[i..], value);
        j += upto(&after[j..], value);
        let shares = (
            i as f64 / before.len() as f64,
            j as f64 / after.len() as f64,
        );
        most = most.max((shares.0 - shares.1).abs());
    }
    most
}

/// How many of the first are no more than `value`.
fn upto(sorted: &[u64], value: u64) -> usize {
    sorted.iter().take_while(|other| **other <= value).count()
}

#[cfg(test)]
mod tests {
    use rand::rngs::Xoshiro256PlusPlus;
    use rand::{RngExt, SeedableRng};
    use rand_distr::{Distribution, Exp1};

    use super::*;

    fn words(all: &[(&str, u64)]) -> Words {
        let mut words = Words::default();
        for (word, n) in all {
            (0..*n).for_each(|_| words.add(Some(*word).filter(|word| !word.is_empty())));
        }
        words
    }

    #[test]
    fn other_words_and_other_shares_differ() {
        let one = words(&[("a", 40)]);
        assert!(!one.differ(&one) && one.only() == Some("a"));
        assert!(words(&[("a", 1)]).differ(&words(&[("b", 1)])));
        assert!(one.differ(&words(&[("a", 20), ("b", 20)])));
        assert!(words(&[("a", 900), ("b", 100)]).differ(&words(&[("a", 700), ("b", 300)])));
        assert!(!words(&[("a", 900), ("b", 100)]).differ(&words(&[("a", 880), ("b", 120)])));
        assert!(!words(&[("a", 3), ("b", 2)]).differ(&words(&[("a", 2), ("b", 3)])));
        assert!(words(&[("", 5)]).differ(&words(&[("gzip", 5)])));
        assert!(!words(&[]).differ(&one) && words(&[("", 4)]).only().is_none());
    }

    #[test]
    fn names_without_end_are_counted_together() {
        let mut words = Words::default();
        (0..5000).for_each(|i| words.add(Some(&i.to_string())));
        assert_eq!((words.kinds(), words.all), (MOST + 1, 5000));
        assert_eq!(words.shares()[0], (OTHERS, 0.8));
    }

    #[test]
    fn other_numbers_differ_and_like_ones_do_not() {
        assert!(numbers_differ(&[75], &[7500]));
        assert!(numbers_differ(&[75; 5], &[90; 5]));
        assert!(!numbers_differ(&[75; 5], &[79; 5]), "too small to matter");
        assert!(!numbers_differ(&[], &[7]) && !numbers_differ(&[0, 0], &[0]));
        assert!(!numbers_differ(&[70, 75, 80, 900], &[75, 78, 700]));
        assert!(loads_differ(&[0; 5], &[0, 1, 2, 3, 3]));
        assert!(!loads_differ(&[0, 1, 2, 3, 3], &[0, 1, 3, 3, 2]));
        assert!(!loads_differ(&[7; 50], &[8; 50]));
    }

    /// Two samples of one traffic, many times.
    #[test]
    fn chance_alone_seldom_makes_a_difference() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut sample = |n: usize| -> (Vec<u64>, Words) {
            let exponential = |random: &mut Xoshiro256PlusPlus| -> f64 { Exp1.sample(random) };
            let numbers = (0..n).map(|_| (1000.0 * exponential(&mut random).powi(2)) as u64);
            let mut numbers: Vec<u64> = numbers.collect();
            numbers.sort_unstable();
            let mut words = Words::default();
            (0..n).for_each(|_| words.add(Some(["a", "b"][random.random_range(0..4) / 3])));
            (numbers, words)
        };
        for n in [5, 12, 40, 300] {
            let trials = 400;
            let (mut by_number, mut by_word) = (0, 0);
            for _ in 0..trials {
                let ((numbers, words), (others, other)) = (sample(n), sample(n + n / 2));
                by_number += usize::from(numbers_differ(&numbers, &others));
                by_word += usize::from(words.differ(&other));
            }
            assert!(by_number <= trials / 50, "{n}: {by_number}");
            assert!(by_word <= trials / 100, "{n}: {by_word}");
        }
    }
}
