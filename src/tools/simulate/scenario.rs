//! A scenario: what the simulated server does with one request, and when.
//!
//! It is a TOML file, and the ready ones are such files too (`src/tools/simulate/scenarios/`), so that each can be copied
//! and changed. `config/scenario-example.toml` shows every key with comments. The whole format:
//!
//! | key at the top | value | meaning |
//! |---|---|---|
//! | `about` | text | one line for the list of models |
//! | `status` | number, 200 | status code of the answer |
//! | `framing` | `"chunked"` (default), `"length"`, `"close"`, `"http10"` | how the body's end is told: chunked coding, `Content-Length`, the connection's end, or an HTTP/1.0 answer |
//! | `headers` | `["Name: value", …]` | added, in this order; one of the same name replaces a default; `"Name:"` removes it |
//! | `gzip`, `deflate`, `br`, `zstd` | `"flush"`, `"no-flush"` | one of them: compressed if the request asks for it; flushed after each write, or only when the compressor is full |
//! | `hold` | `{ bytes = 4096 }`, `{ every = "250ms" }`, `{ until = "end" }` | a hop that keeps bytes back: until a block is full, until its timer ticks, or until the end |
//! | `steps` | list | the script, see below |
//!
//! Each step is a table with one of these keys:
//!
//! | step | meaning |
//! |---|---|
//! | `{ wait = "20ms" }` | let time pass |
//! | `{ interim = 103 }` | send an interim head with this status |
//! | `{ head = true }` | send the response's head now; else it leaves together with the first bytes of the body |
//! | `{ write = piece }` | send a piece, flushed at once; a list of pieces goes out in ONE write |
//! | `{ each = [piece, …] }` | send each piece (or list of pieces) in a write of its own |
//! | `{ end = "whole" }` | last step only: `"whole"` (default) ends the body properly, `"close"` closes the connection without ending it, `"reset"` sends a TCP reset |
//!
//! `write` and `each` take `times = 50` (repeat), `every = "20ms"` (let this pass after each write, the last one too),
//! `split = [2, -1]` (cut each write at these bytes, negative from its end, into writes of their own, `every` apart),
//! `split = 4096` (the same after each 4096 bytes), `pad = 247` (fill each write up to so many bytes with spaces before its
//! last line ends, where JSON may have them) and `cut = 40` (send only the first 40 bytes). A wait may be a range,
//! `"18ms..32ms"`: drawn evenly, the same way each time the server runs.
//!
//! Pieces are `"role"` (the events that open an answer), `"word"` (the next word of an endless text), `"reasoning"` (the
//! same as a thought), `"finish"`, `"usage"`, `"done"`, `"comment"`; with words of your own `{ content = "…" }`,
//! `{ reasoning = "…" }`, `{ tool = "name" }` then `{ arguments = "…" }`, `{ finish = "length" }`, `{ comment = "…" }`,
//! `{ error = "…" }`, `{ data = "…", event = "name" }` (an event with this payload); several words in one event,
//! `{ words = 5 }` or `{ words = "1..5" }`; and raw bytes, `{ text = "…" }` or `{ hex = "E9 82 A3" }`. `repeat = 1000`
//! beside a text repeats it; `choice = 1` beside `content`, `finish` or `words` is for an answer with several choices.
//!
//! # Dialects
//!
//! A script answers a POST to any path, and its pieces take the shape of that path's API: chat completions, completions
//! (text only: reasoning and arguments are text, the role is nothing), Responses (`…/responses`), Anthropic's Messages
//! (`…/messages`), Ollama's `/api/chat` and `/api/generate` (JSON lines) and Gemini's `…:streamGenerateContent` (an event
//! stream with `alt=sse`, else a JSON array). Other paths speak chat. What an API lacks is said in its own way: usage is part
//! of Anthropic's `finish` and of the last event (`"done"`) of Responses and Ollama; Ollama and Gemini tell a call whole,
//! when the next piece follows; JSON has no comments. The finish reasons are OpenAI's (`stop`, `length`, `tool_calls`) and
//! are translated. With a status of 400 or more an `error` is the API's plain JSON.
//!
//! Times count from the last byte of the request. They are deadlines, so that errors do not add up: a write that a slow
//! client delays does not move the later ones. A request with `stream: false` gets the same text as one JSON object when
//! the script ends, or status 500 when the script has an `error`.

