//! The program: parse, load the configuration, dispatch, exit code (0 done, 1 failed, 2 used wrongly,
//! 3 a threshold is crossed).

use std::io::BufWriter;
use std::process::ExitCode;

use dripline::cli::{self, Diagnostics, Job};
use dripline::config::{self, LogLevel, ProxyConfig};
use dripline::tools::plot::Look;
use dripline::tools::signals::Signals;
use dripline::tools::{compare, demo, hops, probe, proxy, report, simulate};
use jiff::ZonedDateTime;

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
        Job::Probe(options) => Configured::Probe(options),
        Job::Report(options) => {
            match report::Options::of(options, &ZonedDateTime::now(), Look::of_stdout()) {
                Ok(options) => Configured::Report(options),
                Err(error) => {
                    eprintln!("error: {error}");
                    return ExitCode::from(2);
                }
            }
        }
        Job::Compare(options) => match compare::Options::of(options, Look::of_stdout()) {
            Ok(options) => Configured::Compare(options),
            Err(error) => {
                eprintln!("error: {error}");
                return ExitCode::from(2);
            }
        },
        Job::Hops(options) => Configured::Hops(options),
    };
    let diagnostics = match Diagnostics::start(match &job {
        Configured::Proxy(config) => config.log_level,
        _ => LogLevel::Warn,
    }) {
        Ok(diagnostics) => diagnostics,
        Err(error) => {
            eprintln!("error: cannot start a thread: {error}");
            return ExitCode::FAILURE;
        }
    };
    match run(job) {
        Ok(code) => code,
        Err(error) => {
            diagnostics.say(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

/// A job whose settings are complete and valid.
enum Configured {
    Proxy(Box<ProxyConfig>),
    Simulate(cli::Simulate),
    Demo(cli::Demo),
    Probe(Box<cli::Probe>),
    Report(report::Options),
    Compare(compare::Options),
    Hops(cli::Hops),
}

/// A threshold that the user gave is crossed: neither a failure nor a mistake.
const CROSSED: u8 = 3;

fn run(job: Configured) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let result = runtime.block_on(async {
        match job {
            Configured::Probe(options) => {
                let signals = Signals::listen()?;
                let (out, notes) = (&mut anstream::stdout(), &mut std::io::stderr());
                let stop = signals.reached(1);
                let ended = probe::run(&options, Look::of_stdout(), out, notes, stop).await?;
                return Ok(match ended {
                    probe::Ended::Well => ExitCode::SUCCESS,
                    probe::Ended::Crossed => ExitCode::from(CROSSED),
                });
            }
            Configured::Compare(options) => {
                let out = BufWriter::new(anstream::stdout());
                let ended = compare::run(&options, &mut { out }, &mut std::io::stderr())?;
                return Ok(match ended {
                    compare::Ended::Well => ExitCode::SUCCESS,
                    compare::Ended::Crossed => ExitCode::from(CROSSED),
                });
            }
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
            Configured::Report(options) if options.follow => {
                let signals = Signals::listen()?;
                let (out, notes) = (BufWriter::new(anstream::stdout()), &mut std::io::stderr());
                report::follow::run(&options, &mut { out }, notes, signals.reached(1)).await
            }
            Configured::Report(options) => {
                let out = BufWriter::new(anstream::stdout());
                report::run(&options, &mut { out }, &mut std::io::stderr())
            }
            Configured::Hops(cli::Hops {
                inner,
                outer,
                id,
                all,
                json,
            }) => {
                let options = hops::Options {
                    inner,
                    outer,
                    id,
                    all,
                    json,
                    look: Look::of_stdout(),
                };
                let out = BufWriter::new(anstream::stdout());
                hops::run(&options, &mut { out }, &mut std::io::stderr())
            }
        }
        .map(|()| ExitCode::SUCCESS)
    });
    // A name that is still being resolved keeps its thread; nobody waits for it any more.
    runtime.shutdown_background();
    result
}
