//! One request over HTTP/2 (RFC 9113), on a connection that carries nothing else.
//!
//! The connection and its stream are polled by one task and in turn: the socket is read **once**, then all that this read
//! brought is handed out, then it is read again. So each piece still has the arrival time of its own socket read, as over
//! HTTP/1.1, and the DATA frames of one read are one chunk.

mod head;

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use h2::client::{Builder, Connection, ResponseFuture};
use h2::{RecvStream, SendStream};
use http::Request;
use pingora_http::{RequestHeader, ResponseHeader};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::session::Step;
use crate::observe::observer::Cause;
use crate::relay::exchange::Piece;
use crate::relay::tap::Tap;

pub(super) use head::reshape;

/// What the server may send without being asked on: so much that flow control never holds a stream of text back.
const WINDOW: u32 = 16 * 1024 * 1024;

/// A request on its way, and its answer.
pub(super) struct Exchange {
    tap: Tap,
    /// `None` once it has ended.
    connection: Option<Connection<Sips, Bytes>>,
    /// Whether the socket may be read, once.
    may_read: Arc<AtomicBool>,
    /// Whether reading has begun.
    reads: bool,
    upload: Upload,
    /// Whether the request's being sent was told.
    is_told: bool,
    response: ResponseFuture,
    /// The answer's body, once its head is here.
    body: Option<RecvStream>,
}

impl Exchange {
    /// Writes the preface and `head`, which was [reshaped](reshape), into the tap's queue.
    pub(super) async fn begin(
        tap: Tap,
        head: &RequestHeader,
        body: Bytes,
    ) -> Result<Exchange, Cause> {
        let may_read = Arc::new(AtomicBool::new(false));
        let sips = Sips {
            tap: tap.clone(),
            may_read: may_read.clone(),
        };
        let made = Builder::new()
            .enable_push(false)
            .initial_window_size(WINDOW)
            .initial_connection_window_size(WINDOW)
            .handshake(sips)
            .await;
        let (mut requests, connection) = made.map_err(|_| Cause::Refused)?;
        let request = Request::from_parts(head.clone().into(), ());
        let (response, stream) = requests
            .send_request(request, body.is_empty())
            .map_err(|_| Cause::Refused)?;
        Ok(Exchange {
            tap,
            connection: Some(connection),
            may_read,
            reads: false,
            upload: Upload {
                stream,
                is_whole: body.is_empty(),
                rest: body,
            },
            is_told: false,
            response,
            body: None,
        })
    }

    /// What happens next; the request is away before anything is read.
    pub(super) fn poll_step(&mut self, cx: &mut Context<'_>) -> Poll<Step> {
        loop {
            if let Poll::Ready(piece) = self.poll_answer(cx) {
                return Poll::Ready(Step::Piece(piece));
            }
            let reads = std::mem::replace(&mut self.reads, true);
            let has_given = self.upload.give(cx);
            self.may_read.store(reads, Relaxed);
            self.poll_connection(cx);
            let has_read = reads && !self.may_read.load(Relaxed);
            match self.tap.poll_drain(cx) {
                Poll::Ready(sent) if !self.is_told && (sent.is_err() || self.upload.is_whole) => {
                    self.is_told = true;
                    return Poll::Ready(Step::Sent(sent));
                }
                Poll::Ready(Err(_)) => self.tap.discard_queue(), // reading says why
                _ => {}
            }
            if reads && !has_read && !has_given && self.connection.is_some() {
                return Poll::Pending;
            }
        }
    }

    fn poll_answer(&mut self, cx: &mut Context<'_>) -> Poll<Result<Piece, Cause>> {
        let polled = match &mut self.body {
            Some(body) => poll_body(body, cx),
            None => match Pin::new(&mut self.response).poll(cx) {
                Poll::Ready(Ok(answer)) => {
                    let (head, body) = answer.into_parts();
                    self.body = Some(body);
                    Poll::Ready(Ok(Piece::Head(Box::new(ResponseHeader::from(head)))))
                }
                Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
                Poll::Pending => Poll::Pending,
            },
        };
        match polled {
            Poll::Pending if self.connection.is_none() => Poll::Ready(Err(Cause::UpstreamFin)),
            polled => polled.map_err(|error| cause_of(&self.tap, &error)),
        }
    }

    fn poll_connection(&mut self, cx: &mut Context<'_>) {
        let ended = |connection: &mut Connection<_, _>| Pin::new(connection).poll(cx).is_ready();
        if self.connection.as_mut().is_some_and(ended) {
            self.connection = None; // its streams have been told why
        }
    }
}

fn poll_body(body: &mut RecvStream, cx: &mut Context<'_>) -> Poll<Result<Piece, h2::Error>> {
    loop {
        match ready!(body.poll_data(cx)?) {
            Some(bytes) => {
                body.flow_control().release_capacity(bytes.len())?;
                if !bytes.is_empty() {
                    return Poll::Ready(Ok(Piece::Body(bytes)));
                }
            }
            None => {
                ready!(body.poll_trailers(cx))?;
                return Poll::Ready(Ok(Piece::End));
            }
        }
    }
}

fn cause_of(tap: &Tap, error: &h2::Error) -> Cause {
    match tap.read_error() {
        Some(io::ErrorKind::UnexpectedEof) => Cause::UpstreamFin, // TLS without close_notify
        Some(_) => Cause::UpstreamReset,
        None if error.is_remote() => Cause::UpstreamReset, // RST_STREAM or GOAWAY
        None if error.is_io() => Cause::UpstreamFin,
        None => Cause::UpstreamInvalid,
    }
}

/// The request's body on its way to the stream, as fast as the server lets it.
struct Upload {
    stream: SendStream<Bytes>,
    rest: Bytes,
    /// Whether the stream has all of it.
    is_whole: bool,
}

impl Upload {
    /// Gives the stream what it takes now; whether that was anything.
    fn give(&mut self, cx: &mut Context<'_>) -> bool {
        if self.rest.is_empty() {
            return false;
        }
        self.stream.reserve_capacity(self.rest.len());
        let room = match self.stream.capacity() {
            0 => match self.stream.poll_capacity(cx) {
                Poll::Ready(Some(Ok(room))) => room,
                _ => 0, // the server has closed the stream: its answer says what it says
            },
            room => room,
        };
        let piece = self.rest.split_to(room.min(self.rest.len()));
        let has_room = !piece.is_empty();
        if has_room {
            let is_last = self.rest.is_empty();
            self.is_whole = self.stream.send_data(piece, is_last).is_ok() && is_last;
        }
        has_room
    }
}

/// The connection as its protocol reads it: one read of the socket, and then no other until that is let go of again.
struct Sips {
    tap: Tap,
    may_read: Arc<AtomicBool>,
}

impl AsyncRead for Sips {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if !self.may_read.load(Relaxed) {
            return Poll::Pending; // who holds it back polls again
        }
        let read = ready!(Pin::new(&mut self.tap).poll_read(cx, buf));
        self.may_read.store(false, Relaxed);
        Poll::Ready(read)
    }
}

impl AsyncWrite for Sips {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.tap).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tap).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tap).poll_shutdown(cx)
    }
}
