//! Ctrl-C and SIGTERM: the first asks to end, the second insists.

use std::io;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

/// Counts the signals that ask this process to end.
#[derive(Debug, Clone)]
pub struct Signals(watch::Receiver<usize>);

impl Signals {
    /// Takes over Ctrl-C (SIGINT) and SIGTERM from here on.
    pub fn listen() -> io::Result<Self> {
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut terminate = signal(SignalKind::terminate())?;
        let (count, counted) = watch::channel(0);
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    _ = interrupt.recv() => {}
                    _ = terminate.recv() => {}
                }
                count.send_modify(|count| *count += 1);
            }
        });
        Ok(Signals(counted))
    }

    /// Ready once `n` signals have come.
    pub async fn reached(&self, n: usize) {
        // The sender lives as long as the runtime, so an error means that it is going down.
        let _ = self.0.clone().wait_for(|count| *count >= n).await;
    }
}
