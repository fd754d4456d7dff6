//! `dripline demo`: what dripline is for, seen in ten seconds and without a model.
//!
//! Starts the simulated server and the proxy on free ports, sends a few requests of each scenario through real sockets,
//! prints each record as it comes, and then what they say together: a table, the gaps, and each request as a point.
//!
//! - `stage`: server and proxy
//! - `client`: a request and its answer, byte by byte
//! - `results`: records made into table and plots

mod client;
mod results;
mod stage;

use std::io::{ErrorKind, Write};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, ensure};
use indicatif::{ProgressBar, ProgressStyle};
use jiff::tz::TimeZone;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::observe::record::RequestRecord;
use crate::sink::console;
use crate::tools::plot::Look;
use results::Results;
use stage::Stage;

/// Requests of each scenario.
const ROUNDS: usize = 3;
/// Requests open at a time: enough to be quick, few enough that they do not disturb each other's times.
const AT_ONCE: usize = 6;
/// When to give up; the slowest scenario takes two seconds.
const LIMIT: Duration = Duration::from_secs(18);
/// How long a record may take once its client has read everything.
const GRACE: Duration = Duration::from_secs(2);

/// What `dripline demo` was asked to do.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// Stay up afterwards, until `stop`.
    pub keep: bool,
    /// What `out` can take.
    pub look: Look,
}

/// Runs the demo and writes it to `out`. Ends by itself unless it is to be kept, and early when `stop` is ready.
///
/// # Errors
///
/// A sentence, when a port cannot be had, a request fails, a record is missing, or `out` cannot be written.
pub async fn run(
    options: Options,
    out: &mut (dyn Write + Send),
    stop: impl Future<Output = ()>,
) -> anyhow::Result<()> {
    let mut stage = Stage::open().await?;
    let mut paper = Paper {
        out,
        color: options.look.color,
        width: options.look.terminal,
        zone: TimeZone::system(),
        unread: false,
    };
    let result = tokio::select! {
        result = perform(&mut stage, &mut paper, options) => result,
        () = stop => Ok(()),
    };
    stage.close().await;
    match result {
        // as after `dripline demo | head`: whoever closed the pipe has seen enough
        Err(_) if paper.unread => Ok(()),
        result => result,
    }
}

async fn perform(stage: &mut Stage, paper: &mut Paper<'_>, options: Options) -> anyhow::Result<()> {
    paper.print(&opening(stage))?;
    let records = timeout(LIMIT, play(stage, paper))
        .await
        .with_context(|| format!("the demo did not end within {} s", LIMIT.as_secs()))??;
    let results = Results::of(&stage.scenarios, &records);
    results.check(ROUNDS)?;
    paper.print("")?;
    for line in results.lines(options.look) {
        paper.print(&line)?;
    }
    if options.keep {
        paper.print(&encore(stage))?;
        paper.print(&console::header(paper.width))?;
        while let Some(record) = stage.records.recv().await {
            paper.record(&record)?;
        }
    }
    Ok(())
}

/// Sends the requests and returns their records, each printed when it came.
async fn play(stage: &mut Stage, paper: &mut Paper<'_>) -> anyhow::Result<Vec<Arc<RequestRecord>>> {
    let mut waiting = std::iter::repeat_n(stage.scenarios.clone(), ROUNDS).flatten();
    let total = ROUNDS * stage.scenarios.len();
    let bar = progress_bar(total as u64);
    let mut open = JoinSet::new();
    let mut records = Vec::with_capacity(total);
    bar.suspend(|| paper.print(&console::header(paper.width)))?;
    while records.len() < total || !open.is_empty() {
        while open.len() < AT_ONCE
            && let Some(scenario) = waiting.next()
        {
            let proxy = stage.proxy;
            open.spawn(async move { (client::ask(proxy, &scenario).await, scenario) });
        }
        // once every client is done, only the last records are on their way, and not for long
        let grace = if open.is_empty() { GRACE } else { LIMIT };
        tokio::select! {
            record = timeout(grace, stage.records.recv()) => match record {
                Ok(Some(record)) => {
                    bar.suspend(|| paper.record(&record))?;
                    bar.inc(1);
                    records.push(record);
                }
                // which ones are missing is told by `Results::check`
                Ok(None) | Err(_) => break,
            },
            Some(answer) = open.join_next() => {
                let (status, scenario) = answer.context("a client of the demo failed")?;
                let status = status.with_context(|| format!("a request to the scenario {scenario} failed"))?;
                ensure!(status == 200, "a request to the scenario {scenario} was answered with status {status}");
            }
        }
    }
    bar.finish_and_clear();
    Ok(records)
}

/// On standard error, and only where that is a terminal.
fn progress_bar(total: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("  {bar:30} {pos} of {len} requests recorded")
        .expect("the template is a constant that every run shows to be right")
        .progress_chars("█▉▊▋▌▍▎▏ ");
    ProgressBar::new(total).with_style(style)
}

/// Where lines go, with or without colour.
struct Paper<'a> {
    out: &'a mut (dyn Write + Send),
    color: bool,
    /// The columns of a terminal.
    width: Option<usize>,
    zone: TimeZone,
    /// The other end of the pipe is closed.
    unread: bool,
}

impl Paper<'_> {
    fn print(&mut self, text: &str) -> anyhow::Result<()> {
        let result = if self.color {
            writeln!(self.out, "{text}")
        } else {
            writeln!(self.out, "{}", anstream::adapter::strip_str(text))
        };
        let result = result.and_then(|()| self.out.flush());
        self.unread = matches!(&result, Err(error) if error.kind() == ErrorKind::BrokenPipe);
        result.context("cannot write the output")
    }

    fn record(&mut self, record: &RequestRecord) -> anyhow::Result<()> {
        let line = console::line(record, &self.zone, self.width);
        self.print(&line)
    }
}

fn opening(stage: &Stage) -> String {
    let bold = anstyle::Style::new().bold();
    let (proxy, server, count) = (stage.proxy, stage.server, stage.scenarios.len());
    let page = stage.page;
    format!(
        "{bold}The server in this demo is SIMULATED: no model runs, answers are scripted.{bold:#}\n\
         Sockets, proxy and times are real.\n\n\
         dripline passes every byte on unchanged and leaves one record per request:\n\
         when its tokens came, and who held them back.\n\n  \
         client → dripline {proxy} → simulated server {server}\n  \
         see it live: http://{page}\n\n\
         {} requests, {ROUNDS} for each of {count} scenarios, at most {AT_ONCE} at a time:\n",
        ROUNDS * count,
    )
}

/// What can be done while the demo stays up.
fn encore(stage: &Stage) -> String {
    let bold = anstyle::Style::new().bold();
    let (proxy, page) = (stage.proxy, stage.page);
    format!(
        "\n{bold}Still up, until Ctrl-C.{bold:#} The model name picks the scenario. Ask:\n\n  \
         curl -N http://{proxy}/v1/chat/completions -H 'Content-Type: application/json' \\\n    \
         -d '{{\"model\":\"stall\",\"stream\":true,\"messages\":[{{\"role\":\"user\",\"content\":\"hi\"}}]}}'\n\n\
         see it live at http://{page}, or point an app at it:\n\n  \
         export OPENAI_BASE_URL=http://{proxy}/v1 OPENAI_API_KEY=none\n"
    )
}
