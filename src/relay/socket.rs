//! What the sockets know and pingora keeps out of reach, asked through the file descriptor.

#![allow(unsafe_code)]

use std::os::fd::{BorrowedFd, RawFd};
use std::time::Duration;

/// Makes the close of `fd` send a reset instead of a clean end. Best effort: the peer may be gone.
pub fn reset_on_close(fd: RawFd) {
    // SAFETY: the caller holds the connection that owns `fd`, so it stays open during the call.
    let fd = unsafe { BorrowedFd::borrow_raw(fd) };
    let _ = socket2::SockRef::from(&fd).set_linger(Some(Duration::ZERO));
}

/// Bytes that were written to `fd` and are not yet acknowledged by the peer (`SIOCOUTQ`, tcp(7));
/// 0 where the system does not say.
#[cfg(target_os = "linux")]
pub fn unacknowledged(fd: RawFd) -> usize {
    let mut bytes: libc::c_int = 0;
    // SAFETY: the caller holds the connection that owns `fd`; the call writes one int.
    let done = unsafe { libc::ioctl(fd, libc::TIOCOUTQ, &mut bytes) };
    if done == 0 {
        usize::try_from(bytes).unwrap_or(0)
    } else {
        0
    }
}

/// Not told by this system.
#[cfg(not(target_os = "linux"))]
pub fn unacknowledged(_: RawFd) -> usize {
    0
}

/// Whether the peer of `fd` has closed its direction or reset the connection, whatever is unread.
pub fn has_hung_up(fd: RawFd) -> bool {
    #[cfg(target_os = "linux")]
    const CLOSED: libc::c_short = libc::POLLRDHUP;
    #[cfg(not(target_os = "linux"))]
    const CLOSED: libc::c_short = 0;
    let mut poll = libc::pollfd {
        fd,
        events: CLOSED,
        revents: 0,
    };
    // SAFETY: the caller holds the connection that owns `fd`; the call takes one struct and no time.
    let ready = unsafe { libc::poll(&mut poll, 1, 0) };
    ready > 0 && poll.revents & (CLOSED | libc::POLLHUP | libc::POLLERR) != 0
}
