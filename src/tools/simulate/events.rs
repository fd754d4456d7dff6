//! Pieces of a script as the bytes that a real server sends for them: one small file for each API's dialect.
//!
//! A [`Speaker`] keeps what was said so far, the same for all dialects; the dialect shapes it, and [`Pen`] frames the
//! events: as an event stream, as JSON lines, as a JSON array, or bare. Keys stand in the order in which those servers
//! write them.

use std::time::Duration;

use super::draw::Draw;
use super::scenario::Piece;

mod answer;
mod chat;
mod completions;
mod gemini;
mod messages;
mod ollama;
mod pen;
mod responses;

pub(super) use answer::Answer;
pub(super) use pen::{Pen, Wire};

/// The endless texts of `"word"` and `"reasoning"`.
const WORDS: &str = "Each word of this answer was written by a simulated server at the moment its scenario names and no model \
    took part in it so please judge the timing and not the prose";
const THOUGHTS: &str =
    "The script says to think first so these words stand where thoughts would be";

/// Which API a request used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Api {
    /// OpenAI's `/v1/chat/completions`, and whatever path is not known.
    Chat,
    /// OpenAI's `/v1/completions`, which has text only.
    Completions,
    /// OpenAI's `/v1/responses`.
    Responses,
    /// Anthropic's `/v1/messages`.
    Messages,
    /// Ollama's `/api/chat`.
    OllamaChat,
    /// Ollama's `/api/generate`, which has text and thoughts.
    OllamaGenerate,
    /// Gemini's `/v1beta/models/NAME:streamGenerateContent`.
    Gemini,
}

impl Api {
    fn dialect(self) -> Box<dyn Dialect> {
        match self {
            Self::Chat => Box::new(chat::Chat),
            Self::Completions => Box::new(completions::Completions),
            Self::Responses => Box::<responses::Responses>::default(),
            Self::Messages => Box::<messages::Messages>::default(),
            Self::OllamaChat => Box::new(ollama::Ollama::chat()),
            Self::OllamaGenerate => Box::new(ollama::Ollama::generate()),
            Self::Gemini => Box::<gemini::Gemini>::default(),
        }
    }
}

/// What a piece says, in no dialect yet.
pub(super) enum Said<'a> {
    /// The answer opens, with no text.
    Role,
    Content(&'a str),
    Reasoning(&'a str),
    /// A call of this function begins.
    Tool(&'a str),
    /// More of the arguments of that call.
    Arguments(&'a str),
    Finish(&'a str),
    Usage,
    Done,
    Error(&'a str),
}

/// One API's way to say things.
trait Dialect: Send {
    /// Writes the events for `said`, which `answer` has in it already. Some things are said with no event at all.
    fn say(&mut self, said: &Said, answer: &Answer, pen: &mut Pen);

    /// The answer as one JSON text, for a request without `stream`.
    fn whole(&self, answer: &Answer) -> String;

    /// An error as JSON.
    fn error(&self, status: u16, message: &str) -> String;
}

/// Says one answer, piece by piece, and remembers what it said.
pub(super) struct Speaker {
    dialect: Box<dyn Dialect>,
    wire: Wire,
    /// Events were written before; a JSON array needs to know.
    begun: bool,
    answer: Answer,
    words: Cycle,
    thoughts: Cycle,
    draw: Draw,
}

/// A text word by word, over and over.
struct Cycle(std::iter::Cycle<std::str::SplitAsciiWhitespace<'static>>);

impl Cycle {
    fn new(text: &'static str) -> Self {
        Self(text.split_ascii_whitespace().cycle())
    }

    fn next(&mut self) -> String {
        // the texts above are not empty, so the cycle has no end
        format!("{} ", self.0.next().unwrap_or_default())
    }
}

impl Speaker {
    /// Speaks `api`'s dialect, framed as `wire` says.
    pub fn new(api: Api, wire: Wire, answer: Answer) -> Self {
        Self {
            dialect: api.dialect(),
            wire,
            begun: false,
            draw: Draw::new(answer.number.rotate_left(32)),
            answer,
            words: Cycle::new(WORDS),
            thoughts: Cycle::new(THOUGHTS),
        }
    }

    /// Appends the bytes of `piece`, said at that time of the script, to `out`; some pieces have none in some API.
    pub fn say(&mut self, piece: &Piece, at: Duration, out: &mut Vec<u8>) {
        self.answer.at = at;
        self.answer.choice = 0;
        self.speak(piece, out);
    }

    fn speak(&mut self, piece: &Piece, out: &mut Vec<u8>) {
        let words;
        let said = match piece {
            Piece::Role => Said::Role,
            Piece::Word => {
                words = self.words.next();
                Said::Content(&words)
            }
            Piece::Words(min, max) => {
                let many = self.draw.number((*min, *max));
                words = (0..many).map(|_| self.words.next()).collect();
                Said::Content(&words)
            }
            Piece::ReasoningWord => {
                words = self.thoughts.next();
                Said::Reasoning(&words)
            }
            Piece::Content(text) => Said::Content(text),
            Piece::Reasoning(text) => Said::Reasoning(text),
            Piece::Tool(name) => Said::Tool(name),
            Piece::Arguments(text) => Said::Arguments(text),
            Piece::Finish(reason) => Said::Finish(reason),
            Piece::Usage => Said::Usage,
            Piece::Done => Said::Done,
            Piece::Error(message) => Said::Error(message),
            Piece::Choice(index, piece) => {
                self.answer.choice = *index;
                return self.speak(piece, out);
            }
            Piece::Data { event, data } => return self.pen(out).event(event, data),
            Piece::Comment(text) => return self.pen(out).comment(text),
            Piece::Raw(bytes) => return out.extend_from_slice(bytes),
        };
        self.answer.add(&said);
        let mut pen = Pen {
            wire: self.wire,
            begun: &mut self.begun,
            out,
        };
        self.dialect.say(&said, &self.answer, &mut pen);
    }

    /// All that was said as one answer: status and JSON, for a request without `stream`.
    pub fn whole(&self) -> (u16, String) {
        match &self.answer.error {
            Some(message) => (500, self.dialect.error(500, message)),
            None => (200, self.dialect.whole(&self.answer)),
        }
    }

    fn pen<'a>(&'a mut self, out: &'a mut Vec<u8>) -> Pen<'a> {
        Pen {
            wire: self.wire,
            begun: &mut self.begun,
            out,
        }
    }
}

/// OpenAI's shape of an error.
pub(super) fn error_object(code: u16, message: &str) -> String {
    let kind = match code {
        429 => "rate_limit_error",
        400..=499 => "invalid_request_error",
        _ => "server_error",
    };
    format!(
        r#"{{"error":{{"message":{},"type":"{kind}","param":null,"code":{code}}}}}"#,
        quoted(message)
    )
}

/// A JSON string.
fn quoted(text: &str) -> String {
    // text always serializes; the only errors are those of a writer, and of keys that are no text
    serde_json::to_string(text).unwrap_or_default()
}

#[cfg(test)]
mod tests;
