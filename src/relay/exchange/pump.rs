//! The loop: read a piece, stamp it, write it, stamp it, both ways at once.
//!
//! Writes go into the taps' queues and never wait, so one task can read both sides, drain both
//! queues and watch for the client's going at the same time. What one socket read brought is
//! forwarded with one socket write and only then shown to the observer.

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use http::{StatusCode, Version};
use pingora_core::protocols::http::ServerSession;
use pingora_core::protocols::http::client::HttpSession;
use pingora_core::{BError, ErrorType};
use pingora_http::{RequestHeader, ResponseHeader};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until};

use crate::observe::observer::{Cause, Stamp};
use crate::relay::observation::Observation;
use crate::relay::tap::{Arrival, Tap};
use crate::relay::{Phase, Shared, clock, describe, headers};

/// How often a client that has sent more than is read ahead is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// What the upstream's session hands out.
enum Piece {
    Head(Box<ResponseHeader>),
    Body(Bytes),
    End,
}

/// What the loop woke up for.
enum Step {
    /// The drain time is over.
    Stopped,
    /// The client closed its direction, or left.
    ClientEnd,
    /// The client's socket took all that was queued, or failed.
    Drained(io::Result<()>),
    /// The same of the upstream's socket.
    Sent(io::Result<()>),
    /// The upstream saw the client's end.
    ClosedUp,
    /// The response went on.
    Pieces(Result<Piece, BError>),
    /// The request went on.
    RequestBody(Result<Option<Bytes>, BError>),
    /// Time to look for the client's going where it cannot be read for.
    Look,
    /// The upstream was silent for longer than the user allows.
    Silent,
}

/// Where the request body is on its way up.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Upload {
    /// The client may send more.
    Open,
    /// All of it was given to the upstream's queue.
    Done,
    /// The upstream takes no more; its answer may still come.
    Failed,
}

/// The two legs of one attempt.
pub struct Pump<'a> {
    shared: &'a Shared,
    phase: watch::Receiver<Phase>,
    down: &'a mut ServerSession,
    down_tap: &'a Tap,
    up: &'a mut HttpSession,
    up_tap: &'a Tap,
    observation: &'a mut Observation,

    upload: Upload,
    /// Whether the client's going is still watched for.
    watch_client: bool,
    /// The client ended its direction of an upgraded connection; the upstream is to see that.
    close_up: bool,
    /// Socket reads of this connection before this request.
    reads_before: u64,
    /// Socket reads whose pieces were handed on.
    reads_seen: u64,
    /// No final head yet.
    head_wanted: bool,
    upgraded: bool,
    /// How the response ended, once it has; what is queued still goes out.
    end: Option<Result<(), Cause>>,

    /// Socket reads that brought body bytes, and the number of the last one.
    chunks: u64,
    last_read: u64,
    /// For chunks not yet accepted by the client's socket: (queue offset of the end, chunk).
    marks: VecDeque<(u64, u64)>,
    blocked: bool,
    /// When the upstream's silence has lasted too long, where the user set a limit.
    deadline: Option<Instant>,
}

impl<'a> Pump<'a> {
    /// A pump between the client's leg and the upstream's.
    pub fn new(
        shared: &'a Shared,
        (down, down_tap): (&'a mut ServerSession, &'a Tap),
        (up, up_tap): (&'a mut HttpSession, &'a Tap),
        observation: &'a mut Observation,
    ) -> Self {
        Pump {
            phase: shared.phase.clone(),
            shared,
            down,
            down_tap,
            up,
            up_tap,
            observation,
            upload: Upload::Open,
            watch_client: true,
            close_up: false,
            reads_before: up_tap.reads(),
            reads_seen: up_tap.reads(),
            head_wanted: true,
            upgraded: false,
            end: None,
            chunks: 0,
            last_read: 0,
            marks: VecDeque::new(),
            blocked: false,
            deadline: None,
        }
    }

    /// Whether not one byte of a response came.
    pub fn is_untouched(&self) -> bool {
        self.up_tap.reads() == self.reads_before
    }

    /// Whether a final response head went to the client.
    pub fn has_answered(&self) -> bool {
        !self.head_wanted
    }

    /// Whether the whole request went up.
    pub fn has_uploaded(&self) -> bool {
        self.upload == Upload::Done && !self.up_tap.is_pending()
    }

