//! The program: parse, load the configuration, dispatch, exit code (0 done, 1 failed, 2 used wrongly).

use std::process::ExitCode;

use dripline::cli::{self, Job};
use dripline::config::{self, LogLevel, ProxyConfig};
use dripline::tools::plot::Look;
use dripline::tools::signals::Signals;
use dripline::tools::{demo, proxy, simulate};
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::prelude::*;

fn main() -> ExitCode {
    let cli = cli::parse(std::env::args_os()).unwrap_or_else(|error| error.exit());
    let job = match cli.command {
        Job::Proxy(settings) => match config::load(*settings) {
            Ok(config) => Configured::Proxy(Box::new(config)),
            Err(error) => {
                eprintln!("error: {error}");
                return ExitCode::from(2);
            }
        },
        Job::Simulate(options) => Configured::Simulate(options),
        Job::Demo(options) => Configured::Demo(options),
    };
    start_diagnostics(match &job {
        Configured::Proxy(config) => config.log_level,
        _ => LogLevel::Warn,
    });
    match run(job) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// A job whose settings are complete and valid.
enum Configured {
    Proxy(Box<ProxyConfig>),
    Simulate(cli::Simulate),
    Demo(cli::Demo),
}

fn run(job: Configured) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let result = runtime.block_on(async {
        match job {
            Configured::Proxy(config) => proxy::run(*config).await,
            Configured::Simulate(cli::Simulate { listen, scenario }) => {
                let signals = Signals::listen()?;
                let options = simulate::Options {
                    listen: listen.0,
                    scenario,
                };
                simulate::run(options, signals.reached(1)).await
            }
            Configured::Demo(cli::Demo { keep }) => {
                let signals = Signals::listen()?;
                let options = demo::Options {
                    keep,
                    look: Look::of_stdout(),
                };
                demo::run(options, &mut anstream::stdout(), signals.reached(1)).await
            }
        }
    });
    // A name that is still being resolved keeps its thread; nobody waits for it any more.
    runtime.shutdown_background();
    result
}

/// Diagnostics go to standard error, and only our own: the libraries' can hold bytes of heads.
fn start_diagnostics(level: LogLevel) {
    let level = match level {
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
        LogLevel::Trace => LevelFilter::TRACE,
    };
    let plain = anstream::AutoStream::choice(&std::io::stderr()) == anstream::ColorChoice::Never;
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(!plain)
        .with_target(false);
    let ours = Targets::new().with_target("dripline", level);
    tracing_subscriber::registry()
        .with(lines.with_filter(ours))
        .init();
    if let Some(warning) = config::unknown_variables(
        std::env::vars_os().filter_map(|(name, _)| name.into_string().ok()),
    ) {
        tracing::warn!("{warning}");
    }
    // A panic's message can hold what was being read; where it happened is enough.
    std::panic::set_hook(Box::new(|panic| {
        let place = panic
            .location()
            .map_or_else(|| "an unknown place".to_owned(), ToString::to_string);
        tracing::error!("internal error at {place} (please report)");
    }));
}
