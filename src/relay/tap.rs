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
//! so a stamp is turned into its age at the moment of the read, and the age is bounded by the
//! time since the previous read: a stepped wall clock cannot move it further than that.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant, SystemTime};

use async_trait::async_trait;
use bytes::{Buf, BytesMut};
use pingora_core::protocols::l4::stream::Stream as TcpStream;
use pingora_core::protocols::raw_connect::ProxyDigest;
use pingora_core::protocols::tls::SslDigest;
use pingora_core::protocols::{
    ALPN, GetProxyDigest, GetSocketDigest, GetTimingDigest, Peek, Shutdown, SocketDigest, Ssl,
    Stream, TimingDigest, UniqueID, UniqueIDType,
};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::{clock, socket};

/// The relay stops reading one side while this many bytes wait for the other.
pub const QUEUE_LIMIT: usize = 256 * 1024;

/// How far the tap reads ahead of the session (a pipelined request) before it stops looking.
const AHEAD_LIMIT: usize = 64 * 1024;

/// A drained queue that grew past this gives its memory back.
const QUEUE_KEEP: usize = 16 * 1024;

/// When the bytes of a socket read arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// On the monotonic clock.
    pub at: Instant,
    /// Told by the kernel; else it is the time of the read.
    pub kernel: bool,
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
    pub fn read_error(&self) -> Option<io::ErrorKind> {
        self.wire().read_error
    }

    /// Whether bytes came that no session has read.
    pub fn has_unread(&self) -> bool {
        !self.wire().ahead.is_empty()
    }

    /// Whether as much was read ahead as may be: [`Tap::poll_gone`] wakes nobody then.
    pub fn is_ahead_full(&self) -> bool {
        self.wire().ahead.len() >= AHEAD_LIMIT
    }

    /// Whether the peer has closed or reset the connection.
    pub fn is_gone(&self) -> bool {
        self.wire().is_gone()
    }

    /// Whether the peer has ended its direction and nothing worse (it may still read).
    pub fn is_half_closed(&self) -> bool {
        let wire = self.wire();
        wire.eof && wire.read_error.is_none()
    }

    /// Moves queued bytes to the socket. Ready when none is left; pending while the socket is full.
    pub fn poll_drain(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
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

    /// Bytes the peer has not acknowledged yet.
    pub fn unacknowledged(&self) -> usize {
        socket::unacknowledged(self.id)
    }

    /// Ends our direction of the connection once the queue is drained (FIN; TLS: close_notify).
    pub fn poll_close_write(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.wire().poll_shutdown(cx)
    }

    fn wire(&self) -> MutexGuard<'_, Wire> {
        // A poisoned lock means a panic elsewhere in this task; the bytes still have to go on.
        self.wire.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The connection itself and what was seen on it.
struct Wire {
    io: Transport,
    id: UniqueIDType,

    muted: bool,
    ahead: BytesMut,
    eof: bool,
    reads: u64,
    arrival: Option<Arrival>,
    /// Time of the previous socket read (at first: of the connection), the bound for a stamp's age.
    read_at: Instant,
    /// The kernel's stamp of the previous read: pingora never clears it, so only a change counts.
    last_stamp: Option<SystemTime>,

    queue: BytesMut,
    queued: u64,
    accepted: u64,
    written_at: Option<Instant>,
    /// TLS may keep records back after it has taken the bytes.
    unflushed: bool,

    read_error: Option<io::ErrorKind>,
}

enum Transport {
    Tcp(Box<TcpStream>),
    Other(Stream),
}

impl Transport {
    fn io(&mut self) -> Pin<&mut (dyn pingora_core::protocols::IO + '_)> {
        match self {
            Transport::Tcp(tcp) => Pin::new(tcp.as_mut()),
            Transport::Other(stream) => Pin::new(stream.as_mut()),
        }
    }

    fn stamp(&self) -> Option<SystemTime> {
        match self {
            Transport::Tcp(tcp) => tcp.rx_ts,
            Transport::Other(_) => None,
        }
    }
}

impl Wire {
    fn new(io: Transport, id: UniqueIDType) -> Self {
        Wire {
            io,
            id,
            muted: false,
            ahead: BytesMut::new(),
            eof: false,
            reads: 0,
            arrival: None,
            read_at: clock::now(),
            last_stamp: None,
            queue: BytesMut::new(),
            queued: 0,
            accepted: 0,
            written_at: None,
            unflushed: false,
            read_error: None,
        }
    }

    fn poll_read(&mut self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if !self.ahead.is_empty() {
            let n = self.ahead.len().min(buf.remaining());
            buf.put_slice(&self.ahead.split_to(n));
            return Poll::Ready(Ok(()));
        }
        if self.muted {
            return Poll::Pending;
        }
        if self.eof {
            return Poll::Ready(Ok(()));
        }
        self.poll_socket(cx, buf)
    }

    fn poll_socket(&mut self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        match ready!(self.io.io().poll_read(cx, buf)) {
            Ok(()) if buf.filled().len() == before => self.eof = true,
            Ok(()) => self.note_read(),
            Err(error) => {
                self.read_error = Some(error.kind());
                return Poll::Ready(Err(error));
            }
        }
        Poll::Ready(Ok(()))
    }

    fn note_read(&mut self) {
        let now = clock::now();
        let stamp = self.io.stamp();
        let fresh = stamp.filter(|_| stamp != self.last_stamp);
        let age = fresh.map(|stamp| age_of(stamp, clock::wall(), now.duration_since(self.read_at)));
        self.arrival = Some(Arrival {
            at: now - age.unwrap_or_default(),
            kernel: age.is_some(),
        });
        self.reads += 1;
        self.read_at = now;
        self.last_stamp = stamp;
    }

    fn is_gone(&self) -> bool {
        self.eof || self.read_error.is_some()
    }

    fn poll_gone(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        while !self.is_gone() {
            if self.ahead.len() >= AHEAD_LIMIT {
                // No more is read, so nothing wakes the task: it has to look from time to time.
                return match socket::has_hung_up(self.id) {
                    true => Poll::Ready(()),
                    false => Poll::Pending,
                };
            }
            let mut bytes = [std::mem::MaybeUninit::uninit(); 4096];
            let mut buf = ReadBuf::uninit(&mut bytes);
            let read = ready!(self.poll_socket(cx, &mut buf));
            if read.is_ok() {
                self.ahead.extend_from_slice(buf.filled());
            }
        }
        Poll::Ready(())
    }

    fn is_pending(&self) -> bool {
        !self.queue.is_empty() || self.unflushed
    }

    fn enqueue(&mut self, bytes: &[u8]) {
        self.queue.extend_from_slice(bytes);
        self.queued += bytes.len() as u64;
    }

    fn poll_drain(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.queue.is_empty() {
            match ready!(self.io.io().poll_write(cx, &self.queue))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                n => {
                    self.queue.advance(n);
                    self.accepted += n as u64;
                    self.written_at = Some(clock::now());
                    self.unflushed = matches!(self.io, Transport::Other(_));
                }
            }
        }
        if self.unflushed {
            ready!(self.io.io().poll_flush(cx))?;
            self.unflushed = false;
            self.written_at = Some(clock::now());
        }
        if self.queue.capacity() > QUEUE_KEEP {
            self.queue = BytesMut::new();
        }
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_drain(cx))?;
        self.io.io().poll_shutdown(cx)
    }
}