    /// Sends the request and relays until the response is whole and with the client, or cut.
    pub async fn run(&mut self, head: &RequestHeader) -> Result<(), Cause> {
        self.send_head(head).await?;
        loop {
            if let Some(end) = self.end.take_if(|_| !self.down_tap.is_pending()) {
                return end;
            }
            match self.next_step().await {
                Step::Stopped => return Err(Cause::ProxyStopped),
                Step::ClientEnd => self.on_client_end()?,
                Step::Drained(drained) => self.on_drained(drained)?,
                Step::Sent(sent) => self.on_sent(sent),
                Step::ClosedUp => self.close_up = false,
                Step::Pieces(first) => self.on_pieces(first).await?,
                Step::RequestBody(body) => {
                    self.on_request_body(body).await?;
                    self.send_queued().await;
                }
                Step::Look => {}
                Step::Silent => self.end = Some(Err(Cause::UpstreamTimeout)),
            }
        }
    }

    /// Waits for whatever comes first. Everything in here can be dropped and asked again.
    async fn next_step(&mut self) -> Step {
        let (down_tap, up_tap) = (self.down_tap, self.up_tap);
        let reading = self.end.is_none() && !down_tap.is_full();
        let uploading = self.end.is_none() && self.upload == Upload::Open && !up_tap.is_full();
        // Until the request is up it is the client that is waited for.
        let waited_for = reading && (self.upload != Upload::Open || !self.head_wanted);
        let deadline = self.deadline.filter(|_| waited_for);
        let silent = async {
            match deadline {
                Some(deadline) => sleep_until(deadline).await,
                None => std::future::pending().await,
            }
        };
        // It gets full in this very wait, by the watch for the client, which is polled before.
        let look = async {
            poll_fn(|_| match down_tap.is_ahead_full() {
                true => Poll::Ready(()),
                false => Poll::Pending,
            })
            .await;
            sleep(LOOK_EVERY).await;
        };
        tokio::select! {
            biased;
            _ = self.phase.wait_for(|phase| *phase == Phase::Stopped) => Step::Stopped,
            () = poll_fn(|cx| down_tap.poll_gone(cx)), if self.watch_client && !uploading => Step::ClientEnd,
            drained = poll_fn(|cx| down_tap.poll_drain(cx)), if down_tap.is_pending() => Step::Drained(drained),
            sent = poll_fn(|cx| up_tap.poll_drain(cx)), if up_tap.is_pending() => Step::Sent(sent),
            _ = poll_fn(|cx| up_tap.poll_close_write(cx)), if self.close_up => Step::ClosedUp,
            first = next_piece(self.up, self.head_wanted), if reading => Step::Pieces(first),
            body = self.down.read_request_body(), if uploading => Step::RequestBody(body),
            () = silent => Step::Silent,
            () = look => Step::Look,
        }
    }

    // The request, going up.

    async fn send_head(&mut self, head: &RequestHeader) -> Result<(), Cause> {
        let sent = self.up.write_request_header(Box::new(head.clone())).await;
        sent.map_err(|_| Cause::Refused)?;
        if let Some(replayed) = self.down.get_retry_buffer() {
            self.write_up(replayed).await;
        }
        // What of the body came in the same read as the head leaves with it.
        while self.upload == Upload::Open {
            let down_tap = self.down_tap;
            let body = poll_once(down_tap, self.down.read_request_body()).await;
            let Some(body) = body else { break };
            self.on_request_body(body).await?;
        }
        self.send_queued().await;
        Ok(())
    }

    async fn on_request_body(&mut self, body: Result<Option<Bytes>, BError>) -> Result<(), Cause> {
        match body {
            Ok(Some(bytes)) => {
                self.observation
                    .tell(|observer| observer.on_request_body(&bytes));
                self.write_up(bytes).await;
            }
            Ok(None) => {
                self.upload = Upload::Done;
                if self.upgraded {
                    (self.watch_client, self.close_up) = (false, true);
                } else {
                    // Only the framing's end: the tap takes every write.
                    let _ = self.up.finish_request_body().await;
                    let at = self.axis_of(self.down_tap.arrival());
                    self.observation
                        .tell(|observer| observer.on_request_end(at));
                }
            }
            // Broken framing: refused, unless the answer is already on its way.
            Err(_) if self.head_wanted && !self.down_tap.is_gone() => return Err(Cause::Refused),
            Err(_) => return Err(Cause::ClientGone),
        }
        Ok(())
    }

