//! Idle connections to the upstream, kept for the next request.
//!
//! Our own and not pingora's: there a released connection is held by a watcher task for a moment,
//! and a request that comes in that moment loses it. Here a connection is looked at when it is
//! taken: one that the server closed, or wrote to unasked, is dropped. A sweep closes what nobody
//! takes.

use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Waker};
use std::time::{Duration, Instant};

use super::clock;
use super::tap::Tap;

/// How many idle connections are kept at most; the oldest go first.
const SIZE: usize = 1024;

/// Idle connections, the latest last.
pub struct Pool {
    idle_limit: Duration,
    idle: Mutex<Vec<Idle>>,
}

struct Idle {
    addr: SocketAddr,
    tap: Tap,
    since: Instant,
}

impl Pool {
    /// A pool that keeps a connection for `idle_limit`.
    pub fn new(idle_limit: Duration) -> Self {
        Pool {
            idle_limit,
            idle: Mutex::default(),
        }
    }

    /// Keeps a connection to `addr`.
    pub fn put(&self, addr: SocketAddr, tap: Tap) {
        let mut idle = self.idle();
        if idle.len() >= SIZE {
            idle.remove(0);
        }
        idle.push(Idle {
            addr,
            tap,
            since: clock::now(),
        });
    }

    /// The connection to one of `addrs` that was used last, if there is one that still lives.
    pub fn take(&self, addrs: &[SocketAddr]) -> Option<(SocketAddr, Tap)> {
        let mut idle = self.idle();
        while let Some(at) = idle.iter().rposition(|idle| addrs.contains(&idle.addr)) {
            let found = idle.remove(at);
            if self.is_fit(&found) {
                return Some((found.addr, found.tap));
            }
        }
        None
    }

    /// Closes what was idle for too long or was closed by the server.
    pub fn sweep(&self) {
        self.idle().retain(|idle| self.is_fit(idle));
    }

    fn is_fit(&self, idle: &Idle) -> bool {
        let age = clock::now().saturating_duration_since(idle.since);
        // Nobody is woken by this look: whoever takes the connection polls it anew.
        let gone = idle
            .tap
            .poll_gone(&mut Context::from_waker(Waker::noop()))
            .is_ready();
        age < self.idle_limit && !gone && !idle.tap.has_unread()
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Idle>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
