//! A client that writes exact bytes, and reads with time stamps.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use socket2::{Domain, SockRef, Socket, Type};

use super::http::{Body, Head};
use super::{PATIENCE, now, pause};

/// One connection to the proxy.
pub struct Client {
    socket: TcpStream,
    /// What was read and belongs to no message yet.
    buffer: Vec<u8>,
}

/// A response, as far as it has come.
#[derive(Debug)]
pub struct Response {
    /// The 1xx heads before the final one.
    pub interim: Vec<Head>,
    /// The final head; its bytes are empty when the connection ended before one came.
    pub head: Head,
    /// When the final head was in.
    pub head_at: Instant,
    /// The body without framing.
    pub body: Body,
    /// After each read: when, and how many body bytes there were by then.
    pub arrivals: Vec<(Instant, usize)>,
    /// How it ended; `None` while it goes on.
    pub end: Option<End>,
}

/// How a response ended for the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// As its framing says (for a body that ends with the connection: a FIN).
    Whole,
    /// A FIN before the end of head or body.
    Cut,
    /// A RST.
    Reset,
    /// Nothing came for `PATIENCE`.
    Silent,
    /// The chunked framing does not hold.
    Broken,
}

impl Client {
    /// Connects to `addr`.
    pub fn connect(addr: SocketAddr) -> Client {
        Client::on(TcpStream::connect(addr).expect("the proxy listens"))
    }

    /// A client whose kernel takes only a few thousand bytes, and makes the peer's kernel take few:
    /// a small window, and small segments, by which Linux sizes the peer's send buffer.
    pub fn with_small_buffers(addr: SocketAddr) -> Client {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a TCP socket");
        socket.set_recv_buffer_size(4096).expect("a TCP socket");
        socket.set_tcp_mss(536).expect("a TCP socket");
        socket.connect(&addr.into()).expect("the proxy listens");
        Client::on(socket.into())
    }

    /// A client whose kernel takes only a few thousand bytes; the peer's may take megabytes.
    pub fn with_small_window(addr: SocketAddr) -> Client {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a TCP socket");
        socket.set_recv_buffer_size(4096).expect("a TCP socket");
        socket.connect(&addr.into()).expect("the proxy listens");
        Client::on(socket.into())
    }

    /// Takes more at once from now on.
    pub fn widen(&self) {
        SockRef::from(&self.socket)
            .set_recv_buffer_size(4 << 20)
            .expect("a TCP socket");
    }

    fn on(socket: TcpStream) -> Client {
        socket.set_nodelay(true).expect("a TCP socket");
        socket.set_read_timeout(Some(PATIENCE)).expect("not zero");
        Client {
            socket,
            buffer: vec![],
        }
    }

    /// A second handle on the same connection, to write while this one reads.
    pub fn writer(&self) -> TcpStream {
        self.socket.try_clone().expect("a TCP socket")
    }

    /// Writes `bytes`. An error is the peer's doing and shows when reading.
    pub fn send(&mut self, bytes: impl AsRef<[u8]>) {
        let _ = self.socket.write_all(bytes.as_ref());
    }

    /// Writes each piece alone, with `gap` ms between them.
    pub fn send_pieces<'a>(&mut self, pieces: impl IntoIterator<Item = &'a [u8]>, gap: u64) {
        for piece in pieces {
            self.send(piece);
            pause(gap);
        }
    }

    /// Writes `request` and reads its response to the end.
    pub fn ask(&mut self, request: impl AsRef<[u8]>) -> Response {
        let request = request.as_ref();
        let method = request
            .split(|byte| *byte == b' ')
            .next()
            .unwrap_or_default();
        self.send(request);
        self.response(&String::from_utf8_lossy(method))
    }

    /// Reads the response to a request of that method to its end.
    pub fn response(&mut self, method: &str) -> Response {
        let mut response = self.head(method);
        self.finish(&mut response);
        response
    }

    /// Reads up to the final head of a response.
    pub fn head(&mut self, method: &str) -> Response {
        let mut interim = vec![];
        let mut end = None;
        let head = loop {
            match Head::take(&mut self.buffer) {
                Some(head) if head.status() / 100 == 1 && head.status() != 101 => {
                    interim.push(head);
                }
                Some(head) => break head,
                None => match self.fill() {
                    Ok(_) => {}
                    Err(how) => {
                        end = Some(how);
                        break Head(vec![]);
                    }
                },
            }
        };
        let body = Body::of_response(&head, method);
        let mut response = Response {
            interim,
            head,
            head_at: now(),
            body,
            arrivals: vec![],
            end,
        };
        if end.is_none() {
            self.take_body(&mut response);
        }
        response
    }

    /// Reads one interim (1xx) head.
    pub fn interim(&mut self) -> Option<Head> {
        loop {
            if let Some(head) = Head::take(&mut self.buffer) {
                return Some(head);
            }
            self.fill().ok()?;
        }
    }

    /// Reads on until `response` has `n` body bytes or has ended; true if it has them.
    pub fn read_until(&mut self, response: &mut Response, n: usize) -> bool {
        while response.end.is_none() && response.body.bytes.len() < n {
            match self.fill() {
                Ok(_) => self.take_body(response),
                Err(End::Cut) if response.body.ends_with_connection() => {
                    response.end = Some(End::Whole);
                }
                Err(how) => response.end = Some(how),
            }
        }
        response.body.bytes.len() >= n
    }

    /// Reads `response` to its end.
    pub fn finish(&mut self, response: &mut Response) {
        self.read_until(response, usize::MAX);
    }

    fn take_body(&mut self, response: &mut Response) {
        let used = response.body.push(&self.buffer);
        self.buffer.drain(..used);
        response.arrivals.push((now(), response.body.bytes.len()));
        if response.body.whole {
            response.end = Some(End::Whole);
        } else if response.body.broken {
            response.end = Some(End::Broken);
        }
    }

    /// Waits until the proxy closes this idle connection, and says how.
    pub fn until_closed(&mut self) -> End {
        loop {
            if let Err(end) = self.fill() {
                return end;
            }
        }
    }

    /// What was read and belongs to no message.
    pub fn unread(&self) -> &[u8] {
        &self.buffer
    }

    fn fill(&mut self) -> Result<usize, End> {
        let mut piece = [0; 16 * 1024];
        match self.socket.read(&mut piece) {
            Ok(0) => Err(End::Cut),
            Ok(n) => {
                self.buffer.extend_from_slice(&piece[..n]);
                Ok(n)
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                Err(End::Silent)
            }
            Err(_) => Err(End::Reset),
        }
    }

    /// Ends what this side sends, and goes on reading.
    pub fn half_close(&self) {
        let _ = self.socket.shutdown(Shutdown::Write);
    }

    /// Leaves with a FIN and says when.
    pub fn leave(self) -> Instant {
        let at = now();
        drop(self);
        at
    }

    /// Leaves with a RST and says when.
    pub fn reset(self) -> Instant {
        SockRef::from(&self.socket)
            .set_linger(Some(Duration::ZERO))
            .expect("a TCP socket");
        self.leave()
    }
}

impl Response {
    /// The status, 0 when no final head came.
    pub fn status(&self) -> u16 {
        self.head.status()
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body.bytes).into_owned()
    }

    /// When the body had `n` bytes.
    pub fn had(&self, n: usize) -> Option<Instant> {
        self.arrivals
            .iter()
            .find(|(_, bytes)| *bytes >= n)
            .map(|(at, _)| *at)
    }
}
