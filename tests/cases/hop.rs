//! A hop that holds answers back, for the cases where the proxy's binary stands on both sides of it or behind it.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;

use crate::support::LAST;

/// Starts a hop before `target` that passes an answer on in blocks of so many bytes (`usize::MAX`: as a whole), and the
/// rest at its end. It ends with the test process.
pub fn holding(target: SocketAddr, block: usize) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let addr = listener.local_addr().expect("it is bound");
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let Ok(server) = TcpStream::connect(target) else {
                continue;
            };
            let both = [&client, &server];
            let _ = both.map(|socket| socket.set_nodelay(true));
            let up = both.map(|socket| socket.try_clone().expect("a TCP socket"));
            thread::spawn(move || relay(&up[0], &up[1], 1));
            thread::spawn(move || relay(&server, &client, block));
        }
    });
    addr
}

fn relay(mut from: &TcpStream, mut to: &TcpStream, block: usize) {
    let mut held = vec![];
    let mut piece = [0; 16 * 1024];
    while let Ok(n @ 1..) = from.read(&mut piece) {
        held.extend_from_slice(&piece[..n]);
        let whole = held.ends_with(LAST.as_bytes());
        let full = if whole {
            held.len()
        } else {
            held.len() - held.len() % block
        };
        if full > 0 && to.write_all(&held[..full]).is_err() {
            return;
        }
        held.drain(..full);
    }
    let _ = to.write_all(&held);
    let _ = to.shutdown(std::net::Shutdown::Write);
}
