//! One request, end to end.
//!
//! [`run`] takes a request from its head to its record: connect, pump, answer for the upstream
//! where it gave none, and hand both connections back for the next request where they are whole.
//! `pump` is the loop in the middle.
//!
//! The rules:
//! - A request is sent twice only if the first try was on a kept-alive connection that gave not
//!   one byte of a response and ended at once (`STALE_WITHIN`): the server had closed it while
//!   idle. Its body must be replayable (known, at most `REPLAY_LIMIT`); what is not goes on a fresh
//!   connection.
//! - An end stays an end, a cut stays a cut: after a cut the session is dropped, never finished.

mod pump;

use std::future::poll_fn;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::BytesMut;
use http::Method;
use pingora_core::protocols::Stream;
use pingora_core::protocols::http::ServerSession;
use pingora_http::RequestHeader;
use tokio::time::{sleep, timeout};

use super::observation::Observation;
use super::reply::{self, Failure};
use super::tap::Tap;
use super::upstream::Connection;
use super::{Phase, Shared, clock, describe, headers};
use crate::observe::observer::Cause;
use pump::Pump;

pub(super) use pump::{Piece, cause_of, next_piece};

/// pingora's session keeps this many bytes of a request body for a second try.
const REPLAY_LIMIT: u64 = 64 * 1024;

/// A kept-alive connection that the server had closed shows it within a round trip. One that ends
/// later may have begun to work on the request, which then must not be sent again.
const STALE_WITHIN: Duration = Duration::from_secs(1);

/// After an early answer the client's rest is read and thrown away, so that the close does not
/// reset the connection under the answer: until it pauses this long …
const LINGER_PAUSE: Duration = Duration::from_secs(5);
/// … or for this long in all. Both are nginx's defaults (`lingering_timeout`, `lingering_time`).
const LINGER: Duration = Duration::from_secs(30);

/// How long a reset waits for the client to acknowledge what it got before, since a reset drops
/// what is unacknowledged.
const RESET_PATIENCE: Duration = Duration::from_secs(1);

/// The client's connection and what was read of its next request: ready for that request.
pub type Reusable = (Stream, Option<BytesMut>);

/// Serves the request whose head `session` has read. `t0` is when the last byte of that head came.
pub async fn run(
    shared: &Arc<Shared>,
    session: ServerSession,
    tap: Tap,
    t0: Instant,
    peer: SocketAddr,
) -> Option<Reusable> {
    let client = session.req_header();
    let described = describe::request(client, shared, peer);
    let mut observation = Observation::begin(shared, t0, described);
    observation.tell(|observer| observer.on_upstream(describe::upstream(shared.upstream.url())));
    let head = headers::to_upstream(client, shared.host.as_ref(), &shared.upstream.url().prefix);
    let method = Some(client.method.clone());
    let exchange = Exchange {
        shared,
        session,
        tap,
        observation,
        method,
    };
    match head {
        Ok(head) if head.method != Method::CONNECT => exchange.relay(head).await,
        Ok(_) => exchange.fail(Failure::Connect).await,
        Err(_) => exchange.fail(Failure::BadRequest).await,
    }
}

/// Answers a request that could not be read, and records it.
pub async fn refuse(
    shared: &Arc<Shared>,
    session: ServerSession,
    tap: Tap,
    t0: Instant,
    peer: SocketAddr,
) {
    let observation = Observation::begin(shared, t0, describe::unreadable_request(shared, peer));
    let exchange = Exchange {
        shared,
        session,
        tap,
        observation,
        method: None,
    };
    exchange.fail(Failure::BadRequest).await;
}

/// A request that is being served.
struct Exchange<'a> {
    shared: &'a Arc<Shared>,
    session: ServerSession,
    tap: Tap,
    observation: Observation,
    /// `None` when the request could not be read; the session then knows no request either.
    method: Option<Method>,
}

