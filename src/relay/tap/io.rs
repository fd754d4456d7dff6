//! What pingora's sessions see of a tap: a connection whose reads are watched and whose writes never
//! wait.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use async_trait::async_trait;
use pingora_core::protocols::raw_connect::ProxyDigest;
use pingora_core::protocols::tls::SslDigest;
use pingora_core::protocols::{
    ALPN, GetProxyDigest, GetSocketDigest, GetTimingDigest, Peek, Shutdown, SocketDigest, Ssl,
    TimingDigest, UniqueID, UniqueIDType,
};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::Tap;

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
