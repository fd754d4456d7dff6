//! What systemd and `dripline proxy` tell each other: a socket that systemd keeps open over restarts (sd_listen_fds(3)), and
//! how the service is (sd_notify(3)). Elsewhere none of it is there, and nothing here does anything.

use std::io;
use std::os::fd::RawFd;
use std::time::Duration;

use anyhow::{Context, bail};
use sd_notify::NotifyState;
use socket2::Socket;
use tokio::net::TcpListener;

/// The socket that systemd opened for this process, if it did.
///
/// # Errors
///
/// It is none that HTTP can be served on, or there are several.
pub fn listener() -> anyhow::Result<Option<TcpListener>> {
    let mut fds =
        sd_notify::listen_fds().context("LISTEN_FDS and LISTEN_PID, as systemd sets them")?;
    match (fds.next(), fds.len()) {
        (None, _) => Ok(None),
        (Some(fd), 0) => taken(fd).map(Some),
        (Some(_), more) => bail!(
            "systemd passes {} sockets and dripline takes one: leave one ListenStream= in the socket unit",
            more + 1
        ),
    }
}

#[allow(unsafe_code)]
fn taken(fd: RawFd) -> anyhow::Result<TcpListener> {
    use std::os::fd::FromRawFd as _;
    // SAFETY: the descriptor is open (its flags have been set) and was passed to this process for this alone.
    checked(unsafe { Socket::from_raw_fd(fd) })
}

/// What was passed, if HTTP can be served on it.
fn checked(socket: Socket) -> anyhow::Result<TcpListener> {
    const WANTED: &str =
        "the socket unit needs ListenStream= with an address and a port, and Accept=no";
    let address = socket
        .local_addr()
        .with_context(|| format!("systemd passes no socket: {WANTED}"))?;
    let listens = socket.is_listener().context(WANTED)?;
    if !listens || address.as_socket().is_none() {
        bail!("what systemd passes is no TCP socket that listens: {WANTED}");
    }
    socket.set_nonblocking(true)?;
    Ok(TcpListener::from_std(socket.into())?)
}

/// Tells that requests are served, and from now on, if systemd watches, that they still are.
pub fn ready() {
    tell(NotifyState::Ready);
    if let Some(limit) = sd_notify::watchdog_enabled() {
        // twice within the limit, as sd_watchdog_enabled(3) asks for
        tokio::spawn(live(limit / 2));
    }
}

/// Tells that no new requests are taken.
pub fn stopping() {
    tell(NotifyState::Stopping);
}

async fn live(every: Duration) {
    let mut ticks = tokio::time::interval(every.max(Duration::from_millis(1)));
    loop {
        ticks.tick().await;
        tell(NotifyState::Watchdog);
    }
}

fn tell(state: NotifyState<'_>) {
    let told: io::Result<()> = sd_notify::notify(&[state]);
    if let Err(error) = told {
        tracing::warn!(
            "cannot tell systemd how the service is ({error}); requests are not affected"
        );
    }
}

#[cfg(test)]
mod tests {
    use socket2::{Domain, SockAddr, Type};

    use super::*;

    fn socket(domain: Domain) -> Socket {
        Socket::new(domain, Type::STREAM, None).unwrap()
    }

    #[tokio::test]
    async fn only_what_serves_http_is_taken() {
        let problem = |socket| checked(socket).unwrap_err().to_string();
        let unused = socket(Domain::IPV4);
        assert!(problem(unused).contains("ListenStream="));
        let local = socket(Domain::UNIX);
        let dir = tempfile::tempdir().unwrap();
        local
            .bind(&SockAddr::unix(dir.path().join("socket")).unwrap())
            .unwrap();
        local.listen(1).unwrap();
        assert!(problem(local).contains("ListenStream="));
        let file = std::fs::File::open("Cargo.toml").unwrap();
        assert!(problem(Socket::from(std::os::fd::OwnedFd::from(file))).contains("no socket"));

        let good = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let addr = good.local_addr().unwrap();
        let taken = checked(Socket::from(good)).unwrap();
        assert_eq!(taken.local_addr().unwrap(), addr);
    }
}
