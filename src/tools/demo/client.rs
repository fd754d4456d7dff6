//! The demo's client: one request on one connection, as plain as can be, so that nothing but the proxy has a say in time.

use std::io::{Error, ErrorKind};
use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// What the status line of a response takes at most.
const STATUS_LINE: usize = "HTTP/1.1 200".len();

/// Asks `model` for a streamed answer, reads it to its end or cut, and returns its status.
///
/// # Errors
///
/// No connection, or no response on it. A cut after the status line is none: some scenarios end in one.
pub(super) async fn ask(proxy: SocketAddr, model: &str) -> std::io::Result<u16> {
    let body = format!(
        r#"{{"model":"{model}","stream":true,"stream_options":{{"include_usage":true}},"messages":[{{"role":"user","content":"Tell me about rain."}}]}}"#
    );
    let request = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nHost: {proxy}\r\nUser-Agent: dripline-demo\r\n\
         Content-Type: application/json\r\nAccept: text/event-stream\r\nAccept-Encoding: gzip\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(proxy).await?;
    stream.set_nodelay(true)?;
    stream.write_all(request.as_bytes()).await?;

    let mut start = Vec::with_capacity(STATUS_LINE);
    let mut piece = [0; 16 << 10];
    loop {
        match stream.read(&mut piece).await {
            Ok(0) => break,
            Ok(read) => {
                let missing = STATUS_LINE.saturating_sub(start.len());
                start.extend_from_slice(&piece[..read.min(missing)]);
            }
            Err(_) if start.len() == STATUS_LINE => break,
            Err(error) => return Err(error),
        }
    }
    status(&start).ok_or_else(|| Error::new(ErrorKind::InvalidData, "the response is not HTTP"))
}

fn status(start: &[u8]) -> Option<u16> {
    let code = start
        .strip_prefix(b"HTTP/1.1 ")
        .or_else(|| start.strip_prefix(b"HTTP/1.0 "))?;
    std::str::from_utf8(code).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    /// What `ask` makes of a server that sends `answer` and closes.
    async fn ask_a_server_that_sends(answer: &'static [u8]) -> std::io::Result<u16> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let server = async {
            let (mut stream, _) = listener.accept().await?;
            let mut request = Vec::new();
            while !request.ends_with(b"]}") {
                stream.read_buf(&mut request).await?;
            }
            stream.write_all(answer).await
        };
        let (served, status) = tokio::join!(server, ask(address, "steady"));
        served?;
        status
    }

    #[tokio::test]
    async fn the_status_is_what_the_server_said_even_if_the_rest_is_cut() {
        let cut = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf";
        assert_eq!(ask_a_server_that_sends(cut).await.unwrap(), 200);
        let error = b"HTTP/1.0 502 Bad Gateway\r\n\r\n";
        assert_eq!(ask_a_server_that_sends(error).await.unwrap(), 502);
    }

    #[tokio::test]
    async fn no_response_is_an_error() {
        assert!(ask_a_server_that_sends(b"").await.is_err());
        assert!(ask_a_server_that_sends(b"SSH-2.0-x\r\n").await.is_err());
    }
}
