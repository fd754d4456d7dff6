//! The admin side of a proxy, from its address to its server.

use std::sync::Arc;

use anyhow::Context;
use jiff::Timestamp;
use ulid::Ulid;

use crate::config::{Access, Admin, ProxyConfig};
use crate::live::recent::Recent;
use crate::live::scrape::Scrape;
use crate::live::{About, Listener, Live, Server};
use crate::relay::Proxy;

/// It is bound, and takes what has ended, but shows nothing yet.
pub struct Bound {
    /// Its address.
    pub listener: Listener,
    /// What has ended.
    pub recent: Arc<Recent>,
    access: Access,
    keeps: usize,
}

/// Binds the address. A taken one is an error only if it was asked for.
///
/// # Errors
///
/// A sentence with the address and what to do.
pub fn bind(admin: Option<&Admin>) -> anyhow::Result<Option<Bound>> {
    let Some(admin) = admin else {
        return Ok(None);
    };
    let listener = match Listener::bind(admin.addr) {
        Ok(listener) => listener,
        Err(error) if !admin.asked => {
            tracing::warn!(
                "no page: {} cannot be had ({error}); choose another address with --admin, or --admin off",
                admin.addr
            );
            return Ok(None);
        }
        Err(error) => {
            return Err(error).with_context(|| {
                format!(
                    "cannot listen on {}: choose another address with --admin, port 0 takes a free one",
                    admin.addr
                )
            });
        }
    };
    Ok(Some(Bound {
        listener,
        recent: Arc::new(Recent::new(admin.recent)),
        access: admin.access.clone(),
        keeps: admin.recent,
    }))
}

impl Bound {
    /// Shows what `proxy` does and what becomes of the records, until the result is dropped.
    ///
    /// # Errors
    ///
    /// There are no more threads or descriptors to be had.
    pub fn serve(
        self,
        config: &ProxyConfig,
        proxy: &Proxy,
        scrape: Scrape,
    ) -> anyhow::Result<Server> {
        let about = About {
            boot: Ulid::generate().to_string(),
            version: env!("CARGO_PKG_VERSION"),
            instance: config.instance.clone(),
            label: config.label.clone(),
            upstream: config.upstream.to_string(),
            listen: proxy.local_addr().to_string(),
            started_at: Timestamp::now().to_string(),
            keeps: self.keeps,
        };
        let running = proxy.running().unwrap_or_default();
        let live = Live::new(about, self.recent, running, scrape, proxy.phase());
        Server::start(self.listener, live, self.access).context("cannot start the admin side")
    }
}
