//! How the admin side's connections come in: but so many at a time, and none that stands still for long.
//!
//! Descriptors are the process's: those that are taken here are missing where the relay accepts and connects. And a
//! client that stops reading its events would keep its place among those who get some.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::serve::Listener;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Sleep, sleep};

use crate::relay::clock;

/// Connections at a time, an eighth of the descriptors that most systems give a process. Others wait.
const MOST: usize = 128;

/// A connection on which nothing came or went for so long is closed. Events are sent more often than that.
const STILL: Duration = Duration::from_secs(60);

/// A listener that lets but so many in.
pub struct Door {
    tcp: TcpListener,
    places: Arc<Semaphore>,
}

impl Door {
    /// In front of `tcp`.
    pub fn new(tcp: TcpListener) -> Door {
        Door {
            tcp,
            places: Arc::new(Semaphore::new(MOST)),
        }
    }
}

impl Listener for Door {
    type Io = Visit<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        let place = Arc::clone(&self.places).acquire_owned().await;
        let (tcp, peer) = Listener::accept(&mut self.tcp).await;
        // an error would mean that nobody is let in any more, which nobody asks for
        (Visit::new(tcp, STILL, place.ok()), peer)
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        self.tcp.local_addr()
    }
}

/// A connection that fails once it has stood still for too long.
pub struct Visit<T> {
    io: T,
    still: Duration,
    end: Pin<Box<Sleep>>,
    _place: Option<OwnedSemaphorePermit>,
}

impl<T> Visit<T> {
    fn new(io: T, still: Duration, place: Option<OwnedSemaphorePermit>) -> Self {
        Visit {
            io,
            still,
            end: Box::pin(sleep(still)),
            _place: place,
        }
    }

    /// What was tried, or that it took too long.
    fn watched<R>(
        &mut self,
        cx: &mut Context<'_>,
        tried: Poll<io::Result<R>>,
    ) -> Poll<io::Result<R>> {
        if tried.is_ready() {
            let end = clock::now() + self.still;
            self.end.as_mut().reset(end.into());
        } else if self.end.as_mut().poll(cx).is_ready() {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        tried
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Visit<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let tried = Pin::new(&mut self.io).poll_read(cx, buf);
        self.watched(cx, tried)
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Visit<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let tried = Pin::new(&mut self.io).poll_write(cx, bytes);
        self.watched(cx, tried)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let tried = Pin::new(&mut self.io).poll_write_vectored(cx, parts);
        self.watched(cx, tried)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
    use tokio::runtime::Builder;

    use super::*;

    const SHORT: Duration = Duration::from_millis(300);

    fn run(what: impl Future<Output = ()>) {
        let runtime = Builder::new_current_thread().enable_time().build();
        runtime.unwrap().block_on(what);
    }

    #[test]
    fn who_says_nothing_or_reads_nothing_has_to_go() {
        run(async {
            let (_client, server) = duplex(16);
            let mut visit = Visit::new(server, SHORT, None);
            let silent = visit.read(&mut [0; 9]).await.unwrap_err();
            assert_eq!(silent.kind(), io::ErrorKind::TimedOut);
            let (_client, server) = duplex(16);
            let mut visit = Visit::new(server, SHORT, None);
            let stuck = visit.write_all(&[0; 99]).await.unwrap_err();
            assert_eq!(stuck.kind(), io::ErrorKind::TimedOut);
        });
    }

    #[test]
    fn who_gets_something_now_and_then_may_be_silent() {
        run(async {
            let (mut client, server) = duplex(16);
            let mut visit = Visit::new(server, SHORT, None);
            let start = clock::now();
            while clock::now() - start < SHORT * 3 {
                sleep(SHORT / 6).await;
                visit.write_all(b"!").await.unwrap();
                client.read_exact(&mut [0; 1]).await.unwrap();
                let read = tokio::time::timeout(SHORT / 30, visit.read(&mut [0; 9])).await;
                assert!(read.is_err(), "{read:?}");
            }
        });
    }
}
