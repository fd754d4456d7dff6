//! The request, the connection to the upstream and the response, as their heads tell them.

use serde::{Deserialize, Serialize};

/// What was asked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// HTTP method; `null` when the request could not be read.
    pub method: Option<String>,
    /// Path without the query; `null` when the request could not be read.
    pub path: Option<String>,
    /// Model asked for.
    pub model: Option<String>,
    /// The body's `stream`; `null` when it has none.
    pub stream: Option<bool>,
    /// Whether tools were offered.
    pub has_tools: bool,
    /// Body bytes received.
    pub bytes: u64,
    /// The client's `x-request-id`.
    pub request_id: Option<String>,
    /// Trace id of `traceparent`.
    pub trace_id: Option<String>,
    /// The client's place in its trace, for the spans. No part of the JSON: `None` where the record comes from a log.
    #[serde(skip)]
    pub parent: Option<Parent>,
    /// Encodings that the client takes.
    pub accept_encoding: Option<String>,
    /// HTTP version of the client's leg.
    pub http: Option<String>,
    /// Address of the client, when its logging was asked for.
    pub client_addr: Option<String>,
}

/// Where a request stands in its trace (W3C Trace Context, sections 3.2 and 3.3).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parent {
    /// The client's span; never all zero.
    pub id: [u8; 8],
    /// Flags of the trace; the lowest bit says that it is sampled.
    pub flags: u8,
    /// `tracestate`: what tracing systems tell each other; 512 bytes at most.
    pub state: Option<String>,
}

/// The connection to the upstream.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Upstream {
    /// Name and port as configured.
    pub name: Option<String>,
    /// Address connected to.
    pub addr: Option<String>,
    /// HTTP version of the upstream's leg.
    pub http: Option<String>,
    /// Whether it is encrypted.
    pub tls: Option<bool>,
    /// Whether the connection had served a request before.
    pub reused: Option<bool>,
    /// How often the request was sent.
    pub attempts: u32,
    /// Time lost in attempts before the last.
    pub retry_ms: Option<f64>,
    /// Name resolution; `null` when reused.
    pub dns_ms: Option<f64>,
    /// TCP connect; `null` when reused.
    pub connect_ms: Option<f64>,
    /// TLS handshake; `null` when reused or not encrypted.
    pub tls_ms: Option<f64>,
}

/// What the response head and its body said.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Response {
    /// Status code; `null` while no response came.
    pub status: Option<u16>,
    /// Who made the response.
    pub origin: Option<Origin>,
    /// The label of the body.
    pub content_type: Option<String>,
    /// Encoding of the body.
    pub content_encoding: Option<String>,
    /// How the upstream framed the body.
    pub framing: Option<Framing>,
    /// The server's `x-request-id`.
    pub request_id: Option<String>,
    /// The server's `server`.
    pub server: Option<String>,
    /// Model that answered.
    pub model: Option<String>,
    /// The answer's own id.
    pub id: Option<String>,
    /// xxh3-128 of the de-framed, still encoded body, in hex.
    pub body_hash: Option<String>,
}

/// Who made a response.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The upstream.
    #[default]
    Upstream,
    /// The proxy itself.
    Dripline,
}

/// How the end of a body is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Framing {
    /// Chunked transfer coding.
    Chunked,
    /// `Content-Length`.
    Length,
    /// The end of the connection.
    Close,
    /// HTTP/2 frames.
    H2,
}
