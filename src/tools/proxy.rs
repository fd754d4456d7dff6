//! `dripline proxy`: the relay, the sinks and the admin side, wired together.

pub(super) mod admin;
mod export;

use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;

use super::signals::Signals;
use super::systemd;
use crate::cli::announcement;
use crate::config::{LogTarget, ProxyConfig, Recorded};
use crate::live::scrape::Scrape;
use crate::relay::{Emit, Proxy};
use crate::sink::console::Output;
use crate::sink::otlp::metrics::Push;
use crate::sink::{Console, Jsonl, Metrics, Sink, Sinks};
use export::Export;

/// How long the announcement may take before requests are served without it.
const ANNOUNCE_WITHIN: Duration = Duration::from_secs(1);

/// Serves until a signal asks to end, drains, and returns when every record is written.
pub async fn run(config: ProxyConfig) -> anyhow::Result<()> {
    // Opening a pipe waits for its reader: until then a signal still ends the program.
    let log = open_log(&config.log)?.map(Sink::Jsonl);
    let signals = Signals::listen().context("cannot listen for signals")?;
    let console = (!config.quiet).then(|| Sink::Console(Console::new(output(&config.log))));
    let admin = admin::bind(config.admin.as_ref())?;
    let export = config.otlp.as_ref().map(|otlp| Export::new(otlp, &config));
    let metrics = Arc::new(Metrics::new(config.metrics_models));
    let is_counted = admin.is_some() || export.as_ref().is_some_and(Export::has_metrics);
    let counted = is_counted.then(|| Sink::Metrics(metrics.clone()));
    let sinks = [log, console, counted].into_iter().flatten();
    let exported = export.iter().flat_map(Export::sinks);
    let sinks = Sinks::start(sinks.chain(exported).collect());
    let sinks = Arc::new(sinks.context("cannot start the threads that write records")?);
    let recent = admin.as_ref().map(|admin| admin.recent.clone());
    let emit: Emit = {
        let (sinks, all) = (sinks.clone(), config.record == Recorded::All);
        Arc::new(move |record, drip| {
            if all || record.is_generation_or_stream() {
                let record = Arc::new(record);
                // First, so that what a log or a metric tells of can be looked at.
                if let Some(recent) = &recent {
                    recent.push(record.clone(), drip);
                }
                sinks.emit(&record);
            }
        })
    };
    let proxy = match systemd::listener()? {
        Some(listener) => Proxy::on(listener, &config, emit)?,
        None => Proxy::bind(&config, emit).await?,
    };
    let page = admin.as_ref().map(|admin| admin.listener.addr());
    let scrape = Scrape {
        metrics,
        gauge: proxy.gauge(),
        sinks: sinks.clone(),
        upstream: config.upstream.authority.clone(),
    };
    let push = export
        .filter(Export::has_metrics)
        .map(|export| export.push(scrape.clone()))
        .transpose()?;
    let admin = admin
        .map(|admin| admin.serve(&config, &proxy, scrape))
        .transpose()?;
    announce(&config, announcement(&config, proxy.local_addr(), page)).await;
    systemd::ready();
    let stop = async {
        signals.reached(1).await;
        systemd::stopping();
    };
    proxy.run(stop, signals.reached(2)).await;
    drop(admin);

    // Waits for the writers' threads, so it stays away from the threads that serve.
    let close = move || {
        let totals = sinks.close();
        // after all records are counted
        push.into_iter().for_each(Push::close);
        totals
    };
    let totals = tokio::task::spawn_blocking(close).await?;
    for lost in totals.iter().filter(|totals| totals.lost > 0) {
        tracing::error!(
            "{} of {} records did not reach {}",
            lost.lost,
            lost.lost + lost.written,
            lost.name
        );
    }
    Ok(())
}

fn open_log(target: &LogTarget) -> anyhow::Result<Option<Jsonl>> {
    match target {
        LogTarget::Off => Ok(None),
        LogTarget::Stdout => Ok(Some(
            Jsonl::stdout().context("cannot write the log to standard output")?,
        )),
        LogTarget::File(path) => {
            let log = Jsonl::append_to(path).with_context(|| {
                format!(
                    "cannot append to the log {}: choose another with --log, or --log off",
                    path.display()
                )
            })?;
            Ok(Some(log))
        }
    }
}

/// The terminal's lines keep clear of a log that goes to standard output.
fn output(log: &LogTarget) -> Output {
    match log {
        LogTarget::Stdout => Output::Stderr,
        _ => Output::Stdout,
    }
}

/// Nobody may be reading, or the terminal be paused: the proxy serves all the same.
async fn announce(config: &ProxyConfig, text: String) {
    let output = output(&config.log);
    let said = tokio::task::spawn_blocking(move || match output {
        Output::Stdout => writeln!(std::io::stdout(), "{text}"),
        Output::Stderr => writeln!(std::io::stderr(), "{text}"),
    });
    let _ = tokio::time::timeout(ANNOUNCE_WITHIN, said).await;
}
