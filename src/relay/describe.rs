//! What heads say, in the record's words. Texts from the wire are bounded and without control
//! characters; a query string never gets in here.

use std::net::SocketAddr;
use std::time::Duration;

use http::header::{
    ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, EXPECT, SERVER, TRAILER,
    TRANSFER_ENCODING,
};
use http::{HeaderMap, Method, StatusCode, Version};
use pingora_http::{RequestHeader, ResponseHeader};

use super::Shared;
use super::clock;
use super::traceparent;
use super::upstream::Facts;
use crate::config::UpstreamUrl;
use crate::observe::observer::{RequestHead, ResponseHead};
use crate::observe::record::{self, Framing, Origin, ServerSays};

/// Longest text taken from a header or a path, in bytes.
const TEXT_LIMIT: usize = 512;

/// The request as the record shows it.
pub fn request(client: &RequestHeader, shared: &Shared, peer: SocketAddr) -> RequestHead {
    read_request(client, unreadable_request(shared, peer))
}

/// What the head of a request says, added to what is `known` of it.
pub fn read_request(head: &RequestHeader, known: RequestHead) -> RequestHead {
    let (trace_id, parent) = traceparent::of(&head.headers).unzip();
    RequestHead {
        method: head.method.to_string(),
        path: bounded(head.uri.path()),
        request_id: text(&head.headers, "x-request-id"),
        trace_id,
        parent,
        accept_encoding: text(&head.headers, ACCEPT_ENCODING),
        http: version(head.version),
        expect_continue: head.headers.contains_key(EXPECT),
        ..known
    }
}

/// A request of which nothing is known but that it came.
pub fn unreadable_request(shared: &Shared, peer: SocketAddr) -> RequestHead {
    let started = clock::wall();
    let config = &shared.config;
    RequestHead {
        id: ulid::Ulid::from_datetime(started).to_string(),
        started_at: clock::rfc3339(started),
        label: config.label.clone(),
        instance: config.instance.clone(),
        client_addr: config.log_client_addr.then(|| peer.to_string()),
        ..RequestHead::default()
    }
}

/// The upstream before there is a connection to it.
pub fn upstream(url: &UpstreamUrl) -> record::Upstream {
    record::Upstream {
        name: Some(url.authority.clone()),
        tls: Some(url.tls),
        ..record::Upstream::default()
    }
}

/// The connection to the upstream. `lost` is the time that earlier attempts took.
pub fn connection(
    url: &UpstreamUrl,
    facts: &Facts,
    attempts: u32,
    lost: Option<Duration>,
) -> record::Upstream {
    record::Upstream {
        addr: Some(facts.addr.to_string()),
        reused: Some(facts.reused),
        attempts,
        retry_ms: lost.map(record::ms),
        dns_ms: facts.dns.map(record::ms),
        connect_ms: facts.connect.map(record::ms),
        tls_ms: facts.tls.map(record::ms),
        ..upstream(url)
    }
}

/// The upstream's response as the record shows it.
pub fn response(head: &ResponseHeader, request: &Method) -> ResponseHead {
    ResponseHead {
        status: head.status.as_u16(),
        origin: Origin::Upstream,
        http: version(head.version),
        content_type: text(&head.headers, CONTENT_TYPE),
        content_encoding: text(&head.headers, CONTENT_ENCODING),
        framing: framing(head, request),
        length: content_length(&head.headers),
        request_id: text(&head.headers, "x-request-id"),
        server: text(&head.headers, SERVER),
        trailers: head.headers.contains_key(TRAILER),
        server_says: server_says(&head.headers),
    }
}

/// An answer of our own as the record shows it.
pub fn own_reply(head: &ResponseHeader) -> ResponseHead {
    ResponseHead {
        status: head.status.as_u16(),
        origin: Origin::Dripline,
        content_type: text(&head.headers, CONTENT_TYPE),
        ..ResponseHead::default()
    }
}

/// Length of a request's body: 0 without one, `None` when it is chunked or told in an unusual way.
pub fn request_length(head: &RequestHeader) -> Option<u64> {
    let told = head.headers.get_all(CONTENT_LENGTH).iter().count();
    match (head.headers.contains_key(TRANSFER_ENCODING), told) {
        (true, _) => None,
        (false, 0) => Some(0),
        (false, 1) => content_length(&head.headers),
        (false, _) => None,
    }
}

/// Whether the head says where the body ends; else the end of the connection does.
pub fn is_framed(head: &ResponseHeader, request: &Method) -> bool {
    framing(head, request) != Some(Framing::Close)
}

