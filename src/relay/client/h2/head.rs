//! The head of a request as HTTP/2 has it.

use anyhow::Context;
use http::Version;
use http::header::HOST;
use http::uri::{Authority, Scheme, Uri};
use pingora_http::RequestHeader;

/// Fields of one connection, and the one that is a pseudo field now (RFC 9113 sections 8.2.2 and 8.3.1).
const LEFT_OUT: [&str; 7] = [
    "host",
    "connection",
    "keep-alive",
    "proxy-connection",
    "te",
    "transfer-encoding",
    "upgrade",
];

/// Makes the head of HTTP/1.1 one of HTTP/2, with `tls` or without: the host moves into the URI.
///
/// # Errors
///
/// The `Host` field is none that HTTP/2 can carry; the message does not repeat it.
pub(in super::super) fn reshape(head: &mut RequestHeader, tls: bool) -> anyhow::Result<()> {
    let host = head.headers.get(HOST);
    let authority = host.and_then(|host| Authority::try_from(host.as_bytes()).ok());
    // no user and no password goes there (RFC 9113 section 8.3.1)
    let authority = authority.filter(|authority| !authority.as_str().contains('@'));
    let authority = authority.context(
        "the Host field is none that HTTP/2 can carry; write it as a name or an address, with :PORT if need be",
    )?;
    let scheme = if tls { Scheme::HTTPS } else { Scheme::HTTP };
    let uri = Uri::builder().scheme(scheme).authority(authority);
    let target = head
        .uri
        .path_and_query()
        .map_or("/", |target| target.as_str());
    head.set_uri(uri.path_and_query(target).build()?);
    head.set_version(Version::HTTP_2);
    for name in LEFT_OUT {
        head.remove_header(name);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(fields: &[(&'static str, &str)]) -> RequestHeader {
        let mut head = RequestHeader::build("POST", b"/v1/chat?a=1", None).unwrap();
        for (name, value) in fields {
            head.append_header(*name, *value).unwrap();
        }
        head
    }

    #[test]
    fn the_host_is_in_the_uri_and_what_is_of_one_connection_is_gone() {
        let mut head = head(&[
            ("Host", "other:81"),
            ("Keep-Alive", "timeout=5"),
            ("TE", "trailers"),
            ("X-Team", "search"),
        ]);
        reshape(&mut head, true).unwrap();
        assert_eq!(head.uri, "https://other:81/v1/chat?a=1");
        assert_eq!(head.version, Version::HTTP_2);
        let left: Vec<_> = head.headers.keys().map(|name| name.as_str()).collect();
        assert_eq!(left, ["x-team"]);
    }

    #[test]
    fn a_host_that_is_none_is_told_and_not_repeated() {
        for host in ["sk-planted is no host", "", "me:sk-planted@h", "h:80:81"] {
            let error = reshape(&mut head(&[("Host", host)]), false).unwrap_err();
            let told = error.to_string();
            assert!(
                told.contains("Host") && !told.contains("planted"),
                "{host}: {told}"
            );
        }
    }
}
