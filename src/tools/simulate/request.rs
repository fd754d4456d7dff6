//! Requests off a socket: the head by httparse, the body drained piece by piece, so that its size does not matter.
//!
//! HTTP/1.1 as in RFC 9112: section 6.3 for where a body ends, section 7.1 for chunked coding.

use std::io;

use bytes::{Buf, BytesMut};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::scenario::Coding;

/// The longest head, and the longest line within a chunked body.
const HEAD_LIMIT: usize = 64 << 10;
const FIELDS: usize = 256;

/// A request's head.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub method: String,
    /// Without the query.
    pub path: String,
    pub query: String,
    pub http11: bool,
    pub keep_alive: bool,
    /// The codings that it asks for.
    pub accepts: Vec<Coding>,
    /// As it came.
    pub bytes: Vec<u8>,
    body: Framing,
    expects_continue: bool,
}

#[derive(Debug, PartialEq, Eq)]
enum Framing {
    Length(u64),
    Chunked,
}

/// Why there is no request.
#[derive(Debug)]
pub(super) enum Fault {
    /// The client has gone, properly or not.
    Gone,
    /// It sent something that is no HTTP request; said in a 400.
    Bad(&'static str),
}

impl From<io::Error> for Fault {
    fn from(_: io::Error) -> Self {
        Fault::Gone
    }
}

/// Reads the next head; bytes that follow it stay in `inbox`.
pub(super) async fn read_head(
    stream: &mut TcpStream,
    inbox: &mut BytesMut,
) -> Result<Request, Fault> {
    loop {
        if let Some((request, length)) = parse(inbox)? {
            inbox.advance(length);
            return Ok(request);
        }
        if inbox.len() >= HEAD_LIMIT {
            return Err(Fault::Bad("the request's head is longer than 64 KiB"));
        }
        fill(stream, inbox).await?;
    }
}

/// Reads the body to its end, giving each piece to `sink`, and asks for it first if the client waits to be asked.
pub(super) async fn drain_body(
    request: &Request,
    stream: &mut TcpStream,
    inbox: &mut BytesMut,
    mut sink: impl FnMut(&[u8]),
) -> Result<u64, Fault> {
    if request.expects_continue && request.body != Framing::Length(0) {
        stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await?;
    }
    let mut total = 0;
    match request.body {
        Framing::Length(length) => {
            total = length;
            drain(length, stream, inbox, &mut sink).await?;
        }
        Framing::Chunked => loop {
            let (line, size) = chunk_size(stream, inbox).await?;
            inbox.advance(line);
            if size == 0 {
                return trailers(stream, inbox).await.map(|()| total);
            }
            total += size;
            drain(size, stream, inbox, &mut sink).await?;
            drain(2, stream, inbox, &mut |_| {}).await?;
        },
    }
    Ok(total)
}

/// Reads more into `inbox`.
async fn fill(stream: &mut TcpStream, inbox: &mut BytesMut) -> Result<(), Fault> {
    match stream.read_buf(inbox).await? {
        0 => Err(Fault::Gone),
        _ => Ok(()),
    }
}

async fn drain(
    mut left: u64,
    stream: &mut TcpStream,
    inbox: &mut BytesMut,
    sink: &mut impl FnMut(&[u8]),
) -> Result<(), Fault> {
    while left > 0 {
        if inbox.is_empty() {
            inbox.reserve(HEAD_LIMIT);
            fill(stream, inbox).await?;
        }
        let here = inbox.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        sink(&inbox[..here]);
        inbox.advance(here);
        left -= here as u64;
    }
    Ok(())
}

/// The next chunk's size, and the length of its line.
async fn chunk_size(stream: &mut TcpStream, inbox: &mut BytesMut) -> Result<(usize, u64), Fault> {
    loop {
        match httparse::parse_chunk_size(inbox) {
            Ok(httparse::Status::Complete(found)) => return Ok(found),
            Ok(httparse::Status::Partial) if inbox.len() < HEAD_LIMIT => {
                fill(stream, inbox).await?
            }
            _ => return Err(Fault::Bad("the chunked body has a size that is no size")),
        }
    }
}

/// Reads on past the trailers' empty line.
async fn trailers(stream: &mut TcpStream, inbox: &mut BytesMut) -> Result<(), Fault> {
    loop {
        match inbox.iter().position(|&byte| byte == b'\n') {
            Some(end) => {
                let empty = end == 0 || (end == 1 && inbox[0] == b'\r');
                inbox.advance(end + 1);
                if empty {
                    return Ok(());
                }
            }
            None if inbox.len() < HEAD_LIMIT => fill(stream, inbox).await?,
            None => return Err(Fault::Bad("a trailer field is longer than 64 KiB")),
        }
    }
}

/// A head and its length, if it is whole.
fn parse(bytes: &[u8]) -> Result<Option<(Request, usize)>, Fault> {
    let mut fields = [httparse::EMPTY_HEADER; FIELDS];
    let mut head = httparse::Request::new(&mut fields);
    let length = match head.parse(bytes) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(_) => return Err(Fault::Bad("this is not an HTTP/1 request")),
    };
    let values = |name: &'static str| {
        let named = head
            .headers
            .iter()
            .filter(move |field| field.name.eq_ignore_ascii_case(name));
        named.map(|field| String::from_utf8_lossy(field.value).to_ascii_lowercase())
    };
    let has = |name: &'static str, token: &str| {
        values(name).any(|value| value.split(',').any(|item| item.trim() == token))
    };
    let body = if values("transfer-encoding").next().is_some() {
        if !has("transfer-encoding", "chunked") {
            return Err(Fault::Bad("the only transfer coding known here is chunked"));
        }
        Framing::Chunked
    } else {
        let mut lengths = values("content-length").map(|value| value.trim().parse().ok());
        let first = lengths.next().unwrap_or(Some(0));
        match first.filter(|_| lengths.all(|other| other == first)) {
            Some(length) => Framing::Length(length),
            None => return Err(Fault::Bad("Content-Length is not one number")),
        }
    };
    let http11 = head.version == Some(1);
    let path = head.path.unwrap_or("/");
    let request = Request {
        method: head.method.unwrap_or("").to_owned(),
        path: path.split('?').next().unwrap_or(path).to_owned(),
        query: path
            .split_once('?')
            .map_or("", |(_, query)| query)
            .to_owned(),
        http11,
        keep_alive: http11 && !has("connection", "close"),
        accepts: Coding::ALL
            .into_iter()
            .filter(|coding| values("accept-encoding").any(|v| accepts(&v, coding.name())))
            .collect(),
        bytes: bytes[..length].to_vec(),
        body,
        expects_continue: http11 && has("expect", "100-continue"),
    };
    Ok(Some((request, length)))
}