impl Exchange<'_> {
    async fn relay(mut self, head: RequestHeader) -> Option<Reusable> {
        let replayable =
            describe::request_length(&head).is_some_and(|length| length <= REPLAY_LIMIT);
        let started = clock::now();
        let (mut attempts, mut lost) = (1, None);
        loop {
            let mut connection = match self.connect(attempts > 1 || !replayable).await {
                Ok(connection) => connection,
                Err(failure) => return self.give_up(failure).await,
            };
            let url = self.shared.upstream.url();
            let facts = describe::connection(url, &connection.facts, attempts, lost);
            self.observation
                .tell(|observer| observer.on_upstream(facts));
            let reused = connection.facts.reused;
            if reused {
                self.session.enable_retry_buffering();
            }
            let mut pump = Pump::new(
                self.shared,
                (&mut self.session, &self.tap),
                (&mut connection.session, &connection.tap),
                &mut self.observation,
            );
            let begun = clock::now();
            let ended = pump.run(&head).await;
            let stale = reused && pump.is_untouched() && clock::now() - begun < STALE_WITHIN;
            let (answered, uploaded) = (pump.has_answered(), pump.has_uploaded());
            match ended {
                Ok(()) => return self.hand_back(connection, uploaded).await,
                Err(Cause::UpstreamFin | Cause::UpstreamReset)
                    if stale && !self.session.retry_buffer_truncated() =>
                {
                    tracing::debug!(
                        "the kept-alive connection was closed: sending the request again"
                    );
                    attempts += 1;
                    lost = Some(clock::now() - started);
                    self.observation.tell(|observer| observer.on_retried());
                }
                Err(cause) => {
                    drop(connection); // the upstream is to know at once
                    return match answered {
                        true => self.cut(cause).await,
                        false => self.give_up(Failure::NoAnswer(cause)).await,
                    };
                }
            }
        }
    }

    /// A connection to the upstream, unless the client leaves or the proxy is stopped meanwhile.
    async fn connect(&self, fresh: bool) -> Result<Connection, Failure> {
        let mut phase = self.shared.phase.clone();
        let watched = !self.shared.config.allow_half_close;
        tokio::select! {
            biased;
            _ = phase.wait_for(|phase| *phase == Phase::Stopped) => {
                Err(Failure::NoAnswer(Cause::ProxyStopped))
            }
            () = self.tap.gone(), if watched => {
                Err(Failure::NoAnswer(Cause::ClientGone))
            }
            connected = self.shared.upstream.connect(fresh) => connected.map_err(Failure::Unreachable),
        }
    }

    /// All is well: both connections are ready for the next request, where they can be.
    async fn hand_back(self, connection: Connection, uploaded: bool) -> Option<Reusable> {
        self.observation.finish(Cause::Whole);
        if !uploaded {
            drop(connection);
            linger(self.shared, self.session, self.tap).await;
            return None;
        }
        let client = self.session.finish().await;
        self.shared.upstream.release(connection).await;
        client.ok().flatten().map(|reusable| reusable.into_parts())
    }

    /// No response of the upstream's went out: the client gets one of ours, if it is still there.
    async fn give_up(self, failure: Failure) -> Option<Reusable> {
        match failure {
            Failure::NoAnswer(cause @ (Cause::ClientGone | Cause::ProxyStopped)) => {
                self.cut(cause).await
            }
            Failure::NoAnswer(Cause::Refused) => self.fail(Failure::BadRequest).await,
            failure => self.fail(failure).await,
        }
    }

    async fn fail(mut self, failure: Failure) -> Option<Reusable> {
        let (head, body) = reply::build(failure, self.shared.upstream.url());
        tracing::debug!(cause = ?failure.cause(), "answering for the upstream");
        let at = self.observation.axis().now();
        self.observation
            .tell(|observer| observer.on_header(at, describe::own_reply(&head)));
        // After a request that was not understood nobody knows where the next one begins.
        let lost = self.method.is_none() || failure == Failure::BadRequest;
        if lost {
            self.session.set_keepalive(None);
        }
        let _ = self.session.write_response_header(Box::new(head)).await;
        if self.method != Some(Method::HEAD) {
            let _ = self.session.write_response_body(body, true).await;
        }
        let delivered = self.deliver().await;
        self.observation.finish(failure.cause());
        if !delivered {
            return None;
        }
        if lost || !self.session.is_body_done() {
            linger(self.shared, self.session, self.tap).await;
            return None;
        }
        self.session
            .finish()
            .await
            .ok()
            .flatten()
            .map(|reusable| reusable.into_parts())
    }

    /// Drains what is queued for the client; false when it left or the proxy was stopped first.
    async fn deliver(&self) -> bool {
        let mut phase = self.shared.phase.clone();
        tokio::select! {
            biased;
            drained = poll_fn(|cx| self.tap.poll_drain(cx)) => drained.is_ok(),
            () = self.tap.gone() => false,
            _ = phase.wait_for(|phase| *phase == Phase::Stopped) => false,
        }
    }

    /// The response ended before its end: the client is to see that, so nothing is finished here.
    async fn cut(self, cause: Cause) -> Option<Reusable> {
        let method = self.method.as_ref().unwrap_or(&Method::GET);
        let written = self.session.response_written();
        let framed = written.is_none_or(|head| describe::is_framed(head, method));
        self.observation.finish(cause);
        if !framed && cause != Cause::ClientGone {
            // The end of the connection would be the end of this body: only a reset shows a cut.
            let acknowledged = async {
                while self.tap.unacknowledged().is_some_and(|bytes| bytes > 0) {
                    sleep(Duration::from_millis(5)).await;
                }
            };
            let _ = timeout(RESET_PATIENCE, acknowledged).await;
            self.tap.reset_on_close();
        }
        None
    }
}

/// Closes our direction and reads on for a while, so that the client gets to read the answer.
async fn linger(shared: &Shared, session: ServerSession, tap: Tap) {
    let closing = async {
        let _ = poll_fn(|cx| tap.poll_close_write(cx)).await;
        loop {
            let seen = tap.reads();
            let discarded = timeout(LINGER_PAUSE, poll_fn(|cx| tap.poll_discard(cx))).await;
            if discarded.is_ok() || tap.reads() == seen {
                return;
            }
        }
    };
    let mut phase = shared.phase.clone();
    tokio::select! {
        _ = timeout(LINGER, closing) => {}
        _ = phase.wait_for(|phase| *phase != Phase::Running) => {}
    }
    drop(session);
}
