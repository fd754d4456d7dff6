//! The proxy's own delay: from arrival to accepted by the client's socket, without the time in
//! which that socket was full, which is the client's.

use std::collections::VecDeque;

use crate::observe::stats::{Samples, Sorted, Us};

/// Delays that are kept one by one.
const EXACT: usize = 8_192;

/// Chunks that may wait for the client at once and still be measured. The relay's queue is bounded
/// in bytes; this bounds it in pieces. Past it the oldest goes unmeasured.
const WAITING: usize = 4_096;

/// How long chunks stayed in the proxy.
#[derive(Debug)]
pub struct Hold {
    delays: Samples,
    waiting: VecDeque<Waiting>,
    flushed: u64,
    blocked: Us,
    blocked_since: Option<Us>,
    /// The last time in which the socket was full, from and to.
    last_blocked: (Us, Us),
}

#[derive(Debug)]
struct Waiting {
    chunk: u64,
    arrived: Us,
    /// Time in which the client's socket had been full before it arrived.
    blocked_before: Us,
}

impl Default for Hold {
    fn default() -> Self {
        Hold {
            delays: Samples::new(EXACT),
            waiting: VecDeque::new(),
            flushed: 0,
            blocked: 0,
            blocked_since: None,
            last_blocked: (0, 0),
        }
    }
}

impl Hold {
    /// Chunk number `chunk` (from 1) arrived.
    pub fn on_chunk(&mut self, chunk: u64, at: Us) {
        if self.waiting.len() == WAITING {
            self.waiting.pop_front();
        }
        let blocked_before = self.blocked_until(at);
        self.waiting.push_back(Waiting {
            chunk,
            arrived: at,
            blocked_before,
        });
    }

    /// The client's socket has taken the first `chunks`; gives how many it had before.
    pub fn on_flushed(&mut self, chunks: u64, at: Us) -> u64 {
        let taken = self
            .waiting
            .partition_point(|waiting| waiting.chunk <= chunks);
        let blocked_until = self.blocked_until(at);
        for chunk in self.waiting.drain(..taken) {
            let blocked = blocked_until.saturating_sub(chunk.blocked_before);
            self.delays
                .push(at.saturating_sub(chunk.arrived).saturating_sub(blocked));
        }
        let before = self.flushed;
        self.flushed = before.max(chunks);
        before
    }

    /// The client's socket is full.
    pub fn on_blocked(&mut self, at: Us) {
        self.blocked_since.get_or_insert(at);
    }

    /// It takes bytes again.
    pub fn on_unblocked(&mut self, at: Us) {
        if let Some(since) = self.blocked_since.take() {
            self.blocked += at.saturating_sub(since);
            self.last_blocked = (since, at);
        }
    }

    /// The end.
    pub fn finish(&mut self, at: Us) {
        self.on_unblocked(at);
    }

    /// Time in which the client's socket was full.
    pub fn blocked(&self) -> Us {
        self.blocked
    }

    /// The delays, sorted.
    pub fn into_sorted(self) -> Sorted {
        self.delays.into_sorted()
    }

    /// Blocked time up to `at`, which may lie before what was told last: a chunk is read later than
    /// it arrived.
    fn blocked_until(&self, at: Us) -> Us {
        if let Some(since) = self.blocked_since {
            return self.blocked + at.saturating_sub(since);
        }
        let (since, until) = self.last_blocked;
        self.blocked - until.saturating_sub(at.max(since))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_client_s_time_is_not_the_proxy_s() {
        let mut hold = Hold::default();
        hold.on_chunk(1, 100);
        assert_eq!(hold.on_flushed(1, 130), 0);
        hold.on_chunk(2, 200);
        hold.on_blocked(210);
        hold.on_chunk(3, 1_000);
        hold.on_unblocked(5_000);
        assert_eq!(hold.on_flushed(3, 5_010), 1);
        hold.finish(6_000);
        assert_eq!(hold.blocked(), 4_790);
        let delays = hold.into_sorted();
        assert_eq!(
            (delays.n(), delays.max(), delays.percentile(0)),
            (3, Some(30), Some(10))
        );
    }

    #[test]
    fn a_chunk_that_arrived_while_the_socket_was_full_and_is_read_after_is_no_delay_of_the_proxy() {
        let mut hold = Hold::default();
        hold.on_blocked(1_000);
        hold.on_unblocked(5_000);
        hold.on_chunk(1, 2_000);
        hold.on_flushed(1, 5_020);
        assert_eq!(hold.into_sorted().max(), Some(20));
    }

    #[test]
    fn a_client_that_never_takes_anything_costs_bounded_memory() {
        let mut hold = Hold::default();
        (1..100_000).for_each(|chunk| hold.on_chunk(chunk, chunk));
        assert_eq!(hold.waiting.len(), WAITING);
    }
}
