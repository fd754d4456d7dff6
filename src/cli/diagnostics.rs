//! Diagnostics: what the program says beside its work, on standard error.

mod lines;

use std::io;

use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::prelude::*;

use crate::config::{self, LogLevel};
use lines::Lines;

/// Diagnostics until the drop, which waits (a second at most) for all of them to be written.
pub struct Diagnostics(Lines);

impl Diagnostics {
    /// Starts them for the whole process. Only our own are shown: the libraries' can hold bytes of
    /// heads.
    pub fn start(level: LogLevel) -> io::Result<Self> {
        let lines = Lines::onto(io::stderr())?;
        let writer = lines.clone();
        let plain = anstream::AutoStream::choice(&io::stderr()) == anstream::ColorChoice::Never;
        let layer = tracing_subscriber::fmt::layer()
            .with_writer(move || writer.clone())
            .with_ansi(!plain)
            .with_target(false);
        let ours = Targets::new().with_target("dripline", filter(level));
        tracing_subscriber::registry()
            .with(layer.with_filter(ours))
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
        Ok(Diagnostics(lines))
    }

    /// Says a line as it is, whatever the level.
    pub fn say(&self, line: &str) {
        self.0.push(format!("{line}\n").into());
    }
}

impl Drop for Diagnostics {
    fn drop(&mut self) {
        self.0.wait();
    }
}

fn filter(level: LogLevel) -> LevelFilter {
    match level {
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
        LogLevel::Trace => LevelFilter::TRACE,
    }
}
