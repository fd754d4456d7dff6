//! Dialects: what one event of an API carries.
//!
//! The proxy never keeps or shows a text: an event is turned into what kinds of output it has and
//! how many characters. A dialect is one file with a reader and one arm in [`read`].
//!
//! Sources: the OpenAI API reference (chat completion chunk, completion, usage), and what servers
//! really send: `reasoning_content` (DeepSeek, vLLM), `reasoning` (OpenRouter, Groq, newer vLLM),
//! `thinking`, Azure's content filter fields, llama.cpp's `timings` and `prompt_progress`.

mod chat;
mod completions;
mod lenient;
mod openai;
mod text;

use serde::{Deserialize, Serialize};

use super::record::{ServerSays, Tokens};
pub use text::Text;

/// Which API a body speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Api {
    /// OpenAI chat completions.
    Chat,
    /// OpenAI legacy completions.
    Completions,
    /// OpenAI responses.
    Responses,
    /// Anthropic messages.
    Messages,
    /// Ollama's own chat.
    OllamaChat,
    /// Ollama's own generate.
    OllamaGenerate,
    /// Google's generateContent.
    Gemini,
    /// An event stream with an unknown payload.
    Sse,
    /// JSON lines with an unknown payload.
    Ndjson,
    /// One JSON value.
    Json,
    /// Audio, images and the like.
    Binary,
    /// An upgraded connection.
    Websocket,
    /// Anything else.
    Other,
}

impl Api {
    /// The API that a request's path (without query) asks for.
    pub fn of_path(path: &str) -> Option<Api> {
        let path = path.trim_end_matches('/');
        if path.ends_with("/chat/completions") {
            Some(Api::Chat)
        } else if path.ends_with("/completions") {
            Some(Api::Completions)
        } else {
            None
        }
    }

    /// Whether its streams end with a marker of their own, so that a stream without one is not
    /// known to be whole.
    pub fn has_end_marker(self) -> bool {
        matches!(self, Api::Chat | Api::Completions)
    }

    /// Whether its events are JSON, so that anything else in them is an error.
    pub fn is_json(self) -> bool {
        self != Api::Sse
    }
}

/// Generated output of one kind in one event.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Output {
    /// Whether there is any.
    pub present: bool,
    /// Its Unicode scalars (0 for sound).
    pub chars: u64,
}

impl Output {
    /// Adds `text`; an empty one, or none, adds nothing.
    pub fn add(&mut self, text: Option<&Text<'_>>) {
        let Some(text) = text.filter(|text| !text.is_empty()) else {
            return;
        };
        self.present = true;
        self.chars += text.chars();
    }
}

/// An error object inside a stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InBandError {
    /// The server's type or code of it, when it looks like one.
    pub kind: Option<String>,
}

/// What one event carries.
#[derive(Debug, Default)]
pub struct Payload<'a> {
    /// Thoughts.
    pub reasoning: Output,
    /// What the user is to get: content, refusal, audio, completion text.
    pub answer: Output,
    /// Names and arguments of tool calls.
    pub tool: Output,
    /// A tool call came with its name and its arguments at once.
    pub whole_tool_call: bool,
    /// The answer's text, to recognise texts that repeat all that came before.
    pub text: Option<Text<'a>>,
    /// Choices in it, one bit each (index 63 stands for all above).
    pub choices: u64,
    /// Those of them that came with a finish reason.
    pub finished: u64,
    /// A text that is empty or null, and nothing else.
    pub empty_delta: bool,
    /// The end marker.
    pub done: bool,
    /// A ping, or data that is empty or only a comment.
    pub keepalive: bool,
    /// It should be JSON and is not.
    pub not_json: bool,
    /// An error object.
    pub error: Option<InBandError>,
    /// Token counts.
    pub usage: Option<Tokens>,
    /// What the server says of its own times.
    pub server_says: Option<ServerSays>,
    /// The model that answers.
    pub model: Option<Text<'a>>,
    /// The answer's id.
    pub id: Option<Text<'a>>,
    /// Fields of Azure's content filter.
    pub azure_filter: bool,
    /// The API whose shape it has.
    pub shape: Option<Api>,
}

impl Payload<'_> {
    /// Whether it carries generated output on any channel.
    pub fn is_token(&self) -> bool {
        self.reasoning.present || self.answer.present || self.tool.present
    }
}

/// Reads one event of `api`: its SSE type (empty where there is none) and its data.
pub fn read<'a>(api: Api, name: &[u8], data: &'a [u8]) -> Payload<'a> {
    let data = data.trim_ascii();
    if name == b"ping" || matches!(data.first(), None | Some(b':')) {
        return Payload {
            keepalive: true,
            ..Payload::default()
        };
    }
    let mut payload = match api {
        // What is unknown is read as OpenAI's, whose shape most others imitate.
        Api::Chat | Api::Completions | Api::Sse | Api::Ndjson | Api::Json => openai::read(data),
        // A dialect of its own gets its arm here.
        _ => Payload::default(),
    };
    if name == b"error" && payload.error.is_none() {
        payload.error = Some(InBandError::default());
    }
    payload
}

/// Keeps a server's type or code only if it looks like one: no free text gets into a record.
fn as_code(text: &str) -> Option<String> {
    const LONGEST: usize = 64;
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b':' | b'/');
    let is_code = (1..=LONGEST).contains(&text.len()) && text.bytes().all(plain);
    is_code.then(|| text.to_owned())
}

#[cfg(test)]
mod tests;
