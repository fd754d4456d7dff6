//! Metrics: what all requests so far were like, as Prometheus reads it.
//!
//! Each record is added to counters and histograms on this sink's own thread. The admin side asks for the
//! text: [`Metrics::encode`]. One lock stands between the two, so that a scrape sees whole requests
//! only; neither is ever waited for by the relay.
//!
//! - `catalog`: what there is, each with its name, labels, bounds and help
//! - `figures`: a record becomes counts
//! - `family`, `series`: a metric and its series
//! - `convention`: what OpenTelemetry calls things
//! - `models`: names from outside, as bounded labels
//! - `format`: the two texts, and which of them was asked for

mod catalog;
mod convention;
mod family;
mod figures;
mod format;
mod models;
mod series;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, prometheus_text, text};
use prometheus_client::registry::Registry;

use super::Totals;
use crate::observe::record::RequestRecord;
use catalog::{BUILD, IN_FLIGHT, RECORDS_DROPPED, RECORDS_WRITTEN};
use family::Family;
use figures::Figures;
use series::{Count, Info, Level};

pub use catalog::table;
pub use format::Format;

/// All counters and histograms.
#[derive(Debug)]
pub struct Metrics {
    figures: Mutex<Figures>,
}

/// What is only known at the moment of a scrape.
#[derive(Debug, Clone, Default)]
pub struct Now {
    /// Open requests of each upstream.
    pub in_flight: Vec<(String, u64)>,
    /// What became of the records so far.
    pub records: Vec<Totals>,
}

impl Metrics {
    /// Nothing counted yet; at most `most_models` models get labels of their own.
    pub fn new(most_models: usize) -> Self {
        Metrics {
            figures: Mutex::new(Figures::new(most_models)),
        }
    }

    /// Adds one record; it always gets there.
    pub(super) fn write(&self, record: &RequestRecord) -> bool {
        self.figures().add(record);
        true
    }

    /// The text of a scrape. Takes milliseconds where there are many models: not for a thread that relays.
    pub fn encode(self: &Arc<Self>, format: Format, now: Now) -> String {
        let mut registry = Registry::default();
        registry.register_collector(Box::new(Scrape {
            metrics: Arc::clone(self),
            now,
        }));
        let mut page = String::new();
        let written = match format {
            Format::Text => prometheus_text::encode(&mut page, &registry),
            Format::OpenMetrics => text::encode(&mut page, &registry),
        };
        debug_assert!(written.is_ok(), "writing to a String cannot fail");
        page
    }

    /// A panic that left the lock behind did not leave its figures half made.
    fn figures(&self) -> MutexGuard<'_, Figures> {
        self.figures.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug)]
struct Scrape {
    metrics: Arc<Metrics>,
    now: Now,
}

impl Collector for Scrape {
    fn encode(&self, mut encoder: DescriptorEncoder) -> fmt::Result {
        self.metrics.figures().encode(&mut encoder)?;
        let mut in_flight = Family::<Level>::new(&IN_FLIGHT);
        for (upstream, n) in &self.now.in_flight {
            in_flight.at([upstream]).set(*n);
        }
        in_flight.encode(&mut encoder)?;
        let mut written = Family::<Count>::new(&RECORDS_WRITTEN);
        let mut dropped = Family::<Count>::new(&RECORDS_DROPPED);
        for totals in &self.now.records {
            written.at([totals.kind]).add(totals.written);
            dropped.at([totals.kind]).add(totals.lost);
        }
        written.encode(&mut encoder)?;
        dropped.encode(&mut encoder)?;
        let mut build = Family::<Info>::new(&BUILD);
        build.at([env!("CARGO_PKG_VERSION")]);
        build.encode(&mut encoder)
    }
}
