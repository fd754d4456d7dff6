//! A hop that holds answers back in one of the ways that real ones do. It knows nothing of HTTP but where an answer's
//! chunked body ends.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::{LAST, ms, now};

/// What it waits for before it lets go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hold {
    /// Nothing.
    None,
    /// The end.
    Whole,
    /// So many bytes, the head among them.
    Block(usize),
    /// So many ms since it last let go.
    Tick(u64),
    /// The next piece.
    OneBehind,
    /// So many ms, each piece for itself.
    Delay(u64),
    /// The first byte after the head.
    Header,
    /// Nothing, but after so many bytes it breaks both connections.
    Cut(usize),
    /// Nothing, but it reads the answer to its end even if the client is gone.
    Deaf,
}

/// Starts it before `target`. It ends with the test process.
pub fn relay(target: SocketAddr, hold: Hold) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let addr = listener.local_addr().expect("it is bound");
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let Ok(server) = TcpStream::connect(target) else {
                continue;
            };
            let both = [&client, &server];
            let _ = both.map(|socket| socket.set_nodelay(true));
            let [from, to] = both.map(|socket| socket.try_clone().expect("a TCP socket"));
            thread::spawn(move || match hold {
                Hold::Deaf => pass(from, to, Hold::Deaf),
                _ => pass(from, to, Hold::None),
            });
            thread::spawn(move || match hold {
                Hold::Delay(wait) => pass_late(server, client, ms(wait)),
                hold => pass(server, client, hold),
            });
        }
    });
    addr
}

fn pass(mut from: TcpStream, mut to: TcpStream, hold: Hold) {
    let mut held = vec![];
    let mut piece = [0; 16 * 1024];
    let mut next_tick = now();
    let mut passed = 0;
    loop {
        if let Hold::Tick(every) = hold {
            if now() >= next_tick {
                next_tick += ms(every);
                if to.write_all(&held).is_err() {
                    return;
                }
                held.clear();
            }
            let left = next_tick.saturating_duration_since(now());
            let _ = from.set_read_timeout(Some(left.max(Duration::from_micros(100))));
        }
        let n = match from.read(&mut piece) {
            Ok(0) => break,
            Ok(n) => n,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                continue;
            }
            Err(_) => break,
        };
        let before = held.len();
        held.extend_from_slice(&piece[..n]);
        let full = match hold {
            _ if held.ends_with(LAST.as_bytes()) => held.len(),
            Hold::None | Hold::Delay(_) | Hold::Cut(_) | Hold::Deaf => held.len(),
            Hold::Whole | Hold::Tick(_) => 0,
            Hold::Block(size) => held.len() - held.len() % size,
            Hold::OneBehind => before,
            Hold::Header if held.ends_with(b"\r\n\r\n") && held.starts_with(b"HTTP/") => 0,
            Hold::Header => held.len(),
        };
        if to.write_all(&held[..full]).is_err() && hold != Hold::Deaf {
            return;
        }
        held.drain(..full);
        passed += full;
        if matches!(hold, Hold::Cut(most) if passed >= most) {
            let _ = from.shutdown(Shutdown::Both);
            let _ = to.shutdown(Shutdown::Both);
            return;
        }
    }
    if hold == Hold::Deaf {
        return;
    }
    let _ = to.write_all(&held);
    let _ = to.shutdown(Shutdown::Write);
}

/// Each piece leaves so long after it came.
fn pass_late(mut from: TcpStream, mut to: TcpStream, wait: Duration) {
    let (sender, pieces) = channel();
    thread::spawn(move || {
        let pieces: Receiver<(Instant, Vec<u8>)> = pieces;
        for (due, piece) in pieces {
            thread::sleep(due.saturating_duration_since(now()));
            if to.write_all(&piece).is_err() {
                return;
            }
        }
        let _ = to.shutdown(Shutdown::Write);
    });
    let mut piece = [0; 16 * 1024];
    while let Ok(n @ 1..) = from.read(&mut piece) {
        if sender.send((now() + wait, piece[..n].to_vec())).is_err() {
            return;
        }
    }
}
