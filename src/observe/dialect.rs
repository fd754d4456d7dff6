//! Dialects: what one event of an API carries.
//!
//! The proxy never keeps or shows a text: an event is turned into what kinds of output it has and
//! how many characters. A dialect is one file with a reader and one arm in [`read`]; its table says
//! what counts as output. What its shape is, [`shape::of`] tells.
//!
//! Sources: the API references of OpenAI, Anthropic, Ollama and Google, and what servers really
//! send: `reasoning_content` (DeepSeek, vLLM), `reasoning` (OpenRouter, Groq, newer vLLM),
//! `thinking`, Azure's content filter fields, llama.cpp's `timings` and `prompt_progress`.

mod chat;
mod completions;
mod error;
mod gemini;
mod lenient;
mod messages;
mod ollama;
mod openai;
mod parse;
mod responses;
pub mod shape;
mod text;
mod usage;

use serde::{Deserialize, Serialize};

use super::record::{ServerSays, Tokens};
pub use error::InBandError;
use lenient::Lenient;
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
        let ends = |with: &str| path.ends_with(with);
        if ends("/chat/completions") {
            Some(Api::Chat)
        } else if ends("/completions") {
            Some(Api::Completions)
        } else if ends("/responses") {
            Some(Api::Responses)
        } else if ends("/messages") && !path.contains("/threads/") {
            Some(Api::Messages)
        } else if ends("/api/chat") {
            Some(Api::OllamaChat)
        } else if ends("/api/generate") {
            Some(Api::OllamaGenerate)
        } else if ends(":streamGenerateContent") || ends(":generateContent") {
            Some(Api::Gemini)
        } else {
            None
        }
    }

    /// Whether the path asks for a stream, where it is the path that says so: Google's.
    pub fn stream_by_path(path: &str) -> Option<bool> {
        let method = path.trim_end_matches('/').rsplit_once(':')?.1;
        match method {
            "streamGenerateContent" => Some(true),
            "generateContent" => Some(false),
            _ => None,
        }
    }

    /// Whether a request that does not say gets a stream: Ollama's do.
    pub fn streams_by_default(self) -> bool {
        matches!(self, Api::OllamaChat | Api::OllamaGenerate)
    }

    /// Whether its streams end with a marker of their own.
    pub fn has_end_marker(self) -> bool {
        self.has_protocol_end() && self != Api::Gemini
    }

    /// Whether its streams say when they are over, by a marker or by a finish reason, so that a
    /// stream that does not is not known to be whole.
    pub fn has_protocol_end(self) -> bool {
        match self {
            Api::Chat | Api::Completions | Api::Responses | Api::Messages => true,
            Api::OllamaChat | Api::OllamaGenerate | Api::Gemini => true,
            Api::Sse | Api::Ndjson | Api::Json | Api::Binary | Api::Websocket | Api::Other => false,
        }
    }

    /// Whether its events are JSON, so that anything else in them is an error.
    pub fn is_json(self) -> bool {
        self != Api::Sse
    }
}

/// What a piece of output is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Channel {
    /// Thoughts.
    Reasoning,
    /// What the user is to get, as text.
    Answer,
    /// The same as sound or picture, whose length says nothing of a text.
    Data,
    /// Names and arguments of tool calls.
    Tool,
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

    /// Adds another.
    fn merge(&mut self, other: Output) {
        self.present |= other.present;
        self.chars += other.chars;
    }
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
}

impl<'a> Payload<'a> {
    /// Of data that should be JSON and is not.
    fn not_json() -> Self {
        Payload {
            not_json: true,
            ..Payload::default()
        }
    }

    /// Whether it carries generated output on any channel.
    pub fn is_token(&self) -> bool {
        self.reasoning.present || self.answer.present || self.tool.present
    }

    /// Adds `text` on a channel; an empty one, or none, adds nothing.
    fn add(&mut self, channel: Channel, text: Option<&Text<'_>>) {
        match channel {
            Channel::Reasoning => self.reasoning.add(text),
            Channel::Answer => self.answer.add(text),
            Channel::Tool => self.tool.add(text),
            Channel::Data => self.answer.present |= text.is_some_and(|data| !data.is_empty()),
        }
    }

    /// Adds the output of a part of it.
    fn add_output(&mut self, part: &Payload<'_>) {
        self.reasoning.merge(part.reasoning);
        self.answer.merge(part.answer);
        self.tool.merge(part.tool);
        self.whole_tool_call |= part.whole_tool_call;
    }

    /// Adds a choice, by its index, and whether it is finished.
    fn add_choice(&mut self, index: Option<u64>, finish_reason: Lenient<Text<'a>>) {
        let bit = 1u64 << index.unwrap_or(0).min(63);
        self.choices |= bit;
        if finish_reason.non_empty().is_some() {
            self.finished |= bit;
        }
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
    if data == b"[DONE]" {
        return Payload {
            done: true,
            ..Payload::default()
        };
    }
    let mut payload = match api {
        Api::Responses => responses::read(name, data),
        Api::Messages => messages::read(name, data),
        Api::OllamaChat | Api::OllamaGenerate => ollama::read(data),
        Api::Gemini => gemini::read(data),
        // What is unknown is read as OpenAI's, whose shape most others imitate.
        _ => openai::read(data),
    };
    if name == b"error" && payload.error.is_none() {
        payload.error = Some(InBandError::default());
    }
    payload
}

/// The type of an event: what its payload says, or else what its `event` field says. Servers leave
/// out the one or the other.
fn kind_or_name<'a>(kind: &'a Lenient<Text<'_>>, name: &'a [u8]) -> &'a [u8] {
    match kind.bytes() {
        [] => name,
        kind => kind,
    }
}

#[cfg(test)]
mod tests;
