//! Connections to the upstream: names to addresses, connect, pool.
//!
//! A name is resolved again for each new connection, never blocking. Idle connections are looked
//! for under the addresses of the last resolution, without asking DNS.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use pingora_core::ErrorType;
use pingora_core::connectors::{ConnectorOptions, TransportConnector};
use pingora_core::protocols::http::client::HttpSession;
use pingora_core::protocols::http::v1::client::HttpSession as Http1Session;
use pingora_core::protocols::{ALPN, Stream};
use pingora_core::upstreams::peer::HttpPeer;

use super::clock;
use super::pool::Pool;
use super::tap::Tap;
use crate::config::probe::Http;
use crate::config::{ProxyConfig, UpstreamUrl};
use crate::observe::observer::{Cause, ErrorKind};

/// How often idle connections are looked through.
const SWEEP_EVERY: Duration = Duration::from_secs(1);

/// The server behind the proxy.
pub struct Upstream {
    url: UpstreamUrl,
    http: Http,
    connector: TransportConnector,
    connect_timeout: Option<Duration>,
    pool: Pool,
    known: Mutex<Vec<SocketAddr>>,
}

/// A connection for one exchange.
pub struct Connection {
    /// pingora's session on it: HTTP/1.1 for now; HTTP/2 has its place in the type.
    pub session: HttpSession,
    /// What was seen on its wire.
    pub tap: Tap,
    /// How it came to be.
    pub facts: Facts,
}

/// How a connection came to be. Durations are `None` when that step did not happen.
#[derive(Debug, Clone)]
pub struct Facts {
    /// The address connected to.
    pub addr: SocketAddr,
    /// Whether it came from the pool.
    pub reused: bool,
    /// Name resolution.
    pub dns: Option<Duration>,
    /// TCP handshake.
    pub connect: Option<Duration>,
    /// TLS handshake.
    pub tls: Option<Duration>,
}

/// Why there is no connection. The texts are our own: pingora's carry header bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectError {
    /// The name has no address, or the resolver failed.
    Dns,
    /// Nothing listens there.
    Refused,
    /// No route to it, or the network is down.
    Unreachable,
    /// It did not answer in time: the system's time, or that of `--connect-timeout`.
    Timeout,
    /// The TLS handshake failed or the certificate is not trusted.
    Tls,
    /// Anything else.
    Other,
}

impl ConnectError {
    /// The cause in words that follow "the upstream …".
    pub fn sentence(self) -> &'static str {
        match self {
            ConnectError::Dns => "has a name that could not be resolved",
            ConnectError::Refused => "refused the connection: nothing listens there",
            ConnectError::Unreachable => "cannot be reached: no route",
            ConnectError::Timeout => "did not accept a connection in time",
            ConnectError::Tls => {
                "failed the TLS handshake: it speaks no TLS, or its certificate is not trusted (see --upstream-ca)"
            }
            ConnectError::Other => "could not be connected to",
        }
    }

    /// What the record says of it.
    pub fn cause(self) -> Cause {
        Cause::UpstreamUnreachable(match self {
            ConnectError::Dns => ErrorKind::Dns,
            ConnectError::Refused => ErrorKind::ConnectRefused,
            ConnectError::Unreachable => ErrorKind::NoRoute,
            ConnectError::Timeout => ErrorKind::ConnectTimeout,
            ConnectError::Tls => ErrorKind::Tls,
            ConnectError::Other => ErrorKind::Connect,
        })
    }

    fn of(error: &pingora_core::Error) -> Self {
        match error.etype() {
            ErrorType::ConnectRefused => ConnectError::Refused,
            ErrorType::ConnectNoRoute => ConnectError::Unreachable,
            ErrorType::ConnectTimedout | ErrorType::TLSHandshakeTimedout => ConnectError::Timeout,
            ErrorType::TLSHandshakeFailure | ErrorType::InvalidCert | ErrorType::HandshakeError => {
                ConnectError::Tls
            }
            _ => ConnectError::Other,
        }
    }
}

impl Upstream {
    /// Prepares for the upstream of `config`; connects to nothing yet.
    pub fn new(config: &ProxyConfig) -> Self {
        Upstream {
            connect_timeout: config.connect_timeout,
            pool: Pool::new(config.pool_idle),
            ..Upstream::at(config.upstream.clone(), config.upstream_ca.as_deref())
        }
    }