/// RFC 9110 section 12.5.3. (No field at all would accept everything, but no server compresses then.)
fn accepts(value: &str, coding: &str) -> bool {
    let quality = |coding: &str| {
        value.split(',').map(str::trim).find_map(|item| {
            let (name, parameter) = item.split_once(';').unwrap_or((item, ""));
            let quality = parameter
                .trim()
                .strip_prefix("q=")
                .and_then(|q| q.parse::<f32>().ok());
            (name.trim() == coding).then(|| quality.unwrap_or(1.0))
        })
    };
    quality(coding)
        .or_else(|| quality("*"))
        .is_some_and(|quality| quality > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(head: &str) -> Request {
        parse(head.as_bytes()).unwrap().unwrap().0
    }

    #[test]
    fn a_head_is_read_whatever_the_case_of_its_names() {
        let head = "POST /v1/x?key=1 HTTP/1.1\r\ncontent-LENGTH: 12\r\nConnection: Keep-Alive, Close\r\nEXPECT: 100-Continue\r\n\r\n";
        let request = parsed(head);
        assert_eq!(
            (
                request.method.as_str(),
                request.path.as_str(),
                request.query.as_str()
            ),
            ("POST", "/v1/x", "key=1")
        );
        assert_eq!(request.body, Framing::Length(12));
        assert!(!request.keep_alive && request.expects_continue && request.accepts.is_empty());
        assert!(parse(&head.as_bytes()[..40]).unwrap().is_none());
    }

    #[test]
    fn chunked_wins_over_a_length_and_lengths_must_agree() {
        assert_eq!(
            parsed("POST / HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n")
                .body,
            Framing::Chunked
        );
        assert_eq!(
            parsed("POST / HTTP/1.1\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\n").body,
            Framing::Length(3)
        );
        for bad in [
            "Content-Length: 3\r\nContent-Length: 4",
            "Content-Length: -1",
            "Transfer-Encoding: gzip",
        ] {
            assert!(
                parse(format!("POST / HTTP/1.1\r\n{bad}\r\n\r\n").as_bytes()).is_err(),
                "{bad}"
            );
        }
    }

    #[test]
    fn a_coding_is_accepted_if_the_client_asks_for_it() {
        for (value, accepted) in [
            ("gzip, br", true),
            ("br", false),
            ("*", true),
            ("gzip;q=0, *", false),
            ("identity", false),
        ] {
            assert_eq!(accepts(value, "gzip"), accepted, "{value}");
        }
        let asked = parsed("GET / HTTP/1.1\r\nAccept-Encoding: br, zstd;q=0.5\r\n\r\n");
        assert_eq!(asked.accepts, [Coding::Br, Coding::Zstd]);
        assert!(parsed("GET / HTTP/1.0\r\n\r\n").accepts.is_empty());
        assert!(!parsed("GET / HTTP/1.0\r\n\r\n").keep_alive);
    }
}
