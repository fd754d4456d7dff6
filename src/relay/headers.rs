//! What a message head becomes on its way through: pure functions from head to head.
//!
//! Only what belongs to one connection changes (RFC 9110 section 7.6.1): `Connection` and the
//! fields it names, `Keep-Alive`, `Proxy-Connection`, `TE`, `Upgrade`, and `Host`, which names the
//! upstream. Heads are rebuilt in the order they came in, because removing a field from pingora's
//! map moves others.

use http::header::{CONNECTION, CONTENT_LENGTH, HOST, TE, TRANSFER_ENCODING, UPGRADE};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Version};
use pingora_core::Result;
use pingora_http::{RequestHeader, ResponseHeader};

const KEEP_ALIVE: HeaderName = HeaderName::from_static("keep-alive");
const PROXY_CONNECTION: HeaderName = HeaderName::from_static("proxy-connection");

/// These route and frame a message, so naming them in `Connection` does not remove them.
const NEVER_DROPPED: [HeaderName; 3] = [HOST, CONTENT_LENGTH, TRANSFER_ENCODING];

/// The request head as the upstream gets it. `host` replaces the client's `Host` (`None` keeps
/// it); `prefix` goes in front of the path and does not end in a slash.
pub fn to_upstream(
    client: &RequestHeader,
    host: Option<&HeaderValue>,
    prefix: &str,
) -> Result<RequestHeader> {
    let (root, rest) = origin_form(client.raw_path());
    let path = [prefix.as_bytes(), root, rest].concat();
    let mut head = RequestHeader::build(client.method.clone(), &path, Some(client.headers.len()))?;
    head.set_version(Version::HTTP_11);
    let hop = HopByHop::of(&client.headers, is_upgrade(client));
    for ((name, value), (cased, _)) in client.headers.iter().zip(client.case_header_iter()) {
        if !hop.drops(name) {
            let value = host.filter(|_| name == HOST).unwrap_or(value);
            head.append_header(cased.clone(), value)?;
        }
    }
    if let Some(host) = host.filter(|_| !client.headers.contains_key(HOST)) {
        head.append_header(HOST, host)?; // an HTTP/1.0 client may send none
    }
    Ok(head)
}

/// The response head as the client gets it. A client that speaks HTTP/1.0 knows no chunks: its
/// body ends with the connection.
pub fn to_downstream(upstream: &ResponseHeader, client: Version) -> Result<ResponseHeader> {
    let mut head = ResponseHeader::build(upstream.status, Some(upstream.headers.len()))?;
    head.set_version(Version::HTTP_11);
    head.set_reason_phrase(upstream.get_reason_phrase())?;
    let switches = matches!(
        upstream.status,
        StatusCode::SWITCHING_PROTOCOLS | StatusCode::UPGRADE_REQUIRED
    );
    let hop = HopByHop::of(&upstream.headers, switches);
    for ((name, value), (cased, _)) in upstream.headers.iter().zip(upstream.case_header_iter()) {
        let unchunked = name == TRANSFER_ENCODING && client == Version::HTTP_10;
        if !unchunked && !hop.drops(name) {
            head.append_header(cased.clone(), value)?;
        }
    }
    Ok(head)
}

/// Whether the client asks for another protocol on this connection that can be passed through.
/// `h2c` is not: the answer would be frames of a protocol that this leg does not speak.
pub fn is_upgrade(client: &RequestHeader) -> bool {
    let protocols = || client.headers.get_all(UPGRADE).iter();
    client.version == Version::HTTP_11
        && protocols().next().is_some()
        && !protocols().any(|value| tokens(value).any(|name| name.eq_ignore_ascii_case("h2c")))
}

/// The request target as path and query, if a client wrote it with scheme and authority, as to a
/// forward proxy (RFC 9112 section 3.2.2).
/// In two parts: a slash where it had none, and the rest.
fn origin_form(target: &[u8]) -> (&[u8], &[u8]) {
    let Some(scheme) = memchr::memmem::find(target, b"://").filter(|_| target[0] != b'/') else {
        return (b"", target);
    };
    let authority = &target[scheme + 3..];
    match memchr::memchr2(b'/', b'?', authority) {
        Some(path) if authority[path] == b'/' => (b"", &authority[path..]),
        Some(query) => (b"/", &authority[query..]),
        None => (b"/", b""),
    }
}

/// The fields of one head that end at this connection.
struct HopByHop {
    named: Vec<HeaderName>,
    upgrade: bool,
}

impl HopByHop {
    /// `upgrade`: the head switches protocols, so `Connection` and `Upgrade` belong to both ends.
    fn of(headers: &HeaderMap, upgrade: bool) -> Self {
        let named = headers.get_all(CONNECTION).iter().flat_map(tokens);
        let named = named.filter_map(|name| name.parse().ok());
        HopByHop {
            named: named.filter(|name| !NEVER_DROPPED.contains(name)).collect(),
            upgrade,
        }
    }

