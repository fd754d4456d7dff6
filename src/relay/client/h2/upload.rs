//! The request's body on its way to the stream, as fast as the server lets it.

use std::task::{Context, Poll};

use bytes::Bytes;
use h2::SendStream;

/// A body, and where it goes.
pub(super) struct Upload {
    stream: SendStream<Bytes>,
    rest: Bytes,
    /// Whether the stream has all of it.
    pub is_whole: bool,
}

impl Upload {
    /// An empty `body` has ended with the head.
    pub fn new(stream: SendStream<Bytes>, body: Bytes) -> Self {
        Upload {
            stream,
            is_whole: body.is_empty(),
            rest: body,
        }
    }

    /// Gives the stream what it takes now; whether that was anything.
    pub fn give(&mut self, cx: &mut Context<'_>) -> bool {
        if self.rest.is_empty() {
            return false;
        }
        self.stream.reserve_capacity(self.rest.len());
        let room = match self.stream.capacity() {
            0 => match self.stream.poll_capacity(cx) {
                Poll::Ready(Some(Ok(room))) => room,
                _ => 0, // the server has closed the stream: its answer says what it says
            },
            room => room,
        };
        let piece = self.rest.split_to(room.min(self.rest.len()));
        let has_room = !piece.is_empty();
        if has_room {
            let is_last = self.rest.is_empty();
            self.is_whole = self.stream.send_data(piece, is_last).is_ok() && is_last;
        }
        has_room
    }
}
