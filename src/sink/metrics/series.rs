//! One series of each kind: what it keeps, and how it is written.

use std::fmt;

use prometheus_client::encoding::{EncodeMetric, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::exemplar::HistogramWithExemplars;

use super::catalog::About;
use crate::observe::distribution::Distribution;
use crate::observe::stats::Us;

/// A series.
pub trait Series {
    /// What Prometheus calls its kind.
    const KIND: MetricType;

    /// One of the metric `about`, without anything counted.
    fn new(about: &'static About) -> Self;

    /// Writes it.
    fn encode(&self, encoder: MetricEncoder) -> fmt::Result;
}

/// A number that only rises.
#[derive(Debug, Default)]
pub struct Count(u64);

impl Count {
    /// Adds `n`.
    pub fn add(&mut self, n: u64) {
        self.0 = self.0.saturating_add(n);
    }
}

impl Series for Count {
    const KIND: MetricType = MetricType::Counter;

    fn new(_: &'static About) -> Self {
        Count(0)
    }

    fn encode(&self, mut encoder: MetricEncoder) -> fmt::Result {
        encoder.encode_counter::<NoLabelSet, _, f64>(&self.0, None)
    }
}

/// Time that adds up, kept in µs.
#[derive(Debug, Default)]
pub struct Time(Us);

impl Time {
    /// Adds µs.
    pub fn add(&mut self, us: Us) {
        self.0 = self.0.saturating_add(us);
    }
}

impl Series for Time {
    const KIND: MetricType = MetricType::Counter;

    fn new(_: &'static About) -> Self {
        Time(0)
    }

    fn encode(&self, mut encoder: MetricEncoder) -> fmt::Result {
        encoder.encode_counter::<NoLabelSet, _, f64>(&seconds(self.0), None)
    }
}

/// A number that rises and falls.
#[derive(Debug, Default)]
pub struct Level(u64);

impl Level {
    /// It is `n` now.
    pub fn set(&mut self, n: u64) {
        self.0 = n;
    }
}

impl Series for Level {
    const KIND: MetricType = MetricType::Gauge;

    fn new(_: &'static About) -> Self {
        Level(0)
    }

    fn encode(&self, mut encoder: MetricEncoder) -> fmt::Result {
        encoder.encode_gauge(&self.0)
    }
}

/// A fact that is all in the labels.
#[derive(Debug)]
pub struct Info;

impl Series for Info {
    const KIND: MetricType = MetricType::Info;

    fn new(_: &'static About) -> Self {
        Info
    }

    fn encode(&self, mut encoder: MetricEncoder) -> fmt::Result {
        let none: [(&str, &str); 0] = [];
        encoder.encode_info(&none)
    }
}

/// The labels of an exemplar: which request it was.
pub type Which = Vec<(&'static str, String)>;

/// One duration for each request; each bucket remembers a request as its example.
#[derive(Debug)]
pub struct OfRequests(HistogramWithExemplars<Which>);

impl OfRequests {
    /// Adds a request's.
    pub fn add(&mut self, us: Us, which: &Which) {
        self.0.observe(seconds(us), Some(which.clone()), None);
    }
}

impl Series for OfRequests {
    const KIND: MetricType = MetricType::Histogram;

    fn new(about: &'static About) -> Self {
        OfRequests(HistogramWithExemplars::new(
            about.bounds.iter().map(|&bound| about.shown(bound)),
        ))
    }

    fn encode(&self, encoder: MetricEncoder) -> fmt::Result {
        EncodeMetric::encode(&self.0, encoder)
    }
}

/// All values of all requests, as [`Distribution`]s count them.
#[derive(Debug)]
pub struct OfAll {
    about: &'static About,
    /// How many values are at most each bound.
    up_to: Vec<u64>,
    n: u64,
    sum: u64,
}

impl OfAll {
    /// Adds all values of a request, counted by `bounds`, which include those of this metric.
    pub fn add(&mut self, values: &Distribution, bounds: &[u64]) {
        for (up_to, bound) in self.up_to.iter_mut().zip(self.about.bounds) {
            let place = bounds.binary_search(bound);
            debug_assert!(place.is_ok(), "{bound} is no bound of these values");
            *up_to += place.map_or(0, |place| values.up_to(place));
        }
        self.n += values.n;
        self.sum = self.sum.saturating_add(values.sum);
    }
}

impl Series for OfAll {
    const KIND: MetricType = MetricType::Histogram;

    fn new(about: &'static About) -> Self {
        OfAll {
            about,
            up_to: vec![0; about.bounds.len()],
            n: 0,
            sum: 0,
        }
    }

    fn encode(&self, mut encoder: MetricEncoder) -> fmt::Result {
        let mut below = 0;
        let mut buckets = Vec::with_capacity(self.up_to.len() + 1);
        let bounds = self
            .about
            .bounds
            .iter()
            .map(|&bound| self.about.shown(bound));
        for (bound, up_to) in bounds.zip(&self.up_to) {
            buckets.push((bound, up_to - below));
            below = *up_to;
        }
        buckets.push((f64::INFINITY, self.n - below));
        let sum = self.about.shown(self.sum);
        encoder.encode_histogram::<NoLabelSet>(sum, self.n, &buckets, None)
    }
}

/// Microseconds as Prometheus wants them.
pub fn seconds(us: Us) -> f64 {
    us as f64 / 1e6
}
