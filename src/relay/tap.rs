//! The wire, watched: one IO wrapper around a connection, used on both sides of the relay.
//!
//! pingora's sessions own their connection and hide it, and their writes can be neither
//! interrupted nor polled beside a read. A [`Tap`] is what the session gets as its connection,
//! and, cloned, what the relay keeps in its hand:
//!
//! - **Reads** go straight to the socket. For each the tap keeps when the bytes arrived: the
//!   kernel's receive stamp where there is one, else the time of the read.
//! - **Writes** never wait. They go into a queue, which the relay drains towards the socket
//!   with [`Tap::poll_drain`] while it goes on reading both sides. So a client that does not
//!   read cannot falsify arrival times, and an upload that the server does not take cannot
//!   hide its early answer. The queue is bounded by the relay, which stops reading the other
//!   side at [`QUEUE_LIMIT`].
//! - **Looking ahead**: while nobody reads, [`Tap::poll_gone`] watches for the peer's going.
//!   Bytes that come instead (a pipelined request) are kept for the next reader.
//!
//! `SO_TIMESTAMPING` stamps are wall clock time (Linux: Documentation/networking/timestamping),
//! so a stamp is turned into its age at the moment of the read. Where the wall clock was set in
//! between there is none ([`Moment`](super::clock::Moment)): then the time of the read stands.

mod io;
mod wire;

use std::future::poll_fn;
use std::io::{Error, ErrorKind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use pingora_core::protocols::l4::stream::Stream as TcpStream;
use pingora_core::protocols::{Stream, UniqueIDType};
use tokio::time::sleep;

use super::socket;
use crate::observe::observer::Stamp;
use wire::{AHEAD_LIMIT, Transport, Wire};

/// The relay stops reading one side while this many bytes wait for the other.
pub const QUEUE_LIMIT: usize = 256 * 1024;

/// How often a peer that has sent more than is read ahead is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// When the bytes of a socket read arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// On the monotonic clock.
    pub at: Instant,
    /// Told by the kernel; else it is the time of the read.
    pub kernel: bool,
}

impl Arrival {
    /// Where the time comes from.
    pub fn stamp(self) -> Stamp {
        if self.kernel {
            Stamp::Kernel
        } else {
            Stamp::Read
        }
    }
}

/// A watched connection; clones share it.
#[derive(Clone)]
pub struct Tap {
    wire: Arc<Mutex<Wire>>,
    id: UniqueIDType,
}

impl Tap {
    /// Watches `stream`. Plain TCP gets the kernel's receive stamps where the system has them.
    pub fn new(stream: Stream) -> Self {
        let id = stream.id();
        let io = if stream.as_any().is::<TcpStream>() {
            let mut tcp = stream
                .into_any()
                .downcast::<TcpStream>()
                .expect("just checked");
            // No stamps is no fault: the record then says `read` instead of `kernel`.
            let _ = tcp.set_rx_timestamp();
            Transport::Tcp(tcp)
        } else {
            Transport::Other(stream)
        };
        Tap {
            wire: Arc::new(Mutex::new(Wire::new(io, id))),
            id,
        }
    }

    /// How many socket reads brought bytes so far.
    pub fn reads(&self) -> u64 {
        self.wire().reads
    }

    /// When the bytes of the last socket read arrived; `None` before the first.
    pub fn arrival(&self) -> Option<Arrival> {
        self.wire().arrival
    }

    /// Bytes given to the queue and bytes accepted by the socket, since the connection began.
    pub fn queued(&self) -> u64 {
        self.wire().queued
    }

    /// See [`Tap::queued`].
    pub fn accepted(&self) -> u64 {
        self.wire().accepted
    }

    /// When the socket last accepted bytes; `None` before the first.
    pub fn written_at(&self) -> Option<Instant> {
        self.wire().written_at
    }

    /// Whether bytes wait for the socket.
    pub fn is_pending(&self) -> bool {
        self.wire().is_pending()
    }

    /// Whether so many bytes wait that the other side must not be read for now.
    pub fn is_full(&self) -> bool {
        self.wire().queue.len() >= QUEUE_LIMIT
    }

    /// How reading failed, if it did.
    pub fn read_error(&self) -> Option<ErrorKind> {
        self.wire().read_error
    }

    /// Whether bytes came that no session has read.
    pub fn has_unread(&self) -> bool {
        !self.wire().ahead.is_empty()
    }

    /// Waits until the peer has closed or reset the connection, also where it has sent more than is
    /// read ahead: [`Tap::poll_gone`] then has to be asked again from time to time.
    pub async fn gone(&self) {
        loop {
            // It gets full in this very wait, by the watch, which is polled before.
            let look = async {
                poll_fn(|_| match self.wire().ahead.len() >= AHEAD_LIMIT {
                    true => Poll::Ready(()),
                    false => Poll::Pending,
                })
                .await;
                sleep(LOOK_EVERY).await;
            };
            tokio::select! {
                biased;
                () = poll_fn(|cx| self.poll_gone(cx)) => return,
                () = look => {}
            }
        }
    }

