//! Ctrl-Z, after which the shell is to have the terminal as it was.

use std::future::pending;
use std::io;

use rustix::process::{Signal as Number, getpid, kill_process};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Requests to stop.
#[derive(Debug, Default)]
pub struct Stops(Option<Signal>);

impl Stops {
    /// Takes over Ctrl-Z (SIGTSTP) from here on; without this the process stops by itself.
    ///
    /// # Errors
    ///
    /// The system does not give it.
    pub fn listen() -> io::Result<Stops> {
        let kind = SignalKind::from_raw(Number::TSTP.as_raw());
        Ok(Stops(Some(signal(kind)?)))
    }

    /// Ready when there is one.
    pub async fn come(&mut self) {
        match &mut self.0 {
            Some(signal) => _ = signal.recv().await,
            None => pending().await,
        }
    }
}

/// Stops this process, all its threads within moments. SIGTTOU does what SIGTSTP did before it was taken over: nothing
/// where there is no shell that could let the process go on.
pub fn stop() {
    let _ = kill_process(getpid(), Number::TTOU);
}