    /// Prepares for the server at `url`, without limits and with certificates checked against those
    /// of `ca` in place of the system's. The file is one that the configuration has checked.
    pub fn at(url: UpstreamUrl, ca: Option<&Path>) -> Self {
        let mut options = ConnectorOptions::new(0);
        options.ca_file = ca.map(|path| path.display().to_string());
        Upstream {
            url,
            http: Http::One,
            connector: TransportConnector::new(Some(options)),
            connect_timeout: None,
            pool: Pool::new(Duration::ZERO),
            known: Mutex::new(Vec::new()),
        }
    }

    /// The same, with new connections for another version of HTTP: over https it is what is asked for (ALPN, RFC 7301), over
    /// http the server is known to speak it.
    pub fn speaking(self, http: Http) -> Self {
        Upstream { http, ..self }
    }

    /// Where requests go.
    pub fn url(&self) -> &UpstreamUrl {
        &self.url
    }

    /// A connection from the pool, or else a new one; `fresh` asks for a new one.
    pub async fn connect(&self, fresh: bool) -> Result<Connection, ConnectError> {
        if !fresh {
            let known = self.known.lock().expect("held for a copy only").clone();
            if let Some((addr, tap)) = self.pool.take(&known) {
                let facts = Facts {
                    addr,
                    reused: true,
                    dns: None,
                    connect: None,
                    tls: None,
                };
                return Ok(Connection::on(tap, facts));
            }
        }
        let (addrs, dns) = self.resolve().await?;
        let mut last = ConnectError::Dns;
        for addr in addrs {
            let peer = self.peer(addr);
            match self.connector.new_stream(&peer).await {
                Ok(stream) if !self.is_understood(&stream) => last = ConnectError::Tls,
                Ok(stream) => return Ok(Connection::new(stream, addr, dns)),
                Err(error) => last = ConnectError::of(&error),
            }
        }
        Err(last)
    }

    /// Takes back a connection whose exchange is whole, if both sides keep it alive.
    pub async fn release(&self, connection: Connection) {
        if let HttpSession::H1(mut session) = connection.session {
            session.respect_keepalive(); // without it pingora takes none for kept alive
            if session.reuse().await.is_some() {
                self.pool.put(connection.facts.addr, connection.tap);
            }
        }
    }

    /// Closes idle connections that nobody took, for as long as it is polled.
    pub async fn sweep(&self) {
        let mut every = tokio::time::interval(SWEEP_EVERY);
        loop {
            every.tick().await;
            self.pool.sweep();
        }
    }

    async fn resolve(&self) -> Result<(Vec<SocketAddr>, Option<Duration>), ConnectError> {
        if let Ok(ip) = self.url.host.parse() {
            return Ok((
                self.remember(vec![SocketAddr::new(ip, self.url.port)]),
                None,
            ));
        }
        let start: Instant = clock::now();
        let found = tokio::net::lookup_host((self.url.host.as_str(), self.url.port)).await;
        let addrs: Vec<_> = found.map_err(|_| ConnectError::Dns)?.collect();
        Ok((self.remember(addrs), Some(clock::now() - start)))
    }

    fn remember(&self, addrs: Vec<SocketAddr>) -> Vec<SocketAddr> {
        self.known
            .lock()
            .expect("held for a copy only")
            .clone_from(&addrs);
        addrs
    }

    fn peer(&self, addr: SocketAddr) -> HttpPeer {
        // The name is never empty: an empty one would switch certificate checks off.
        let mut peer = HttpPeer::new(addr, self.url.tls, self.url.host.clone());
        peer.options.connection_timeout = self.connect_timeout;
        if self.http == Http::Two {
            peer.options.alpn = ALPN::H2;
        }
        peer
    }

    /// A server may ignore what it was asked to speak.
    fn is_understood(&self, stream: &Stream) -> bool {
        let is_agreed = || stream.selected_alpn_proto() == Some(ALPN::H2);
        self.http == Http::One || !self.url.tls || is_agreed()
    }
}

impl Connection {
    fn new(stream: Stream, addr: SocketAddr, dns: Option<Duration>) -> Self {
        let timing = stream.get_timing_digest();
        let step = |at: usize| timing.get(at)?.as_ref()?.establishment_duration;
        let facts = Facts {
            addr,
            reused: false,
            dns,
            connect: step(0),
            tls: step(1),
        };
        Self::on(Tap::new(stream), facts)
    }

    fn on(tap: Tap, facts: Facts) -> Self {
        let session = HttpSession::H1(Http1Session::new(Box::new(tap.clone())));
        Connection {
            session,
            tap,
            facts,
        }
    }
}
