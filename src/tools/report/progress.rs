//! How far the reading is, on a terminal, once it takes longer than a second.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// What is faster needs no bar.
const PATIENCE: Duration = Duration::from_secs(1);

/// A bar on standard error; nothing where that is no terminal.
pub struct Progress {
    /// Bytes that were read, as they are in the files.
    pub done: Arc<AtomicU64>,
    bar: ProgressBar,
    is_shown: bool,
}

impl Progress {
    /// Over all bytes of `files`; standard input has none that are known.
    pub fn over(files: &[PathBuf]) -> Self {
        let size = |file: &PathBuf| file.metadata().map_or(0, |data| data.len());
        let style = ProgressStyle::with_template("  {bar:30} {bytes} of {total_bytes} read")
            .expect("the template is a constant that every run shows to be right")
            .progress_chars("█▉▊▋▌▍▎▏ ");
        let bar = ProgressBar::with_draw_target(
            Some(files.iter().map(size).sum()),
            ProgressDrawTarget::hidden(),
        );
        Progress {
            done: Arc::default(),
            bar: bar.with_style(style),
            is_shown: true,
        }
    }

    /// One that is never shown.
    pub fn hidden() -> Self {
        let mut progress = Progress::over(&[]);
        progress.is_shown = false;
        progress
    }

    /// Shows how far it is.
    pub fn show(&self) {
        if !self.is_shown || self.bar.elapsed() < PATIENCE {
            return;
        }
        if self.bar.is_hidden() {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.bar.set_position(self.done.load(Ordering::Relaxed));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