/// How the end of the body is told (RFC 9112 section 6.3); `None` where there is no body at all.
fn framing(head: &ResponseHeader, request: &Method) -> Option<Framing> {
    let bodiless = matches!(
        head.status,
        StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED
    );
    if bodiless || head.status.is_informational() || request == Method::HEAD {
        None
    } else if head.version == Version::HTTP_2 {
        Some(Framing::H2)
    } else if let Some(coding) = head.headers.get_all(TRANSFER_ENCODING).iter().next_back() {
        // Any other last coding ends with the connection (RFC 9112 section 6.3).
        let last = coding.as_bytes().rsplit(|byte| *byte == b',').next();
        let chunked = last.is_some_and(|last| last.trim_ascii().eq_ignore_ascii_case(b"chunked"));
        Some(if chunked {
            Framing::Chunked
        } else {
            Framing::Close
        })
    } else if head.headers.contains_key(CONTENT_LENGTH) {
        Some(Framing::Length)
    } else {
        Some(Framing::Close)
    }
}

fn content_length(headers: &HeaderMap) -> Option<u64> {
    headers
        .get(CONTENT_LENGTH)?
        .to_str()
        .ok()?
        .trim()
        .parse()
        .ok()
}

/// What servers say of their own times in fields: OpenAI's `openai-processing-ms`, and those of
/// text-generation-inference ("x-queue-time" and others; router/src/server.rs), all in ms.
fn server_says(headers: &HeaderMap) -> ServerSays {
    let ms = |name: &str| {
        let ms: f64 = headers.get(name)?.to_str().ok()?.trim().parse().ok()?;
        (ms.is_finite() && ms >= 0.0).then_some(ms)
    };
    ServerSays {
        queue_ms: ms("x-queue-time"),
        generation_ms: ms("x-inference-time"),
        per_token_ms: ms("x-time-per-token"),
        processing_ms: ms("openai-processing-ms").or_else(|| ms("x-total-time")),
        ..ServerSays::default()
    }
}

fn version(version: Version) -> &'static str {
    match version {
        Version::HTTP_09 => "0.9",
        Version::HTTP_10 => "1.0",
        Version::HTTP_2 => "2",
        _ => "1.1",
    }
}

fn text(headers: &HeaderMap, name: impl http::header::AsHeaderName) -> Option<String> {
    headers
        .get(name)
        .map(|value| bounded(&String::from_utf8_lossy(value.as_bytes())))
}

fn bounded(text: &str) -> String {
    let clean = text.chars().filter(|c| !c.is_control());
    let mut length = 0;
    clean
        .take_while(|c| {
            length += c.len_utf8();
            length <= TEXT_LIMIT
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(fields: &[(&'static str, &str)]) -> RequestHeader {
        let mut head = RequestHeader::build("POST", b"/", None).unwrap();
        for (name, value) in fields {
            head.append_header(*name, *value).unwrap();
        }
        head
    }

    #[test]
    fn only_a_plain_length_is_a_known_one() {
        let length = |fields: &[_]| request_length(&request(fields));
        assert_eq!(length(&[]), Some(0));
        assert_eq!(length(&[("Content-Length", "5")]), Some(5));
        assert_eq!(length(&[("Content-Length", "5, 5")]), None);
        assert_eq!(
            length(&[("Content-Length", "5"), ("Content-Length", "5")]),
            None
        );
        assert_eq!(length(&[("Transfer-Encoding", "chunked")]), None);
    }

    #[test]
    fn a_body_ends_as_its_last_coding_says() {
        let framing = |coding: &str| {
            let mut head = ResponseHeader::build(200, None).unwrap();
            head.append_header("Transfer-Encoding", coding).unwrap();
            framing(&head, &Method::GET)
        };
        assert_eq!(framing("gzip, Chunked"), Some(Framing::Chunked));
        assert_eq!(framing("identity"), Some(Framing::Close));
        assert_eq!(framing("chunked, gzip"), Some(Framing::Close));
    }

    #[test]
    fn times_of_the_server_s_own_are_numbers_or_none() {
        let says =
            |name: &'static str, value: &str| server_says(&request(&[(name, value)]).headers);
        assert_eq!(says("openai-processing-ms", "57").processing_ms, Some(57.0));
        assert_eq!(says("x-total-time", " 812.5").processing_ms, Some(812.5));
        assert_eq!(says("x-queue-time", "3").queue_ms, Some(3.0));
        for none in ["-1", "inf", "NaN", "soon", ""] {
            assert_eq!(says("x-inference-time", none).generation_ms, None, "{none}");
        }
    }

    #[test]
    fn texts_are_bounded_and_plain() {
        assert_eq!(bounded("a\u{1b}[31mb"), "a[31mb");
        assert_eq!(bounded(&"é".repeat(999)).len(), TEXT_LIMIT);
    }
}