    fn drops(&self, name: &HeaderName) -> bool {
        if self.upgrade && (name == CONNECTION || name == UPGRADE) {
            return false;
        }
        [CONNECTION, KEEP_ALIVE, PROXY_CONNECTION, TE, UPGRADE].contains(name)
            || self.named.contains(name)
    }
}

/// The comma-separated tokens of a field value; one that is no text has none.
fn tokens(value: &HeaderValue) -> impl Iterator<Item = &str> {
    value.to_str().unwrap_or_default().split(',').map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(path: &str, fields: &[(&'static str, &str)]) -> RequestHeader {
        let mut head = RequestHeader::build("POST", path.as_bytes(), None).unwrap();
        head.set_version(Version::HTTP_11);
        for (name, value) in fields {
            head.append_header(*name, *value).unwrap();
        }
        head
    }

    fn response(status: u16, fields: &[(&'static str, &str)]) -> ResponseHeader {
        let mut head = ResponseHeader::build(status, None).unwrap();
        for (name, value) in fields {
            head.append_header(*name, *value).unwrap();
        }
        head
    }

    fn wire(head: &RequestHeader) -> String {
        let mut bytes = bytes::BytesMut::new();
        head.header_to_h1_wire(&mut bytes);
        String::from_utf8(bytes.to_vec()).unwrap()
    }

    #[test]
    fn fields_keep_order_and_case_and_host_is_replaced_in_its_place() {
        let client = request(
            "/v1/x?q=1",
            &[
                ("X-First", "1"),
                ("hOsT", "proxy:1"),
                ("Connection", "close, X-Mine"),
                ("x-mine", "gone"),
                ("Keep-Alive", "timeout=5"),
                ("TE", "trailers"),
                ("aCCept", "*/*"),
            ],
        );
        let host = HeaderValue::from_static("api.example:8443");
        let head = to_upstream(&client, Some(&host), "/base").unwrap();
        assert_eq!(head.raw_path(), b"/base/v1/x?q=1");
        assert_eq!(
            wire(&head),
            "X-First: 1\r\nhOsT: api.example:8443\r\naCCept: */*\r\n"
        );
        assert!(wire(&to_upstream(&client, None, "").unwrap()).contains("hOsT: proxy:1\r\n"));
    }

    #[test]
    fn a_missing_host_is_added_and_an_absolute_target_becomes_a_path() {
        let host = HeaderValue::from_static("up");
        let head = to_upstream(&request("http://proxy:1/a?b", &[]), Some(&host), "").unwrap();
        assert_eq!(head.raw_path(), b"/a?b");
        let target = |path| {
            let head = to_upstream(&request(path, &[]), None, "/base").unwrap();
            String::from_utf8(head.raw_path().to_vec()).unwrap()
        };
        assert_eq!(target("http://proxy?key=x"), "/base/?key=x");
        assert_eq!(target("http://proxy"), "/base/");
        assert_eq!(wire(&head), "Host: up\r\n");
    }

    #[test]
    fn framing_cannot_be_removed_by_naming_it() {
        let client = request(
            "/",
            &[
                ("Connection", "content-length, host"),
                ("Content-Length", "5"),
            ],
        );
        assert_eq!(
            wire(&to_upstream(&client, None, "").unwrap()),
            "Content-Length: 5\r\n"
        );
    }

    #[test]
    fn an_upgrade_passes_but_not_to_h2c() {
        let fields = [("Connection", "Upgrade"), ("Upgrade", "websocket")];
        let head = to_upstream(&request("/", &fields), None, "").unwrap();
        assert_eq!(wire(&head), "Connection: Upgrade\r\nUpgrade: websocket\r\n");
        let fields = [
            ("Connection", "Upgrade, HTTP2-Settings"),
            ("Upgrade", "h2c"),
            ("HTTP2-Settings", "AA"),
        ];
        assert_eq!(
            wire(&to_upstream(&request("/", &fields), None, "").unwrap()),
            ""
        );
    }

    #[test]
    fn responses_keep_reason_and_chunking_except_towards_http_1_0() {
        let mut up = response(
            200,
            &[
                ("Transfer-Encoding", "chunked"),
                ("Keep-Alive", "timeout=5"),
                ("X-A", "1"),
            ],
        );
        up.set_reason_phrase(Some("Fine")).unwrap();
        up.set_version(Version::HTTP_10);
        let head = to_downstream(&up, Version::HTTP_11).unwrap();
        assert_eq!(
            (head.get_reason_phrase(), head.version),
            (Some("Fine"), Version::HTTP_11)
        );
        assert!(
            head.headers.contains_key(TRANSFER_ENCODING) && !head.headers.contains_key(KEEP_ALIVE)
        );
        assert!(
            !to_downstream(&up, Version::HTTP_10)
                .unwrap()
                .headers
                .contains_key(TRANSFER_ENCODING)
        );
    }
}
