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

/// By how much `y` grows with each `x` (least squares); `None` where `x` is constant.
pub fn slope(points: impl Iterator<Item = (f64, f64)> + Clone) -> Option<f64> {
    let x = Spread::of(points.clone().map(|(x, _)| x));
    let y = Spread::of(points.clone().map(|(_, y)| y));
    let n = points.clone().count() as f64;
    let together = points
        .map(|(px, py)| (px - x.mean) * (py - y.mean))
        .sum::<f64>()
        / n;
    (x.deviation > 0.0).then(|| together / x.deviation.powi(2))
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

    #[test]
    fn of_two_that_grow_together() {
        let grown = slope([(1.0, 10.0), (2.0, 30.0), (3.0, 50.0)].into_iter());
        assert!(grown.is_some_and(|by| (by - 20.0).abs() < 1e-9));
        assert_eq!(slope([(2.0, 10.0), (2.0, 30.0)].into_iter()), None);
        assert_eq!(slope(std::iter::empty()), None);
    }
}
