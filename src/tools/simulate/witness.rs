//! What the simulated server did, told as it happens: a test compares it with what came out of a proxy.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Instant;

/// Is told of each request and of each write; see [`super::Simulator::watched_by`].
#[derive(Debug, Clone)]
pub struct Witness(Sender<Seen>);

/// One thing that happened.
#[derive(Debug, Clone)]
pub struct Seen {
    /// Which request, from 1, in the order in which they were all in.
    pub request: u64,
    /// When: the last byte of the request was in, or the write began.
    pub at: Instant,
    /// When the script wanted it.
    pub due: Instant,
    /// What happened.
    pub act: Act,
    /// The request's head, or the bytes that were written, framing included.
    pub bytes: Vec<u8>,
}

/// What can happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    /// A request was in.
    Asked,
    /// A part of its answer was written.
    Wrote,
}

impl Witness {
    /// A witness, and where to hear it.
    pub fn new() -> (Self, Receiver<Seen>) {
        let (sender, receiver) = channel();
        (Self(sender), receiver)
    }

    pub(super) fn tell(&self, seen: Seen) {
        // nobody may be listening any more
        let _ = self.0.send(seen);
    }
}