    /// Whether the peer has closed or reset the connection.
    pub fn is_gone(&self) -> bool {
        self.wire().is_gone()
    }

    /// Moves queued bytes to the socket. Ready when none is left; pending while the socket is full.
    pub fn poll_drain(&self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.wire().poll_drain(cx)
    }

    /// Ready once the peer has closed or reset the connection, or this cannot be told any more.
    /// For the times in which no session reads; what arrives meanwhile is kept for the next reader.
    pub fn poll_gone(&self, cx: &mut Context<'_>) -> Poll<()> {
        self.wire().poll_gone(cx)
    }

    /// Reads and throws away what the peer still sends; ready once it has closed or reset.
    pub fn poll_discard(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut wire = self.wire();
        loop {
            let seen = wire.reads;
            wire.ahead.clear();
            match wire.poll_gone(cx) {
                Poll::Ready(()) => return Poll::Ready(()),
                Poll::Pending if wire.reads == seen => return Poll::Pending,
                Poll::Pending => {}
            }
        }
    }

    /// Runs `poll` with the socket out of reach: the session can hand out what it has already
    /// read, and is pending beyond that. Tells the pieces of one socket read from the next one's.
    pub fn without_socket<T>(&self, poll: impl FnOnce() -> T) -> T {
        self.wire().muted = true;
        let result = poll();
        self.wire().muted = false;
        result
    }

    /// Throws the queue away: nobody will take these bytes.
    pub fn discard_queue(&self) {
        let mut wire = self.wire();
        wire.queue.clear();
        wire.unflushed = false;
    }

    /// Makes the coming close a reset, so that the peer sees a cut where the framing of the body
    /// cannot show one.
    pub fn reset_on_close(&self) {
        socket::reset_on_close(self.id);
    }

    /// Bytes the peer has not acknowledged yet, where the system says.
    pub fn unacknowledged(&self) -> Option<u64> {
        socket::unacknowledged(self.id)
    }

    /// For how long in all the peer's receive window held our bytes back, where the system says.
    pub fn rwnd_limited(&self) -> Option<Duration> {
        socket::rwnd_limited(self.id)
    }

    /// Ends our direction of the connection once the queue is drained (FIN; TLS: close_notify).
    pub fn poll_close_write(&self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.wire().poll_shutdown(cx)
    }

    fn wire(&self) -> MutexGuard<'_, Wire> {
        // A poisoned lock means a panic elsewhere in this task; the bytes still have to go on.
        self.wire.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

    use super::*;

    /// A tap with room for `room` bytes on its wire, and the peer.
    fn tap(room: usize) -> (Tap, DuplexStream) {
        let (near, far) = duplex(room);
        (Tap::new(Box::new(near)), far)
    }

    #[tokio::test]
    async fn writes_never_wait_and_go_out_when_drained() {
        let (mut tap, mut far) = tap(4);
        tap.write_all(b"abcdefgh").await.unwrap();
        assert!(tap.is_pending() && tap.accepted() == 0);
        let drained = poll_fn(|cx| Poll::Ready(tap.poll_drain(cx))).await;
        assert!(
            drained.is_pending() && tap.accepted() == 4,
            "the wire is full"
        );
        let mut got = [0; 8];
        let (read, drained) =
            tokio::join!(far.read_exact(&mut got), poll_fn(|cx| tap.poll_drain(cx)));
        assert!(read.is_ok() && drained.is_ok() && !tap.is_pending());
        assert_eq!((&got, tap.queued(), tap.accepted()), (b"abcdefgh", 8, 8));
    }

    #[tokio::test]
    async fn out_of_reach_of_the_socket_a_reader_gets_nothing_new() {
        let (mut tap, mut far) = tap(64);
        far.write_all(b"x").await.unwrap();
        let mut byte = [0];
        let beside = tap.clone();
        let mut read = std::pin::pin!(tap.read(&mut byte));
        let poll =
            poll_fn(|cx| Poll::Ready(beside.without_socket(|| read.as_mut().poll(cx)))).await;
        assert!(poll.is_pending());
        assert_eq!((read.await.unwrap(), beside.reads()), (1, 1));
    }

    #[tokio::test]
    async fn the_watch_for_the_peers_going_keeps_what_comes_for_the_reader() {
        let (mut tap, mut far) = tap(64);
        far.write_all(b"next").await.unwrap();
        let gone = poll_fn(|cx| Poll::Ready(tap.poll_gone(cx))).await;
        assert!(gone.is_pending() && tap.has_unread());
        drop(far);
        poll_fn(|cx| tap.poll_gone(cx)).await;
        assert!(tap.is_gone() && tap.read_error().is_none());
        let mut text = String::new();
        tap.read_to_string(&mut text).await.unwrap();
        assert_eq!(text, "next");
    }
}
