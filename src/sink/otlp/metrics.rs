//! The figures behind `/metrics`, sent every few seconds: the same series, read under the same lock.
//!
//! They are cumulative from the start of the program, so a message that is lost costs nothing: the next says it all.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value as Number;
use opentelemetry_proto::tonic::metrics::v1::{
    AggregationTemporality, Exemplar, Gauge, Histogram, HistogramDataPoint, Metric,
    NumberDataPoint, ResourceMetrics, ScopeMetrics, Sum, exemplar,
};
use prost::Message;

use super::Signal;
use super::attribute::attribute;
use super::post::{Answer, Client};
use super::resource::{Source, scope};
use super::retry::is_over_within;
use crate::sink::metrics::{About, Example, Metrics, Now, Reading, Value};

/// How long the end of the program waits for the last message: they are the same figures as before, and a little newer.
const PATIENCE: Duration = Duration::from_secs(2);

/// Sends the metrics, on a thread of its own.
#[derive(Debug)]
pub struct Push {
    close: Sender<()>,
    /// Disconnects when the thread has ended.
    ended: Receiver<()>,
}

impl Push {
    /// Sends `metrics` every `interval`. `now` gives what is only known at the moment,
    /// `wall` the wall clock.
    ///
    /// # Errors
    ///
    /// There are no more threads to be had.
    pub fn start(
        client: Client,
        source: Source,
        interval: Duration,
        metrics: Arc<Metrics>,
        now: impl Fn() -> Now + Send + 'static,
        wall: fn() -> SystemTime,
    ) -> io::Result<Push> {
        let (close, closing) = channel();
        let (alive, ended) = channel::<()>();
        let since = wall();
        let run = move || {
            let _alive = alive;
            let mut pause = interval;
            loop {
                let over = is_over_within(&closing, pause);
                let readings = metrics.read(&now);
                let message = message(&source, &readings, since, wall());
                pause = match client.post(Signal::Metrics, &message.encode_to_vec()) {
                    Answer::Again { after } => interval.max(after.unwrap_or_default()),
                    Answer::Taken { .. } | Answer::Refused => interval,
                };
                if over {
                    break;
                }
            }
        };
        thread::Builder::new()
            .name("dripline-otlp".into())
            .spawn(run)?;
        Ok(Push { close, ended })
    }

    /// Sends them a last time, and waits 2 s at most until they are taken.
    pub fn close(self) {
        drop(self.close);
        is_over_within(&self.ended, PATIENCE);
    }
}

/// All metrics in one message, counted from `since` until `at`.
pub(super) fn message(
    source: &Source,
    readings: &[Reading],
    since: SystemTime,
    at: SystemTime,
) -> ExportMetricsServiceRequest {
    let at = nanos(at);
    let span = Span {
        // the clock may have been set back to before the start
        since: nanos(since).min(at),
        at,
    };
    let metrics = readings.iter().filter_map(|reading| span.metric(reading));
    ExportMetricsServiceRequest {
        resource_metrics: vec![ResourceMetrics {
            resource: Some(source.resource()),
            scope_metrics: vec![ScopeMetrics {
                scope: Some(scope()),
                metrics: metrics.collect(),
                ..ScopeMetrics::default()
            }],
            ..ResourceMetrics::default()
        }],
    }
}

/// The time that figures are of, ns since 1970.
struct Span {
    since: u64,
    at: u64,
}

impl Span {
    /// `None` where there is nothing to send: no series yet, or a fact that the resource says as well.
    fn metric(&self, reading: &Reading) -> Option<Metric> {
        let Reading { about, series } = reading;
        let each = || {
            series
                .iter()
                .map(|(labels, value)| (attributes(labels), value))
        };
        let cumulative = AggregationTemporality::Cumulative.into();
        let data = match series.first()?.1 {
            Value::Fact => return None,
            Value::Level(_) => Data::Gauge(Gauge {
                data_points: each().map(|(of, value)| self.number(of, value)).collect(),
            }),
            Value::Count(_) | Value::Time(_) => Data::Sum(Sum {
                data_points: each().map(|(of, value)| self.number(of, value)).collect(),
                aggregation_temporality: cumulative,
                is_monotonic: true,
            }),
            Value::Histogram(_) => Data::Histogram(Histogram {
                data_points: each()
                    .filter_map(|(of, value)| self.histogram(about, of, value))
                    .collect(),
                aggregation_temporality: cumulative,
            }),
        };
        Some(Metric {
            name: about.otel_name(),
            description: about.help.into(),
            unit: about.unit.as_ref().map_or("", |_| "s").into(),
            data: Some(data),
            ..Metric::default()
        })
    }

    fn number(&self, attributes: Vec<KeyValue>, value: &Value) -> NumberDataPoint {
        let whole = |n: u64| Number::AsInt(i64::try_from(n).unwrap_or(i64::MAX));
        NumberDataPoint {
            attributes,
            start_time_unix_nano: self.since,
            time_unix_nano: self.at,
            value: match value {
                Value::Count(n) | Value::Level(n) => Some(whole(*n)),
                Value::Time(seconds) => Some(Number::AsDouble(*seconds)),
                Value::Fact | Value::Histogram(_) => None,
            },
            ..NumberDataPoint::default()
        }
    }

    fn histogram(
        &self,
        about: &About,
        attributes: Vec<KeyValue>,
        value: &Value,
    ) -> Option<HistogramDataPoint> {
        let Value::Histogram(histogram) = value else {
            return None;
        };
        let bounds = about.bounds.iter().map(|&bound| about.shown(bound));
        Some(HistogramDataPoint {
            attributes,
            start_time_unix_nano: self.since,
            time_unix_nano: self.at,
            count: histogram.n,
            sum: Some(histogram.sum),
            bucket_counts: histogram.counts.clone(),
            explicit_bounds: bounds.collect(),
            exemplars: histogram
                .examples
                .iter()
                .map(|(value, example)| exemplar(*value, example))
                .collect(),
            ..HistogramDataPoint::default()
        })
    }
}

/// Leads to the span of its request, where that is kept, and to its record.
fn exemplar(value: f64, example: &Example) -> Exemplar {
    let Example {
        record, ids, at, ..
    } = example;
    let kept = |id: &[u8]| match ids.is_sampled() {
        true => id.to_vec(),
        false => Vec::new(),
    };
    Exemplar {
        filtered_attributes: vec![attribute("record_id", record.as_str())],
        time_unix_nano: *at,
        trace_id: kept(&ids.trace),
        span_id: kept(&ids.span),
        value: Some(exemplar::Value::AsDouble(value)),
    }
}

/// Labels under their names in OpenTelemetry; a port is a number there.
fn attributes(labels: &[(&'static str, String)]) -> Vec<KeyValue> {
    let named = |(name, value): &(&'static str, String)| {
        let name = About::otel_label(name);
        match value.parse::<u16>() {
            Ok(port) if name == "server.port" => attribute(name, port),
            _ => attribute(name, value.as_str()),
        }
    };
    labels.iter().map(named).collect()
}

fn nanos(at: SystemTime) -> u64 {
    let since = at.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}
