//! An exchange as a little program in bytes: what the relay tells an observer, and when.
//!
//! The first three bytes choose the path, the options and the end. Then come steps: a letter for what happens, a byte for
//! the time until then, and what belongs to it. Any byte means something, so that a mutation stays a program; seeds are
//! written in letters and digits.

use std::fmt::{self, Debug, Formatter};
use std::time::Duration;

use crate::observe::observer::{
    Cause, ErrorKind, Observer, Options, RequestHead, ResponseHead, Stamp,
};
use crate::observe::record::{Framing, Origin, RequestRecord, Upstream};

/// What the relay tells, in its order.
#[derive(Debug)]
pub struct Exchange {
    /// What was asked for.
    pub options: Options,
    path: &'static str,
    steps: Vec<(Duration, Step)>,
    end: Duration,
    cause: Cause,
}

/// How the body's pieces are cut further.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// Not at all.
    Not,
    /// Into bytes, of the same socket read.
    Pieces,
    /// Into bytes, each with a socket read of its own.
    Chunks,
}

#[derive(Debug)]
enum Step {
    RequestBody(Bytes),
    RequestEnd,
    Upstream(u32),
    Retried,
    Sent,
    UpstreamByte,
    Header(Box<ResponseHead>),
    Upgraded,
    Body(Stamp, bool, Bytes),
    Flushed(u64),
    Blocked,
    Unblocked,
    ArrivalUncertain,
    End,
    Stop,
}

impl Exchange {
    /// Reads a program. What cannot be is left out: a header or an upgrade after the body, or a body after its end.
    pub fn of(program: &[u8]) -> Option<Self> {
        let mut code = Code(program);
        let path = code.choice(&PATHS)?;
        let options = code.next()?;
        let cause = code.choice(&CAUSES)?;
        let mut exchange = Exchange {
            options: Options {
                timeline: options & 1 != 0,
                body_hash: options & 2 != 0,
                event_limit: if options & 4 != 0 { 64 } else { 1 << 16 },
            },
            path,
            steps: Vec::new(),
            end: Duration::ZERO,
            cause,
        };
        let (mut has_header, mut has_body, mut has_end) = (false, false, false);
        let mut read_at = Duration::ZERO;
        while let Some((elapsed, step)) = code.step() {
            let allowed = match &step {
                Step::UpstreamByte | Step::Header(_) => !(has_header || has_body || has_end),
                Step::Upgraded => !(has_body || has_end),
                Step::Body(..) => !has_end,
                _ => true,
            };
            has_header |= allowed && matches!(step, Step::Header(_));
            has_body |= allowed && matches!(step, Step::Body(..));
            has_end |= matches!(step, Step::End);
            exchange.end = match (elapsed, &step) {
                // One socket read has one stamp.
                (_, Step::Body(_, false, _)) => read_at,
                (Elapsed::Forth(time), _) => exchange.end + time,
                (Elapsed::Back(time), _) => exchange.end.saturating_sub(time),
            };
            if let Step::Body(..) = step {
                read_at = exchange.end;
            }
            if allowed {
                exchange.steps.push((exchange.end, step));
            }
        }
        Some(exchange)
    }

    /// Bytes of the response's body up to where the observer stopped.
    pub fn body_bytes(&self) -> u64 {
        let stop = |(_, step): &&(Duration, Step)| !matches!(step, Step::Stop);
        let seen = self.steps.iter().take_while(stop);
        seen.map(|(_, step)| match step {
            Step::Body(.., Bytes(bytes)) => bytes.len() as u64,
            _ => 0,
        })
        .sum()
    }

    /// Whether an answer came.
    pub fn has_header(&self) -> bool {
        let mut steps = self.steps.iter();
        steps.any(|(_, step)| matches!(step, Step::Header(_)))
    }

    /// Whether the body is said to be encoded.
    pub fn is_encoded(&self) -> bool {
        let mut steps = self.steps.iter();
        steps.any(|(_, step)| matches!(step, Step::Header(head) if head.is_encoded()))
    }

    /// Tells all of it to an observer; `after` is called after each step.
    pub fn observe(&self, cut: Cut, mut after: impl FnMut()) -> RequestRecord {
        let head = RequestHead {
            method: "POST".into(),
            path: self.path.into(),
            http: "1.1",
            ..RequestHead::default()
        };
        let mut observer = Observer::new(head, self.options);
        for (at, step) in &self.steps {
            step.tell(&mut observer, *at, cut);
            after();
        }
        observer.finish(self.end, self.cause)
    }
}

