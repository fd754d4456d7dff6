//! Numbers that look random and are the same each time.

use std::time::Duration;

/// splitmix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
pub(super) struct Draw(u64);

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

    /// At least 0 and below 1.
    fn share(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}
