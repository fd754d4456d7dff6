//! A server that writes the frames of HTTP/2 itself (RFC 9113 section 4): what comes in one write is known, and whole
//! servers do not do half of it.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};

/// Types of frames (section 6).
pub const DATA: u8 = 0;
pub const HEADERS: u8 = 1;
pub const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
pub const GOAWAY: u8 = 7;
pub const WINDOW_UPDATE: u8 = 8;
/// A type that nobody knows, and so everybody has to ignore.
pub const UNKNOWN: u8 = 0xfa;

/// Flags.
pub const END_STREAM: u8 = 1;
pub const END_HEADERS: u8 = 4;
/// Of SETTINGS.
const ACK: u8 = 1;

/// Reasons to leave (section 7).
pub const NO_ERROR: u32 = 0;
pub const INTERNAL_ERROR: u32 = 2;

/// What a client may send of a body before it is let on (section 6.9.2).
pub const FIRST_WINDOW: usize = 65_535;

/// A client at the server's end.
pub struct Peer {
    /// TCP, or TLS on it.
    stream: Box<dyn Stream>,
    tcp: TcpStream,
    /// Bytes of the request's body so far.
    got: usize,
    pub is_whole: bool,
}

impl Peer {
    /// Writes these at once; a client that has gone is no fault.
    pub fn send(&mut self, frames: &[Vec<u8>]) {
        let _ = self.stream.write_all(&frames.concat());
        let _ = self.stream.flush();
    }

    /// Reads until so much of the request's body is here, or all of it, or the client has gone.
    pub fn read(&mut self, enough: usize) {
        while self.got < enough && !self.is_whole && self.frame().is_some() {}
    }

    /// Says that there is nothing more to come, and waits until the client has gone: a close with bytes unread is a reset.
    pub fn leave(&mut self) {
        let _ = self.tcp.shutdown(Shutdown::Write); // TLS: without close_notify
        while self.frame().is_some() {}
    }

    fn frame(&mut self) -> Option<()> {
        let mut head = [0; 9];
        self.stream.read_exact(&mut head).ok()?;
        let mut body = vec![0; u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize];
        self.stream.read_exact(&mut body).ok()?;
        if head[3] == DATA {
            self.got += body.len();
            self.is_whole = head[4] & END_STREAM != 0;
        }
        Some(())
    }
}

/// What a connection is read and written as.
pub trait Stream: Read + Write {}

impl<S: Read + Write> Stream for S {}

/// A server for one client, which has shown its preface.
pub fn serve(script: impl FnOnce(&mut Peer) + Send + 'static) -> SocketAddr {
    serve_on(|tcp| Box::new(tcp), script)
}

/// The same on what `dress` makes of the connection.
pub fn serve_on(
    dress: impl FnOnce(TcpStream) -> Box<dyn Stream> + Send + 'static,
    script: impl FnOnce(&mut Peer) + Send + 'static,
) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let (tcp, _) = listener.accept().unwrap();
        let _ = tcp.set_nodelay(true);
        let mut stream = dress(tcp.try_clone().unwrap());
        stream.read_exact(&mut [0; 24]).unwrap();
        let mut peer = Peer {
            stream,
            tcp,
            got: 0,
            is_whole: false,
        };
        peer.send(&[frame(SETTINGS, 0, 0, &[]), frame(SETTINGS, ACK, 0, &[])]);
        script(&mut peer);
        peer.leave();
    });
    addr
}

/// A frame (section 4.1).
pub fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let head = [length[1], length[2], length[3], kind, flags];
    [&head, &stream.to_be_bytes()[..], payload].concat()
}

/// A head, of literals (RFC 7541 section 6.2.2): its status, and its type if it has one.
pub fn head(status: &str, media: &str) -> Vec<u8> {
    let mut block = [&[0x08, 3], status.as_bytes()].concat();
    if !media.is_empty() {
        let length = u8::try_from(media.len()).unwrap();
        block.extend([&[0x0f, 0x10, length], media.as_bytes()].concat());
    }
    frame(HEADERS, END_HEADERS, 1, &block)
}

/// A head before the answer's own.
pub fn interim(status: &str) -> Vec<u8> {
    head(status, "")
}

/// The head of an event stream.
pub fn of_stream() -> Vec<u8> {
    head("200", "text/event-stream")
}

/// A piece of the answer's body.
pub fn data(text: impl AsRef<[u8]>, flags: u8) -> Vec<u8> {
    frame(DATA, flags, 1, text.as_ref())
}

/// A frame whose payload is numbers.
pub fn numbers(kind: u8, stream: u32, numbers: &[u32]) -> Vec<u8> {
    let bytes: Vec<u8> = numbers.iter().flat_map(|n| n.to_be_bytes()).collect();
    frame(kind, 0, stream, &bytes)
}

/// Lets the client send all the rest.
pub fn go_on() -> Vec<u8> {
    [0, 1]
        .map(|stream| numbers(WINDOW_UPDATE, stream, &[1 << 20]))
        .concat()
}
