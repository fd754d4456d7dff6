//! Records in, messages out: decoded again and shown as OTLP's JSON.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::metrics::v1::NumberDataPoint;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value as Number;
use opentelemetry_proto::tonic::trace::v1::Span;
use proptest::prelude::*;
use prost::Message;
use serde_json::{Value, json};

use super::*;
use crate::observe::record::{End, ErrorKind, Origin, Parent, Stall};
use crate::sink::Metrics;
use crate::sink::metrics::tests::records::{ended, streamed};
use crate::sink::metrics::{Format, Now};

fn source() -> Source {
    Source {
        id: "01JE2X3Y4Z5ABCDEFGHJKMNPQR".into(),
        instance: "edge-1".into(),
        label: Some("flush off".into()),
        others: vec![
            ("service.name".into(), "edge".into()),
            ("k8s.pod.name".into(), "llm-0".into()),
        ],
    }
}

fn sent(signal: Signal, records: &[RequestRecord]) -> Vec<u8> {
    let mut batch = Batch::new(signal, &source());
    records.iter().for_each(|record| {
        batch.add(record);
    });
    batch.take()
}

/// A stream with a stall, within a client's trace.
fn stream() -> RequestRecord {
    let mut record = streamed("gpt-oss", &[20.0, 700.0, 20.0]);
    record.started_at = "2026-12-02T12:03:44.125Z".into();
    record.upstream.connect_ms = Some(1.5);
    record.at.sent_ms = Some(2.0);
    record.response.id = Some("chatcmpl-1".into());
    record.request.trace_id = Some("4bf92f3577b34da6a3ce929d0e0e4736".into());
    record.request.parent = Some(Parent {
        id: 0x00f0_67aa_0ba9_02b7_u64.to_be_bytes(),
        flags: 1,
        state: Some("vendor=1".into()),
    });
    record
}

fn refused() -> RequestRecord {
    let mut record = ended("gpt-oss", End::UpstreamUnreachable, Some(ErrorKind::Dns));
    record.started_at = "2026-12-02T12:03:45Z".into();
    record
}

#[test]
fn spans_as_they_are_sent() {
    let message = sent(Signal::Traces, &[stream(), refused()]);
    let decoded = ExportTraceServiceRequest::decode(message.as_slice()).unwrap();
    insta::assert_json_snapshot!(decoded);
}

#[test]
fn an_answer_of_dripline_s_own_is_no_status_of_the_server() {
    let status = |origin| {
        let mut record = refused();
        record.response.status = Some(502);
        record.response.origin = Some(origin);
        let span = super::span::spans(&record).remove(0);
        let mut fields = span.attributes.into_iter();
        fields.find(|field| field.key == "http.response.status_code")
    };
    assert!(status(Origin::Upstream).is_some());
    assert_eq!(status(Origin::Dripline), None);
}

#[test]
fn log_records_as_they_are_sent() {
    let message = sent(Signal::Logs, &[stream()]);
    let decoded = ExportLogsServiceRequest::decode(message.as_slice()).unwrap();
    insta::assert_json_snapshot!(decoded);
}

fn plain(value: Option<AnyValue>) -> Value {
    match value.and_then(|value| value.value) {
        None => Value::Null,
        Some(Any::StringValue(text)) => text.into(),
        Some(Any::BoolValue(is)) => is.into(),
        Some(Any::IntValue(n)) => n.into(),
        Some(Any::DoubleValue(n)) => n.into(),
        Some(Any::ArrayValue(all)) => all.values.into_iter().map(|v| plain(Some(v))).collect(),
        Some(Any::KvlistValue(all)) => object(all.values),
        Some(other) => panic!("{other:?}"),
    }
}

fn object(fields: Vec<KeyValue>) -> Value {
    let fields = fields.into_iter();
    Value::Object(
        fields
            .map(|field| (field.key, plain(field.value)))
            .collect(),
    )
}

#[test]
fn the_attributes_of_a_log_record_are_the_record() {
    let record = stream();
    let message = sent(Signal::Logs, std::slice::from_ref(&record));
    let mut decoded = ExportLogsServiceRequest::decode(message.as_slice()).unwrap();
    let log = decoded.resource_logs[0].scope_logs[0].log_records.remove(0);
    assert_eq!(
        object(log.attributes),
        serde_json::to_value(record).unwrap()
    );
}

