//! The simulated server: sockets, and scripts played on them at their times.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use bytes::BytesMut;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::alarm::{Alarm, now};
use super::pages::Page;
use super::request::{Fault, Request, drain_body, read_head};
use super::route::Route;
use super::scenario::Scenario;
use super::script::{After, Asked, Script};
use super::witness::{Act, Seen, Witness};
use crate::observe::request::{RequestFacts, RequestScan};

/// How much a client may send ahead of its turn while a script plays.
const AHEAD: usize = 64 << 10;
/// How long a closed connection may still be read from, so that unread bytes do not turn the FIN into a reset.
const LINGER: Duration = Duration::from_secs(1);
/// What to wait before accepting again when the machine is out of sockets.
const RETRY_ACCEPT: Duration = Duration::from_millis(50);

/// A bound simulated server. It serves once [`Simulator::run`] is polled; connections made before wait.
pub struct Simulator {
    listener: TcpListener,
    address: SocketAddr,
    stage: Stage,
}

/// What all connections share.
struct Stage {
    /// The first one is the default.
    scenarios: Vec<Scenario>,
    alarm: Alarm,
    /// Requests so far; names the answers.
    requests: AtomicU64,
    witness: Option<Witness>,
}

impl Simulator {
    /// Listens on `address` (port 0 takes a free one). A request's model picks the scenario by name, and the first of
    /// `scenarios` is for all others. An empty list is an error.
    pub async fn bind(address: SocketAddr, scenarios: Vec<Scenario>) -> io::Result<Self> {
        if scenarios.is_empty() {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "a simulated server needs a scenario",
            ));
        }
        let listener = TcpListener::bind(address).await?;
        let stage = Stage {
            scenarios,
            alarm: Alarm::start()?,
            requests: AtomicU64::new(0),
            witness: None,
        };
        Ok(Self {
            address: listener.local_addr()?,
            listener,
            stage,
        })
    }

    /// Tells `witness` of each request and of each write of an answer, when it happens.
    pub fn watched_by(mut self, witness: Witness) -> Self {
        self.stage.witness = Some(witness);
        self
    }

    /// Where it listens.
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// The scenarios, the default first.
    pub fn scenarios(&self) -> &[Scenario] {
        &self.stage.scenarios
    }

    /// Serves until `shutdown` is ready, then drops every connection.
    pub async fn run(self, shutdown: impl Future<Output = ()>) {
        let mut connections = JoinSet::new();
        let stage = Arc::new(self.stage);
        let mut shutdown = pin!(shutdown);
        loop {
            tokio::select! {
                () = &mut shutdown => return,
                Some(_) = connections.join_next() => {}
                accepted = self.listener.accept() => match accepted {
                    Ok((stream, _)) => drop(connections.spawn(serve(stream, stage.clone()))),
                    Err(_) => tokio::time::sleep(RETRY_ACCEPT).await,
                },
            }
        }
    }
}

/// One connection, request after request.
async fn serve(mut stream: TcpStream, stage: Arc<Stage>) {
    // without it a write might wait for the acknowledgement of the one before
    if stream.set_nodelay(true).is_err() {
        return;
    }
    let mut inbox = BytesMut::new();
    loop {
        match answer(&mut stream, &mut inbox, &stage).await {
            Ok(After::KeepAlive) => {}
            Ok(After::Close) => return close(stream).await,
            Ok(After::Reset) => {
                // closing a socket that must not linger sends RST; if that fails the drop still closes it
                let _ = stream.set_zero_linger();
                return;
            }
            Err(Fault::Bad(what)) => {
                let _ = stream
                    .write_all(&Page::error(400, what).bytes("", false))
                    .await;
                return close(stream).await;
            }
            Err(Fault::Gone) => return,
        }
    }
}

/// Reads one request and answers it.
async fn answer(
    stream: &mut TcpStream,
    inbox: &mut BytesMut,
    stage: &Stage,
) -> Result<After, Fault> {
    let request = read_head(stream, inbox).await?;
    let mut scan = RequestScan::new();
    let body = drain_body(&request, stream, inbox, |bytes| scan.push(bytes)).await?;
    let start = now();
    let method = request.method.as_str();
    if method != "POST" {
        let page = Page::of(method, &request.path, &stage.scenarios, unix_seconds());
        stream
            .write_all(&page.bytes(method, request.keep_alive))
            .await?;
        return Ok(match request.keep_alive {
            true => After::KeepAlive,
            false => After::Close,
        });
    }
    let number = 1 + stage.requests.fetch_add(1, Ordering::Relaxed);
    stage.tell(number, start, start, &request.bytes, Act::Asked);
    let script = stage.script(number, &request, scan.facts(), body);
    let after = script.after;
    let (mut reader, writer) = stream.split();
    tokio::select! {
        played = play(script, number, start, stage, writer) => played?,
        () = left(&mut reader, inbox) => return Err(Fault::Gone),
    }
    Ok(after)
}

impl Stage {
    fn script(&self, number: u64, request: &Request, facts: RequestFacts, body: u64) -> Script {
        let route = Route::of(request);
        let model = route.model.or(facts.model).unwrap_or_default();
        let named = self
            .scenarios
            .iter()
            .find(|scenario| scenario.is_called(&model));
        let scenario = named.unwrap_or(&self.scenarios[0]); // `bind` refuses an empty list
        let asked = Asked {
            api: route.api,
            wire: route.wire,
            model: if model.is_empty() {
                scenario.name.clone()
            } else {
                model
            },
            stream: route
                .stream
                .or(facts.stream)
                .unwrap_or(route.default_stream),
            http11: request.http11,
            keep_alive: request.keep_alive,
            accepts: request.accepts.clone(),
            body,
        };
        Script::of(scenario, &asked, number, unix_seconds())
    }

    fn tell(&self, request: u64, at: Instant, due: Instant, bytes: &[u8], act: Act) {
        if let Some(witness) = &self.witness {
            witness.tell(Seen {
                request,
                at,
                due,
                act,
                bytes: bytes.to_vec(),
            });
        }
    }
}

/// Writes each move at its time.
async fn play(
    script: Script,
    number: u64,
    start: Instant,
    stage: &Stage,
    mut writer: WriteHalf<'_>,
) -> io::Result<()> {
    for step in &script.moves {
        let due = start + step.at;
        stage.alarm.until(due).await;
        stage.tell(number, now(), due, &step.bytes, Act::Wrote);
        writer.write_all(&step.bytes).await?;
    }
    stage.alarm.until(start + script.end).await;
    Ok(())
}

/// Returns when the client has closed or reset the connection. What it sends meanwhile is kept for its turn.
async fn left(reader: &mut ReadHalf<'_>, inbox: &mut BytesMut) {
    while inbox.len() < AHEAD {
        match reader.read_buf(inbox).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
    }
    std::future::pending().await
}

/// Ends the connection with a FIN and not with a reset, which would take bytes back from a slow client.
async fn close(mut stream: TcpStream) {
    if stream.shutdown().await.is_err() {
        return;
    }
    let mut rest = [0; 4096];
    let drained = async { while matches!(stream.read(&mut rest).await, Ok(1..)) {} };
    let _ = tokio::time::timeout(LINGER, drained).await;
}

/// The time that answers carry in `created`.
#[allow(clippy::disallowed_methods)] // the tools' edge may read the clock
fn unix_seconds() -> u64 {
    // a clock before 1970 is no reason to stop
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}
