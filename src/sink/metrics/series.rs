//! One series of each kind: what it keeps, and how it is written.

use std::fmt;
use std::sync::Arc;

use prometheus_client::encoding::{EncodeMetric, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::exemplar::HistogramWithExemplars;

use super::catalog::About;
use crate::observe::distribution::Distribution;
use crate::observe::stats::Us;
use crate::sink::ids::Ids;

/// A series.
pub trait Series {
    /// What Prometheus calls its kind.
    const KIND: MetricType;

    /// One of the metric `about`, without anything counted.
    fn new(about: &'static About) -> Self;

    /// Writes it.
    fn encode(&self, encoder: MetricEncoder) -> fmt::Result;

    /// What it says now.
    fn value(&self) -> Value;
}

/// What a series says at one moment, in the unit of its metric.
#[derive(Debug, Clone)]
pub enum Value {
    /// A number that only rises.
    Count(u64),
    /// Time that adds up, in seconds.
    Time(f64),
    /// A number that rises and falls.
    Level(u64),
    /// All is in the labels.
    Fact,
    /// How values lie.
    Histogram(Histogram),
}

/// How values lie, in the unit of their metric.
#[derive(Debug, Clone)]
pub struct Histogram {
    /// How many lie up to each bound and above the one before; the last are above all bounds.
    pub counts: Vec<u64>,
    /// How many there are.
    pub n: u64,
    /// Their sum.
    pub sum: f64,
    /// One value of some of the buckets, with its request.
    pub examples: Vec<(f64, Arc<Example>)>,
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

    fn value(&self) -> Value {
        Value::Count(self.0)
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

    fn value(&self) -> Value {
        Value::Time(seconds(self.0))
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

    fn value(&self) -> Value {
        Value::Level(self.0)
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

    fn value(&self) -> Value {
        Value::Fact
    }
}

/// A request that stands for the others of its bucket.
#[derive(Debug)]
pub struct Example {
    /// Which it was, as labels of an exemplar.
    pub labels: Which,
    /// The id of its record.
    pub record: String,
    /// Its span.
    pub ids: Ids,
    /// When it ended, ns since 1970.
    pub at: u64,
}

/// The labels of an exemplar.
pub type Which = Vec<(&'static str, String)>;

/// One duration for each request; each bucket remembers a request as its example.
#[derive(Debug)]
pub struct OfRequests {
    about: &'static About,
    /// What is written. It shows its counts to nobody, so they are kept once more.
    text: HistogramWithExemplars<Which>,
    counts: Vec<u64>,
    sum: f64,
    examples: Vec<Option<(f64, Arc<Example>)>>,
}

impl OfRequests {
    /// Adds a request's.
    pub fn add(&mut self, us: Us, example: &Arc<Example>) {
        let value = seconds(us);
        let bucket = self.about.bounds.partition_point(|bound| *bound < us);
        self.text.observe(value, Some(example.labels.clone()), None);
        self.counts[bucket] += 1;
        self.sum += value;
        self.examples[bucket] = Some((value, Arc::clone(example)));
    }
}

impl Series for OfRequests {
    const KIND: MetricType = MetricType::Histogram;

    fn new(about: &'static About) -> Self {
        let buckets = about.bounds.len() + 1;
        let bounds = about.bounds.iter().map(|&bound| about.shown(bound));
        OfRequests {
            about,
            text: HistogramWithExemplars::new(bounds),
            counts: vec![0; buckets],
            sum: 0.0,
            examples: vec![None; buckets],
        }
    }

    fn encode(&self, encoder: MetricEncoder) -> fmt::Result {
        EncodeMetric::encode(&self.text, encoder)
    }

    fn value(&self) -> Value {
        Value::Histogram(Histogram {
            counts: self.counts.clone(),
            n: self.counts.iter().sum(),
            sum: self.sum,
            examples: self.examples.iter().flatten().cloned().collect(),
        })
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

    /// How many values are in each bucket.
    fn counts(&self) -> impl Iterator<Item = u64> {
        let up_to = self.up_to.iter().copied().chain([self.n]);
        up_to.scan(0, |below, up_to| {
            let here = up_to - *below;
            *below = up_to;
            Some(here)
        })
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
        let bounds = self.about.bounds.iter();
        let bounds = bounds.map(|&bound| self.about.shown(bound));
        let all = bounds.chain([f64::INFINITY]);
        let buckets: Vec<_> = all.zip(self.counts()).collect();
        let sum = self.about.shown(self.sum);
        encoder.encode_histogram::<NoLabelSet>(sum, self.n, &buckets, None)
    }

    fn value(&self) -> Value {
        Value::Histogram(Histogram {
            counts: self.counts().collect(),
            n: self.n,
            sum: self.about.shown(self.sum),
            examples: Vec::new(),
        })
    }
}

/// Microseconds as Prometheus wants them.
pub fn seconds(us: Us) -> f64 {
    us as f64 / 1e6
}
