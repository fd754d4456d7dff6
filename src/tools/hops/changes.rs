//! What the hop changed of an answer, besides its bytes.

use serde::Serialize;

use crate::observe::record::RequestRecord;

/// Something that the hop changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Change {
    /// The record's field.
    pub field: &'static str,
    /// What went in.
    pub inner: Option<String>,
    /// What came out.
    pub outer: Option<String>,
}

/// The fields that are not the same on both sides.
pub fn changes(inner: &RequestRecord, outer: &RequestRecord) -> Vec<Change> {
    type Of = fn(&RequestRecord) -> Option<String>;
    let fields: [(&'static str, Of); 6] = [
        ("status", |record| Some(record.response.status?.to_string())),
        ("content_type", |record| {
            record.response.content_type.clone()
        }),
        ("content_encoding", |record| {
            record.response.content_encoding.clone()
        }),
        ("framing", |record| word(&record.response.framing?)),
        ("end", |record| word(&record.end)),
        ("accept_encoding", |record| {
            record.request.accept_encoding.clone()
        }),
    ];
    fields
        .into_iter()
        .map(|(field, of)| Change {
            field,
            inner: of(inner),
            outer: of(outer),
        })
        .filter(|change| change.inner != change.outer)
        .collect()
}

/// The record's word for an enum's value.
pub fn word(value: &impl Serialize) -> Option<String> {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => Some(word),
        _ => None,
    }
}
