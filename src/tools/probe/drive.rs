//! When runs begin: warm-ups one after the other, then so many at a time, or so many per second whether others have
//! ended or not.
//!
//! The second is an open loop: a server that slows down does not slow the questions down, as it does not in real life.
//! Pauses are drawn from an exponential distribution (a Poisson process), the same ones for the same seed.

use std::future::ready;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use tokio::sync::mpsc::UnboundedSender;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

use super::plan::Plan;
use super::run::Run;
use crate::cli;
use crate::observe::record::End;
use crate::relay::clock;
use crate::tools::simulate::draw::Draw;

/// Runs where neither a number nor a time is given.
const RUNS: u64 = 5;

/// How many runs, and when.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Schedule {
    pub warmup: u64,
    /// `None` for as many as fit into the time.
    pub runs: Option<u64>,
    pub duration: Option<Duration>,
    pub pace: Pace,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Pace {
    /// So many open at a time.
    AtOnce(usize),
    /// So many begun per second, with the seed of the pauses.
    PerSecond(f64, u64),
}

impl Schedule {
    pub fn of(probe: &cli::Probe) -> Schedule {
        let duration = probe.duration.map(|span| span.0);
        let runs = probe.runs.map(|runs| runs.get());
        Schedule {
            warmup: probe.warmup,
            runs: runs.or(duration.is_none().then_some(RUNS)),
            duration,
            pace: match probe.rate {
                Some(rate) => Pace::PerSecond(rate, probe.seed),
                None => Pace::AtOnce(probe.concurrency.get() as usize),
            },
        }
    }

    /// In words, such as `1 warm-up, then 5 runs one after the other`.
    pub fn told(&self) -> String {
        let warmup = match self.warmup {
            0 => String::new(),
            1 => "1 warm-up, then ".to_owned(),
            n => format!("{n} warm-ups, then "),
        };
        let runs = match (self.runs, self.duration) {
            (Some(1), None) => return format!("{warmup}1 run"),
            (Some(n), None) => format!("{n} runs"),
            (None, Some(time)) => format!("runs for {} s", time.as_secs_f64()),
            (Some(n), Some(time)) => format!("{n} runs in {} s at most", time.as_secs_f64()),
            (None, None) => "runs".to_owned(),
        };
        let pace = match self.pace {
            Pace::AtOnce(1) => "one after the other".to_owned(),
            Pace::AtOnce(n) => format!("{n} at a time"),
            Pace::PerSecond(rate, seed) => format!("{rate} per second at random (seed {seed})"),
        };
        format!("{warmup}{runs}, {pace}")
    }

    fn most_at_once(&self) -> usize {
        match self.pace {
            Pace::AtOnce(n) => n,
            Pace::PerSecond(..) => usize::MAX,
        }
    }
}

/// Sends everything; each run goes to `ended` when it has. Dropped, it breaks off what is open.
///
/// # Errors
///
/// A request cannot be made. Runs that fail are none.
pub(super) async fn drive(
    plan: Arc<Plan>,
    schedule: Schedule,
    ended: UnboundedSender<Run>,
) -> anyhow::Result<()> {
    for _ in 0..schedule.warmup {
        let runs = plan.ask(None).await?;
        let unreachable = runs
            .iter()
            .any(|run| run.record.end == End::UpstreamUnreachable);
        send(&ended, runs);
        if unreachable {
            return Ok(()); // what is not there now will not be there in a millisecond
        }
    }
    let start = clock::now();
    let (mut begins, mut number) = (Duration::ZERO, 0);
    let mut pauses = Pauses::of(schedule.pace);
    let mut open: JoinSet<anyhow::Result<Vec<Run>>> = JoinSet::new();
    loop {
        let passed = begins.max(match schedule.pace {
            Pace::AtOnce(_) => clock::now() - start,
            Pace::PerSecond(..) => Duration::ZERO,
        });
        let more = schedule.runs.is_none_or(|runs| number < runs)
            && schedule.duration.is_none_or(|duration| passed < duration);
        if !more && open.is_empty() {
            return Ok(());
        }
        let turn = async {
            match schedule.pace {
                Pace::AtOnce(_) => ready(()).await,
                Pace::PerSecond(..) => sleep_until(Instant::from_std(start + begins)).await,
            }
        };
        tokio::select! {
            biased;
            Some(done) = open.join_next() => send(&ended, done.context("a run failed within dripline")??),
            () = turn, if more && open.len() < schedule.most_at_once() => {
                number += 1;
                begins += pauses.next();
                let plan = plan.clone();
                open.spawn(async move { plan.ask(Some(number)).await });
            }
        }
    }
}

fn send(ended: &UnboundedSender<Run>, runs: Vec<Run>) {
    for run in runs {
        let _ = ended.send(run); // nobody takes them once the probe was stopped
    }
}

/// The pauses between runs.
enum Pauses {
    None,
    Drawn(Draw, Duration),
}

impl Pauses {
    fn of(pace: Pace) -> Pauses {
        match pace {
            Pace::AtOnce(_) => Pauses::None,
            // a rate so small that its pause is too long for the type never begins a second run either
            Pace::PerSecond(rate, seed) => {
                let pause = Duration::try_from_secs_f64(1.0 / rate).unwrap_or(LONGEST);
                Pauses::Drawn(Draw::new(seed), pause.min(LONGEST))
            }
        }
    }

    fn next(&mut self) -> Duration {
        match self {
            Pauses::None => Duration::ZERO,
            Pauses::Drawn(draw, mean) => draw.wait(*mean),
        }
    }
}

/// A year.
const LONGEST: Duration = Duration::from_secs(365 * 86_400);

#[cfg(test)]
mod tests {
    use super::*;

    fn told(args: &str) -> String {
        let args = ["dripline", "probe", "http://h"]
            .into_iter()
            .chain(args.split_whitespace());
        match cli::parse(args.map(Into::into)).unwrap().command {
            cli::Job::Probe(probe) => Schedule::of(&probe).told(),
            job => panic!("{job:?}"),
        }
    }

    #[test]
    fn a_schedule_in_words() {
        assert_eq!(told(""), "1 warm-up, then 5 runs, one after the other");
        assert_eq!(told("--runs 1 --warmup 0"), "1 run");
        assert_eq!(
            told("--concurrency 4 --duration 10s"),
            "1 warm-up, then runs for 10 s, 4 at a time"
        );
        assert_eq!(
            told("--rate 2.5 --runs 9 --duration 1m --warmup 2 --seed 3"),
            "2 warm-ups, then 9 runs in 60 s at most, 2.5 per second at random (seed 3)"
        );
    }

    #[test]
    fn the_smallest_rate_has_a_pause_that_can_be_waited_for() {
        let mut pauses = Pauses::of(Pace::PerSecond(f64::MIN_POSITIVE, 1));
        assert!(pauses.next() > Duration::from_secs(60));
    }
}
