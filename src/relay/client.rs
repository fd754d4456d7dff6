//! A request of dripline's own, and its answer under observation: what `dripline probe` sends.
//!
//! It stands where an app stands and looks through the proxy's own instruments: the same connector, the
//! same tap on the socket with its kernel stamps, the same session (or HTTP/2), the same observer. So a figure of
//! the probe and one of the proxy differ by where they were taken, and by nothing else.
//!
//! **t0** is when the last byte of the request was with the socket. Where the answer begins before that
//! (a refusal in the middle of a long upload), it is when the answer began, whose interim heads (1xx) are no part of it;
//! where there is no connection, when connecting began. Name resolution, TCP connect and TLS handshake are before t0 and in `upstream`.
//! Each request has a connection of its own.

mod h2;
mod session;

use std::path::Path;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, HOST};
use http::{HeaderName, HeaderValue, Method, StatusCode};
use pingora_http::{RequestHeader, ResponseHeader};
use tokio::time::timeout;

use super::clock::{self, Axis};
use super::describe;
use super::exchange::Piece;
use super::history::Kept;
use super::load::Gauge;
use super::tap::{Arrival, Tap};
use super::upstream::Upstream;
use crate::config::UpstreamUrl;
use crate::config::probe::Http;
use crate::observe::observer::{Cause, Observer, Options, RequestHead, Stamp};
use crate::observe::record::{Load, RequestRecord};
use session::{Session, Step};

/// A server, asked by one program.
pub struct Client {
    upstream: Upstream,
    http: Http,
    gauge: Gauge,
    history: Kept,
    limit: Option<Duration>,
}

/// A request to send, always a `POST`.
#[derive(Debug, Clone)]
pub struct Request {
    /// Path and query.
    pub target: String,
    /// Fields of the head, but for `Content-Length`, `X-Request-Id`, and `Host` unless it is to be another.
    pub fields: Vec<(HeaderName, HeaderValue)>,
    /// The body.
    pub body: Bytes,
    /// Free text of the run.
    pub label: Option<String>,
    /// Who asks, as the record has it.
    pub instance: String,
}

impl Client {
    /// Prepares for the server at `url`; connects to nothing yet. `ca` replaces the system's roots and has
    /// been checked by the configuration. A request without an answer's end within `limit` is given up.
    /// It is cold when the server was not asked before, or not for `cold_after`.
    pub fn new(
        url: UpstreamUrl,
        http: Http,
        ca: Option<&Path>,
        limit: Option<Duration>,
        cold_after: Duration,
    ) -> Client {
        Client {
            upstream: Upstream::at(url, ca).speaking(http),
            http,
            gauge: Gauge::new(cold_after),
            history: Kept::default(),
            limit,
        }
    }

    /// Where requests go.
    pub fn url(&self) -> &UpstreamUrl {
        self.upstream.url()
    }

    /// Sends a request and reads the answer to its end or cut. There is always a record, with a timeline.
    ///
    /// # Errors
    ///
    /// A field or the path that HTTP does not allow, or a host that HTTP/2 does not; the message repeats none.
    pub async fn send(&self, request: Request) -> anyhow::Result<RequestRecord> {
        let id = ulid::Ulid::from_datetime(clock::wall()).to_string();
        let head = self.head(&request, &id)?;
        let begun = clock::now();
        let (_open, load) = Open::enter(&self.gauge);
        let known = RequestHead {
            id,
            started_at: clock::rfc3339(clock::wall()),
            label: request.label,
            instance: request.instance,
            load,
            ..RequestHead::default()
        };
        let options = Options {
            timeline: true,
            ..Options::default()
        };
        let mut observer = Observer::new(describe::read_request(&head, known), options);
        observer.on_upstream(describe::upstream(self.url()));
        observer.on_request_body(&request.body);
        let mut asking = Asking {
            observer,
            axis: Axis::from(begun),
            begun: false,
            reads_seen: 0,
        };
        let exchange = async {
            let connection = self.upstream.connect(true).await.map_err(|e| e.cause())?;
            let facts = describe::connection(self.url(), &connection.facts, 1, None);
            asking.observer.on_upstream(facts);
            let tap = connection.tap.clone();
            let session = Session::begin(self.http, connection, &head, request.body).await?;
            asking.run(session, &tap).await
        };
        let ended = match self.limit {
            Some(limit) => timeout(limit, exchange).await,
            None => Ok(exchange.await),
        };
        let cause = match ended {
            Ok(Ok(())) => Cause::Whole,
            Ok(Err(cause)) => cause,
            Err(_) => {
                let now = asking.axis.now();
                asking.observer.on_end(now);
                Cause::UpstreamTimeout
            }
        };
        let now = asking.axis.now();
        let mut record = asking.observer.finish(now, cause);
        self.history.add_to(&mut record);
        Ok(record)
    }

