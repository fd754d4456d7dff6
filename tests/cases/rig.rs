//! The rig of the cases: the simulated server, the proxy's binary before it, and a client. Whoever asks through a
//! [`Case`] has it asserted that the client got the server's bytes, and each of them soon after it was written.

// Each kind uses its part of the rig.
#![allow(dead_code)]

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use dripline::tools::simulate::{Act, Scenario, Seen, Witness};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::pauses;
use crate::support::http::{Body, Head};
use crate::support::{Client, PATIENCE, Proxy, Response, median, now, pause, post, simulated};

/// What half of the writes may take to the client, and what each may. Test machines are noisy, and a held byte is
/// seen all the same: see [`Run::nothing_held`].
const SOON: Duration = Duration::from_millis(75);
const AT_LAST: Duration = Duration::from_millis(1500);
/// A pause after a write that is long enough to see whether the write was held until the next.
const PAUSE: Duration = Duration::from_millis(40);

/// A server that was later than this with a write did not play its script: other gaps came than it wanted.
const LATE: Duration = Duration::from_millis(15);
/// How often a busy machine gets the chance to play it.
const TRIES: usize = 5;

/// Asks scenario `name` for one chat stream.
pub fn run(name: &str) -> Run {
    let [run] = played(|| [Case::of(name).run(Ask::chat())]);
    run
}

/// Runs something again as long as the server did not play its scripts. That is for it to know alone: what the proxy
/// did has no part in it.
pub fn played<const N: usize>(runs: impl Fn() -> [Run; N]) -> [Run; N] {
    let in_time = |runs: &[Run; N]| runs.iter().all(|run| run.answer.late < LATE);
    let mut tries = (1..TRIES).map(|_| runs());
    tries.find(in_time).unwrap_or_else(&runs)
}

/// A simulated server and the proxy in front of it.
pub struct Case {
    /// The server.
    pub server: Server,
    /// The proxy.
    pub proxy: Proxy,
}

impl Case {
    /// With the scenario `tests/cases/{name}.toml`.
    pub fn of(name: &str) -> Case {
        Case::with(&[name], &[])
    }

    /// With several scenarios, picked by the model's name (the first by any other), and more arguments of the proxy.
    pub fn with(names: &[&str], args: &[&str]) -> Case {
        let server = Server::start(names);
        let proxy = Proxy::with(&server.url(), args);
        Case { server, proxy }
    }

    /// A connection to the proxy.
    pub fn client(&self) -> Client {
        Client::connect(self.proxy.addr)
    }

    /// Asks on a connection of its own.
    pub fn run(&self, ask: Ask) -> Run {
        self.run_on(&mut self.client(), ask)
    }

    /// Asks on this connection, and asserts what holds for every case.
    pub fn run_on(&self, client: &mut Client, ask: Ask) -> Run {
        let run = self.server.exchange(client, ask, &self.proxy);
        run.bytes_are_the_servers();
        run.nothing_held();
        run
    }
}

/// The simulated server, in this process. It ends when it is dropped.
pub struct Server {
    /// Where it listens.
    pub addr: SocketAddr,
    heard: Mutex<(Receiver<Seen>, Vec<Seen>)>,
    asked: AtomicU64,
    _stop: oneshot::Sender<()>,
}

impl Server {
    /// With these scenarios of `tests/cases/`.
    pub fn start(names: &[&str]) -> Server {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
        let scenario = |name: &&str| {
            let file = folder.join(format!("{name}.toml"));
            Scenario::from_file(&file).unwrap_or_else(|error| panic!("{error}"))
        };
        Server::play(names.iter().map(scenario).collect())
    }

    /// With these scenarios.
    pub fn play(scenarios: Vec<Scenario>) -> Server {
        pauses::watch();
        let (witness, heard) = Witness::new();
        let (stop, stopped) = oneshot::channel::<()>();
        let addr = simulated::play(
            scenarios,
            |simulator| simulator.watched_by(witness),
            async { drop(stopped.await) },
        );
        Server {
            addr,
            heard: Mutex::new((heard, vec![])),
            asked: AtomicU64::new(0),
            _stop: stop,
        }
    }

    /// Its URL for `--upstream`.
    pub fn url(&self) -> String {
        format!("http://{}", self.addr)
    }

    /// Asks on a connection that leads here, and takes the record of it from `proxy`.
    pub fn exchange(&self, client: &mut Client, ask: Ask, proxy: &Proxy) -> Run {
        let id = format!("case-{}", self.asked.fetch_add(1, Ordering::Relaxed));
        let start = now();
        client.send(ask.bytes(&id));
        let response = client.response("POST");
        let record = record_of(proxy, &id);
        Run {
            answer: self.answer(&id),
            id,
            start,
            response,
            record,
        }
    }

    /// What the server did for the request with that id.
    fn answer(&self, id: &str) -> Answer {
        let mut heard = self.heard.lock().expect("nobody panics while listening");
        let (receiver, all) = &mut *heard;
        all.extend(receiver.try_iter());
        let field = |seen: &Seen| Head(seen.bytes.clone()).get("x-request-id");
        let asked = |seen: &&Seen| seen.act == Act::Asked && field(seen).as_deref() == Some(id);
        let asked = all.iter().find(asked).expect("the server was asked");
        let wrote = |seen: &&Seen| seen.act == Act::Wrote && seen.request == asked.request;
        Answer::of(asked, all.iter().filter(wrote))
    }
}