use std::path::Path;
use std::time::Duration;
use std::{fs, io};

mod error;
mod read;
mod toml;

pub use error::ScenarioError;

/// What the simulated server does with one request. Made by [`Scenario::from_toml`] or field by field.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    /// The model name that picks it.
    pub name: String,
    /// One line for people.
    pub about: String,
    /// Status code of the answer.
    pub status: u16,
    /// How the end of the body is told.
    pub framing: Framing,
    /// Fields of the response's head, beside the server's own; an empty value removes a default.
    pub headers: Vec<(String, String)>,
    /// Compression, if the client asks for it.
    pub compression: Option<Compression>,
    /// The hop that keeps bytes back, if there is one.
    pub hold: Option<Hold>,
    /// The script.
    pub steps: Vec<Step>,
    /// What follows the last step.
    pub end: End,
}

/// How the end of a body is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// `Transfer-Encoding: chunked`, one chunk for each write.
    Chunked,
    /// `Content-Length`.
    Length,
    /// The connection's end, in HTTP/1.1 with `Connection: close`.
    Close,
    /// The connection's end, in HTTP/1.0.
    Http10,
}

/// A body that is compressed on its way out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compression {
    /// The coding.
    pub coding: Coding,
    /// It is flushed after each write, else it hands out bytes only when its own buffer is full.
    pub flush: bool,
}

/// A content coding of HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coding {
    /// gzip.
    Gzip,
    /// zlib's format.
    Deflate,
    /// Brotli.
    Br,
    /// Zstandard.
    Zstd,
}

impl Coding {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Gzip, Self::Deflate, Self::Br, Self::Zstd];

    /// Its name in HTTP, and its key in a scenario.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Deflate => "deflate",
            Self::Br => "br",
            Self::Zstd => "zstd",
        }
    }
}

/// What a buffering hop waits for before it passes bytes on; at the end it passes on the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hold {
    /// A block of this many bytes.
    Bytes(usize),
    /// The next tick of its timer, which started with the request's end.
    Every(Duration),
    /// The end of the body.
    End,
}

/// One step of a script.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Let time pass.
    Wait(Pause),
    /// Send an interim (1xx) head.
    Interim(u16),
    /// Send the response's head, past any hold.
    Head,
    /// Send pieces of the body.
    Write(Write),
}

/// Writes, each flushed by itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Write {
    /// The pieces of each write.
    pub writes: Vec<Vec<Piece>>,
    /// How often `writes` is gone through.
    pub times: u32,
    /// What passes after each write.
    pub every: Pause,
    /// Where each write is cut into several.
    pub split: Split,
    /// Each write is filled up to so many bytes, with spaces before its last line ends.
    pub pad: Option<usize>,
    /// Only so many bytes of each write are sent.
    pub cut: Option<usize>,
}

impl Write {
    /// One write of `pieces`, nothing after it.
    pub fn once(pieces: Vec<Piece>) -> Self {
        Self {
            writes: vec![pieces],
            times: 1,
            every: Pause::exactly(Duration::ZERO),
            split: Split::At(Vec::new()),
            pad: None,
            cut: None,
        }
    }
}

/// Where a write is cut into several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Split {
    /// At these bytes; negative counts from its end.
    At(Vec<i64>),
    /// After each so many bytes.
    Each(usize),
}

/// A stretch of time, drawn evenly from `min..=max`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pause {
    /// The shortest.
    pub min: Duration,
    /// The longest.
    pub max: Duration,
}

impl Pause {
    /// Always the same.
    pub const fn exactly(time: Duration) -> Self {
        Self {
            min: time,
            max: time,
        }
    }
}

/// Something to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// The event that opens an answer: the role, and no text.
    Role,
    /// An event with the next word of an endless text.
    Word,
    /// An event with several of these words, drawn evenly from this range.
    Words(usize, usize),
    /// An event with the next word of an endless thought.
    ReasoningWord,
    /// An event with this text.
    Content(String),
    /// An event with this text on the reasoning channel.
    Reasoning(String),
    /// An event that begins a call of this function, arguments still empty.
    Tool(String),
    /// An event with more of the arguments of the call begun last.
    Arguments(String),
    /// An event with this finish reason.
    Finish(String),
    /// An event with the token counts.
    Usage,
    /// The end marker, such as `[DONE]`.
    Done,
    /// A piece for the choice with this index.
    Choice(usize, Box<Piece>),
    /// An SSE comment.
    Comment(String),
    /// An event with an error object that carries this message.
    Error(String),
    /// An event with this payload, and this type if it is not empty.
    Data {
        /// The SSE event type.
        event: String,
        /// The payload, as it is.
        data: String,
    },
    /// Bytes, as they are.
    Raw(Vec<u8>),
}

