//! The admin side: what a running proxy shows of itself, on an address and a thread of its own.
//!
//! ```text
//! relay → running (what is open) ─┐
//!      └→ recent (what has ended) ┴→ row → api, events → server → guard → whoever asks
//! sinks → metrics ───────────────────→ scrape ──────┘
//! ```
//!
//! - [`recent`]: the requests that ended last
//! - [`row`]: what is said of one
//! - [`api`]: JSON for pages and programs, `/healthz` and `/readyz`
//! - [`events`]: the same as it happens, by server-sent events
//! - [`scrape`]: the metrics
//! - [`page`]: the page that shows it all, out of `live/page/`
//! - [`guard`]: who may see it, and what answers tell a browser
//! - `door`: how its connections come in
//! - [`server`]: its address and its thread
//!
//! All of it only reads. Nothing here can hold the relay: the locks that both take are held for a copy of a few
//! pointers.

pub mod api;
mod door;
pub mod events;
pub mod guard;
pub mod page;
pub mod recent;
pub mod row;
pub mod scrape;
pub mod server;

use std::sync::Arc;

use tokio::sync::{Semaphore, watch};

use crate::relay::{Phase, Running};
use recent::Recent;
use scrape::Scrape;

pub use server::{Listener, Server};

/// All that is shown.
#[derive(Debug, Clone)]
pub struct Live {
    /// Who shows it.
    pub about: Arc<About>,
    /// What has ended.
    pub recent: Arc<Recent>,
    /// What is open.
    pub running: Arc<Running>,
    /// All requests so far, in numbers.
    pub scrape: Scrape,
    /// Where the proxy is in its life.
    pub phase: watch::Receiver<Phase>,
    /// For those who get events: each looks at all that is open, so there are but so many.
    pub places: Arc<Semaphore>,
}

/// So many may get events at a time.
const PLACES: usize = 32;

impl Live {
    /// Nobody looks yet.
    pub fn new(
        about: About,
        recent: Arc<Recent>,
        running: Arc<Running>,
        scrape: Scrape,
        phase: watch::Receiver<Phase>,
    ) -> Live {
        Live {
            about: Arc::new(about),
            recent,
            running,
            scrape,
            phase,
            places: Arc::new(Semaphore::new(PLACES)),
        }
    }
}

/// What does not change while the process lives.
#[derive(Debug, serde::Serialize)]
pub struct About {
    /// Different after each start: numbers of requests count anew.
    pub boot: String,
    /// Of dripline.
    pub version: &'static str,
    /// Name of this proxy in its records.
    pub instance: String,
    /// Free text of the run.
    pub label: Option<String>,
    /// Where requests go, without what could be a secret.
    pub upstream: String,
    /// Where apps send them.
    pub listen: String,
    /// Wall clock of the start, RFC 3339 UTC.
    pub started_at: String,
    /// How many requests are kept here.
    pub keeps: usize,
}