    async fn write_up(&mut self, bytes: Bytes) {
        // An empty piece (the head of a chunk was split) would be written as the end of the body.
        if !bytes.is_empty() {
            let _ = self.up.write_request_body(bytes, false).await; // the tap takes every write
        }
    }

    /// Sends what is queued for the upstream as far as its socket takes it now.
    async fn send_queued(&mut self) {
        let up_tap = self.up_tap;
        if let Poll::Ready(sent) = poll_fn(|cx| Poll::Ready(up_tap.poll_drain(cx))).await {
            self.on_sent(sent);
        }
    }

    fn on_sent(&mut self, sent: io::Result<()>) {
        match (sent, self.up_tap.written_at()) {
            (Ok(()), Some(at)) => {
                let at = self.observation.axis().at(at);
                self.observation.tell(|observer| observer.on_sent(at));
                self.rearm();
            }
            (Ok(()), None) => {}
            (Err(_), _) => {
                // The upstream closed early. Its answer may already be here: read on.
                self.up_tap.discard_queue();
                self.upload = Upload::Failed;
            }
        }
    }

    fn on_client_end(&mut self) -> Result<(), Cause> {
        if self.shared.config.allow_half_close && self.down_tap.is_half_closed() {
            self.watch_client = false;
            return Ok(());
        }
        Err(Cause::ClientGone)
    }

    // The response, coming down.

    /// Forwards everything that one socket read brought, then shows it to the observer.
    async fn on_pieces(&mut self, first: Result<Piece, BError>) -> Result<(), Cause> {
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
                Err(error) => self.end = Some(Err(self.cause_of(&error))),
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
        let read = self.up_tap.reads();
        let mut new_chunk = self.chunks == 0 || read != self.last_read;
        self.chunks += u64::from(new_chunk);
        self.last_read = read;
        self.marks.push_back((self.down_tap.queued(), self.chunks));
        let arrival = self.up_tap.arrival();
        let at = self.axis_of(arrival);
        let stamp = match arrival {
            Some(Arrival { kernel: true, .. }) => Stamp::Kernel,
            _ => Stamp::Read,
        };
        self.observation.tell(|observer| {
            for bytes in bodies {
                observer.on_body(at, stamp, new_chunk, bytes);
                new_chunk = false;
            }
        });
    }

    /// An end that came with bytes has their time; one without (FIN, reset) is seen now.
    fn observe_end(&mut self) {
        let reads = self.up_tap.reads();
        let read_now = std::mem::replace(&mut self.reads_seen, reads) != reads;
        if self.end.is_some() {
            let at = self.axis_of(self.up_tap.arrival().filter(|_| read_now));
            self.observation.tell(|observer| observer.on_end(at));
        }
    }

    fn on_drained(&mut self, drained: io::Result<()>) -> Result<(), Cause> {
        drained.map_err(|_| Cause::ClientGone)?;
        let at = self.down_tap.written_at().unwrap_or_else(clock::now);
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

    /// The user's limit on the upstream's silence counts from now.
    fn rearm(&mut self) {
        let limit = self.shared.config.read_timeout;
        self.deadline = limit.map(|limit| Instant::from_std(clock::now()) + limit);
    }

    fn axis_of(&self, arrival: Option<Arrival>) -> Duration {
        let axis = self.observation.axis();
        arrival.map_or_else(|| axis.now(), |arrival| axis.at(arrival.at))
    }

    fn cause_of(&self, error: &BError) -> Cause {
        match (self.up_tap.read_error(), error.etype()) {
            (None | Some(io::ErrorKind::UnexpectedEof), ErrorType::ConnectionClosed) => {
                Cause::UpstreamFin
            }
            (Some(io::ErrorKind::UnexpectedEof), _) => Cause::UpstreamFin, // TLS without close_notify
            (Some(_), _) => Cause::UpstreamReset,
            (None, _) => Cause::UpstreamInvalid,
        }
    }
}

/// The next piece of the response. Safe to drop and call again: pingora's reader keeps its place.
async fn next_piece(up: &mut HttpSession, head_wanted: bool) -> Result<Piece, BError> {
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

/// What `read` can give without touching the socket of `tap`.
async fn poll_once<F: Future>(tap: &Tap, read: F) -> Option<F::Output> {
    let mut read = pin!(read);
    poll_fn(|cx| {
        Poll::Ready(match tap.without_socket(|| read.as_mut().poll(cx)) {
            Poll::Ready(output) => Some(output),
            Poll::Pending => None,
        })
    })
    .await
}