/// The age of a kernel stamp at the time of the read, never more than `bound` (the time since the
/// previous read, when these bytes were not there yet) and never negative, whatever the wall clock did.
fn age_of(stamp: SystemTime, wall: SystemTime, bound: Duration) -> Duration {
    wall.duration_since(stamp).unwrap_or_default().min(bound)
}

// What pingora's sessions see: a connection whose reads are watched and whose writes never wait.

impl AsyncRead for Tap {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.wire().poll_read(cx, buf)
    }
}

impl AsyncWrite for Tap {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.wire().enqueue(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let mut wire = self.wire();
        slices.iter().for_each(|bytes| wire.enqueue(bytes));
        Poll::Ready(Ok(slices.iter().map(|bytes| bytes.len()).sum()))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(())) // the relay drains, not the session
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.wire().poll_shutdown(cx)
    }
}

#[async_trait]
impl Shutdown for Tap {
    async fn shutdown(&mut self) {
        // The peer may be gone already, which is as good.
        let _ = std::future::poll_fn(|cx| self.poll_close_write(cx)).await;
    }
}

impl UniqueID for Tap {
    fn id(&self) -> UniqueIDType {
        self.id
    }
}

impl Ssl for Tap {
    fn get_ssl_digest(&self) -> Option<Arc<SslDigest>> {
        self.wire().io.io().get_ssl_digest()
    }

    fn selected_alpn_proto(&self) -> Option<ALPN> {
        self.wire().io.io().selected_alpn_proto()
    }
}

impl GetTimingDigest for Tap {
    fn get_timing_digest(&self) -> Vec<Option<TimingDigest>> {
        self.wire().io.io().get_timing_digest()
    }
}

impl GetProxyDigest for Tap {
    fn get_proxy_digest(&self) -> Option<Arc<ProxyDigest>> {
        self.wire().io.io().get_proxy_digest()
    }
}

impl GetSocketDigest for Tap {
    fn get_socket_digest(&self) -> Option<Arc<SocketDigest>> {
        self.wire().io.io().get_socket_digest()
    }
}

impl Peek for Tap {}

impl fmt::Debug for Tap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tap")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}
