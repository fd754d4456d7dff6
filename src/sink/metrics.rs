//! Metrics: what all requests so far were like, as Prometheus reads it and as OTLP sends it.
//!
//! Each record is added to counters and histograms on this sink's own thread. The admin side asks for the
//! text: [`Metrics::encode`]. One lock stands between the two, so that a scrape sees whole requests
//! only; neither is ever waited for by the relay. What is sent to a collector is read of the same series: [`Metrics::read`].
//!
//! - `catalog`: what there is, each with its name, labels, bounds and help
//! - `figures`: a record becomes counts
//! - `family`, `series`: a metric and its series
//! - `models`: names from outside, as bounded labels
//! - `format`: the two texts, and which of them was asked for

mod catalog;
mod family;
mod figures;
mod format;
mod models;
mod series;
#[cfg(test)]
pub(in crate::sink) mod tests;

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
use series::{Count, Info, Level, Series};

pub use catalog::{About, table};
pub use family::Reading;
pub use format::Format;
pub use series::{Example, Histogram, Value};

/// All counters and histograms.
#[derive(Debug)]
pub struct Metrics {
    figures: Mutex<Figures>,
}

/// What is only known at the moment of a scrape. It is asked for after what was counted until then, so that a request
/// that has ended is not open on the same page.
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
    pub fn encode(
        self: &Arc<Self>,
        format: Format,
        now: impl Fn() -> Now + Send + Sync + 'static,
    ) -> String {
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

    /// All metrics as they are now. Takes as long as a scrape.
    pub fn read(&self, now: impl Fn() -> Now) -> Vec<Reading> {
        let mut readings = Readings(Vec::new());
        let read = self.show(now, &mut readings);
        debug_assert!(read.is_ok(), "nothing is written");
        readings.0
    }

    /// Shows all metrics, in the order of the catalog.
    fn show(&self, now: impl Fn() -> Now, to: &mut impl Viewer) -> fmt::Result {
        self.figures().show(to)?;
        let now = now();
        let mut in_flight = Family::<Level>::new(&IN_FLIGHT);
        for (upstream, n) in &now.in_flight {
            in_flight.at([upstream]).set(*n);
        }
        to.look(&in_flight)?;
        let mut written = Family::<Count>::new(&RECORDS_WRITTEN);
        let mut dropped = Family::<Count>::new(&RECORDS_DROPPED);
        for totals in &now.records {
            written.at([totals.kind]).add(totals.written);
            dropped.at([totals.kind]).add(totals.lost);
        }
        to.look(&written)?;
        to.look(&dropped)?;
        let mut build = Family::<Info>::new(&BUILD);
        build.at([env!("CARGO_PKG_VERSION")]);
        to.look(&build)
    }

    /// A panic that left the lock behind did not leave its figures half made.
    fn figures(&self) -> MutexGuard<'_, Figures> {
        self.figures.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Scrape<N> {
    metrics: Arc<Metrics>,
    now: N,
}

impl<N> fmt::Debug for Scrape<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scrape").finish_non_exhaustive()
    }
}

impl<N: Fn() -> Now + Send + Sync + 'static> Collector for Scrape<N> {
    fn encode(&self, encoder: DescriptorEncoder) -> fmt::Result {
        self.metrics.show(&self.now, &mut Text(encoder))
    }
}

/// Sees metrics one after the other.
trait Viewer {
    /// The next one.
    fn look<S: Series>(&mut self, family: &Family<S>) -> fmt::Result;
}

/// Writes them.
struct Text<'a>(DescriptorEncoder<'a>);

impl Viewer for Text<'_> {
    fn look<S: Series>(&mut self, family: &Family<S>) -> fmt::Result {
        family.encode(&mut self.0)
    }
}

/// Keeps them.
struct Readings(Vec<Reading>);

impl Viewer for Readings {
    fn look<S: Series>(&mut self, family: &Family<S>) -> fmt::Result {
        self.0.push(family.read());
        Ok(())
    }
}
