//! `--fail-if 'ttft_p95>2s'`: a condition under which a probe has failed.

use std::fmt;
use std::str::FromStr;

use crate::config::Span;

/// A figure, a comparison and a bound. The text is kept as it was typed.
#[derive(Debug, Clone, PartialEq)]
pub struct Threshold {
    /// What is looked at.
    pub figure: Figure,
    /// How.
    pub comparison: Comparison,
    /// As it was typed.
    pub text: String,
}

/// What a threshold looks at, with its bound in the figure's unit.
#[derive(Debug, Clone, PartialEq)]
pub enum Figure {
    /// A time over all runs, or the worst run's gaps; the bound in ms.
    Time(Quantity, Of, f64),
    /// Stalls of all runs together.
    Stalls(f64),
    /// Token events per second after the first, of the slowest run.
    Tps(f64),
    /// A run's `verdict.timing`.
    Verdict(String),
}

/// A time that each run has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// First token event.
    Ttft,
    /// First token event of the answer.
    Ttfa,
    /// End of the body.
    Total,
    /// Between token events. Each run has its own percentile, and the worst run's counts.
    Gap,
}

/// Which of many values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Of {
    /// A percentile: 1 to 99.
    Percentile(usize),
    /// The greatest.
    Max,
}

/// How a figure is held against its bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// `>`
    Above,
    /// `>=`
    AtLeast,
    /// `<`
    Below,
    /// `<=`
    AtMost,
    /// `=` or `==`
    Equal,
    /// `!=`
    Different,
}

impl Comparison {
    /// Whether it holds between `value` and `bound`.
    pub fn holds<T: PartialOrd + ?Sized>(self, value: &T, bound: &T) -> bool {
        match self {
            Comparison::Above => value > bound,
            Comparison::AtLeast => value >= bound,
            Comparison::Below => value < bound,
            Comparison::AtMost => value <= bound,
            Comparison::Equal => value == bound,
            Comparison::Different => value != bound,
        }
    }
}

/// The longer ones first: `>` begins `>=`.
const COMPARISONS: [(&str, Comparison); 7] = [
    (">=", Comparison::AtLeast),
    ("<=", Comparison::AtMost),
    ("!=", Comparison::Different),
    ("==", Comparison::Equal),
    (">", Comparison::Above),
    ("<", Comparison::Below),
    ("=", Comparison::Equal),
];

const SHAPE: &str =
    "write for example 'ttft_p95>2s', 'gap_p99>200ms', 'stalls>0', 'tps<20' or 'verdict!=steady'";
/// Percentiles that a record has of its gaps.
const OF_GAPS: [Of; 4] = [
    Of::Percentile(50),
    Of::Percentile(90),
    Of::Percentile(99),
    Of::Max,
];

impl FromStr for Threshold {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let found = text.find(['<', '>', '=', '!']).and_then(|at| {
            COMPARISONS
                .iter()
                .find(|(sign, _)| text[at..].starts_with(sign))
                .map(|found| (at, found))
        });
        let Some((at, (sign, comparison))) = found else {
            return Err(format!("'{text}' compares nothing; {SHAPE}"));
        };
        let (name, bound) = (text[..at].trim(), text[at + sign.len()..].trim());
        let number = || -> Result<f64, String> {
            let number = bound.parse().ok().filter(|number: &f64| number.is_finite());
            number.ok_or_else(|| format!("'{bound}' is no number; {SHAPE}"))
        };
        let figure = match name {
            "stalls" => Figure::Stalls(number()?),
            "tps" => Figure::Tps(number()?),
            "verdict" if !matches!(comparison, Comparison::Equal | Comparison::Different) => {
                return Err(
                    "a verdict is a word; compare it with = or !=, like 'verdict!=steady'"
                        .to_owned(),
                );
            }
            "verdict" => Figure::Verdict(bound.to_owned()),
            _ => {
                let (quantity, of) = time(name)?;
                let Span(bound) = bound.parse()?;
                Figure::Time(quantity, of, bound.as_secs_f64() * 1000.0)
            }
        };
        Ok(Threshold {
            figure,
            comparison: *comparison,
            text: text.to_owned(),
        })
    }
}

fn time(name: &str) -> Result<(Quantity, Of), String> {
    let unknown = || format!("'{name}' is no figure that a probe can fail by; {SHAPE}");
    let (quantity, of) = name.split_once('_').unwrap_or((name, ""));
    let quantity = match quantity {
        "ttft" => Quantity::Ttft,
        "ttfa" => Quantity::Ttfa,
        "total" => Quantity::Total,
        "gap" => Quantity::Gap,
        _ => return Err(unknown()),
    };
    let of = match of {
        "" => {
            return Err(format!(
                "which {name} of several? write {name}_p95, {name}_p50 or {name}_max"
            ));
        }
        "max" => Of::Max,
        of => {
            let percentile = of.strip_prefix('p').and_then(|p| p.parse().ok());
            Of::Percentile(
                percentile
                    .filter(|p| (1..=99).contains(p))
                    .ok_or_else(unknown)?,
            )
        }
    };
    if quantity == Quantity::Gap && !OF_GAPS.contains(&of) {
        return Err(
            "a record has gap_p50, gap_p90, gap_p99 and gap_max; write one of these".to_owned(),
        );
    }
    Ok((quantity, of))
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Figure, Comparison) {
        let Threshold {
            figure, comparison, ..
        } = text.parse().unwrap();
        (figure, comparison)
    }

    #[test]
    fn figures_comparisons_and_bounds() {
        assert_eq!(
            read("ttft_p95>2s"),
            (
                Figure::Time(Quantity::Ttft, Of::Percentile(95), 2000.0),
                Comparison::Above
            )
        );
        assert_eq!(
            read(" gap_max >= 1m30s "),
            (
                Figure::Time(Quantity::Gap, Of::Max, 90_000.0),
                Comparison::AtLeast
            )
        );
        assert_eq!(read("stalls>0"), (Figure::Stalls(0.0), Comparison::Above));
        assert_eq!(read("tps<=20.5"), (Figure::Tps(20.5), Comparison::AtMost));
        assert_eq!(
            read("verdict!=steady"),
            (Figure::Verdict("steady".to_owned()), Comparison::Different)
        );
        assert_eq!(read("verdict==steady").1, Comparison::Equal);
    }

    #[test]
    fn mistakes_are_told_with_what_to_write() {
        for (text, told) in [
            ("ttft_p95", "compares nothing"),
            ("ttft>2s", "ttft_p95"),
            ("ttft_p95>2", "2s for seconds"),
            ("ttft_p0>2s", "no figure"),
            ("speed>2", "no figure"),
            ("stalls>x", "no number"),
            ("gap_p95>1s", "gap_p99"),
            ("verdict>steady", "verdict!=steady"),
        ] {
            let error = text.parse::<Threshold>().unwrap_err();
            assert!(error.contains(told), "{text}: {error}");
        }
    }

    #[test]
    fn comparisons_hold_as_they_say() {
        let holds = |text: &str, value: f64| {
            let (figure, comparison) = read(text);
            let Figure::Stalls(bound) = figure else {
                panic!()
            };
            comparison.holds(&value, &bound)
        };
        assert!(holds("stalls>1", 2.0) && !holds("stalls>1", 1.0));
        assert!(holds("stalls>=1", 1.0) && holds("stalls<1", 0.0));
        assert!(holds("stalls<=1", 1.0) && holds("stalls=1", 1.0) && holds("stalls!=1", 0.0));
    }
}
