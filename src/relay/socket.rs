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

/// Bytes that were written to `fd` and are not yet acknowledged by the peer (`SIOCOUTQ`, tcp(7)).
#[cfg(target_os = "linux")]
pub fn unacknowledged(fd: RawFd) -> Option<u64> {
    let mut bytes: libc::c_int = 0;
    // SAFETY: the caller holds the connection that owns `fd`; the call writes one int.
    let done = unsafe { libc::ioctl(fd, libc::TIOCOUTQ, &mut bytes) };
    (done == 0)
        .then_some(bytes)
        .and_then(|bytes| bytes.try_into().ok())
}

/// Not told by this system.
#[cfg(not(target_os = "linux"))]
pub fn unacknowledged(_: RawFd) -> Option<u64> {
    None
}

/// For how long in all the peer's receive window held `fd` back (`TCP_INFO`; Linux 4.10 and later).
#[cfg(target_os = "linux")]
pub fn rwnd_limited(fd: RawFd) -> Option<Duration> {
    /// Where `tcpi_rwnd_limited` (u64, µs) stands in `struct tcp_info` (linux/tcp.h), which only ever
    /// grows at its end; libc's own struct ends before it.
    const AT: usize = 176;
    const END: usize = AT + size_of::<u64>();
    let mut info = [0u8; END];
    let mut length = END as libc::socklen_t;
    // SAFETY: the caller holds the connection that owns `fd`; the call writes `length` bytes at most.
    let done = unsafe {
        libc::getsockopt(
            fd,
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            info.as_mut_ptr().cast(),
            &mut length,
        )
    };
    let told = done == 0 && length as usize == END;
    let field = info[AT..].try_into().expect("eight bytes");
    told.then(|| Duration::from_micros(u64::from_ne_bytes(field)))
}

/// Not told by this system.
#[cfg(not(target_os = "linux"))]
pub fn rwnd_limited(_: RawFd) -> Option<Duration> {
    None
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