#[test]
fn a_trace_that_is_not_sampled_has_no_span_but_a_log_record() {
    let mut record = stream();
    record.request.parent.as_mut().unwrap().flags = 0;
    let mut spans = Batch::new(Signal::Traces, &source());
    assert!(!spans.add(&record));
    assert_eq!(spans.n(), 0);
    assert!(Batch::new(Signal::Logs, &source()).add(&record));
}

#[test]
fn a_batch_is_full_by_number_or_by_size() {
    let mut batch = Batch::new(Signal::Logs, &source());
    let mut record = stream();
    (0..511).for_each(|_| assert!(batch.add(&record)));
    assert!(!batch.is_full());
    batch.add(&record);
    assert!(batch.is_full());
    batch.take();
    assert!(batch.n() == 0 && !batch.is_full());
    record.timeline = Some(vec![
        crate::observe::record::Row(1 << 40, None, 1, 1, 1);
        100_000
    ]);
    batch.add(&record);
    assert!(batch.is_full());
}

/// A series with its bound written in one way of several.
fn bounded(series: &str) -> String {
    let Some((before, le)) = series.split_once("le=\"") else {
        return series.to_owned();
    };
    let bound: f64 = le.trim_end_matches("\"}").parse().unwrap();
    format!("{before}le {bound}")
}

/// Receivers refuse figures that end before they begin.
#[test]
fn a_wall_clock_that_was_set_back_makes_no_time_that_ends_before_it_begins() {
    let metrics = Metrics::new(9);
    metrics.write(&stream());
    let readings = metrics.read(Now::default);
    let [before, after] = [5, 7].map(|s| UNIX_EPOCH + Duration::from_secs(s));
    let message = metrics::message(&source(), &readings, after, before);
    for metric in &message.resource_metrics[0].scope_metrics[0].metrics {
        let times: Vec<_> = match metric.data.as_ref().unwrap() {
            Data::Sum(sum) => sum.data_points.iter().map(times_of_number).collect(),
            Data::Gauge(gauge) => gauge.data_points.iter().map(times_of_number).collect(),
            Data::Histogram(histogram) => {
                let points = histogram.data_points.iter();
                points
                    .map(|point| (point.start_time_unix_nano, point.time_unix_nano))
                    .collect()
            }
            other => panic!("{other:?}"),
        };
        assert!(!times.is_empty());
        for (start, end) in times {
            assert!(start <= end && end == 5_000_000_000, "{}", metric.name);
        }
    }
}

fn times_of_number(point: &NumberDataPoint) -> (u64, u64) {
    (point.start_time_unix_nano, point.time_unix_nano)
}

