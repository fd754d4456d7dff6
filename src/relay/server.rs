//! Listener, connections, keep-alive, drain.
//!
//! The accept loop is our own, on tokio: pingora's would buffer 1460 bytes of a response with a
//! known length, cannot bind port 0 for a test, and cuts streams at shutdown.

use std::io::ErrorKind;
use std::iter;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context;
use bytes::BytesMut;
use pingora_core::protocols::Stream;
use pingora_core::protocols::http::ServerSession;
use pingora_core::protocols::l4::stream::Stream as TcpStream;
use tokio::net::{TcpListener, TcpStream as TcpSocket};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::tap::Tap;
use super::{Emit, Gauge, Phase, Running, Shared, clock, exchange};
use crate::config::ProxyConfig;

/// Pause after a failed accept (most often: out of file descriptors), so that it cannot spin.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// How long requests that were told to stop may take to write their record.
const STOP_GRACE: Duration = Duration::from_secs(2);

/// How long a new connection has for its first request once the proxy drains: its client has seen it accepted, and may have
/// sent one that would get no answer.
const FIRST_REQUEST: Duration = Duration::from_secs(1);

/// More connections than wait in a listener of tokio's. Without a bound new ones could keep a proxy from its end.
const WAITING: usize = 1024;

/// A bound proxy, ready to run.
pub struct Proxy {
    listener: TcpListener,
    local_addr: SocketAddr,
    drain: Duration,
    shared: Arc<Shared>,
    phase: watch::Sender<Phase>,
}

impl Proxy {
    /// Binds the listener of `config`. `emit` gets each request's record, once.
    pub async fn bind(config: &ProxyConfig, emit: Emit) -> anyhow::Result<Self> {
        let addr = config.listen;
        let listener = TcpListener::bind(addr).await.with_context(|| {
            format!("cannot listen on {addr}: choose another address with --listen, port 0 takes a free one")
        })?;
        Proxy::on(listener, config, emit)
    }

    /// The same with a listener that is open already, whatever `config` says: one that outlives the proxy.
    pub fn on(listener: TcpListener, config: &ProxyConfig, emit: Emit) -> anyhow::Result<Self> {
        let (phase, _) = watch::channel(Phase::Running);
        Ok(Proxy {
            local_addr: listener.local_addr()?,
            listener,
            drain: config.drain,
            shared: Arc::new(Shared::new(config, emit, phase.subscribe())?),
            phase,
        })
    }

    /// The address that was bound: the real port when port 0 was asked for.
    pub fn local_addr(&self) -> SocketAddr {
        self.local_addr
    }

    /// The open requests; `None` where the configuration has no admin side to show them.
    pub fn running(&self) -> Option<Arc<Running>> {
        self.shared.running.clone()
    }

    /// How many requests are open.
    pub fn gauge(&self) -> Arc<Gauge> {
        self.shared.gauge.clone()
    }

    /// Where it is in its life.
    pub fn phase(&self) -> watch::Receiver<Phase> {
        self.phase.subscribe()
    }

    /// Serves until `stop` is ready, then drains: no new connections, idle ones close at once,
    /// new ones have a second for their first request, streams go on until the drain time is over
    /// or `stop_now` is ready. Returns when every record was emitted.
    pub async fn run(self, stop: impl Future<Output = ()>, stop_now: impl Future<Output = ()>) {
        let mut connections = JoinSet::new();
        let shared = self.shared.clone();
        let sweep = shared.upstream.sweep();
        tokio::pin!(stop, sweep);
        loop {
            tokio::select! {
                () = &mut stop => break,
                accepted = self.listener.accept() => match accepted {
                    Ok((tcp, peer)) => {
                        connections.spawn(serve(self.shared.clone(), tcp, peer));
                    }
                    Err(error) => {
                        tracing::warn!(kind = %error.kind(), "cannot accept a connection");
                        tokio::time::sleep(ACCEPT_PAUSE).await;
                    }
                },
                Some(_) = connections.join_next() => {}
                () = &mut sweep => {}
            }
        }
        self.phase.send_replace(Phase::Draining);
        for (tcp, peer) in waiting(self.listener) {
            connections.spawn(serve(self.shared.clone(), tcp, peer));
        }
        tracing::info!(
            connections = connections.len(),
            "stopping: open streams may finish; Ctrl-C again ends them now"
        );
        tokio::select! {
            () = all_done(&mut connections) => return,
            () = tokio::time::sleep(self.drain) => {}
            () = stop_now => {}
        }
        self.phase.send_replace(Phase::Stopped);
        // What still does not end is dropped; its record is emitted by the drop.
        let _ = tokio::time::timeout(STOP_GRACE, all_done(&mut connections)).await;
        connections.shutdown().await;
    }
}

