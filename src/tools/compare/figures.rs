//! Every figure that is looked at, in the order in which it is shown.

use std::cmp::Reverse;

use super::estimate::{ALPHA, Differs, Estimate};
use super::share::Share;
use super::side::{Side, Stream};
use super::unit::Unit;
use crate::config::threshold::{Of, Quantity};
use crate::observe::record::Timing;
use crate::sink::console::text::word;

/// A figure of both runs, judged.
#[derive(Debug, Clone)]
pub struct Figure {
    /// Its name for programs, where there is one that of `--fail-if`.
    pub key: String,
    /// Its name for people.
    pub name: String,
    /// What it is measured in.
    pub unit: Unit,
    /// What was found.
    pub estimate: Estimate,
    /// The 95 % interval of the difference.
    pub interval: Option<(f64, f64)>,
    /// How sure it is that it differs.
    pub differs: Differs,
}

/// All of them.
#[derive(Debug, Clone)]
pub struct Figures {
    /// In order.
    pub all: Vec<Figure>,
    /// How many both runs have, which is what [`Differs::Clear`] allows for.
    pub looked_at: usize,
}

/// Gap p99: what a flush fault shows in first.
pub const GAP_P99: Quantity = Quantity::Gap(Of::Percentile(99));

impl Figures {
    /// Of two runs; intervals are drawn with `seed`.
    pub fn of(before: &Side, after: &Side, seed: u64) -> Figures {
        let mut all = Vec::new();
        let times = |all: &mut Vec<_>, key: &str, name: &str, quantity, cold, ps: &[usize]| {
            let of = move |stream: &Stream| stream.time(quantity);
            percentiles(
                all,
                [before, after],
                (key, name, Unit::Ms),
                cold,
                of,
                ps,
                seed,
            );
        };
        times(&mut all, "ttft", "TTFT", Quantity::Ttft, false, &[50, 95]);
        times(&mut all, "gap_p99", "gap p99", GAP_P99, false, &[50, 95]);
        times(
            &mut all,
            "total",
            "total",
            Quantity::Total,
            false,
            &[50, 95],
        );
        let tps = ("tps", "events/s", Unit::PerSecond);
        let of = |stream: &Stream| stream.tps.get();
        percentiles(&mut all, [before, after], tps, false, of, &[50], seed);
        let mut share = |key: String, name: String, of: &dyn Fn(&Side) -> Share| {
            let estimate = Estimate::of_share(of(before), of(after));
            all.push((key, name, Unit::Share, estimate));
        };
        share("stalled".to_owned(), "with a stall".to_owned(), &stalled);
        share("errors".to_owned(), "failed".to_owned(), &errors);
        for timing in verdicts(before, after) {
            let word = word(&timing);
            share(format!("verdict_{word}"), word, &|side| {
                verdict(side, timing)
            });
        }
        if [before, after].map(|side| side.streams(true).count()) != [0, 0] {
            times(
                &mut all,
                "cold_ttft",
                "cold TTFT",
                Quantity::Ttft,
                true,
                &[50],
            );
            times(
                &mut all,
                "cold_gap_p99",
                "cold gap p99",
                GAP_P99,
                true,
                &[50],
            );
        }
        let looked_at = all
            .iter()
            .filter(|(.., estimate)| estimate.is_measured())
            .count();
        let judged = |(key, name, unit, estimate): (String, String, Unit, Estimate)| Figure {
            interval: estimate.interval(ALPHA),
            differs: estimate.judged(looked_at),
            key,
            name,
            unit,
            estimate,
        };
        Figures {
            all: all.into_iter().map(judged).collect(),
            looked_at,
        }
    }

    /// The figure of that name for programs.
    pub fn get(&self, key: &str) -> Option<&Figure> {
        self.all.iter().find(|figure| figure.key == key)
    }
}

/// A figure that waits to be judged until it is known how many there are.
type Unjudged = (String, String, Unit, Estimate);

fn percentiles(
    all: &mut Vec<Unjudged>,
    sides: [&Side; 2],
    (key, name, unit): (&str, &str, Unit),
    cold: bool,
    of: impl Fn(&Stream) -> Option<u64>,
    ps: &[usize],
    seed: u64,
) {
    let [before, after] = sides.map(|side| side.sorted(cold, &of));
    for &p in ps {
        let estimate = Estimate::of_percentile(&before, &after, p, seed);
        all.push((
            format!("{key}_p{p}"),
            format!("{name} p{p}"),
            unit,
            estimate,
        ));
    }
}

/// Warm streams with a stall.
pub fn stalled(side: &Side) -> Share {
    Share {
        of: side
            .streams(false)
            .filter(|stream| stream.stalls > 0)
            .count() as u64,
        all: side.streams(false).count() as u64,
    }
}

/// Requests that failed.
pub fn errors(side: &Side) -> Share {
    Share {
        of: side.failed,
        all: side.records,
    }
}

fn verdict(side: &Side, timing: Timing) -> Share {
    let of = side.verdicts.iter().find(|(known, _)| *known == timing);
    Share {
        of: of.map_or(0, |(_, n)| *n),
        all: side.verdicts.iter().map(|(_, n)| n).sum(),
    }
}

/// All verdicts that there are, those first that have most.
fn verdicts(before: &Side, after: &Side) -> Vec<Timing> {
    let mut counts: Vec<(Timing, u64)> = Vec::new();
    for &(timing, n) in before.verdicts.iter().chain(&after.verdicts) {
        match counts.iter_mut().find(|(known, _)| *known == timing) {
            Some((_, all)) => *all += n,
            None => counts.push((timing, n)),
        }
    }
    counts.sort_by_key(|(timing, n)| (Reverse(*n), word(timing)));
    counts.into_iter().map(|(timing, _)| timing).collect()
}