impl Step {
    fn tell(&self, observer: &mut Observer, at: Duration, cut: Cut) {
        match self {
            Step::RequestBody(Bytes(bytes)) => observer.on_request_body(bytes),
            Step::RequestEnd => observer.on_request_end(at),
            Step::Upstream(attempts) => observer.on_upstream(Upstream {
                attempts: *attempts,
                ..Upstream::default()
            }),
            Step::Retried => observer.on_retried(),
            Step::Sent => observer.on_sent(at),
            Step::UpstreamByte => observer.on_upstream_byte(at),
            Step::Header(head) => observer.on_header(at, ResponseHead::clone(head)),
            Step::Upgraded => observer.on_upgraded(at),
            Step::Body(stamp, new, Bytes(bytes)) => {
                let length = if cut == Cut::Not { bytes.len() } else { 1 };
                for (i, piece) in bytes.chunks(length.max(1)).enumerate() {
                    let new = *new && i == 0 || cut == Cut::Chunks;
                    observer.on_body(at, *stamp, new, piece);
                }
            }
            Step::Flushed(chunks) => observer.on_flushed(*chunks, at),
            Step::Blocked => observer.on_blocked(at),
            Step::Unblocked => observer.on_unblocked(at),
            Step::ArrivalUncertain => observer.on_arrival_uncertain(),
            Step::End => observer.on_end(at),
            Step::Stop => observer.stop(),
        }
    }
}

/// Bytes that are shown as text.
struct Bytes(Vec<u8>);

impl Debug for Bytes {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.escape_ascii())
    }
}

enum Elapsed {
    Forth(Duration),
    Back(Duration),
}

/// The rest of a program.
struct Code<'a>(&'a [u8]);

impl Code<'_> {
    fn next(&mut self) -> Option<u8> {
        let (&byte, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(byte)
    }

    /// One of a table; the digit 0 is its first.
    fn choice<T: Copy>(&mut self, table: &[T]) -> Option<T> {
        let byte = self.next()?;
        Some(table[usize::from(byte.wrapping_sub(b'0')) % table.len()])
    }

    /// A length, and so many bytes as they are; the length's space is 0.
    fn raw(&mut self) -> Option<Bytes> {
        let length = usize::from(self.next()?.wrapping_sub(b' '));
        let (bytes, rest) = self.0.split_at(length.min(self.0.len()));
        self.0 = rest;
        Some(Bytes(bytes.to_vec()))
    }

    /// A letter for a part of a stream, or a hash and a raw one.
    fn part(&mut self) -> Option<Bytes> {
        match self.next()? {
            b'#' => self.raw(),
            letter => {
                let place = usize::from(letter.wrapping_sub(b'a')) % PARTS.len();
                Some(Bytes(PARTS[place].into()))
            }
        }
    }

    fn step(&mut self) -> Option<(Elapsed, Step)> {
        let what = self.next()?;
        let elapsed = match self.choice(&TIMES)? {
            time if time < 0 => Elapsed::Back(Duration::from_micros(time.unsigned_abs())),
            time => Elapsed::Forth(Duration::from_micros(time.unsigned_abs())),
        };
        let step = match what {
            b'q' => Step::RequestBody(self.raw()?),
            b'a' => Step::RequestBody(Bytes(ASKS_FOR_STREAM.into())),
            b'd' => Step::RequestEnd,
            b'u' => Step::Upstream(self.next()?.into()),
            b't' => Step::Retried,
            b's' => Step::Sent,
            b'i' => Step::UpstreamByte,
            b'h' => Step::Header(self.header()?),
            b'g' => Step::Upgraded,
            b'f' => Step::Flushed(self.next()?.wrapping_sub(b'0').into()),
            b'w' => Step::Blocked,
            b'v' => Step::Unblocked,
            b'n' => Step::ArrivalUncertain,
            b'e' => Step::End,
            b'x' => Step::Stop,
            // A piece of the chunk that was read before, and one that no kernel stamped.
            b'c' => Step::Body(Stamp::Kernel, false, self.part()?),
            b'r' => Step::Body(Stamp::Read, true, self.part()?),
            _ => Step::Body(Stamp::Kernel, true, self.part()?),
        };
        Some((elapsed, step))
    }

    /// Status, content type, content encoding and framing.
    fn header(&mut self) -> Option<Box<ResponseHead>> {
        let status = self.choice(&[200, 201, 204, 304, 400, 429, 503])?;
        let content_type = self.choice(&TYPES)?;
        let encoding = self.choice(&[None, Some("identity"), Some("gzip"), Some("br")])?;
        let framing = self.choice(&FRAMINGS)?;
        let trailers = status == 201;
        Some(Box::new(ResponseHead {
            status,
            origin: if status == 503 {
                Origin::Dripline
            } else {
                Origin::Upstream
            },
            http: "1.1",
            content_type: content_type.map(str::to_owned),
            content_encoding: encoding.map(str::to_owned),
            framing,
            trailers,
            ..ResponseHead::default()
        }))
    }
}