/// Closes the listener; gives the connections that waited in it, which to their clients are like any other: the kernel accepts.
fn waiting(listener: TcpListener) -> impl Iterator<Item = (TcpSocket, SocketAddr)> {
    let listener = listener.into_std().ok(); // it still does not block
    let accept = move || match listener.as_ref()?.accept() {
        Err(error) if error.kind() == ErrorKind::WouldBlock => None,
        accepted => Some(accepted.and_then(|(tcp, peer)| {
            tcp.set_nonblocking(true)?;
            Ok((TcpSocket::from_std(tcp)?, peer))
        })),
    };
    iter::from_fn(accept).take(WAITING).flatten()
}

async fn all_done(connections: &mut JoinSet<()>) {
    while connections.join_next().await.is_some() {}
}

/// One client connection: its requests one after the other.
async fn serve(shared: Arc<Shared>, tcp: TcpSocket, peer: SocketAddr) {
    let _ = tcp.set_nodelay(true); // without it only slower, never wrong
    let tap = Tap::new(Box::new(TcpStream::from(tcp)));
    let mut next: Option<(Stream, Option<BytesMut>)> = Some((Box::new(tap.clone()), None));
    let mut free_since: Option<Instant> = None;
    while let Some((stream, prefix)) = next.take() {
        let mut session = ServerSession::new_http1(stream);
        session.set_read_timeout(None);
        session.set_pipelining_enabled(true);
        if let Some(prefix) = prefix {
            session.set_pipelined_prefix(prefix);
        }
        let mut phase = shared.phase.clone();
        let is_new = free_since.is_none();
        let idle_end = async {
            let _ = phase.wait_for(|phase| *phase != Phase::Running).await;
            if is_new {
                let stopped = phase.wait_for(|phase| *phase == Phase::Stopped);
                let _ = tokio::time::timeout(FIRST_REQUEST, stopped).await;
            }
        };
        let read = tokio::select! {
            biased;
            read = session.read_request() => read,
            () = idle_end => return,
        };
        // A pipelined request waited for its turn behind the client's own earlier one.
        let arrived = tap.arrival().map_or_else(clock::now, |arrival| arrival.at);
        let t0 = free_since.map_or(arrived, |free| arrived.max(free));
        next = match read {
            Ok(true) => exchange::run(&shared, session, tap.clone(), t0, peer).await,
            Ok(false) => return,
            // pingora's error is dropped unread: it carries the bytes of the head.
            Err(_) => return exchange::refuse(&shared, session, tap, t0, peer).await,
        };
        free_since = Some(clock::now());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_waits_in_a_listener_is_given_when_it_closes() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let connect = || std::net::TcpStream::connect(addr);
        let clients: Vec<_> = (0..20).map(|_| connect().unwrap()).collect();
        let given: Vec<_> = waiting(listener).map(|(_, peer)| peer).collect();
        let known: Vec<_> = clients.iter().map(|c| c.local_addr().unwrap()).collect();
        assert_eq!(given, known);
        let refused = connect().unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
    }
}
