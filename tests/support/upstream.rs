//! A server that does what a script says and keeps what it was sent.
//!
//! A script is a function that runs once for each request, from the moment its head is in: plain
//! code over an [`Exchange`]. A reader of its own watches each connection all the while, so that the
//! time at which the proxy closed it is exact whatever the script is doing.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use socket2::SockRef;

use super::http::{Body, Head};
use super::{DONE, LAST, PATIENCE, STREAM, chunk, event, ms, now};

/// The server. It ends with the test process.
pub struct Upstream {
    /// Where it listens.
    pub addr: SocketAddr,
    log: Arc<Log>,
}

/// A request as it came in.
#[derive(Debug, Clone)]
pub struct Request {
    /// Which connection it came on, from 0.
    pub connection: usize,
    /// Its head.
    pub head: Head,
    /// Its body without framing, as far as the script read it.
    pub body: Vec<u8>,
    /// When the head was in.
    pub head_at: Instant,
}

/// How the proxy closed a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// With a FIN.
    Fin,
    /// With a RST.
    Reset,
}

#[derive(Default)]
struct Log {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    connections: Vec<Wire>,
    requests: Vec<Request>,
    sends: Vec<Instant>,
}

/// What one connection brought.
#[derive(Default)]
struct Wire {
    received: Vec<u8>,
    last_at: Option<Instant>,
    closed: Option<(Instant, How)>,
}

impl Upstream {
    /// Serves each request with `script`.
    pub fn start(script: impl Fn(&mut Exchange) + Send + Sync + 'static) -> Upstream {
        Upstream::start_reading(usize::MAX, script)
    }

    /// Answers each request with a stream: five events, each followed by 20 ms, and the end marker.
    pub fn streaming() -> Upstream {
        Upstream::start(|x| {
            x.request();
            x.send(STREAM);
            for _ in 0..5 {
                x.send(chunk(event("a")));
                x.wait(20);
            }
            x.send([chunk(DONE), LAST.into()].concat());
        })
    }

    /// The same as [`Upstream::start`], but each connection is read only up to `limit` bytes.
    pub fn start_reading(
        limit: usize,
        script: impl Fn(&mut Exchange) + Send + Sync + 'static,
    ) -> Upstream {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let addr = listener.local_addr().expect("it is bound");
        let log = Arc::new(Log::default());
        let (shared, script) = (log.clone(), Arc::new(script));
        thread::spawn(move || {
            for socket in listener.incoming().flatten() {
                socket.set_nodelay(true).expect("a TCP socket");
                let connection = shared.accepted();
                let (log, script) = (shared.clone(), script.clone());
                thread::spawn(move || serve(socket, connection, limit, &log, &*script));
            }
        });
        Upstream { addr, log }
    }

    /// Its URL for `--upstream`.
    pub fn url(&self) -> String {
        format!("http://{}", self.addr)
    }

    /// How many connections came.
    pub fn connections(&self) -> usize {
        self.log.lock().connections.len()
    }

    /// The requests so far, in the order in which their heads were in.
    pub fn requests(&self) -> Vec<Request> {
        self.log.lock().requests.clone()
    }

    /// When each piece was written so far, over all connections. What a test expects of a record's times is taken
    /// from these: a busy machine may write late.
    pub fn sends(&self) -> Vec<Instant> {
        self.log.lock().sends.clone()
    }

    /// Everything that came on one connection, as it was on the wire.
    pub fn received(&self, connection: usize) -> Vec<u8> {
        self.log.lock().connections[connection].received.clone()
    }

    /// Waits until the proxy has closed that connection; `None` when it does not within `PATIENCE`.
    pub fn closed(&self, connection: usize) -> Option<(Instant, How)> {
        let closed = |state: &State| state.connections.get(connection)?.closed;
        self.log.wait(PATIENCE, |state| closed(state).is_some());
        closed(&self.log.lock())
    }

