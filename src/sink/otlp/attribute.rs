//! Names and values, as OTLP has them.

use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::common::v1::{AnyValue, ArrayValue, KeyValue, KeyValueList};
use serde_json::Value;

/// An attribute.
pub fn attribute(key: impl Into<String>, value: impl Into<Value>) -> KeyValue {
    KeyValue {
        key: key.into(),
        value: Some(any(value.into())),
        ..KeyValue::default()
    }
}

/// An attribute, if there is a value.
pub fn maybe(key: &'static str, value: Option<impl Into<Value>>) -> Option<KeyValue> {
    value.map(|value| attribute(key, value))
}

/// A JSON value as one of OTLP. `null` is the value without a value, which OTLP has too.
pub fn any(value: Value) -> AnyValue {
    let value = match value {
        Value::Null => None,
        Value::Bool(is) => Some(Any::BoolValue(is)),
        Value::Number(number) => Some(match number.as_i64() {
            Some(whole) => Any::IntValue(whole),
            // Past 63 bits only a file or a server's word can be.
            None => Any::DoubleValue(number.as_f64().unwrap_or(f64::MAX)),
        }),
        Value::String(text) => Some(Any::StringValue(text)),
        Value::Array(values) => Some(Any::ArrayValue(ArrayValue {
            values: values.into_iter().map(any).collect(),
        })),
        Value::Object(_) => Some(Any::KvlistValue(KeyValueList {
            values: fields(value),
        })),
    };
    AnyValue { value }
}

/// The fields of a JSON object, each an attribute.
pub fn fields(object: Value) -> Vec<KeyValue> {
    let fields = match object {
        Value::Object(fields) => fields,
        _ => serde_json::Map::new(),
    };
    let all = fields.into_iter();
    all.map(|(key, value)| attribute(key, value)).collect()
}
