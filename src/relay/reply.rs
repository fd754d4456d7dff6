//! The few answers that are dripline's own: in OpenAI's error shape, saying who made them and why.

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE, SERVER};
use pingora_http::ResponseHeader;
use serde_json::json;

use super::upstream::ConnectError;
use crate::config::UpstreamUrl;
use crate::observe::observer::Cause;

/// Why the client gets an answer of ours instead of the upstream's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Failure {
    /// The request cannot be understood, so it cannot be passed on.
    BadRequest,
    /// `CONNECT` asks for a tunnel, which a reverse proxy does not offer.
    Connect,
    /// There is no connection to the upstream.
    Unreachable(ConnectError),
    /// The upstream was connected but gave no response.
    NoAnswer(Cause),
}

impl Failure {
    /// What the record says of it.
    pub fn cause(self) -> Cause {
        match self {
            Failure::BadRequest | Failure::Connect => Cause::Refused,
            Failure::Unreachable(error) => error.cause(),
            Failure::NoAnswer(cause) => cause,
        }
    }

    fn status(self) -> u16 {
        match self {
            Failure::BadRequest => 400,
            Failure::Connect => 405,
            Failure::Unreachable(ConnectError::Timeout)
            | Failure::NoAnswer(Cause::UpstreamTimeout) => 504,
            Failure::Unreachable(_) | Failure::NoAnswer(_) => 502,
        }
    }

    fn code(self) -> &'static str {
        match self.cause() {
            Cause::Refused => "bad_request",
            Cause::UpstreamTimeout => "upstream_timeout",
            Cause::UpstreamInvalid => "upstream_invalid",
            Cause::UpstreamFin | Cause::UpstreamReset => "upstream_closed",
            _ => "upstream_unreachable",
        }
    }

    fn reason(self) -> &'static str {
        match self {
            Failure::BadRequest => "the request is not valid HTTP/1.1 and was not passed on",
            Failure::Connect => "this is a reverse proxy: it takes no CONNECT",
            Failure::Unreachable(error) => error.sentence(),
            Failure::NoAnswer(Cause::UpstreamTimeout) => {
                "was silent for longer than --read-timeout"
            }
            Failure::NoAnswer(Cause::UpstreamInvalid) => "did not answer in valid HTTP",
            Failure::NoAnswer(Cause::UpstreamReset) => "reset the connection without an answer",
            Failure::NoAnswer(_) => "closed the connection without an answer",
        }
    }
}

/// The answer: its head and its body, a JSON object as OpenAI's API gives for errors.
pub fn build(failure: Failure, upstream: &UpstreamUrl) -> (ResponseHeader, Bytes) {
    let reason = failure.reason();
    let message = match failure {
        Failure::BadRequest | Failure::Connect => format!("dripline: {reason}"),
        _ => format!("dripline: the upstream {upstream} {reason}"),
    };
    let error = json!({ "message": message, "type": "dripline_error", "param": null, "code": failure.code() });
    let body = json!({ "error": error }).to_string();
    let mut head = ResponseHeader::build(failure.status(), Some(4)).expect("a valid status");
    for (name, value) in [
        (CONTENT_TYPE, "application/json".to_owned()),
        (CONTENT_LENGTH, body.len().to_string()),
        (SERVER, "dripline".to_owned()),
    ] {
        head.insert_header(name, value).expect("plain ASCII");
    }
    (head, Bytes::from(body))
}