/// Each number of the page by its series, as its text has it, and as the message has it.
#[test]
fn the_metrics_are_those_of_the_page() {
    let metrics = Arc::new(Metrics::new(9));
    for record in [stream(), refused(), streamed("m", &[0.4, 30.0])] {
        metrics.write(&record);
    }
    let now = || Now {
        in_flight: vec![("127.0.0.1:8000".into(), 3)],
        records: Vec::new(),
    };
    let since = UNIX_EPOCH + Duration::from_secs(7);
    let message = metrics::message(&source(), &metrics.read(now), since, since);
    let message = ExportMetricsServiceRequest::decode(message.encode_to_vec().as_slice()).unwrap();
    let page = metrics.encode(Format::Text, now);

    let mut expected = BTreeMap::new();
    for line in page.lines().filter(|line| !line.starts_with('#')) {
        let (series, value) = line.rsplit_once(' ').unwrap();
        expected.insert(bounded(series), value.parse::<f64>().unwrap());
    }
    expected.retain(|series, _| !series.starts_with("dripline_build_info"));
    let mut sent = BTreeMap::new();
    for metric in &message.resource_metrics[0].scope_metrics[0].metrics {
        let unit = if metric.unit == "s" { "_seconds" } else { "" };
        let name = metric.name.replace('.', "_") + unit;
        let series = |ending: &str, labels: &[KeyValue], le: Option<String>| {
            let own = labels.iter().map(|label| {
                let value = match plain(label.value.clone()) {
                    Value::String(text) => text,
                    other => other.to_string(),
                };
                format!("{}=\"{value}\"", label.key.replace('.', "_"))
            });
            let labels: Vec<_> = own.chain(le.map(|le| format!("le=\"{le}\""))).collect();
            match labels.is_empty() {
                true => format!("{name}{ending}"),
                false => format!("{name}{ending}{{{}}}", labels.join(",")),
            }
        };
        let mut numbers =
            |ending, points: &[opentelemetry_proto::tonic::metrics::v1::NumberDataPoint]| {
                for point in points {
                    let value = match point.value.unwrap() {
                        Number::AsInt(n) => n as f64,
                        Number::AsDouble(n) => n,
                    };
                    sent.insert(series(ending, &point.attributes, None), value);
                }
            };
        match metric.data.as_ref().unwrap() {
            Data::Gauge(gauge) => numbers("", &gauge.data_points),
            Data::Sum(sum) => {
                assert!(sum.is_monotonic && sum.aggregation_temporality == 2);
                numbers("_total", &sum.data_points);
            }
            Data::Histogram(histogram) => {
                assert_eq!(histogram.aggregation_temporality, 2);
                for point in &histogram.data_points {
                    assert_eq!(point.start_time_unix_nano, 7_000_000_000);
                    let labels = &point.attributes;
                    let mut below = 0;
                    let bounds = point
                        .explicit_bounds
                        .iter()
                        .map(|bound| format!("{bound:?}"));
                    for (bound, n) in bounds.chain(["+Inf".into()]).zip(&point.bucket_counts) {
                        below += n;
                        let series = series("_bucket", labels, Some(bound));
                        sent.insert(bounded(&series), below as f64);
                    }
                    sent.insert(series("_sum", labels, None), point.sum.unwrap());
                    sent.insert(series("_count", labels, None), point.count as f64);
                }
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(expected.len() > 200);
    let differ = |(series, n): &(&String, &f64)| expected.get(*series) != Some(n);
    let other: Vec<_> = sent.iter().filter(differ).take(5).collect();
    assert!(
        other.is_empty() && sent.len() == expected.len(),
        "{other:?}"
    );
}

#[test]
fn an_exemplar_leads_to_the_span() {
    let metrics = Metrics::new(9);
    let record = stream();
    metrics.write(&record);
    let message = metrics::message(
        &source(),
        &metrics.read(Now::default),
        UNIX_EPOCH,
        UNIX_EPOCH,
    );
    let metrics = &message.resource_metrics[0].scope_metrics[0].metrics;
    let longest = metrics
        .iter()
        .find(|m| m.name == "dripline.longest_token_gap");
    let Some(Data::Histogram(histogram)) = &longest.unwrap().data else {
        panic!("{longest:?}");
    };
    let [exemplar] = &histogram.data_points[0].exemplars[..] else {
        panic!("{histogram:?}");
    };
    let [span, ..] = &span::spans(&record)[..] else {
        panic!("no span");
    };
    assert_eq!(
        (&exemplar.trace_id, &exemplar.span_id),
        (&span.trace_id, &span.span_id)
    );
    assert_eq!(exemplar.time_unix_nano, span.end_time_unix_nano);
}

/// What OTLP and the W3C want of spans, whatever the record.
fn check(record: &RequestRecord) -> Result<(), TestCaseError> {
    let message = sent(Signal::Traces, std::slice::from_ref(record));
    let decoded = ExportTraceServiceRequest::decode(message.as_slice()).unwrap();
    let spans = &decoded.resource_spans[0].scope_spans[0].spans;
    let Some(([request], phases)) = spans
        .split_at_checked(1)
        .map(|(a, b)| (<&[Span; 1]>::try_from(a).unwrap(), b))
    else {
        return Ok(());
    };
    prop_assert!(request.trace_id.len() == 16 && request.trace_id != [0; 16]);
    let mut at = request.start_time_unix_nano;
    for span in spans {
        prop_assert!(span.span_id.len() == 8 && span.span_id != [0; 8] && !span.name.is_empty());
        prop_assert!(span.start_time_unix_nano <= span.end_time_unix_nano);
        prop_assert_eq!(&span.trace_id, &request.trace_id);
    }
    for phase in phases {
        prop_assert!(at <= phase.start_time_unix_nano, "phases follow each other");
        at = phase.end_time_unix_nano;
        prop_assert_eq!(&phase.parent_span_id, &request.span_id);
    }
    prop_assert!(at <= request.end_time_unix_nano);
    for event in &request.events {
        prop_assert!(event.time_unix_nano >= request.start_time_unix_nano);
        prop_assert!(event.time_unix_nano <= request.end_time_unix_nano);
    }
    let log = sent(Signal::Logs, std::slice::from_ref(record));
    let log = ExportLogsServiceRequest::decode(log.as_slice()).unwrap();
    let log = &log.resource_logs[0].scope_logs[0].log_records[0];
    prop_assert_eq!(
        (&log.trace_id, &log.span_id),
        (&request.trace_id, &request.span_id)
    );
    let is_plain = |line: &str| !line.chars().any(char::is_control);
    prop_assert!(is_plain(plain(log.body.clone()).as_str().unwrap()));
    Ok(())
}

fn any_ms() -> impl Strategy<Value = Option<f64>> {
    prop_oneof![
        Just(None),
        (0.0..5_000.0).prop_map(Some),
        prop::sample::select(vec![f64::NAN, f64::INFINITY, -5.0, 1e300, 0.0]).prop_map(Some),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn no_record_panics_or_makes_a_span_that_is_none(
        marks in prop::array::uniform8(any_ms()),
        setup in prop::array::uniform4(any_ms()),
        stalls in prop::collection::vec(any_ms(), 0..4),
        id in any::<String>(),
        started_at in prop_oneof![
            any::<String>(),
            Just("2026-12-02T12:03:44Z".to_owned()),
            Just("9999-12-30T00:00:00Z".to_owned()),
            Just("-009999-01-02T00:00:00Z".to_owned()),
        ],
        names in prop::array::uniform4(prop::option::of(any::<String>())),
        trace in prop::option::of("[0-9a-f]{32}|.{0,40}|0{32}"),
        parent in prop::option::of(any::<([u8; 8], u8, Option<String>)>()),
        tokens in prop::option::of(any::<u64>()),
    ) {
        let mut record = stream();
        let [request_end, sent, header, first_byte, first_token, last_token, end, ttft] = marks;
        record.at.request_end_ms = request_end;
        record.at.sent_ms = sent;
        record.at.header_ms = header;
        record.at.first_byte_ms = first_byte;
        record.at.first_token_ms = first_token;
        record.at.last_token_ms = last_token;
        record.at.end_ms = end;
        record.ttft_ms = ttft;
        let [retry, dns, connect, tls] = setup;
        record.upstream.retry_ms = retry;
        record.upstream.dns_ms = dns;
        record.upstream.connect_ms = connect;
        record.upstream.tls_ms = tls;
        let stall = |at: Option<f64>| Stall {
            at_ms: at.unwrap_or(1.0),
            gap_ms: 1.0,
            after_token: u64::MAX,
            catch_up_events: tokens,
        };
        record.stalls = stalls.into_iter().map(stall).collect();
        record.id = id;
        record.started_at = started_at;
        let [method, path, model, answered] = names;
        record.request.method = method;
        record.request.path = path;
        record.request.model = model;
        record.response.model = answered;
        record.request.trace_id = trace;
        record.request.parent = parent.map(|(id, flags, state)| Parent { id, flags, state });
        record.tokens.prompt = tokens;
        check(&record)?;
        let metrics = Metrics::new(3);
        metrics.write(&record);
        metrics::message(&source(), &metrics.read(Now::default), UNIX_EPOCH, UNIX_EPOCH);
    }
}

#[test]
fn a_number_past_63_bits_is_near_itself() {
    let attribute = attribute::attribute("n", json!(u64::MAX));
    assert_eq!(plain(attribute.value), json!(u64::MAX as f64));
}
