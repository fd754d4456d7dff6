//! The connection as the protocol has it: one read of the socket, and then no other until that is let go of again.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::relay::tap::Tap;

/// A tap that is read in sips.
pub(super) struct Sips {
    pub tap: Tap,
    /// Whether the socket may be read, once.
    pub may_read: Arc<AtomicBool>,
}

impl AsyncRead for Sips {
    /// A failed read is an end here: the protocol then says whether a GOAWAY came before it, and the tap how it failed.
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if !self.may_read.load(Relaxed) {
            return Poll::Pending; // who holds it back polls again
        }
        let _ = ready!(Pin::new(&mut self.tap).poll_read(cx, buf));
        self.may_read.store(false, Relaxed);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Sips {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.tap).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tap).poll_flush(cx)
    }

    /// Waits for nobody: a server that has gone takes no more, and how the connection ended is to be known.
    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let _ = self.tap.poll_drain(cx);
        Poll::Ready(Ok(()))
    }
}
