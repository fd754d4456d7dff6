//! A scenario and a request made into a script: which bytes leave when. Pure: no clock, no socket.
//!
//! It goes through the stages that a real answer goes through, each a function over timed writes:
//! pieces → compressor → the hop that holds back → HTTP framing.

use std::time::Duration;

use super::events::{Api, Speaker};
use super::scenario::{End, Framing, Scenario};

mod head;
mod stages;
mod steps;

use head::Head;
pub(super) use head::reason;

/// What the script needs to know of a request.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub api: Api,
    /// The model that the answer names.
    pub model: String,
    pub stream: bool,
    /// HTTP/1.1, so that chunked coding is understood.
    pub http11: bool,
    pub keep_alive: bool,
    pub accepts_gzip: bool,
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
        let mut speaker = Speaker::new(asked.api, &asked.model, number, created, prompt_tokens);
        let mut body = steps::play(&scenario.steps, &mut speaker, number);
        if !asked.stream && (200..300).contains(&scenario.status) {
            return Self::plain(scenario, asked, number, speaker.whole(), body.end);
        }
        let mut fields = vec![
            ("Content-Type", "text/event-stream; charset=utf-8"),
            ("Cache-Control", "no-cache"),
        ];
        if let Some(gzip) = scenario.gzip.filter(|_| asked.accepts_gzip) {
            stages::compress(&mut body, gzip, scenario.end);
            fields.push(("Content-Encoding", "gzip"));
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
        let (status, length, end) = (scenario.status, body.length(), body.end);
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