/// The record of the request with that id.
pub fn record_of(proxy: &Proxy, id: &str) -> Value {
    let deadline = now() + PATIENCE;
    loop {
        let records = proxy.records_within(0, Duration::ZERO);
        let found = records
            .into_iter()
            .find(|r| r["request"]["request_id"] == id);
        if let Some(record) = found {
            return record;
        }
        assert!(now() < deadline, "no record of {id}: {}", proxy.told());
        pause(5);
    }
}

/// A request.
pub struct Ask {
    path: String,
    fields: String,
    body: Content,
}

enum Content {
    Json(Value),
    Bytes(Vec<u8>),
}

impl Ask {
    /// A chat that asks for a stream.
    pub fn chat() -> Ask {
        let message = json!({"role": "user", "content": "hi"});
        Ask {
            path: "/v1/chat/completions".to_owned(),
            fields: String::new(),
            body: Content::Json(json!({"model": "m", "stream": true, "messages": [message]})),
        }
    }

    /// The same on another path.
    pub fn to(path: &str) -> Ask {
        let path = path.to_owned();
        Ask {
            path,
            ..Ask::chat()
        }
    }

    /// Of that model, which picks the scenario.
    pub fn of(self, model: &str) -> Ask {
        self.with("model", json!(model))
    }

    /// With this key of the JSON body.
    pub fn with(mut self, key: &str, value: Value) -> Ask {
        match &mut self.body {
            Content::Json(body) => body[key] = value,
            Content::Bytes(_) => panic!("the body is no JSON"),
        }
        self
    }

    /// With this header field.
    pub fn field(mut self, name: &str, value: &str) -> Ask {
        self.fields += &format!("{name}: {value}\r\n");
        self
    }

    /// With these bytes for a body.
    pub fn body(mut self, bytes: &[u8]) -> Ask {
        self.body = Content::Bytes(bytes.to_vec());
        self
    }

    fn bytes(&self, id: &str) -> Vec<u8> {
        let fields = format!("X-Request-Id: {id}\r\n{}", self.fields);
        match &self.body {
            Content::Json(json) => post(&self.path, &fields, json.to_string().as_bytes()),
            Content::Bytes(bytes) => post(&self.path, &fields, bytes),
        }
    }
}

/// What the server did for one request.
pub struct Answer {
    /// The request's head as it reached the server.
    pub request: Head,
    /// When the request was in.
    pub asked: Instant,
    /// The head of the answer, and when it was written.
    pub head: Head,
    pub head_at: Instant,
    /// The body without framing.
    pub body: Vec<u8>,
    /// After each write that had bytes of the body: when it was written, and how many there were by then.
    pub writes: Vec<(Instant, usize)>,
    /// How late the latest write was.
    pub late: Duration,
}

impl Answer {
    fn of<'a>(asked: &Seen, wrote: impl Iterator<Item = &'a Seen>) -> Answer {
        let mut answer = Answer {
            request: Head(asked.bytes.clone()),
            asked: asked.at,
            head: Head(vec![]),
            head_at: asked.at,
            body: vec![],
            writes: vec![],
            late: Duration::ZERO,
        };
        let mut wire = vec![];
        let mut body: Option<Body> = None;
        for seen in wrote {
            wire.extend_from_slice(&seen.bytes);
            answer.late = answer.late.max(seen.at - seen.due);
            while body.is_none() {
                let Some(head) = Head::take(&mut wire) else {
                    break;
                };
                if head.status() / 100 != 1 {
                    body = Some(Body::of_response(&head, "POST"));
                    (answer.head, answer.head_at) = (head, seen.at);
                }
            }
            let Some(body) = &mut body else {
                continue;
            };
            let before = body.bytes.len();
            let used = body.push(&wire);
            wire.drain(..used);
            if body.bytes.len() > before {
                answer.writes.push((seen.at, body.bytes.len()));
            }
        }
        answer.body = body.map_or(vec![], |body| body.bytes);
        answer
    }
}

/// One request, seen from all sides.
pub struct Run {
    /// Its `X-Request-Id`.
    pub id: String,
    /// When the client began to send it.
    pub start: Instant,
    /// What the client got.
    pub response: Response,
    /// What the server did.
    pub answer: Answer,
    /// What the proxy says of it.
    pub record: Value,
}

impl Run {
    /// Asserts that status and body are the server's, byte for byte.
    pub fn bytes_are_the_servers(&self) {
        let (got, sent) = (&self.response.body.bytes, &self.answer.body);
        assert_eq!(self.response.status(), self.answer.head.status());
        let same = got.iter().zip(sent).take_while(|(a, b)| a == b).count();
        assert!(
            got == sent,
            "the server wrote {} bytes and {} came; they differ from byte {same} on",
            sent.len(),
            got.len()
        );
    }

