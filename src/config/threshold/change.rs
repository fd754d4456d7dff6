//! `--fail-if 'ttft_p95>+10%'`: a figure that has become worse than it was before.

use std::fmt;
use std::str::FromStr;

use super::name::{Named, name};
use super::{Comparison, Of, Quantity, Share, Threshold, number, parts};
use crate::config::Span;

/// A condition on a run that has another one to be compared with.
#[derive(Debug, Clone, PartialEq)]
pub enum Condition {
    /// On the later run alone.
    Bound(Threshold),
    /// On what became of it.
    Change(Change),
}

/// A figure, and by how much it may not have changed. The text is kept as it was typed.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// What is looked at, and of which of the runs.
    pub figure: Compared,
    /// How, which goes the way of the bound: above what has grown, below what has shrunk.
    pub comparison: Comparison,
    /// The bound.
    pub by: By,
    /// As it was typed.
    pub text: String,
}

/// A figure whose change has a size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compared {
    /// Percentile `.1` of a time over the runs.
    Time(Quantity, usize),
    /// The same of token events per second after the first.
    Tps(usize),
    /// A part of the runs.
    Share(Share),
}

/// How far, with its sign.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum By {
    /// As a part of what it was: 0.1 is a tenth more.
    Part(f64),
    /// In the figure's own unit: ms, events per second, or a share from 0 to 1.
    Own(f64),
}

const SHAPE: &str =
    "write for example 'ttft_p95>+10%', 'gap_p99>+20ms', 'tps<-10%' or 'errors>+2pp'";

impl FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let (_, _, bound) = parts(text)?;
        match bound.starts_with(['+', '-', '−']) {
            true => text.parse().map(Condition::Change),
            false => text.parse().map(Condition::Bound),
        }
    }
}

impl FromStr for Change {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let (figure, comparison, bound) = parts(text)?;
        let grown = bound.starts_with('+');
        let is_further = matches!(
            (comparison, grown),
            (Comparison::Above | Comparison::AtLeast, true)
                | (Comparison::Below | Comparison::AtMost, false)
        );
        if !is_further {
            return Err(format!(
                "'{text}' mixes the ways: what has grown is >+, what has shrunk is <-; {SHAPE}"
            ));
        }
        let size = bound.trim_start_matches(['+', '-', '−']).trim();
        let (named, over) = name(figure)?;
        // the worst of many says how many there were, not how they are
        let over = match over.unwrap_or(Of::Percentile(50)) {
            Of::Percentile(p) => p,
            Of::Min | Of::Max => {
                return Err(format!(
                    "the least and the greatest of many have no interval; write a percentile, such as {}_p95",
                    figure.rsplit_once('_').map_or(figure, |(name, _)| name)
                ));
            }
        };
        let figure = match named {
            Named::Time(quantity) => Compared::Time(quantity, over),
            Named::Tps => Compared::Tps(over),
            Named::Share(share) => Compared::Share(share),
            Named::Stalls => {
                return Err(
                    "stalls are more where there are more runs; write 'stalled>+5pp', the share of runs with one"
                        .to_owned(),
                );
            }
            Named::Verdict => return Err(format!("a verdict has no size; {SHAPE}")),
        };
        let by = match (figure, size.strip_suffix('%')) {
            (Compared::Share(_), _) => By::Own(points(size)? / 100.0),
            (_, Some(percent)) => By::Part(number(percent.trim())? / 100.0),
            (Compared::Time(..), None) => {
                let Span(size) = size.parse()?;
                By::Own(size.as_secs_f64() * 1000.0)
            }
            (Compared::Tps(_), None) => By::Own(number(size)?),
        };
        Ok(Change {
            figure,
            comparison,
            by: if grown { by } else { by.negated() },
            text: text.to_owned(),
        })
    }
}

impl By {
    fn negated(self) -> By {
        match self {
            By::Part(size) => By::Part(-size),
            By::Own(size) => By::Own(-size),
        }
    }
}

/// `2pp` as 2. A share's change in % could be of the share or in points.
fn points(text: &str) -> Result<f64, String> {
    let points = text.strip_suffix("pp").ok_or_else(|| {
        format!("'{text}' may be meant in two ways; write percentage points, such as +2pp")
    })?;
    number(points.trim())
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Condition::Bound(threshold) => &threshold.text,
            Condition::Change(change) => &change.text,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Compared, By) {
        match text.parse().unwrap() {
            Condition::Change(change) => (change.figure, change.by),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn changes_have_a_sign_and_a_unit() {
        let p99 = Quantity::Gap(Of::Percentile(99));
        assert_eq!(
            read("ttft_p95>+10%"),
            (Compared::Time(Quantity::Ttft, 95), By::Part(0.1))
        );
        assert_eq!(
            read(" gap_p99 >= + 20ms"),
            (Compared::Time(p99, 50), By::Own(20.0))
        );
        assert_eq!(read("gap_p99_p95>+1s").0, Compared::Time(p99, 95));
        assert_eq!(read("tps<-10%"), (Compared::Tps(50), By::Part(-0.1)));
        assert_eq!(read("tps_p95<-2.5"), (Compared::Tps(95), By::Own(-2.5)));
        assert_eq!(
            read("errors>+2pp"),
            (Compared::Share(Share::Errors), By::Own(0.02))
        );
    }

    #[test]
    fn what_has_no_sign_is_a_bound() {
        for text in ["ttft_p95>2s", "verdict!=steady", "errors>1%", "tps<20"] {
            let condition: Condition = text.parse().unwrap();
            assert!(matches!(condition, Condition::Bound(_)), "{text}");
            assert_eq!(condition.to_string(), text);
        }
    }

    #[test]
    fn mistakes_are_told_with_what_to_write() {
        for (text, told) in [
            ("ttft_p95>-10%", "mixes the ways"),
            ("ttft_p95=+10%", "mixes the ways"),
            ("ttft_max>+10%", "ttft_p95"),
            ("gap_p99_max>+10%", "gap_p99_p95"),
            ("stalls>+1", "stalled>+5pp"),
            ("verdict!=+1", "mixes"),
            ("errors>+2%", "+2pp"),
            ("ttft_p95>+x%", "no number"),
            ("ttft_p95>+20", "20s for seconds"),
            ("ttft>+2s", "ttft_p95"),
            ("ttft_p95", "compares nothing"),
        ] {
            let error = text.parse::<Condition>().unwrap_err();
            assert!(error.contains(told), "{text}: {error}");
        }
    }
}
