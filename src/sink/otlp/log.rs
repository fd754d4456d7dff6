//! A record as a log record: its fields as attributes, beside a line to read.

use opentelemetry_proto::tonic::logs::v1::{LogRecord, SeverityNumber};
use serde_json::Value;

use super::attribute::{any, fields};
use crate::observe::record::{End, RequestRecord};
use crate::sink::console::text::{duration, shown, word};
use crate::sink::ids::Ids;
use crate::sink::wall::WallClock;

/// What kind of event it is.
pub const EVENT: &str = "dripline.request";

/// Columns of a path or a model in the line.
const NAME: usize = 80;

/// The log record of a request.
pub fn log_record(record: &RequestRecord) -> LogRecord {
    let ids = Ids::of(record);
    let ended = WallClock::of(record).end();
    let severity = severity(record);
    LogRecord {
        time_unix_nano: ended,
        observed_time_unix_nano: ended,
        severity_number: severity.into(),
        severity_text: severity.as_str_name()["SEVERITY_NUMBER_".len()..].into(),
        event_name: EVENT.into(),
        body: Some(any(line(record).into())),
        // A record is a plain struct: making JSON of it cannot fail.
        attributes: fields(serde_json::to_value(record).unwrap_or(Value::Null)),
        trace_id: ids.trace.into(),
        span_id: ids.span.into(),
        flags: ids.flags.into(),
        ..LogRecord::default()
    }
}

/// What failed is an error; what was ended before its time is a warning: nobody may be to blame.
fn severity(record: &RequestRecord) -> SeverityNumber {
    match (record.end, &record.error) {
        (End::ClientGone | End::ProxyStopped, _) => SeverityNumber::Warn,
        (_, Some(_)) => SeverityNumber::Error,
        (_, None) => SeverityNumber::Info,
    }
}

/// The request in one line.
fn line(record: &RequestRecord) -> String {
    let request = &record.request;
    let named = |name: &Option<String>| name.as_deref().map(|name| shown(name, NAME));
    let what = [
        named(&request.method),
        named(&request.path),
        named(&request.model),
    ];
    let what: Vec<String> = what.into_iter().flatten().collect();
    let mut line = format!("{}: {}", what.join(" "), word(&record.end));
    if let Some(verdict) = &record.verdict {
        line += &format!(", {}", word(&verdict.timing));
    }
    if record.ttft_ms.is_some() {
        line += &format!(", first token after {}", duration(record.ttft_ms));
    }
    line
}
