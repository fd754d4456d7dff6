//! How far values are apart: what is constant, and how nearly.

/// Mean, deviation and ends of some values.
#[derive(Debug)]
pub struct Spread {
    /// Mean.
    pub mean: f64,
    /// Standard deviation.
    pub deviation: f64,
    /// Least.
    pub min: f64,
    /// Most.
    pub max: f64,
}

impl Spread {
    /// The spread of these.
    pub fn of(values: impl Iterator<Item = f64> + Clone) -> Spread {
        let n = values.clone().count().max(1) as f64;
        let mean = values.clone().sum::<f64>() / n;
        let variance = values
            .clone()
            .map(|value| (value - mean).powi(2))
            .sum::<f64>()
            / n;
        Spread {
            mean,
            deviation: variance.sqrt(),
            min: values.clone().fold(f64::INFINITY, f64::min),
            max: values.fold(0.0, f64::max),
        }
    }

    /// Coefficient of variation.
    pub fn cv(&self) -> f64 {
        if self.mean > 0.0 {
            self.deviation / self.mean
        } else {
            0.0
        }
    }

    /// Most less least.
    pub fn range(&self) -> f64 {
        self.max - self.min
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_few_values() {
        let spread = Spread::of([2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0].into_iter());
        assert_eq!((spread.mean, spread.deviation), (5.0, 2.0));
        assert_eq!((spread.cv(), spread.range()), (0.4, 7.0));
        assert_eq!(Spread::of([0.0, 0.0].into_iter()).cv(), 0.0);
    }
}