/// What follows the last step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The body ends as its framing says.
    Whole,
    /// The connection is closed (FIN), the body is not ended.
    Close,
    /// The connection is reset (RST), the body is not ended.
    Reset,
}

/// Embeds the ready scenarios: one file each, named like the scenario.
macro_rules! ready {
    ($($name:literal),+ $(,)?) => {
        /// The ready scenarios, by name.
        const READY: &[(&str, &str)] = &[$(($name, include_str!(concat!("scenarios/", $name, ".toml")))),+];
    };
}

ready![
    "steady",
    "slow_first_token",
    "stall",
    "whole_body",
    "block_buffered",
    "timer_flushed",
    "gzip_unflushed",
    "truncated",
    "error_in_200",
    "reasoning",
    "tool_call",
];

impl Scenario {
    /// Reads a scenario. `name` is the model name that picks it, and what errors call the file.
    pub fn from_toml(name: &str, text: &str) -> Result<Self, ScenarioError> {
        read::scenario(name, name, text)
    }

    /// Reads a scenario from a file; its name is the file's, without `.toml`.
    pub fn from_file(path: &Path) -> Result<Self, ScenarioError> {
        let shown = path.display().to_string();
        let text =
            fs::read_to_string(path).map_err(|error| ScenarioError::unreadable(&shown, &error))?;
        let name = path
            .file_stem()
            .map_or_else(|| shown.clone(), |stem| stem.to_string_lossy().into_owned());
        read::scenario(&name, &shown, &text)
    }

    /// The scenarios that come with the program, in the order of the README.
    pub fn ready() -> Vec<Self> {
        let read = |&(name, text): &(&str, &str)| {
            Self::from_toml(name, text)
                .unwrap_or_else(|error| panic!("ready scenario (a unit test reads each): {error}"))
        };
        READY.iter().map(read).collect()
    }

    /// A ready scenario by its name, or else the scenario in the file of that name.
    pub fn find(name_or_file: &str) -> Result<Self, ScenarioError> {
        if let Some(ready) = Self::ready()
            .into_iter()
            .find(|scenario| scenario.is_called(name_or_file))
        {
            return Ok(ready);
        }
        match Self::from_file(Path::new(name_or_file)) {
            Err(error) if error.is(io::ErrorKind::NotFound) => {
                let names: Vec<&str> = READY.iter().map(|(name, _)| *name).collect();
                Err(ScenarioError::unknown(name_or_file, &names.join(", ")))
            }
            other => other,
        }
    }

    /// Whether a model of this name means this scenario; `-` and `_` are the same, and so are `A` and `a`.
    pub fn is_called(&self, model: &str) -> bool {
        let plain = |byte: u8| {
            if byte == b'-' {
                b'_'
            } else {
                byte.to_ascii_lowercase()
            }
        };
        self.name.len() == model.len()
            && self
                .name
                .bytes()
                .zip(model.bytes())
                .all(|(a, b)| plain(a) == plain(b))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ready_scenario_is_valid_and_says_what_it_is() {
        let ready = Scenario::ready();
        assert_eq!(ready.len(), 11);
        for scenario in ready {
            assert!(!scenario.about.is_empty(), "{}", scenario.name);
            assert!(!scenario.steps.is_empty(), "{}", scenario.name);
        }
    }

    #[test]
    fn a_name_is_found_in_either_spelling() {
        assert_eq!(
            Scenario::find("Slow-First-Token").unwrap().name,
            "slow_first_token"
        );
        let error = Scenario::find("quick").unwrap_err().to_string();
        assert!(
            error.contains("'quick'") && error.contains("steady, slow_first_token"),
            "{error}"
        );
    }

    #[test]
    fn the_example_file_is_valid_and_takes_its_name_from_the_file() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/scenario-example.toml");
        assert_eq!(Scenario::from_file(&path).unwrap().name, "scenario-example");
    }
}
