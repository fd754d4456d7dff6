//! The edge: sockets, pingora and the clock live here and nowhere else.
//!
//! A relay of our own over pingora-core's sessions, because the relay is this product: read a
//! piece, stamp it, write it, stamp it. In reading order:
//!
//! - [`server`]: listener, connections, keep-alive, drain
//! - [`exchange`]: one request, end to end: the loop
//! - [`tap`]: what each socket read and write did, and a queue in front of each socket
//! - [`upstream`], [`pool`]: names to addresses, connect, idle connections
//! - [`headers`]: what heads become on their way through
//! - [`describe`], `traceparent`: what heads say, for the record
//! - [`observation`]: the observer at arm's length: it may fail, the relay may not
//! - [`load`], [`history`]: what the requests to the upstream have to do with each other
//! - [`running`]: the requests that are open now
//! - [`client`]: a request of dripline's own, measured with the same instruments
//! - [`reply`]: the few answers that are dripline's own

pub mod client;
pub mod clock;
pub mod describe;
pub mod exchange;
pub mod headers;
pub mod history;
pub mod load;
pub mod observation;
pub mod pool;
pub mod reply;
pub mod running;
pub mod server;
mod socket;
pub mod tap;
mod traceparent;
pub mod upstream;

use std::sync::Arc;

use http::HeaderValue;
use tokio::sync::watch;

pub use load::Gauge;
pub use running::Running;
pub use server::Proxy;

use crate::config::ProxyConfig;
use crate::observe::drip::Drip;
use crate::observe::record::RequestRecord;

/// Takes each request's record, once, and its ticks where there is a board of open requests. Called on the relay's
/// threads: it must not block.
pub type Emit = Arc<dyn Fn(RequestRecord, Drip) + Send + Sync>;

/// Where the proxy is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Serving.
    Running,
    /// No new requests; streams may finish.
    Draining,
    /// Everything ends now.
    Stopped,
}

/// What all exchanges share.
pub struct Shared {
    config: ProxyConfig,
    upstream: upstream::Upstream,
    /// What `Host` becomes; `None` keeps the client's.
    host: Option<HeaderValue>,
    gauge: Arc<Gauge>,
    /// What the latest records have in common; asked once a request, at its end.
    history: history::Kept,
    emit: Emit,
    /// The open requests, where someone wants to see them.
    running: Option<Arc<Running>>,
    phase: watch::Receiver<Phase>,
}

impl Shared {
    fn new(
        config: &ProxyConfig,
        emit: Emit,
        phase: watch::Receiver<Phase>,
    ) -> anyhow::Result<Self> {
        let host = HeaderValue::try_from(&config.upstream.authority)?;
        Ok(Shared {
            upstream: upstream::Upstream::new(config),
            host: (!config.preserve_host).then_some(host),
            gauge: Arc::new(Gauge::new(config.cold_after)),
            history: history::Kept::default(),
            emit,
            running: config.admin.is_some().then(Arc::default),
            phase,
            config: config.clone(),
        })
    }
}
