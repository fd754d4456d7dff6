//! `--fail-if 'ttft_p95>2s'`: a condition under which a command has failed.
//!
//! - `name`: the names of figures
//! - [`Threshold`]: a figure against a bound of its own
//! - [`Change`]: a figure against what it was before

mod change;
mod name;

use std::fmt;
use std::str::FromStr;

use crate::config::Span;
use name::{Named, name};

pub use change::{By, Change, Compared, Condition};
pub use name::{Of, Quantity, Share};

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
    /// A time that each run has, which of the runs, and the bound in ms.
    Time(Quantity, Of, f64),
    /// Stalls of all runs together.
    Stalls(f64),
    /// Token events per second after the first, of which run.
    Tps(Of, f64),
    /// A share of the runs, the bound from 0 to 1.
    Share(Share, f64),
    /// A run's `verdict.timing`.
    Verdict(String),
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

const SHAPE: &str = "write for example 'ttft_p95>2s', 'gap_p99>200ms', 'stalls>0', 'tps<20', 'errors>1%' or \
     'verdict!=steady'";

/// A condition in its three parts: the figure's name, the comparison, the bound.
fn parts(text: &str) -> Result<(&str, Comparison, &str), String> {
    let found = text.find(['<', '>', '=', '!']).and_then(|at| {
        let of = COMPARISONS
            .iter()
            .find(|(sign, _)| text[at..].starts_with(sign));
        of.map(|found| (at, found))
    });
    let Some((at, (sign, comparison))) = found else {
        return Err(format!("'{text}' compares nothing; {SHAPE}"));
    };
    let bound = text[at + sign.len()..].trim();
    Ok((text[..at].trim(), *comparison, bound))
}

fn number(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite());
    number.ok_or_else(|| format!("'{text}' is no number; {SHAPE}"))
}

impl FromStr for Threshold {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let (figure, comparison, bound) = parts(text)?;
        if bound.starts_with(['+', '-', '−']) {
            return Err(format!(
                "'{bound}' is a change, which needs something to compare with (`dripline compare` has that); {SHAPE}"
            ));
        }
        let (named, over) = name(figure)?;
        let figure = match named {
            Named::Stalls => Figure::Stalls(number(bound)?),
            // a speed is not good enough when the slowest is not
            Named::Tps => Figure::Tps(over.unwrap_or(Of::Min), number(bound)?),
            Named::Share(share) => Figure::Share(share, part(bound)?),
            Named::Verdict if !matches!(comparison, Comparison::Equal | Comparison::Different) => {
                return Err(
                    "a verdict is a word; compare it with = or !=, like 'verdict!=steady'"
                        .to_owned(),
                );
            }
            Named::Verdict => Figure::Verdict(bound.to_owned()),
            Named::Time(quantity) => {
                let Span(bound) = bound.parse()?;
                // gaps without more are those of the worst
                let over = over.unwrap_or(Of::Max);
                Figure::Time(quantity, over, bound.as_secs_f64() * 1000.0)
            }
        };
        Ok(Threshold {
            figure,
            comparison,
            text: text.to_owned(),
        })
    }
}

/// `5%` as a part of one; `0` needs no sign.
fn part(text: &str) -> Result<f64, String> {
    let percent = match text.strip_suffix('%') {
        Some(percent) => number(percent.trim())?,
        None if number(text)? == 0.0 => 0.0,
        None => return Err(format!("'{text}' has no %; write {text}%")),
    };
    match (0.0..=100.0).contains(&percent) {
        true => Ok(percent / 100.0),
        false => Err(format!("'{text}' is no share; write 0% to 100%")),
    }
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
        let p95 = Of::Percentile(95);
        assert_eq!(
            read("ttft_p95>2s"),
            (Figure::Time(Quantity::Ttft, p95, 2000.0), Comparison::Above)
        );
        assert_eq!(
            read(" gap_max >= 1m30s "),
            (
                Figure::Time(Quantity::Gap(Of::Max), Of::Max, 90_000.0),
                Comparison::AtLeast
            )
        );
        let p99 = Quantity::Gap(Of::Percentile(99));
        assert_eq!(read("gap_p99>1s").0, Figure::Time(p99, Of::Max, 1000.0));
        assert_eq!(read("gap_p99_p95>1s").0, Figure::Time(p99, p95, 1000.0));
        assert_eq!(read("stalls>0"), (Figure::Stalls(0.0), Comparison::Above));
        assert_eq!(read("tps<=20.5").0, Figure::Tps(Of::Min, 20.5));
        assert_eq!(read("tps_p50<20").0, Figure::Tps(Of::Percentile(50), 20.0));
        assert_eq!(read("errors>1%").0, Figure::Share(Share::Errors, 0.01));
        assert_eq!(read("stalled>0").0, Figure::Share(Share::Stalled, 0.0));
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
            ("ttft_p95_p50>2s", "no figure"),
            ("speed>2", "no figure"),
            ("stalls_p50>2", "no figure"),
            ("stalls>x", "no number"),
            ("gap_p95>1s", "gap_p99"),
            ("gap>1s", "gap_p99"),
            ("errors>0.5", "0.5%"),
            ("errors>500%", "0% to 100%"),
            ("verdict>steady", "verdict!=steady"),
            ("ttft_p95>+10%", "is a change"),
            ("tps<-2", "is a change"),
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
