//! Numbers that look random and are the same each time.

use std::time::Duration;

/// splitmix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
pub(in crate::tools) struct Draw(u64);

impl Draw {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number of `min..=max`, evenly.
    pub fn number(&mut self, (min, max): (usize, usize)) -> usize {
        let many = (max - min + 1) as f64;
        min + ((self.share() * many) as usize).min(max - min)
    }

    /// A time of `min..=max`, evenly.
    pub fn time(&mut self, min: Duration, max: Duration) -> Duration {
        min + (max - min).mul_f64(self.share())
    }

    /// A time whose mean is `mean`, as between events that know nothing of each other (exponential).
    pub fn wait(&mut self, mean: Duration) -> Duration {
        mean.mul_f64(-(1.0 - self.share()).ln())
    }

    /// At least 0 and below 1.
    fn share(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_have_their_mean_and_are_the_same_each_time() {
        let waits = |seed| {
            let mut draw = Draw::new(seed);
            (0..10_000).map(move |_| draw.wait(Duration::from_millis(100)))
        };
        let mean = waits(7).sum::<Duration>() / 10_000;
        assert!((95..105).contains(&mean.as_millis()), "{mean:?}");
        assert!(waits(7).eq(waits(7)) && !waits(7).eq(waits(8)));
        let short = waits(7).filter(|wait| wait.as_millis() < 10).count();
        assert!((850..1050).contains(&short), "a tenth is short: {short}");
    }
}
