//! What is sent together.

use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::logs::v1::{LogRecord, ResourceLogs, ScopeLogs};
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span};
use prost::Message;

use super::Signal;
use super::log::log_record;
use super::resource::{Source, scope};
use super::span::spans;
use crate::observe::record::RequestRecord;

/// Records that are sent together, as OpenTelemetry's SDKs have it.
const MOST: u64 = 512;

/// A batch is sent as soon as it has so many bytes, since collectors refuse what is too large (20 MiB at the least).
/// One record with a timeline of 100,000 rows has some 3 MB.
const MOST_BYTES: usize = 2 << 20;

/// Records that wait to be sent.
#[derive(Debug)]
pub struct Batch {
    resource: Resource,
    items: Items,
    n: u64,
    bytes: usize,
}

#[derive(Debug)]
enum Items {
    Logs(Vec<LogRecord>),
    Spans(Vec<Span>),
}

impl Batch {
    /// An empty batch of logs or spans.
    pub fn new(signal: Signal, source: &Source) -> Self {
        Batch {
            resource: source.resource(),
            items: match signal {
                Signal::Traces => Items::Spans(Vec::new()),
                Signal::Logs | Signal::Metrics => Items::Logs(Vec::new()),
            },
            n: 0,
            bytes: 0,
        }
    }

    /// Adds a record; whether there is something of it to send.
    pub fn add(&mut self, record: &RequestRecord) -> bool {
        let bytes = match &mut self.items {
            Items::Logs(logs) => {
                let log = log_record(record);
                let bytes = log.encoded_len();
                logs.push(log);
                bytes
            }
            Items::Spans(all) => {
                let spans = spans(record);
                let bytes = spans.iter().map(Message::encoded_len).sum();
                all.extend(spans);
                bytes
            }
        };
        self.bytes += bytes;
        self.n += u64::from(bytes > 0);
        bytes > 0
    }

    /// How many records are in it.
    pub fn n(&self) -> u64 {
        self.n
    }

    /// Whether it is to be sent at once.
    pub fn is_full(&self) -> bool {
        self.n >= MOST || self.bytes >= MOST_BYTES
    }

    /// The message; the batch is empty after it.
    pub fn take(&mut self) -> Vec<u8> {
        self.n = 0;
        self.bytes = 0;
        let resource = Some(self.resource.clone());
        match &mut self.items {
            Items::Logs(logs) => ExportLogsServiceRequest {
                resource_logs: vec![ResourceLogs {
                    resource,
                    scope_logs: vec![ScopeLogs {
                        scope: Some(scope()),
                        log_records: std::mem::take(logs),
                        ..ScopeLogs::default()
                    }],
                    ..ResourceLogs::default()
                }],
            }
            .encode_to_vec(),
            Items::Spans(spans) => ExportTraceServiceRequest {
                resource_spans: vec![ResourceSpans {
                    resource,
                    scope_spans: vec![ScopeSpans {
                        scope: Some(scope()),
                        spans: std::mem::take(spans),
                        ..ScopeSpans::default()
                    }],
                    ..ResourceSpans::default()
                }],
            }
            .encode_to_vec(),
        }
    }
}
