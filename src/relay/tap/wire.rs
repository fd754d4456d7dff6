//! The connection itself: reads with their stamps, and the queue in front of the socket.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant, SystemTime};

use bytes::{Buf, BytesMut};
use pingora_core::protocols::l4::stream::Stream as TcpStream;
use pingora_core::protocols::{Stream, UniqueIDType};
use tokio::io::ReadBuf;

use super::Arrival;
use crate::relay::{clock, socket};

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
    /// Time of the previous socket read (at first: of the connection), the bound for a stamp's age.
    read_at: Instant,
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

/// The age of a kernel stamp at the time of the read, never more than `bound` (the time since the
/// previous read, when these bytes were not there yet) and never negative, whatever the wall clock did.
fn age_of(stamp: SystemTime, wall: SystemTime, bound: Duration) -> Duration {
    wall.duration_since(stamp).unwrap_or_default().min(bound)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stepped_wall_clock_moves_a_stamp_no_further_than_the_read_before() {
        let (wall, second) = (clock::wall(), Duration::from_secs(1));
        let bound = Duration::from_millis(20);
        assert_eq!(age_of(wall - bound / 2, wall, bound), bound / 2);
        assert_eq!(age_of(wall - 3600 * second, wall, bound), bound);
        assert_eq!(age_of(wall + 3600 * second, wall, bound), Duration::ZERO);
    }
}
