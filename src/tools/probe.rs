//! `dripline probe`: a server asked a few times, with no app and no proxy.
//!
//! - `plan`: everything settled before the first run; `body`, `key`: what is sent and where the key may go
//! - `drive`: when runs begin
//! - `run`: one request, its record and figures
//! - `table`, `rows`: a run as a row for people, as JSON and CSV for programs
//! - `summary`, `differs`, `pairs`: what stands under the rows
//! - `limits`, `failure`, `junit`: what is not good enough, and how CI learns of it
//!
//! Requests go out through [`relay::client`](crate::relay::client), which says what t0 is. Rows are kept as rows: a
//! cold run is marked and is in no figure, and nothing is averaged.

mod body;
mod differs;
mod drive;
mod failure;
mod junit;
mod key;
mod limits;
mod pairs;
mod plan;
mod rows;
mod run;
mod summary;
mod table;

use std::io::{ErrorKind, Write};
use std::sync::Arc;

use anyhow::{Context, bail};
use indicatif::{ProgressBar, ProgressStyle};
use tokio::sync::mpsc;

use crate::cli;
use crate::tools::plot::Look;
use drive::{Schedule, drive};
use failure::failure;
use limits::Checked;
use plan::Plan;
use run::Run;
use table::Table;

pub use limits::is_threshold;
pub(in crate::tools) use limits::{over_all, sound};
pub(in crate::tools) use run::tps_after_first;

/// How a probe ended whose runs all came whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// Every threshold was kept.
    Well,
    /// A condition of `--fail-if` holds.
    Crossed,
}

/// Where output goes.
struct Paper<'a> {
    out: &'a mut (dyn Write + Send),
    notes: &'a mut (dyn Write + Send),
    color: bool,
    /// On standard error, and only where that is a terminal.
    bar: ProgressBar,
    /// The other end of the pipe is closed.
    unread: bool,
}

/// Sends what `probe` asks for and writes rows to `out` as they come, then what they say together; what is none of the
/// output goes to `notes`. Ends early when `stop` is ready.
///
/// # Errors
///
/// A sentence, when a run failed, nothing could be sent, it was stopped, or a file cannot be written.
pub async fn run(
    probe: &cli::Probe,
    look: Look,
    out: &mut (dyn Write + Send),
    notes: &mut (dyn Write + Send),
    stop: impl Future<Output = ()>,
) -> anyhow::Result<Ended> {
    limits::sound(&probe.fail_if)?;
    let plan = Arc::new(Plan::of(probe, |name| std::env::var(name).ok())?);
    let schedule = Schedule::of(probe);
    let mut paper = Paper {
        out,
        notes,
        color: look.color,
        bar: bar(&schedule, plan.is_paired()),
        unread: false,
    };
    for note in &plan.notes {
        paper.note(note)?;
    }
    let result = perform(probe, &plan, schedule, look, &mut paper, stop).await;
    paper.bar.finish_and_clear();
    match result {
        // whoever closed the pipe has seen enough
        Err(_) if paper.unread => Ok(Ended::Well),
        result => result,
    }
}

async fn perform(
    probe: &cli::Probe,
    plan: &Arc<Plan>,
    schedule: Schedule,
    look: Look,
    paper: &mut Paper<'_>,
    stop: impl Future<Output = ()>,
) -> anyhow::Result<Ended> {
    let is_text = !probe.json && !probe.csv;
    let table = Table {
        width: usize::from(look.width),
        sides: plan.is_paired(),
    };
    if is_text {
        let via = probe.via.as_ref();
        let via = via.map_or(String::new(), |via| format!(", and through {via}"));
        paper.print(&format!("{}{via}", probe.url))?;
        paper.print(&format!("  {}", plan.told))?;
        paper.print(&format!("  {}\n", schedule.told()))?;
        paper.print(&table.header())?;
    } else if probe.csv {
        paper.print(rows::CSV_HEADER)?;
    }
    let mut runs = Vec::new();
    let (sender, mut ended) = mpsc::unbounded_channel();
    let mut driven = std::pin::pin!(drive(plan.clone(), schedule, sender));
    let mut stop = std::pin::pin!(stop);
    let (mut done, mut stopped) = (false, false);
    loop {
        tokio::select! {
            biased;
            run = ended.recv() => match run {
                Some(run) => {
                    paper.run(&run, probe, table)?;
                    runs.push(run);
                }
                None => break,
            },
            result = &mut driven, if !done => {
                result?;
                done = true;
                ended.close(); // what is in it still comes
            }
            () = &mut stop, if !done => {
                stopped = true;
                break;
            }
        }
    }
    paper.bar.finish_and_clear();
    runs.sort_by_key(|run| run.number);
    conclude(probe, plan, &runs, stopped, look, paper)
}

