//! What the relay has to say: heads, stamps and how it ended.

use crate::observe::framing::DEFAULT_EVENT_LIMIT;
use crate::observe::record::{ErrorKind, Framing, Load, Origin, Parent, ServerSays};

/// What is to be observed.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Keep one row per chunk.
    pub timeline: bool,
    /// Hash the body.
    pub body_hash: bool,
    /// Largest event that is looked into, bytes.
    pub event_limit: usize,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            timeline: false,
            body_hash: true,
            event_limit: DEFAULT_EVENT_LIMIT,
        }
    }
}

/// How far a request is that still runs. Times are µs from `t0`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// Last byte of the request written upstream.
    pub sent_us: Option<u64>,
    /// Final response header in.
    pub header_us: Option<u64>,
    /// First token event.
    pub first_token_us: Option<u64>,
    /// When the upstream last gave a sign of life; 0 before that.
    pub last_us: u64,
    /// Socket reads that brought body bytes.
    pub chunks: u64,
    /// Events of any kind.
    pub events: u64,
    /// Token events.
    pub tokens: u64,
}

/// What the request's head says.
#[derive(Debug, Clone, Default)]
pub struct RequestHead {
    /// Unique id of the record.
    pub id: String,
    /// Wall clock of the start, RFC 3339 UTC.
    pub started_at: String,
    /// Free text of the run.
    pub label: Option<String>,
    /// Name of the proxy.
    pub instance: String,
    /// HTTP method; empty when the request could not be read.
    pub method: String,
    /// Path without the query; empty when the request could not be read.
    pub path: String,
    /// The client's `x-request-id`.
    pub request_id: Option<String>,
    /// Trace id of `traceparent`.
    pub trace_id: Option<String>,
    /// The rest of `traceparent`, and `tracestate`.
    pub parent: Option<Parent>,
    /// Encodings that the client takes.
    pub accept_encoding: Option<String>,
    /// HTTP version, "1.1"; empty when the request could not be read.
    pub http: &'static str,
    /// Address of the client, if it is to be in the record.
    pub client_addr: Option<String>,
    /// The client waits for `100 Continue`.
    pub expect_continue: bool,
    /// What the upstream was doing when it came.
    pub load: Load,
}

/// What the response's head says.
#[derive(Debug, Clone, Default)]
pub struct ResponseHead {
    /// Status code.
    pub status: u16,
    /// Who made it.
    pub origin: Origin,
    /// HTTP version, "1.1"; empty for the proxy's own.
    pub http: &'static str,
    /// `content-type`.
    pub content_type: Option<String>,
    /// `content-encoding`.
    pub content_encoding: Option<String>,
    /// How the end of the body is told; `None` where there is no body.
    pub framing: Option<Framing>,
    /// `content-length`.
    pub length: Option<u64>,
    /// The server's `x-request-id`.
    pub request_id: Option<String>,
    /// `server`.
    pub server: Option<String>,
    /// Trailers are announced.
    pub trailers: bool,
    /// Times of the server's own in its fields.
    pub server_says: ServerSays,
}

impl ResponseHead {
    /// The codings of the body, where there are any but `identity`.
    pub fn codings(&self) -> Option<&str> {
        let all = self.content_encoding.as_deref()?;
        let mut each = all.split(',').map(str::trim);
        let is_plain = |coding: &str| coding.is_empty() || coding.eq_ignore_ascii_case("identity");
        (!each.all(is_plain)).then_some(all)
    }

    /// Whether the body is encoded.
    pub fn is_encoded(&self) -> bool {
        self.codings().is_some()
    }
}

/// Where an arrival time comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stamp {
    /// The kernel's receive stamp.
    Kernel,
    /// The return of the read.
    Read,
}

/// How an exchange ended on the wire, as the relay saw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// A clean HTTP end; also the end of the connection where that is the framing.
    Whole,
    /// The upstream's FIN in the middle.
    UpstreamFin,
    /// The upstream's reset.
    UpstreamReset,
    /// There is no connection.
    UpstreamUnreachable(ErrorKind),
    /// Not HTTP, or broken framing.
    UpstreamInvalid,
    /// A limit that the user set.
    UpstreamTimeout,
    /// The client left.
    ClientGone,
    /// Shutdown.
    ProxyStopped,
    /// The proxy answered itself.
    Refused,
    /// The relay's task was dropped, whyever.
    Dropped,
}