    fn head(&self, request: &Request, id: &str) -> anyhow::Result<RequestHeader> {
        let wrong = |_| anyhow::anyhow!("the path of the URL is none that HTTP allows");
        let path = request.target.as_bytes();
        let mut head = RequestHeader::build(Method::POST, path, None).map_err(wrong)?;
        let field = |head: &mut RequestHeader, name: String, value: HeaderValue| {
            let added = head.append_header(name, value);
            added.map_err(|_| anyhow::anyhow!("a header field is none that HTTP allows"))
        };
        if !request.fields.iter().any(|(name, _)| name == HOST) {
            let host = HeaderValue::try_from(self.url().authority.as_str())?;
            field(&mut head, "Host".to_owned(), host)?;
        }
        for (name, value) in &request.fields {
            field(&mut head, cased(name), value.clone())?;
        }
        let id = HeaderValue::try_from(id)?;
        field(&mut head, "X-Request-Id".to_owned(), id)?;
        let length = HeaderValue::from(request.body.len());
        field(&mut head, cased(&CONTENT_LENGTH), length)?;
        if self.http == Http::Two {
            h2::reshape(&mut head, self.url().tls)?;
        }
        Ok(head)
    }
}

/// Whether it is a head before the answer's own. A switch of protocols is an answer.
fn is_interim(piece: &Result<Piece, Cause>) -> bool {
    matches!(piece, Ok(Piece::Head(head))
        if head.status.is_informational() && head.status != StatusCode::SWITCHING_PROTOCOLS)
}

/// A name as people write it: some servers that are hardly servers want it so.
fn cased(name: &HeaderName) -> String {
    let words = name.as_str().split('-').map(|word| {
        let (first, rest) = word.split_at(word.len().min(1));
        first.to_ascii_uppercase() + rest
    });
    words.collect::<Vec<_>>().join("-")
}

/// A request counts as open until this is dropped.
struct Open<'a>(&'a Gauge);

impl<'a> Open<'a> {
    fn enter(gauge: &'a Gauge) -> (Self, Load) {
        let load = gauge.enter(clock::now());
        (Open(gauge), load)
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.leave(clock::now());
    }
}

/// One request on its connection.
struct Asking {
    observer: Observer,
    axis: Axis,
    /// Whether t0 was.
    begun: bool,
    /// Socket reads whose pieces the observer has.
    reads_seen: u64,
}

impl Asking {
    async fn run(&mut self, mut session: Session, tap: &Tap) -> Result<(), Cause> {
        let mut head_wanted = true;
        loop {
            let piece = match session.step(tap, head_wanted).await {
                Step::Sent(sent) => {
                    self.on_sent(tap, sent);
                    continue;
                }
                Step::Piece(piece) => piece,
            };
            if !self.begun {
                if is_interim(&piece) {
                    continue; // the request is still on its way: silence is counted from its end
                }
                self.begin(tap.arrival().map_or_else(clock::now, |arrival| arrival.at));
            }
            match piece {
                Ok(Piece::Head(head)) => head_wanted = self.on_head(tap, &head)?,
                Ok(Piece::Body(bytes)) => self.on_body(tap, &bytes),
                Ok(Piece::End) => {
                    self.on_end(tap);
                    return Ok(());
                }
                Err(cause) => {
                    self.on_end(tap);
                    return Err(cause);
                }
            }
        }
    }

    fn begin(&mut self, t0: Instant) {
        self.begun = true;
        self.axis = Axis::from(t0);
        self.observer.on_request_end(Duration::ZERO);
    }

    fn on_sent(&mut self, tap: &Tap, sent: std::io::Result<()>) {
        let at = tap.written_at().unwrap_or_else(clock::now);
        if !self.begun {
            self.begin(at);
        }
        match sent {
            Ok(()) => self.observer.on_sent(self.axis.at(at)),
            // The server closed early; its answer may already be here: read on.
            Err(_) => tap.discard_queue(),
        }
    }

    /// Whether the final head is still to come.
    fn on_head(&mut self, tap: &Tap, head: &ResponseHeader) -> Result<bool, Cause> {
        let at = self.arrival(tap);
        if head.status == StatusCode::SWITCHING_PROTOCOLS {
            // nobody asked for another protocol, and HTTP/2 has no such switch (RFC 9113 section 8.6)
            return Err(Cause::UpstreamInvalid);
        }
        if head.status.is_informational() {
            self.observer.on_upstream_byte(at);
            return Ok(true);
        }
        let described = describe::response(head, &Method::POST);
        self.observer.on_header(at, described);
        Ok(false)
    }

    fn on_body(&mut self, tap: &Tap, bytes: &[u8]) {
        let stamp = tap.arrival().map_or(Stamp::Read, Arrival::stamp);
        let reads = tap.reads();
        let new_chunk = std::mem::replace(&mut self.reads_seen, reads) != reads;
        let at = self.arrival(tap);
        self.observer.on_body(at, stamp, new_chunk, bytes);
    }

    /// An end that came with bytes has their time; one without (FIN, reset) is seen now.
    fn on_end(&mut self, tap: &Tap) {
        let with_bytes = tap.read_error().is_none() && !tap.is_gone();
        let at = if with_bytes {
            self.arrival(tap)
        } else {
            self.axis.now()
        };
        self.observer.on_end(at);
    }

    fn arrival(&self, tap: &Tap) -> Duration {
        self.axis.at_or_now(tap.arrival().map(|arrival| arrival.at))
    }
}
