//! The admin side's address and thread.
//!
//! The thread is its own, so that a page that is opened or a long list takes no time from the threads that relay.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::thread::{self, JoinHandle};

use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::get;
use tokio::runtime::Builder;
use tokio::sync::oneshot;

use super::door::Door;
use super::{Live, api, events, guard, page, scrape};
use crate::config::Access;

/// An address that was bound.
#[derive(Debug)]
pub struct Listener {
    tcp: TcpListener,
    addr: SocketAddr,
}

impl Listener {
    /// Binds it.
    ///
    /// # Errors
    ///
    /// The system's, most often: the address is in use.
    pub fn bind(addr: SocketAddr) -> io::Result<Listener> {
        let tcp = TcpListener::bind(addr)?;
        tcp.set_nonblocking(true)?;
        Ok(Listener {
            addr: tcp.local_addr()?,
            tcp,
        })
    }

    /// The address: the real port when port 0 was asked for.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }
}

/// The running admin side. It ends when this is dropped.
#[derive(Debug)]
pub struct Server {
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Serves what is `live` to those who have `access`.
    ///
    /// # Errors
    ///
    /// There are no more threads or descriptors to be had.
    pub fn start(listener: Listener, live: Live, access: Access) -> io::Result<Server> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let app = app(live, access);
        let (stop, stopped) = oneshot::channel();
        let serve = async move {
            let door = Door::new(tokio::net::TcpListener::from_std(listener.tcp)?);
            tokio::select! {
                done = async { axum::serve(door, app).await } => done,
                _ = stopped => Ok(()),
            }
        };
        let thread = thread::Builder::new()
            .name("dripline-admin".into())
            .spawn(move || {
                if let Err(error) = runtime.block_on(serve) {
                    tracing::error!(
                        "the admin side has ended ({error}); requests are not affected"
                    );
                }
                // pages that are open do not hold up the end
                runtime.shutdown_background();
            })?;
        Ok(Server {
            stop: Some(stop),
            thread: Some(thread),
        })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn app(live: Live, access: Access) -> Router {
    let guarded = Router::new()
        .route("/api/about", get(api::about))
        .route("/api/requests", get(api::requests))
        .route("/api/requests/{id}", get(api::request))
        .route("/api/requests/{id}/trace", get(api::trace))
        .route("/api/running", get(api::running))
        .route("/api/events", get(events::events))
        .route("/metrics", get(scrape::metrics))
        .fallback(api::nothing)
        .route_layer(from_fn_with_state(access, guard::check));
    // whether it lives is no secret, and those who ask have no token; the page asks for one itself
    Router::new()
        .route("/", get(page::index))
        .route("/page/{*name}", get(page::file))
        .route("/healthz", get(api::healthz))
        .route("/readyz", get(api::readyz))
        .merge(guarded)
        .layer(from_fn(guard::seal))
        .with_state(live)
}