/// What the runs say together, and whether that is good enough.
fn conclude(
    probe: &cli::Probe,
    plan: &Plan,
    runs: &[Run],
    stopped: bool,
    look: Look,
    paper: &mut Paper<'_>,
) -> anyhow::Result<Ended> {
    if !probe.json && !probe.csv && runs.iter().any(Run::is_whole) {
        paper.print("")?;
        paper.print(summary::text(plan, runs, look).trim_end())?;
    }
    let warm: Vec<&Run> = runs.iter().filter(|run| !run.is_cold()).collect();
    let conditions = probe.fail_if.iter();
    let checked: Vec<Checked> = conditions
        .map(|threshold| limits::check(threshold, &warm))
        .collect();
    if let Some(path) = &probe.junit {
        let report = junit::junit(&format!("dripline probe {}", probe.url), runs, &checked);
        std::fs::write(path, report)
            .with_context(|| format!("--junit {}: cannot be written", path.display()))?;
    }
    for checked in &checked {
        let Checked {
            condition, found, ..
        } = checked;
        let kept = if checked.crossed {
            "holds"
        } else {
            "does not hold"
        };
        paper.note(&format!("--fail-if '{condition}' {kept}: it is {found}"))?;
    }
    if stopped {
        bail!(
            "stopped after {} runs; what was open is not among them",
            runs.len()
        );
    }
    if let Some(failures) = summary::failures(runs) {
        bail!("{failures}");
    }
    if runs.iter().all(|run| run.number.is_none()) {
        let last = runs.iter().rev().find_map(|run| failure(&run.record));
        bail!(
            "the warm-up failed, so nothing was measured: {}",
            last.unwrap_or_default()
        );
    }
    Ok(match checked.iter().any(|checked| checked.crossed) {
        true => Ended::Crossed,
        false => Ended::Well,
    })
}

fn bar(schedule: &Schedule, is_paired: bool) -> ProgressBar {
    let sides = if is_paired { 2 } else { 1 };
    let (bar, template) = match (schedule.runs, schedule.duration) {
        (Some(runs), None) => (
            ProgressBar::new((schedule.warmup + runs) * sides),
            "  {bar:30} {pos} of {len} runs",
        ),
        _ => (
            ProgressBar::no_length(),
            "  {spinner} {pos} runs, {elapsed}",
        ),
    };
    let style = ProgressStyle::with_template(template)
        .expect("the templates are constants that every run shows to be right")
        .progress_chars("█▉▊▋▌▍▎▏ ");
    bar.with_style(style)
}

impl Paper<'_> {
    /// One run, in the form that was asked for.
    fn run(&mut self, run: &Run, probe: &cli::Probe, table: Table) -> anyhow::Result<()> {
        self.bar.inc(1);
        if probe.json {
            let line = rows::json(run).context("a record cannot be written as JSON")?;
            return self.print(&line);
        }
        if !probe.csv {
            return self.print(&table.line(run));
        }
        match run.is_cold() {
            true => self.note(&format!(
                "run {} is cold and not in the CSV; --json has it",
                run.name()
            )),
            false => self.print(&rows::csv(run)),
        }
    }

    fn print(&mut self, text: &str) -> anyhow::Result<()> {
        let (out, color) = (&mut *self.out, self.color);
        let result = self.bar.suspend(|| {
            let written = match color {
                true => writeln!(out, "{text}"),
                false => writeln!(out, "{}", anstream::adapter::strip_str(text)),
            };
            written.and_then(|()| out.flush())
        });
        self.unread = matches!(&result, Err(error) if error.kind() == ErrorKind::BrokenPipe);
        result.context("cannot write the output")
    }

    fn note(&mut self, text: &str) -> anyhow::Result<()> {
        let notes = &mut *self.notes;
        self.bar
            .suspend(|| writeln!(notes, "{text}"))
            .context("cannot write to standard error")
    }
}
