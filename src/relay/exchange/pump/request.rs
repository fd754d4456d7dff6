//! The request on its way up.

use std::future::poll_fn;
use std::io;
use std::task::Poll;

use bytes::Bytes;
use pingora_core::BError;
use pingora_http::RequestHeader;

use super::{Pump, Upload, poll_once};
use crate::observe::observer::Cause;

impl Pump<'_> {
    pub(super) async fn send_head(&mut self, head: &RequestHeader) -> Result<(), Cause> {
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

    pub(super) async fn on_request_body(
        &mut self,
        body: Result<Option<Bytes>, BError>,
    ) -> Result<(), Cause> {
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
    pub(super) async fn send_queued(&mut self) {
        let up_tap = self.up_tap;
        if let Poll::Ready(sent) = poll_fn(|cx| Poll::Ready(up_tap.poll_drain(cx))).await {
            self.on_sent(sent);
        }
    }

    pub(super) fn on_sent(&mut self, sent: io::Result<()>) {
        match (sent, self.up_tap.written_at()) {
            (Ok(()), Some(at)) => {
                let at = self.observation.axis().at(at);
                self.observation.tell(|observer| observer.on_sent(at));
                self.observation.show();
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
}
