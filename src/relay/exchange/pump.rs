//! The loop: read a piece, stamp it, write it, stamp it, both ways at once.
//!
//! Writes go into the taps' queues and never wait, so one task can read both sides, drain both
//! queues and watch for the client's going at the same time. What one socket read brought is
//! forwarded with one socket write and only then shown to the observer.
//!
//! [`Pump`] waits and says what comes next; `request` is the way up, `response` the way down.

mod backlog;
mod request;
mod response;

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use pingora_core::BError;
use pingora_core::protocols::http::ServerSession;
use pingora_core::protocols::http::client::HttpSession;
use pingora_http::RequestHeader;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use crate::observe::observer::Cause;
use crate::relay::observation::Observation;
use crate::relay::tap::{Arrival, Tap};
use crate::relay::{Phase, Shared, clock};
use backlog::Backlog;

pub(in crate::relay) use response::{Piece, cause_of, next_piece};

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

    /// Socket reads that brought body bytes.
    chunks: u64,
    /// For chunks not yet accepted by the client's socket: (queue offset of the end, chunk).
    marks: VecDeque<(u64, u64)>,
    blocked: bool,
    backlog: Backlog,
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
            marks: VecDeque::new(),
            blocked: false,
            backlog: Backlog::default(),
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
        self.watch_backlog();
        let ended = self.relay(head).await;
        self.end_backlog();
        ended
    }

    async fn relay(&mut self, head: &RequestHeader) -> Result<(), Cause> {
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
                Step::Silent => {
                    self.end = Some(Err(Cause::UpstreamTimeout));
                    self.observe_end();
                }
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
        tokio::select! {
            biased;
            _ = self.phase.wait_for(|phase| *phase == Phase::Stopped) => Step::Stopped,
            () = down_tap.gone(), if self.watch_client && !uploading => Step::ClientEnd,
            drained = poll_fn(|cx| down_tap.poll_drain(cx)), if down_tap.is_pending() => Step::Drained(drained),
            sent = poll_fn(|cx| up_tap.poll_drain(cx)), if up_tap.is_pending() => Step::Sent(sent),
            _ = poll_fn(|cx| up_tap.poll_close_write(cx)), if self.close_up => Step::ClosedUp,
            first = next_piece(self.up, self.head_wanted), if reading => Step::Pieces(first),
            body = self.down.read_request_body(), if uploading => Step::RequestBody(body),
            () = silent => Step::Silent,
        }
    }

    fn on_client_end(&mut self) -> Result<(), Cause> {
        if self.shared.config.allow_half_close && self.down_tap.read_error().is_none() {
            self.watch_client = false;
            return Ok(());
        }
        Err(Cause::ClientGone)
    }

    /// The user's limit on the upstream's silence counts from now.
    fn rearm(&mut self) {
        let limit = self.shared.config.read_timeout;
        self.deadline = limit.map(|limit| Instant::from_std(clock::now()) + limit);
    }

    fn axis_of(&self, arrival: Option<Arrival>) -> Duration {
        let at = arrival.map(|arrival| arrival.at);
        self.observation.axis().at_or_now(at)
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
