//! The response on its way down.

use std::future::poll_fn;
use std::io;
use std::task::Poll;

use bytes::Bytes;
use http::{StatusCode, Version};
use pingora_core::protocols::http::client::HttpSession;
use pingora_core::{BError, ErrorType};
use pingora_http::ResponseHeader;

use super::{Pump, Upload, poll_once};
use crate::observe::observer::{Cause, Stamp};
use crate::relay::tap::{Arrival, Tap};
use crate::relay::{Phase, clock, describe, headers};

/// What the upstream's session hands out.
pub(in crate::relay) enum Piece {
    Head(Box<ResponseHeader>),
    Body(Bytes),
    End,
}

impl Pump<'_> {
    /// Forwards everything that one socket read brought, then shows it to the observer.
    pub(super) async fn on_pieces(&mut self, first: Result<Piece, BError>) -> Result<(), Cause> {
        let mut bodies = Vec::new();
        let mut next = Some(first);
        while let Some(piece) = next {
            match piece {
                Ok(Piece::Head(head)) => self.on_head(&head).await,
                Ok(Piece::Body(bytes)) => {
                    let _ = self.down.write_response_body(bytes.clone(), false).await;
                    bodies.push(bytes);
                }
                Ok(Piece::End) => {
                    let finished = self.down.finish_body().await;
                    self.end = Some(finished.map_err(|_| Cause::UpstreamInvalid));
                }
                Err(error) => self.end = Some(Err(cause_of(self.up_tap, &error))),
            }
            if self.end.is_some() {
                break;
            }
            let up_tap = self.up_tap;
            next = poll_once(up_tap, next_piece(self.up, self.head_wanted)).await;
        }
        let down_tap = self.down_tap;
        let drained = poll_fn(|cx| Poll::Ready(down_tap.poll_drain(cx))).await;
        self.observe(&bodies);
        self.observe_end();
        self.rearm();
        match drained {
            Poll::Ready(drained) => self.on_drained(drained),
            Poll::Pending => {
                self.on_blocked();
                Ok(())
            }
        }
    }

    async fn on_head(&mut self, head: &ResponseHeader) {
        let at = self.axis_of(self.up_tap.arrival());
        let client = self.down.req_header().version;
        let Ok(forwarded) = headers::to_downstream(head, client) else {
            self.end = Some(Err(Cause::UpstreamInvalid));
            return;
        };
        let switches = head.status == StatusCode::SWITCHING_PROTOCOLS;
        if head.status.is_informational() && !switches {
            self.observation
                .tell(|observer| observer.on_upstream_byte(at));
            self.observation.show();
            if client != Version::HTTP_10 {
                let _ = self.down.write_response_header(Box::new(forwarded)).await;
            }
            return;
        }
        if switches && !self.up_is_upgraded() {
            self.end = Some(Err(Cause::UpstreamInvalid)); // nobody asked for another protocol
            return;
        }
        self.head_wanted = false;
        let method = self.down.req_header().method.clone();
        let described = describe::response(head, &method);
        self.observation
            .tell(|observer| observer.on_header(at, described));
        self.observation.show();
        if !describe::is_framed(&forwarded, &method) || *self.phase.borrow() != Phase::Running {
            self.down.set_keepalive(None);
        }
        if self
            .down
            .write_response_header(Box::new(forwarded))
            .await
            .is_err()
        {
            self.end = Some(Err(Cause::UpstreamInvalid));
        } else if switches {
            self.upgraded = true;
            self.upload = Upload::Open;
            self.observation.tell(|observer| observer.on_upgraded(at));
        }
    }

    /// Lets the upstream's session pass bytes as they are, if it agreed to switch protocols.
    fn up_is_upgraded(&mut self) -> bool {
        match self.up {
            HttpSession::H1(session) => {
                session.maybe_upgrade_body_writer();
                session.was_upgraded()
            }
            _ => false,
        }
    }

    fn observe(&mut self, bodies: &[Bytes]) {
        if bodies.is_empty() {
            return;
        }
        let mut new_chunk = self.chunks == 0 || self.up_tap.reads() != self.reads_seen;
        self.chunks += u64::from(new_chunk);
        self.marks.push_back((self.down_tap.queued(), self.chunks));
        let arrival = self.up_tap.arrival();
        let at = self.axis_of(arrival);
        let stamp = arrival.map_or(Stamp::Read, Arrival::stamp);
        self.observation.tell(|observer| {
            for bytes in bodies {
                observer.on_body(at, stamp, new_chunk, bytes);
                new_chunk = false;
            }
        });
        self.observation.show();
    }

    /// An end that came with bytes has their time; one without (FIN, reset) is seen now.
    pub(super) fn observe_end(&mut self) {
        let reads = self.up_tap.reads();
        let read_now = std::mem::replace(&mut self.reads_seen, reads) != reads;
        if self.end.is_some() {
            let at = self.axis_of(self.up_tap.arrival().filter(|_| read_now));
            self.observation.tell(|observer| observer.on_end(at));
        }
    }

    pub(super) fn on_drained(&mut self, drained: io::Result<()>) -> Result<(), Cause> {
        drained.map_err(|_| Cause::ClientGone)?;
        let at = self.down_tap.written_at().unwrap_or_else(clock::now);
        self.sample_backlog(at);
        let at = self.observation.axis().at(at);
        if std::mem::take(&mut self.blocked) {
            self.observation.tell(|observer| observer.on_unblocked(at));
        }
        self.on_accepted();
        Ok(())
    }

    fn on_blocked(&mut self) {
        let now = self.observation.axis().now();
        if !std::mem::replace(&mut self.blocked, true) {
            self.observation.tell(|observer| observer.on_blocked(now));
        }
        if self.down_tap.is_full() {
            self.observation
                .tell(|observer| observer.on_arrival_uncertain());
        }
        self.on_accepted();
    }

    /// Chunks that the client's socket has taken whole are flushed.
    fn on_accepted(&mut self) {
        let accepted = self.down_tap.accepted();
        let flushed = self.marks.partition_point(|(end, _)| *end <= accepted);
        let chunk = self
            .marks
            .drain(..flushed)
            .next_back()
            .map(|(_, chunk)| chunk);
        if let (Some(chunk), Some(at)) = (chunk, self.down_tap.written_at()) {
            let at = self.observation.axis().at(at);
            self.observation
                .tell(|observer| observer.on_flushed(chunk, at));
        }
    }
}

/// What an error of the session on `tap` means.
pub(in crate::relay) fn cause_of(tap: &Tap, error: &BError) -> Cause {
    match (tap.read_error(), error.etype()) {
        (None | Some(io::ErrorKind::UnexpectedEof), ErrorType::ConnectionClosed) => {
            Cause::UpstreamFin
        }
        (Some(io::ErrorKind::UnexpectedEof), _) => Cause::UpstreamFin, // TLS without close_notify
        (Some(_), _) => Cause::UpstreamReset,
        (None, _) => Cause::UpstreamInvalid,
    }
}

/// The next piece of the response. Safe to drop and call again: pingora's reader keeps its place.
pub(in crate::relay) async fn next_piece(
    up: &mut HttpSession,
    head_wanted: bool,
) -> Result<Piece, BError> {
    if head_wanted {
        up.read_response_header().await?;
        let head = up.response_header().expect("it was just read");
        return Ok(Piece::Head(Box::new(head.clone())));
    }
    loop {
        if up.response_done() {
            return Ok(Piece::End);
        }
        match up.read_response_body().await? {
            Some(bytes) if bytes.is_empty() => {} // framing only
            Some(bytes) => return Ok(Piece::Body(bytes)),
            None => return Ok(Piece::End),
        }
    }
}