    /// Waits until `n` requests have come in; false when they do not within `PATIENCE`.
    pub fn wait_for_requests(&self, n: usize) -> bool {
        self.log.wait(PATIENCE, |state| state.requests.len() >= n)
    }
}

impl Log {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state
            .lock()
            .expect("no thread panics while it holds the log")
    }

    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let out = change(&mut self.lock());
        self.changed.notify_all();
        out
    }

    fn accepted(&self) -> usize {
        self.change(|state| {
            state.connections.push(Wire::default());
            state.connections.len() - 1
        })
    }

    /// Waits until `ready`; false when time ran out.
    fn wait(&self, patience: Duration, ready: impl Fn(&State) -> bool) -> bool {
        let waited = self
            .changed
            .wait_timeout_while(self.lock(), patience, |state| !ready(state));
        !waited
            .expect("no thread panics while it holds the log")
            .1
            .timed_out()
    }
}

fn serve(
    socket: TcpStream,
    connection: usize,
    limit: usize,
    log: &Arc<Log>,
    script: &dyn Fn(&mut Exchange),
) {
    let socket = Arc::new(socket);
    let (reading, shared) = (socket.clone(), log.clone());
    let reader = thread::spawn(move || read(&reading, connection, limit, &shared));
    let (socket, reader) = (Some(socket), Some(reader));
    let mut link = Link {
        log,
        connection,
        socket,
        reader,
        taken: 0,
        served: 0,
        open: true,
    };
    while let Some(mut exchange) = Exchange::next(&mut link) {
        script(&mut exchange);
        if !exchange.finished() {
            break;
        }
        link.served += 1;
    }
    link.close();
}

fn read(mut socket: &TcpStream, connection: usize, limit: usize, log: &Log) {
    let mut buffer = vec![0; 64 * 1024];
    let mut total = 0;
    while total < limit {
        let most = buffer.len().min(limit - total);
        let got = socket.read(&mut buffer[..most]);
        let at = now();
        let wire = |state: &mut State, n| {
            let wire = &mut state.connections[connection];
            wire.received.extend_from_slice(&buffer[..n]);
            wire.last_at = Some(at);
        };
        let how = match got {
            Ok(0) => How::Fin,
            Ok(n) => {
                total += n;
                log.change(|state| wire(state, n));
                continue;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(_) => How::Reset,
        };
        log.change(|state| state.connections[connection].closed = Some((at, how)));
        return;
    }
}

struct Link<'a> {
    log: &'a Log,
    connection: usize,
    /// Both are `None` once the connection was reset.
    socket: Option<Arc<TcpStream>>,
    reader: Option<JoinHandle<()>>,
    /// How many of the received bytes earlier requests took.
    taken: usize,
    /// How many requests it served.
    served: usize,
    open: bool,
}

impl Link<'_> {
    fn end(&mut self) {
        if let Some(socket) = &self.socket {
            let _ = socket.shutdown(Shutdown::Write);
        }
        self.open = false;
    }

    /// Gives the peer time to read what was sent and to close, then lets go.
    fn close(mut self) {
        self.end();
        if self.socket.is_some() {
            self.log.wait(PATIENCE, |state| {
                state.connections[self.connection].closed.is_some()
            });
        }
    }

    fn reset(&mut self) {
        let Some(socket) = self.socket.take() else {
            return;
        };
        SockRef::from(&*socket)
            .set_linger(Some(Duration::ZERO))
            .expect("a TCP socket");
        // The reader holds the socket too, and only the last holder's drop resets: wake it.
        let _ = socket.shutdown(Shutdown::Read);
        self.reader.take().map(JoinHandle::join);
        self.open = false;
    }
}

/// One request and its answer, seen by the script. What is sent to a peer that has gone is lost, and
/// waiting ends when the peer goes.
pub struct Exchange<'a, 'b> {
    /// The number of this request, from 0, over all connections.
    pub number: usize,
    link: &'a mut Link<'b>,
    head: Head,
    body: Body,
    due: Instant,
}

