//! Who sends: the resource and scope of all messages.

use opentelemetry_proto::tonic::common::v1::{InstrumentationScope, KeyValue};
use opentelemetry_proto::tonic::resource::v1::Resource;
use xxhash_rust::xxh3::xxh3_64;

use super::attribute::{attribute, maybe};

/// This dripline.
#[derive(Debug, Clone)]
pub struct Source {
    /// `service.instance.id`: of this run and no other.
    pub id: String,
    /// `dripline.instance`: the name in its records.
    pub instance: String,
    /// `dripline.label`: the text of the run.
    pub label: Option<String>,
    /// More attributes; one that is named as one of the others takes its place.
    pub others: Vec<(String, String)>,
}

impl Source {
    /// What no other dripline has.
    pub(super) fn seed(&self) -> u64 {
        xxh3_64(self.id.as_bytes())
    }

    /// Its resource.
    pub(super) fn resource(&self) -> Resource {
        let known = [
            attribute("service.name", "dripline"),
            attribute("service.version", env!("CARGO_PKG_VERSION")),
            attribute("service.instance.id", self.id.as_str()),
            attribute("dripline.instance", self.instance.as_str()),
        ];
        let label = maybe("dripline.label", self.label.as_deref());
        let is_free = |known: &KeyValue| self.others.iter().all(|(name, _)| *name != known.key);
        let known = known.into_iter().chain(label).filter(is_free);
        let others = self.others.iter();
        let others = others.map(|(name, value)| attribute(name, value.as_str()));
        Resource {
            attributes: known.chain(others).collect(),
            ..Resource::default()
        }
    }
}

/// What makes the signals.
pub fn scope() -> InstrumentationScope {
    InstrumentationScope {
        name: "dripline".into(),
        version: env!("CARGO_PKG_VERSION").into(),
        ..InstrumentationScope::default()
    }
}
