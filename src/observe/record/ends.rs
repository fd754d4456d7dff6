//! How a request ended: ends, flags, errors and the reasons for a missing TTFT.

use serde::{Deserialize, Serialize};

/// How it ended: the first that fits, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// The proxy's own answer: bad request, no route, limit.
    Refused,
    /// No connection, TLS or name resolution failed.
    UpstreamUnreachable,
    /// A limit that the user set.
    UpstreamTimeout,
    /// Not HTTP, or broken framing.
    UpstreamInvalid,
    /// An error object inside a response with a good status.
    InBandError,
    /// Protocol end seen; or a clean HTTP end where there is no other.
    Complete,
    /// Cut by the shutdown after the drain time.
    ProxyStopped,
    /// The client left.
    ClientGone,
    /// Status 400 or higher.
    HttpError,
    /// The upstream reset the connection.
    UpstreamReset,
    /// Cut: FIN in the middle, or a partial event at the end without a protocol end.
    Truncated,
    /// The connection switched protocols (WebSocket).
    Upgraded,
    /// A stream was asked for, and one whole reply came.
    NotAStream,
    /// An event stream without an event.
    EmptyStream,
    /// A clean HTTP end, but no protocol end and no finish reason.
    EndedWithoutDone,
}

impl End {
    /// All of them, in their order.
    pub const ALL: [Self; 15] = [
        Self::Refused,
        Self::UpstreamUnreachable,
        Self::UpstreamTimeout,
        Self::UpstreamInvalid,
        Self::InBandError,
        Self::Complete,
        Self::ProxyStopped,
        Self::ClientGone,
        Self::HttpError,
        Self::UpstreamReset,
        Self::Truncated,
        Self::Upgraded,
        Self::NotAStream,
        Self::EmptyStream,
        Self::EndedWithoutDone,
    ];
}

/// Why there is no TTFT: the first that fits, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TtftNull {
    /// The proxy answered itself.
    Refused,
    /// The upstream was not reached, failed or cut.
    UpstreamFailed,
    /// Status 400 or higher.
    HttpError,
    /// WebSocket.
    Upgraded,
    /// One whole reply.
    NotAStream,
    /// Audio, images and the like.
    NotText,
    /// The body was compressed and not read.
    Encoded,
    /// The observer gave up; the relay did not.
    ObserverStopped,
    /// An error object came instead.
    InBandError,
    /// The client left before.
    ClientGone,
    /// The proxy was stopped before.
    ProxyStopped,
    /// Events came that could not be read.
    Unparsable,
    /// No event carried output.
    NoToken,
}

/// Details of an end; in a record they stand in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Flag {
    /// Complete, but the end marker of the dialect never came.
    NoDoneMarker,
    /// More than one end marker.
    DoneTwice,
    /// Bytes after the end marker.
    BytesAfterDone,
    /// The client left after the end marker and before the end of the body.
    ClientClosedAfterDone,
    /// The last event lacks its blank line.
    UnterminatedLastEvent,
    /// Complete, but the HTTP body has no end.
    HttpBodyUnterminated,
    /// The content type says something else than the body.
    LabelBodyMismatch,
    /// An event was too large to look into.
    EventTooLarge,
    /// The observer gave up; the relay did not.
    ObserverStopped,
    /// The body is compressed.
    Encoded,
    /// More than one choice (`n` > 1).
    MultiChoice,
    /// Fields of Azure's content filter were seen.
    AzureFilter,
    /// The request was sent again on a fresh connection.
    Retried,
    /// The client waited for `100 Continue`.
    ExpectContinue,
    /// Trailers were announced.
    Trailers,
    /// An event stream whose length was known in advance, which a live one never has.
    LengthKnownStream,
    /// The client was so slow that reading had to stop: arrivals may be late.
    ArrivalUncertain,
    /// The timeline has more rows than are kept.
    TimelineCut,
}

/// What failed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ErrorInfo {
    /// The proxy's own word for it.
    pub kind: ErrorKind,
    /// The server's error type or code; never free text.
    #[serde(rename = "type")]
    pub server_type: Option<String>,
}

/// The proxy's own words for failures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// The request was refused by the proxy.
    Refused,
    /// The upstream's name has no address.
    Dns,
    /// Nothing listens at the upstream's address.
    ConnectRefused,
    /// No route to the upstream.
    NoRoute,
    /// The connection was not made within the user's limit.
    ConnectTimeout,
    /// The TLS handshake failed.
    Tls,
    /// The connection failed in another way.
    Connect,
    /// The upstream was silent for longer than the user's limit.
    UpstreamTimeout,
    /// Not HTTP, or broken framing.
    UpstreamInvalid,
    /// The upstream reset the connection.
    UpstreamReset,
    /// The upstream closed in the middle.
    Truncated,
    /// An error object inside a response with a good status.
    InBandError,
    /// Status 400 or higher.
    HttpError,
}