impl<'a, 'b> Exchange<'a, 'b> {
    fn next(link: &'a mut Link<'b>) -> Option<Self> {
        let (log, connection, taken) = (link.log, link.connection, link.taken);
        let find = |state: &State| {
            let wire = &state.connections[connection];
            let head = Head::take(&mut wire.received[taken..].to_vec());
            (head, wire.last_at, wire.closed.is_some())
        };
        log.wait(Duration::MAX, |state| {
            matches!(find(state), (Some(_), ..) | (.., true))
        });
        let (head, last_at, _) = find(&log.lock());
        let (head, head_at) = (head?, last_at?);
        link.taken += head.0.len();
        let number = log.change(|state| {
            state.requests.push(Request {
                connection,
                head: head.clone(),
                body: vec![],
                head_at,
            });
            state.requests.len() - 1
        });
        let body = Body::of_request(&head);
        Some(Exchange {
            number,
            link,
            head,
            body,
            due: now(),
        })
    }

    /// The number of this request on its connection, from 0.
    pub fn on_connection(&self) -> usize {
        self.link.served
    }

    /// The head of the request.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// Reads the request to its end and gives its body. The clock of `wait` starts here.
    pub fn request(&mut self) -> Vec<u8> {
        self.read_body(usize::MAX);
        self.due = now();
        self.body.bytes.clone()
    }

    /// Reads at least `n` bytes of the request's body, or all of it.
    pub fn read_body(&mut self, n: usize) {
        let (log, connection) = (self.link.log, self.link.connection);
        while !self.body.whole && self.body.bytes.len() < n {
            let taken = self.link.taken;
            log.wait(Duration::MAX, |state| {
                let wire = &state.connections[connection];
                wire.received.len() > taken || wire.closed.is_some()
            });
            let used = self
                .body
                .push(&log.lock().connections[connection].received[taken..]);
            if used == 0 {
                break; // the peer has gone
            }
            self.link.taken += used;
        }
        log.change(|state| {
            state.requests[self.number]
                .body
                .clone_from(&self.body.bytes)
        });
    }

    /// Writes `bytes` in one piece.
    pub fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.send_at(bytes);
    }

    /// Writes `bytes` in one piece and says when.
    pub fn send_at(&mut self, bytes: impl AsRef<[u8]>) -> Instant {
        let at = now();
        self.link.log.change(|state| state.sends.push(at));
        if let Some(socket) = &self.link.socket {
            let _ = (&**socket).write_all(bytes.as_ref());
        }
        at
    }

    /// Waits for `n` ms after the end of the last wait, so that scripts do not drift.
    pub fn wait(&mut self, n: u64) {
        self.due += ms(n);
        let left = self.due.saturating_duration_since(now());
        let connection = self.link.connection;
        self.link
            .log
            .wait(left, |state| state.connections[connection].closed.is_some());
    }

    /// Keeps the connection as it is until the proxy closes it.
    pub fn until_closed(&mut self) {
        let connection = self.link.connection;
        self.link.log.wait(6 * PATIENCE, |state| {
            state.connections[connection].closed.is_some()
        });
    }

    /// The bytes that came after the request, once there are `n` of them (for upgrades).
    pub fn received_after(&mut self, n: usize) -> Vec<u8> {
        let (log, connection, taken) = (self.link.log, self.link.connection, self.link.taken);
        log.wait(PATIENCE, |state| {
            state.connections[connection].received.len() >= taken + n
        });
        log.lock().connections[connection].received[taken..].to_vec()
    }

    /// Ends what this side sends; the connection goes when the proxy closes it too.
    pub fn fin(&mut self) {
        self.link.end();
    }

    /// Resets the connection.
    pub fn rst(&mut self) {
        self.link.reset();
    }

    /// Whether the connection can take the next request.
    fn finished(&self) -> bool {
        self.link.open && self.body.whole
    }
}
