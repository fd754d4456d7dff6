//! A collector: takes what is posted as a server of the rig, and reads it by OpenTelemetry's own definitions.

use std::io::Read;

use flate2::read::GzDecoder;
use opentelemetry_proto::tonic::collector::logs::v1::{
    ExportLogsPartialSuccess, ExportLogsServiceRequest, ExportLogsServiceResponse,
};
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::logs::v1::LogRecord;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value as Number;
use opentelemetry_proto::tonic::metrics::v1::{HistogramDataPoint, Metric};
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;
use serde_json::Value;

use crate::support::upstream::Request;
use crate::support::{Exchange, PATIENCE, Upstream, now, pause};

/// A receiver of OTLP over HTTP.
pub struct Collector(Upstream);

impl Collector {
    /// Takes everything.
    pub fn start() -> Collector {
        Collector::answering(|x| x.send(taken(0, "")))
    }

    /// Answers each message, once it is in, as `answer` does.
    pub fn answering(answer: impl Fn(&mut Exchange) + Send + Sync + 'static) -> Collector {
        Collector(Upstream::start(move |x| {
            x.request();
            answer(x);
        }))
    }

    /// Its base URL.
    pub fn url(&self) -> String {
        self.0.url()
    }

    /// The requests for that path so far, of those whose bodies are in.
    pub fn posts(&self, path: &str) -> Vec<Request> {
        let mut posts = self.0.requests();
        posts.retain(|post| {
            post.head.start_line() == format!("POST {path} HTTP/1.1") && !post.body.is_empty()
        });
        posts
    }

    /// All log records so far, each with who sent it.
    pub fn logs(&self) -> Vec<(Resource, LogRecord)> {
        let posts = self.posts("/v1/logs");
        let messages = posts.iter().map(message::<ExportLogsServiceRequest>);
        let parts = messages.flat_map(|message| message.resource_logs);
        let logs = |part: opentelemetry_proto::tonic::logs::v1::ResourceLogs| {
            let resource = part.resource.expect("a resource");
            let all = part
                .scope_logs
                .into_iter()
                .flat_map(|scope| scope.log_records);
            all.map(move |log| (resource.clone(), log))
        };
        parts.flat_map(logs).collect()
    }

    /// All spans so far.
    pub fn spans(&self) -> Vec<Span> {
        let posts = self.posts("/v1/traces");
        let messages = posts.iter().map(message::<ExportTraceServiceRequest>);
        let parts = messages.flat_map(|message| message.resource_spans);
        let scopes = parts.flat_map(|part| part.scope_spans);
        scopes.flat_map(|scope| scope.spans).collect()
    }

    /// The metrics as they were sent last.
    pub fn metrics(&self) -> Vec<Metric> {
        let last = self
            .posts("/v1/metrics")
            .last()
            .map(message::<ExportMetricsServiceRequest>);
        let parts = last
            .into_iter()
            .flat_map(|message| message.resource_metrics);
        let scopes = parts.flat_map(|part| part.scope_metrics);
        scopes.flat_map(|scope| scope.metrics).collect()
    }

    /// Asks until `found` finds something.
    pub fn wait<T>(&self, what: &str, found: impl Fn(&Collector) -> Option<T>) -> T {
        let deadline = now() + PATIENCE;
        loop {
            if let Some(found) = found(self) {
                return found;
            }
            let lines = || {
                self.0
                    .requests()
                    .into_iter()
                    .map(|post| post.head.start_line())
            };
            assert!(
                now() < deadline,
                "{what}: {:?}",
                lines().collect::<Vec<_>>()
            );
            pause(5);
        }
    }
}

/// The body of a request, unpacked and decoded.
pub fn message<M: Message + Default>(post: &Request) -> M {
    let field = |name| post.head.get(name).unwrap_or_default();
    assert_eq!(
        (
            field("content-type").as_str(),
            field("content-encoding").as_str()
        ),
        ("application/x-protobuf", "gzip")
    );
    let mut body = Vec::new();
    let unpacked = GzDecoder::new(post.body.as_slice()).read_to_end(&mut body);
    unpacked.expect("the body is gzip");
    M::decode(body.as_slice()).expect("the body is a message of OTLP")
}

/// A good answer that says how many items were rejected. All signals have the same shape of it.
pub fn taken(rejected: i64, why: &str) -> Vec<u8> {
    let partial = ExportLogsPartialSuccess {
        rejected_log_records: rejected,
        error_message: why.to_owned(),
    };
    let answer = ExportLogsServiceResponse {
        partial_success: (rejected > 0).then_some(partial),
    };
    let body = answer.encode_to_vec();
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/x-protobuf\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    [head.into_bytes(), body].concat()
}

/// Attributes as a JSON object.
pub fn object(attributes: &[KeyValue]) -> Value {
    let fields = attributes.iter();
    Value::Object(
        fields
            .map(|field| (field.key.clone(), plain(field.value.as_ref())))
            .collect(),
    )
}

/// A value as JSON.
pub fn plain(value: Option<&AnyValue>) -> Value {
    match value.and_then(|value| value.value.as_ref()) {
        None => Value::Null,
        Some(Any::StringValue(text)) => text.as_str().into(),
        Some(Any::BoolValue(is)) => (*is).into(),
        Some(Any::IntValue(n)) => (*n).into(),
        Some(Any::DoubleValue(n)) => (*n).into(),
        Some(Any::ArrayValue(all)) => all.values.iter().map(|v| plain(Some(v))).collect(),
        Some(Any::KvlistValue(all)) => object(&all.values),
        Some(other) => panic!("{other:?}"),
    }
}

/// The points of a counter or gauge, each with its attributes.
pub fn numbers(metrics: &[Metric], name: &str) -> Vec<(Value, f64)> {
    let points = match named(metrics, name) {
        Some(Data::Sum(sum)) => &sum.data_points,
        Some(Data::Gauge(gauge)) => &gauge.data_points,
        _ => return Vec::new(),
    };
    let number = |value| match value {
        Some(Number::AsInt(n)) => n as f64,
        Some(Number::AsDouble(n)) => n,
        None => panic!("{name} has a point without a value"),
    };
    points
        .iter()
        .map(|point| (object(&point.attributes), number(point.value)))
        .collect()
}

/// The points of a histogram.
pub fn histograms<'a>(metrics: &'a [Metric], name: &str) -> &'a [HistogramDataPoint] {
    match named(metrics, name) {
        Some(Data::Histogram(histogram)) => &histogram.data_points,
        _ => &[],
    }
}

fn named<'a>(metrics: &'a [Metric], name: &str) -> Option<&'a Data> {
    let metric = metrics.iter().find(|metric| metric.name == name);
    metric.and_then(|metric| metric.data.as_ref())
}
