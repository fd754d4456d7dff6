//! What an exchange is spoken in, HTTP/1.1 or HTTP/2, as steps that are the same for both.

use std::future::poll_fn;
use std::io;

use bytes::Bytes;
use pingora_core::protocols::http::client::HttpSession;
use pingora_http::RequestHeader;

use super::h2::Exchange;
use crate::config::probe::Http;
use crate::observe::observer::Cause;
use crate::relay::exchange::{Piece, cause_of, next_piece};
use crate::relay::tap::Tap;
use crate::relay::upstream::Connection;

/// What happens next.
pub(super) enum Step {
    /// The whole request is with the socket, or cannot be.
    Sent(io::Result<()>),
    /// A piece of the answer, or its cut.
    Piece(Result<Piece, Cause>),
}

/// One exchange on a connection of its own.
pub(super) enum Session {
    H1(Box<HttpSession>),
    H2(Box<Exchange>),
}

impl Session {
    /// Writes the request, as far as it goes, into the tap's queue; nothing is sent yet.
    pub(super) async fn begin(
        http: Http,
        connection: Connection,
        head: &RequestHeader,
        body: Bytes,
    ) -> Result<Session, Cause> {
        if http == Http::Two {
            let exchange = Exchange::begin(connection.tap, head, body).await?;
            return Ok(Session::H2(Box::new(exchange)));
        }
        // The tap takes every write; these only fill its queue.
        let mut session = connection.session;
        let written = session.write_request_header(Box::new(head.clone())).await;
        written.map_err(|_| Cause::Refused)?;
        let _ = session.write_request_body(body, false).await;
        let _ = session.finish_request_body().await;
        Ok(Session::H1(Box::new(session)))
    }

    /// Waits for what happens next. Sending comes first: the request is away before anything is read.
    pub(super) async fn step(&mut self, tap: &Tap, head_wanted: bool) -> Step {
        match self {
            Session::H1(session) => tokio::select! {
                biased;
                sent = poll_fn(|cx| tap.poll_drain(cx)), if tap.is_pending() => Step::Sent(sent),
                piece = next_piece(session, head_wanted) => {
                    Step::Piece(piece.map_err(|error| cause_of(tap, &error)))
                }
            },
            Session::H2(exchange) => poll_fn(|cx| exchange.poll_step(cx)).await,
        }
    }
}
