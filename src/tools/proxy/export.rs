//! What a proxy sends to a collector.

use anyhow::Context;
use ulid::Ulid;

use crate::config::{Otlp as Config, ProxyConfig};
use crate::live::scrape::Scrape;
use crate::relay::clock;
use crate::sink::otlp::metrics::Push;
use crate::sink::otlp::{Client, Signal, Source};
use crate::sink::{Otlp, Sink};

/// What is sent, by whom and to whom.
pub struct Export {
    config: Config,
    source: Source,
}

impl Export {
    /// As `config` says; nothing is sent yet.
    pub fn new(otlp: &Config, config: &ProxyConfig) -> Export {
        Export {
            config: otlp.clone(),
            source: Source {
                id: Ulid::generate().to_string(),
                instance: config.instance.clone(),
                label: config.label.clone(),
                others: otlp.resource.0.clone(),
            },
        }
    }

    /// Whether the metrics are sent.
    pub fn has_metrics(&self) -> bool {
        self.config.signals.metrics
    }

    /// The sinks that send records, each with a connection of its own.
    pub fn sinks(&self) -> impl Iterator<Item = Sink> {
        let signals = self.config.signals;
        let wanted = [
            (Signal::Logs, signals.logs),
            (Signal::Traces, signals.traces),
        ];
        let wanted = wanted.into_iter().filter(|(_, is_wanted)| *is_wanted);
        wanted.map(|(signal, _)| {
            let otlp = Otlp::new(
                signal,
                self.client(),
                &self.source,
                self.config.interval,
                clock::now,
            );
            Sink::Otlp(Box::new(otlp))
        })
    }

    /// Sends the metrics that a scrape would see, until it is closed.
    ///
    /// # Errors
    ///
    /// There are no more threads to be had.
    pub fn push(self, scrape: Scrape) -> anyhow::Result<Push> {
        let metrics = scrape.metrics.clone();
        let (client, interval) = (self.client(), self.config.interval);
        let now = move || scrape.now();
        Push::start(client, self.source, interval, metrics, now, clock::wall)
            .context("cannot start the thread that sends metrics")
    }

    fn client(&self) -> Client {
        Client::new(self.config.url.to_string(), self.config.headers.fields())
    }
}