/// µs until a step; below zero, the stamp steps back.
const TIMES: [i64; 16] = [
    0,
    1,
    50,
    900,
    5_000,
    20_000,
    21_000,
    50_000,
    100_000,
    300_000,
    1_000_000,
    15_000_000,
    60_000_000,
    3_600_000_000,
    -1,
    -20_000,
];

const PATHS: [&str; 10] = [
    "/v1/chat/completions",
    "/v1/completions",
    "/v1/responses",
    "/v1/messages",
    "/api/chat",
    "/api/generate",
    "/v1beta/models/m:streamGenerateContent",
    "/v1/models",
    "/events",
    "",
];

const CAUSES: [Cause; 10] = [
    Cause::Whole,
    Cause::UpstreamFin,
    Cause::UpstreamReset,
    Cause::UpstreamUnreachable(ErrorKind::Dns),
    Cause::UpstreamInvalid,
    Cause::UpstreamTimeout,
    Cause::ClientGone,
    Cause::ProxyStopped,
    Cause::Refused,
    Cause::Dropped,
];

const TYPES: [Option<&str>; 7] = [
    Some("text/event-stream"),
    Some("application/x-ndjson"),
    Some("application/json"),
    Some("audio/mpeg"),
    Some("application/vnd.amazon.eventstream"),
    Some("text/html; charset=utf-8"),
    None,
];

const FRAMINGS: [Option<Framing>; 4] = [
    Some(Framing::Chunked),
    Some(Framing::Length),
    Some(Framing::Close),
    None,
];

const ASKS_FOR_STREAM: &str = r#"{"model":"m","stream":true,"messages":[]}"#;

/// What streams are made of, whole and broken, from `a` on.
const PARTS: [&str; 48] = [
    // chat, a to k
    "data: {\"id\":\"c1\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"word \"}}]}\n\n",
    "data: {\"choices\":[{\"index\":1,\"delta\":{\"content\":\"\u{90A3}\"}}]}\r\n\r\n",
    "data: {\"choices\":[{\"delta\":{\"reasoning_content\":\"hm\"}}]}\n\n",
    "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]}}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n",
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":5}}\n\n",
    "data: [DONE]\n\n",
    "data: {\"error\":{\"type\":\"server_error\",\"message\":\"x\"}}\n\n",
    "data: {\"choices\":[{\"text\":\"Al\"}]}\n\n",
    "data: {\"text\":\"Alpha\"}\n\n",
    // grammar, l to z
    ": ping\n\n",
    "\n",
    "\r",
    "\r\n",
    "data: ",
    "data",
    "event: ping\ndata: {}\n\n",
    "event: error\n",
    "id: 7\nretry: 1000\n\n",
    "data: {\"choi\n\n",
    "\u{FEFF}",
    "                                                                 ",
    "{\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n",
    "{\"usage\":{\"completion_tokens\":3}}",
    "[{\"text\":\"x\"}]",
    // dialects of their own
    "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m1\",\"model\":\"m\",\"usage\":{\"input_tokens\":7,\"output_tokens\":1}}}\n\n",
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"a\"}}\n\n",
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"a\"}}\n\n",
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\"}}\n\n",
    "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":9}}\n\n",
    "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
    "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"}}\n\n",
    "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"id\":\"r1\",\"model\":\"m\"}}\n\n",
    "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"delta\":\"a\"}\n\n",
    "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"usage\":{\"input_tokens\":7,\"output_tokens\":2}}}\n\n",
    "event: response.failed\ndata: {\"type\":\"response.failed\",\"response\":{\"error\":{\"code\":\"server_error\"}}}\n\n",
    "{\"model\":\"m\",\"message\":{\"role\":\"assistant\",\"content\":\"a\"},\"done\":false}\n",
    "{\"model\":\"m\",\"message\":{\"thinking\":\"a\"},\"done\":false}\n",
    "{\"model\":\"m\",\"response\":\"a\",\"done\":false}\n",
    "{\"model\":\"m\",\"done\":true,\"done_reason\":\"stop\",\"prompt_eval_count\":7,\"eval_count\":3,\"eval_duration\":5000000}\n",
    "{\"error\":\"model not found\"}\n",
    "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a\"}]},\"index\":0}]}\r\n\r\n",
    "data: {\"candidates\":[{\"finishReason\":\"STOP\"}],\"usageMetadata\":{\"promptTokenCount\":7,\"candidatesTokenCount\":3}}\r\n\r\n",
    "[{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a\"}]}}]}\n",
    ",\r\n{\"candidates\":[{\"finishReason\":\"STOP\"}]}]",
    "{\"type\":\"error\",\"message\":\"x\"}",
    "<html>",
];
