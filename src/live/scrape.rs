//! `GET /metrics`: all requests so far, as Prometheus reads them and a collector is sent them.

use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::http::header::{ACCEPT, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};

use super::Live;
use crate::relay::Gauge;
use crate::sink::metrics::{Format, Now};
use crate::sink::{Metrics, Sinks};

/// Whom a scrape asks.
#[derive(Debug, Clone)]
pub struct Scrape {
    /// What has ended.
    pub metrics: Arc<Metrics>,
    /// What is open.
    pub gauge: Arc<Gauge>,
    /// What became of the records.
    pub sinks: Arc<Sinks>,
    /// The upstream, as records name it.
    pub upstream: String,
}

impl Scrape {
    /// What is known at this moment alone.
    pub fn now(&self) -> Now {
        Now {
            in_flight: vec![(self.upstream.clone(), self.gauge.in_flight())],
            records: self.sinks.totals(),
        }
    }
}

/// `GET /metrics`
pub async fn metrics(State(live): State<Live>, headers: HeaderMap) -> Response {
    let accept: Vec<&str> = headers
        .get_all(ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .collect();
    let format = Format::of_accept(Some(&accept.join(",")));
    let metrics = live.scrape.metrics.clone();
    let page = metrics.encode(format, move || live.scrape.now());
    ([(CONTENT_TYPE, format.content_type())], page).into_response()
}
