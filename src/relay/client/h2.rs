//! One request over HTTP/2 (RFC 9113), on a connection that carries nothing else.
//!
//! The connection and its stream are polled by one task and in turn: what can be written is written, the socket is read
//! **once**, all that this read brought is handed out, and so on. So each piece still has the arrival time of its own socket
//! read, as over HTTP/1.1, and the DATA frames of one read are one chunk. The crate `h2` hands out whole frames: a DATA frame
//! that came in several reads counts, all of it, when its last byte is here.

mod head;
mod sips;
mod upload;

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use h2::RecvStream;
use h2::client::{Builder, Connection, ResponseFuture};
use http::Request;
use pingora_http::RequestHeader;

use super::session::Step;
use crate::observe::observer::Cause;
use crate::relay::exchange::Piece;
use crate::relay::tap::Tap;
use sips::Sips;
use upload::Upload;

pub(super) use head::reshape;

/// What the server may send without being asked on: so much that flow control never holds a stream of text back.
const WINDOW: u32 = 16 * 1024 * 1024;

/// A request on its way, and its answer.
pub(super) struct Exchange {
    tap: Tap,
    /// `None` once it has ended.
    connection: Option<Connection<Sips, Bytes>>,
    /// What it ended with, if that was no good end.
    error: Option<h2::Error>,
    /// Whether the socket may be read, once.
    may_read: Arc<AtomicBool>,
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
            error: None,
            may_read,
            upload: Upload::new(stream, body),
            is_told: false,
            response,
            body: None,
        })
    }

    /// What happens next; what can be sent is away before anything is read.
    pub(super) fn poll_step(&mut self, cx: &mut Context<'_>) -> Poll<Step> {
        loop {
            if let Poll::Ready(piece) = self.poll_answer(cx) {
                return Poll::Ready(Step::Piece(piece));
            }
            if let Some(sent) = self.write(cx) {
                return Poll::Ready(Step::Sent(sent));
            }
            let has_read = self.drive(cx, true);
            if !has_read && self.connection.is_some() {
                return Poll::Pending;
            }
        }
    }

    /// What the last read brought, piece by piece.
    fn poll_answer(&mut self, cx: &mut Context<'_>) -> Poll<Result<Piece, Cause>> {
        let polled = match &mut self.body {
            Some(body) => poll_body(body, cx),
            None => self.poll_head(cx),
        };
        match polled {
            Poll::Ready(Ok(piece)) => Poll::Ready(Ok(piece)),
            Poll::Ready(Err(error)) => Poll::Ready(Err(self.cause_of(Some(error)))),
            Poll::Pending if self.connection.is_none() => Poll::Ready(Err(self.cause_of(None))),
            Poll::Pending => Poll::Pending,
        }
    }

    fn poll_head(&mut self, cx: &mut Context<'_>) -> Poll<Result<Piece, h2::Error>> {
        let head = match ready!(self.response.poll_informational(cx)?) {
            Some(interim) => interim.into_parts().0,
            None => {
                let answer = ready!(Pin::new(&mut self.response).poll(cx))?;
                let (head, body) = answer.into_parts();
                self.body = Some(body);
                head
            }
        };
        Poll::Ready(Ok(Piece::Head(Box::new(head.into()))))
    }

    /// Writes what the server takes of the request. Nothing is read meanwhile: a reset that came in the middle would throw away
    /// what the stream was given, and it would count as sent. Tells once how it went.
    fn write(&mut self, cx: &mut Context<'_>) -> Option<io::Result<()>> {
        loop {
            let has_given = self.upload.give(cx);
            self.drive(cx, false);
            if !has_given {
                break;
            }
        }
        let Poll::Ready(sent) = self.tap.poll_drain(cx) else {
            return None;
        };
        if sent.is_err() {
            self.tap.discard_queue(); // reading says why
        }
        let is_over = sent.is_err() || (self.upload.is_whole && self.connection.is_some());
        let is_news = is_over && !std::mem::replace(&mut self.is_told, true);
        is_news.then_some(sent)
    }

    /// Lets the protocol work, and read the socket once if it `may_read`; whether it has read.
    fn drive(&mut self, cx: &mut Context<'_>, may_read: bool) -> bool {
        self.may_read.store(may_read, Relaxed);
        if let Some(connection) = &mut self.connection
            && let Poll::Ready(ended) = Pin::new(connection).poll(cx)
        {
            self.connection = None; // its stream has been told too
            self.error = ended.err();
        }
        may_read && !self.may_read.load(Relaxed)
    }

    /// What an error of the stream means. A server that says it has failed (RST_STREAM, GOAWAY) is believed before the socket,
    /// which only says that it has gone; a GOAWAY without an error announces an end and breaks nothing off.
    fn cause_of(&self, of_stream: Option<h2::Error>) -> Cause {
        let mut errors = of_stream.iter().chain(&self.error);
        match self.tap.read_error() {
            _ if errors.clone().any(h2::Error::is_remote) => Cause::UpstreamReset,
            Some(io::ErrorKind::UnexpectedEof) => Cause::UpstreamFin, // TLS without close_notify
            Some(_) => Cause::UpstreamReset,
            None if errors.all(h2::Error::is_io) => Cause::UpstreamFin,
            None => Cause::UpstreamInvalid,
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
