//! The difference between a percentile of one run and that of another, drawn many times over, for its interval.
//!
//! Whatever the distribution, how many of `n` requests lie below the true percentile `q` is a binomial number. Each draw
//! takes such a number for each run, reads the percentile off between the two requests that it falls between, and keeps
//! the difference. The interval is cut from all draws, as with the percentile bootstrap (Efron and Tibshirani, *An
//! Introduction to the Bootstrap*, 1993, chapter 13), of which this is the inverse: the test-inversion bootstrap
//! (Carpenter, J. R. Stat. Soc. B 61, 1999, p. 159), of one run Woodruff's interval (J. Am. Stat. Assoc. 47, 1952,
//! p. 635).
//!
//! Why the inverse: the percentile bootstrap takes the skew of a high percentile the wrong way round, and few requests
//! for more than they are. With runs of different shape its 95 % intervals of the median of 8 hold the truth in some 90 %
//! of trials, these in 95 % and more (the tests of this module; docs/compare.md has the table). BCa would correct the skew,
//! but its acceleration comes from the jackknife, which fails for percentiles (Efron and Tibshirani, chapter 11).
//!
//! What is drawn are requests, never gaps: gaps of one stream know of each other. A draw takes the same time however many
//! requests there are.

use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};
use rand_distr::{Binomial, Distribution};

/// Draws for an interval.
pub const RESAMPLES: usize = 20_000;

/// A share of the draws that may lie beyond the first or last request, which are no number. With the 2.5 % of an interval's
/// end they would have none; below this it has one.
const BEYOND: f64 = 0.02;

/// Whether two runs of so many have an interval of the percentile `p`.
pub fn is_enough(n: [usize; 2], p: usize) -> bool {
    let q = p as f64 / 100.0;
    let below = |n: usize| (1.0 - q).powf(n as f64);
    let above = |n: usize| q.powf(n as f64);
    // one end is without a number where one run says nothing upwards, or the other nothing downwards
    above(n[0]) + below(n[1]) <= BEYOND && above(n[1]) + below(n[0]) <= BEYOND
}

/// Of how many requests each of two runs of one size has to be for [`is_enough`].
pub fn needed(p: usize) -> usize {
    (1..)
        .find(|&n| is_enough([n, n], p))
        .expect("both shares fall to nothing")
}

/// So many differences, `after` less `before`, sorted. Both are sorted; what they are of gives the unit. Those that no
/// number is known of are left out. Swapping the runs turns every sign, and the same `seed` gives the same again.
pub fn differences(
    before: &[u64],
    after: &[u64],
    p: usize,
    seed: u64,
    resamples: usize,
) -> Vec<f64> {
    let q = p as f64 / 100.0;
    // two streams of random numbers, each used for either run, so that neither run is special
    let streams = [seed, !seed].map(Xoshiro256PlusPlus::seed_from_u64);
    let [one, other] = [before, after].map(|values| {
        streams
            .clone()
            .map(|stream| draws(values, q, stream, resamples / 2))
    });
    let pairs = |from: &[f64], to: &[f64]| -> Vec<f64> {
        let of = |(from, to): (&f64, &f64)| to - from;
        from.iter().zip(to).map(of).collect()
    };
    let mut all = pairs(&one[0], &other[1]);
    all.extend(pairs(&one[1], &other[0]));
    all.retain(|difference| !difference.is_nan());
    all.sort_unstable_by(f64::total_cmp);
    all
}

/// Where the true percentile may lie, so many times.
fn draws(values: &[u64], q: f64, mut random: Xoshiro256PlusPlus, n: usize) -> Vec<f64> {
    let below = Binomial::new(values.len() as u64, q).expect("q is between 0 and 1");
    let draw = |_| {
        let rank = below.sample(&mut random) as usize;
        let part: f64 = random.random();
        let from = rank.checked_sub(1).map(|rank| values[rank] as f64);
        match (from, values.get(rank)) {
            (Some(from), Some(&to)) => from + (to as f64 - from) * part,
            (None, _) => f64::NEG_INFINITY,
            (_, None) => f64::INFINITY,
        }
    };
    (0..n).map(draw).collect()
}

/// The ends between which all but a share `alpha` of `sorted` lies; an end without a number is infinite.
pub fn interval(sorted: &[f64], alpha: f64) -> Option<(f64, f64)> {
    let last = sorted.len().checked_sub(1)?;
    let cut = ((alpha / 2.0 * sorted.len() as f64) as usize).min(last / 2);
    Some((sorted[cut], sorted[last - cut]))
}

/// The chance that all of one run come out beyond all of the other though nothing sets them apart: of all orders that two
/// runs can mix in, 2 are such. `None` where the runs do mix. Both are sorted.
pub fn apart(before: &[u64], after: &[u64]) -> Option<f64> {
    let (first, last) = (before.first()?, before.last()?);
    let is_apart = last < after.first()? || after.last()? < first;
    is_apart.then(|| {
        let (few, many) = (before.len().min(after.len()), before.len().max(after.len()));
        let orders = (1..=few).map(|k| k as f64 / (many + k) as f64);
        2.0 * orders.product::<f64>()
    })
}

#[cfg(test)]
mod tests;
