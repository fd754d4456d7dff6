//! A scenario and a request made into a script: which bytes leave when. Pure: no clock, no socket.
//!
//! It goes through the stages that a real answer goes through, each a function over timed writes:
//! pieces → compressor → the hop that holds back → HTTP framing.

use std::time::Duration;

use super::events::{Answer, Api, Speaker, Wire};
use super::scenario::{Coding, Compression, End, Framing, Scenario};

mod compress;
mod head;
mod stages;
mod steps;

use head::Head;
pub(super) use head::reason;

/// What the script needs to know of a request.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub api: Api,
    /// How the events of a streamed answer are framed.
    pub wire: Wire,
    /// The model that the answer names.
    pub model: String,
    pub stream: bool,
    /// HTTP/1.1, so that chunked coding is understood.
    pub http11: bool,
    pub keep_alive: bool,
    /// The codings that the client asked for.
    pub accepts: Vec<Coding>,
    /// Bytes of the request's body.
    pub body: u64,
}

/// Bytes, and when they leave: counted from the last byte of the request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Move {
    pub at: Duration,
    pub bytes: Vec<u8>,
}

/// What happens to the connection after the last move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum After {
    KeepAlive,
    Close,
    Reset,
}

/// Everything that the server does for one request.
#[derive(Debug)]
pub(super) struct Script {
    pub moves: Vec<Move>,
    /// When `after` happens.
    pub end: Duration,
    pub after: After,
}

impl Script {
    /// `number` counts requests: it names the answer and draws the ranges. `created` is in seconds since 1970.
    pub fn of(scenario: &Scenario, asked: &Asked, number: u64, created: u64) -> Self {
        // about four bytes of JSON make a token; nobody reads more out of it
        let prompt_tokens = 1 + asked.body / 4;
        let (status, model) = (scenario.status, &asked.model);
        let wire = if status < 400 { asked.wire } else { Wire::Bare };
        let answer = Answer::new(number, model, created, prompt_tokens, status);
        let mut speaker = Speaker::new(asked.api, wire, answer);
        let mut body = steps::play(&scenario.steps, &mut speaker, number);
        if !asked.stream && (200..300).contains(&status) {
            return Self::plain(scenario, asked, number, speaker.whole(), body.end);
        }
        let mut fields = vec![
            ("Content-Type", wire.content_type()),
            ("Cache-Control", "no-cache"),
        ];
        let asked_for = |with: &Compression| asked.accepts.contains(&with.coding);
        if let Some(compression) = scenario.compression.filter(asked_for) {
            compress::compress(&mut body, compression, scenario.end);
            fields.push(("Content-Encoding", compression.coding.name()));
        }
        if let Some(hold) = scenario.hold {
            stages::hold_back(&mut body, hold);
        }
        let framing = match scenario.framing {
            Framing::Chunked if !asked.http11 => Framing::Close,
            framing => framing,
        };
        let after = match (scenario.end, framing) {
            (End::Reset, _) => After::Reset,
            (End::Whole, Framing::Chunked | Framing::Length) => asked.next(),
            _ => After::Close,
        };
        let (length, end) = (body.length(), body.end);
        let head = Head {
            scenario,
            status,
            framing,
            length,
            after,
            number,
        }
        .bytes(&fields);
        Self {
            moves: stages::frame(body, head, framing, scenario.end),
            end,
            after,
        }
    }

    /// One JSON object at the script's end, for a request without `stream`.
    fn plain(
        scenario: &Scenario,
        asked: &Asked,
        number: u64,
        (status, json): (u16, String),
        at: Duration,
    ) -> Self {
        let (framing, length, after) = (Framing::Length, json.len(), asked.next());
        let head = Head {
            scenario,
            status,
            framing,
            length,
            after,
            number,
        };
        let mut bytes = head.bytes(&[("Content-Type", "application/json")]);
        bytes.extend_from_slice(json.as_bytes());
        Self {
            moves: vec![Move { at, bytes }],
            end: at,
            after,
        }
    }
}

impl Asked {
    /// What follows a body that has a proper end.
    fn next(&self) -> After {
        if self.keep_alive {
            After::KeepAlive
        } else {
            After::Close
        }
    }
}

#[cfg(test)]
mod tests;