    /// Asserts that head and bytes were with the client soon after they were written, and most of those that a pause
    /// followed before the next write. So long as the machine stood still, they may be later.
    pub fn nothing_held(&self) {
        let still = pauses::longest_since(self.start);
        let writes = &self.answer.writes;
        let took = |(at, bytes): &(Instant, usize)| {
            let had = self
                .response
                .had(*bytes)
                .expect("the bytes are the server's");
            had.saturating_duration_since(*at)
        };
        let head = self
            .response
            .head_at
            .saturating_duration_since(self.answer.head_at);
        let all: Vec<Duration> = writes.iter().map(took).collect();
        let worst = all.iter().copied().fold(head, Duration::max);
        assert!(worst < AT_LAST + still, "something was held for {worst:?}");
        if all.is_empty() {
            return;
        }
        let half = median(all.clone());
        assert!(
            half < SOON + still,
            "half of the writes were held for {half:?}, the machine stood still for {still:?}: {all:?}"
        );
        let paused = writes.windows(2).zip(&all);
        let paused: Vec<bool> = paused
            .filter(|(pair, _)| pair[1].0 - pair[0].0 >= PAUSE)
            .map(|(pair, took)| *took < pair[1].0 - pair[0].0 + still)
            .collect();
        let in_time = paused.iter().filter(|in_time| **in_time).count();
        assert!(
            4 * in_time >= 3 * paused.len(),
            "only {in_time} of {} writes came before the next was written: {all:?}",
            paused.len()
        );
    }

    /// The value at a JSON pointer of the record.
    pub fn at(&self, pointer: &str) -> &Value {
        at(&self.record, pointer)
    }

    /// The number there.
    pub fn number(&self, pointer: &str) -> f64 {
        number(&self.record, pointer)
    }

    /// Asserts the value there.
    pub fn is(&self, pointer: &str, value: impl Into<Value>) -> &Run {
        let value = value.into();
        assert_eq!(*self.at(pointer), value, "{pointer} of {:#}", self.record);
        self
    }

    /// Asserts that nothing was measured there.
    pub fn null(&self, pointer: &str) -> &Run {
        self.is(pointer, Value::Null)
    }

    /// Asserts that the time there is about so many milliseconds: within 30 ms or a quarter, and what this machine was
    /// late with the request and the writes.
    pub fn near(&self, pointer: &str, ms: f64) -> &Run {
        let late = self.answer.late + (self.answer.asked.saturating_duration_since(self.start));
        near(&self.record, pointer, ms, late);
        self
    }

    /// Asserts that the number there is within these bounds.
    pub fn between(&self, pointer: &str, least: f64, most: f64) -> &Run {
        let told = self.number(pointer);
        assert!(
            (least..=most).contains(&told),
            "{pointer} is {told} and should be of {least} to {most}: {:#}",
            self.record
        );
        self
    }

    /// Asserts the main verdict and its side (`""` for null).
    pub fn verdict(&self, timing: &str, side: &str) -> &Run {
        let verdict = self.at("/verdict");
        let told = (&verdict["timing"], verdict["where"].as_str().unwrap_or(""));
        assert_eq!(told, (&json!(timing), side), "{:#}", self.record);
        self
    }

    /// Asserts how it ended.
    pub fn end(&self, end: &str) -> &Run {
        self.is("/end", end)
    }

    /// Asserts that the record has this flag, or has not.
    pub fn flag(&self, flag: &str, there: bool) -> &Run {
        let told = crate::support::flags(&self.record).contains(&flag);
        assert_eq!(told, there, "{flag}: {:#}", self.record);
        self
    }

    /// The codes of all findings.
    pub fn findings(&self) -> Vec<&str> {
        let findings = self.at("/verdict/findings").as_array();
        let codes = findings.into_iter().flatten();
        codes
            .filter_map(|finding| finding["code"].as_str())
            .collect()
    }

    /// Asserts that something the user reads of it (summary, sentences, hints) says so.
    pub fn says(&self, what: &str) -> &Run {
        let told = self.at("/verdict").to_string().to_lowercase();
        assert!(
            told.contains(&what.to_lowercase()),
            "nothing says {what:?}: {:#}",
            self.record
        );
        self
    }
}

/// The value at a JSON pointer of a record.
pub fn at<'a>(record: &'a Value, pointer: &str) -> &'a Value {
    record
        .pointer(pointer)
        .unwrap_or_else(|| panic!("nothing at {pointer} of {record:#}"))
}

/// The number there.
pub fn number(record: &Value, pointer: &str) -> f64 {
    let value = at(record, pointer).as_f64();
    value.unwrap_or_else(|| panic!("no number at {pointer} of {record:#}"))
}

/// Asserts that the time there is about so many milliseconds: within 30 ms or a quarter, and `late`.
pub fn near(record: &Value, pointer: &str, real: f64, late: Duration) {
    let told = number(record, pointer);
    let slack = (real / 4.0).max(30.0) + late.as_secs_f64() * 1000.0;
    assert!(
        (told - real).abs() <= slack,
        "{pointer} is {told} ms and should be {real} ms, give or take {slack:.0}: {record:#}"
    );
}
