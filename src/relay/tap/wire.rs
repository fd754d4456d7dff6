//! The connection itself: reads with their stamps, and the queue in front of the socket.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::{Instant, SystemTime};

use bytes::{Buf, BytesMut};
use pingora_core::protocols::l4::stream::Stream as TcpStream;
use pingora_core::protocols::{Stream, UniqueIDType};
use tokio::io::ReadBuf;

use super::Arrival;
use crate::relay::clock::{self, Moment};
use crate::relay::socket;

/// How far the tap reads ahead of the session (a pipelined request) before it stops looking.
pub const AHEAD_LIMIT: usize = 64 * 1024;

/// Readers of heads bring small buffers. What came at once is read at once all the same, and kept for
/// them: else one flush of the peer would count as several reads.
const SMALL: usize = 16 * 1024;
const AT_ONCE: usize = 64 * 1024;

/// A drained queue that grew past this gives its memory back.
const QUEUE_KEEP: usize = 16 * 1024;

/// The connection itself and what was seen on it.
pub struct Wire {
    pub io: Transport,
    pub id: UniqueIDType,

    pub muted: bool,
    pub ahead: BytesMut,
    pub eof: bool,
    pub reads: u64,
    pub arrival: Option<Arrival>,
    /// When the socket was last seen empty (at first: when the watch began). What is read was stamped
    /// after that.
    empty: Moment,
    /// The kernel's stamp of the previous read: pingora never clears it, so only a change counts.
    last_stamp: Option<SystemTime>,

    pub queue: BytesMut,
    pub queued: u64,
    pub accepted: u64,
    pub written_at: Option<Instant>,
    /// TLS may keep records back after it has taken the bytes.
    pub unflushed: bool,

    pub read_error: Option<io::ErrorKind>,
}

pub enum Transport {
    Tcp(Box<TcpStream>),
    Other(Stream),
}

impl Transport {
    pub fn io(&mut self) -> Pin<&mut (dyn pingora_core::protocols::IO + '_)> {
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
    pub fn new(io: Transport, id: UniqueIDType) -> Self {
        Wire {
            io,
            id,
            muted: false,
            ahead: BytesMut::new(),
            eof: false,
            reads: 0,
            arrival: None,
            empty: Moment::read(),
            last_stamp: None,
            queue: BytesMut::new(),
            queued: 0,
            accepted: 0,
            written_at: None,
            unflushed: false,
            read_error: None,
        }
    }

    pub fn poll_read(
        &mut self,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if !self.ahead.is_empty() {
            let n = self.ahead.len().min(buf.remaining());
            buf.put_slice(&self.ahead.split_to(n));
            if self.ahead.is_empty() {
                self.ahead = BytesMut::new();
            }
            return Poll::Ready(Ok(()));
        }
        if self.muted {
            return Poll::Pending;
        }
        if self.eof {
            return Poll::Ready(Ok(()));
        }
        if buf.remaining() < SMALL {
            ready!(self.poll_ahead::<AT_ONCE>(cx))?;
            return self.poll_read(cx, buf);
        }
        self.poll_socket(cx, buf)
    }

    /// Reads at most `N` bytes for whoever reads next.
    fn poll_ahead<const N: usize>(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut bytes = [std::mem::MaybeUninit::uninit(); N];
        let mut buf = ReadBuf::uninit(&mut bytes);
        ready!(self.poll_socket(cx, &mut buf))?;
        self.ahead.extend_from_slice(buf.filled());
        Poll::Ready(Ok(()))
    }

    fn poll_socket(&mut self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        match ready!(self.io.io().poll_read(cx, buf)) {
            Ok(()) if buf.filled().len() == before => self.eof = true,
            Ok(()) => self.note_read(buf.remaining() > 0),
            Err(error) => {
                self.read_error = Some(error.kind());
                return Poll::Ready(Err(error));
            }
        }
        Poll::Ready(Ok(()))
    }

    /// A read that left room in the buffer has emptied the socket.
    fn note_read(&mut self, emptied: bool) {
        let read = Moment::read();
        let stamp = self.io.stamp();
        let fresh = stamp.filter(|_| stamp != self.last_stamp);
        let age = fresh.and_then(|stamp| read.age_of(stamp, &self.empty));
        self.arrival = Some(Arrival {
            at: read.now - age.unwrap_or_default(),
            kernel: age.is_some(),
        });
        self.reads += 1;
        self.last_stamp = stamp;
        if emptied {
            self.empty = read;
        }
    }

    pub fn is_gone(&self) -> bool {
        self.eof || self.read_error.is_some()
    }

    pub fn poll_gone(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        while !self.is_gone() {
            if self.ahead.len() >= AHEAD_LIMIT {
                // No more is read, so nothing wakes the task: it has to look from time to time.
                return match socket::has_hung_up(self.id) {
                    true => Poll::Ready(()),
                    false => Poll::Pending,
                };
            }
            // An error is kept, and shows in `is_gone`.
            let _ = ready!(self.poll_ahead::<4096>(cx));
        }
        Poll::Ready(())
    }

    pub fn is_pending(&self) -> bool {
        !self.queue.is_empty() || self.unflushed
    }

    pub fn enqueue(&mut self, bytes: &[u8]) {
        self.queue.extend_from_slice(bytes);
        self.queued += bytes.len() as u64;
    }

    pub fn poll_drain(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
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

    pub fn poll_shutdown(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_drain(cx))?;
        self.io.io().poll_shutdown(cx)
    }
}
