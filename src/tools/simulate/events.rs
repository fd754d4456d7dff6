//! Pieces of a script as the bytes that an OpenAI-style server sends for them, in both of its streaming APIs.
//!
//! Shapes: OpenAI API reference, "chat/streaming" (`chat.completion.chunk`) and "completions/object" (`text_completion`);
//! `reasoning_content` as vLLM, SGLang and DeepSeek send it. Keys stand in the order in which those servers write them.

use std::io::Write as _;

use serde_json::json;

use super::scenario::Piece;

/// The endless texts of `"word"` and `"reasoning"`.
const WORDS: &str = "Each word of this answer was written by a simulated server at the moment its scenario names and no model \
    took part in it so please judge the timing and not the prose";
const THOUGHTS: &str =
    "The script says to think first so these words stand where thoughts would be";

/// Which API a request used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Api {
    /// `/v1/chat/completions`.
    Chat,
    /// `/v1/completions`, which has text only.
    Completions,
}

/// Says one answer, piece by piece, and remembers what it said.
pub(super) struct Speaker {
    api: Api,
    /// The start of each event, the same for all: id, object, time, model.
    opening: String,
    model: String,
    number: u64,
    created: u64,
    prompt_tokens: u64,
    words: Cycle,
    thoughts: Cycle,
    content: String,
    reasoning: String,
    /// Name and arguments of each call.
    tools: Vec<(String, String)>,
    finish: Option<String>,
    error: Option<String>,
    /// Events that carried output.
    tokens: u64,
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
    /// `number` names the answer, `created` is its time in seconds since 1970.
    pub fn new(api: Api, model: &str, number: u64, created: u64, prompt_tokens: u64) -> Self {
        let (kind, object) = match api {
            Api::Chat => ("chatcmpl", "chat.completion.chunk"),
            Api::Completions => ("cmpl", "text_completion"),
        };
        let opening = format!(
            r#"{{"id":"{kind}-simulated-{number}","object":"{object}","created":{created},"model":{}"#,
            quoted(model)
        );
        Self {
            api,
            opening,
            model: model.to_owned(),
            number,
            created,
            prompt_tokens,
            words: Cycle::new(WORDS),
            thoughts: Cycle::new(THOUGHTS),
            content: String::new(),
            reasoning: String::new(),
            tools: Vec::new(),
            finish: None,
            error: None,
            tokens: 0,
        }
    }

    /// Appends the bytes of `piece` to `out`; some pieces have none in some API.
    pub fn say(&mut self, piece: &Piece, out: &mut Vec<u8>) {
        let event = match piece {
            Piece::Role => match self.api {
                Api::Chat => self.delta(r#"{"role":"assistant","content":""}"#, None),
                Api::Completions => return,
            },
            Piece::Word => {
                let word = self.words.next();
                self.content(&word)
            }
            Piece::ReasoningWord => {
                let word = self.thoughts.next();
                self.reasoning(&word)
            }
            Piece::Content(text) => self.content(text),
            Piece::Reasoning(text) => self.reasoning(text),
            Piece::Tool(name) => match self.tool(name) {
                Some(event) => event,
                None => return,
            },
            Piece::Arguments(text) => self.arguments(text),
            Piece::Finish(reason) => {
                self.finish = Some(reason.clone());
                let delta = match self.api {
                    Api::Chat => "{}",
                    Api::Completions => r#""""#,
                };
                self.delta(delta, Some(reason))
            }
            Piece::Usage => {
                format!(
                    r#"{},"choices":[],"usage":{}}}"#,
                    self.opening,
                    self.usage()
                )
            }
            Piece::Done => "[DONE]".to_owned(),
            Piece::Error(message) => {
                self.error = Some(message.clone());
                error_object(500, "server_error", message)
            }
            Piece::Data { event, data } => {
                if !event.is_empty() {
                    out.extend_from_slice(format!("event: {event}\n").as_bytes());
                }
                data.replace('\n', "\ndata: ")
            }
            Piece::Comment(text) => {
                // a Vec takes every byte
                let _ = write!(out, ": {text}\n\n");
                return;
            }
            Piece::Raw(bytes) => return out.extend_from_slice(bytes),
        };
        let _ = write!(out, "data: {event}\n\n");
    }

    /// All that was said as one answer: status and JSON, for a request without `stream`.
    pub fn whole(&self) -> (u16, String) {
        if let Some(message) = &self.error {
            return (500, error_object(500, "server_error", message));
        }
        let finish = self.finish.as_deref().unwrap_or("stop");
        let (kind, object, choice) = match self.api {
            Api::Completions => {
                let choice = json!({"index": 0, "text": self.content, "logprobs": null, "finish_reason": finish});
                ("cmpl", "text_completion", choice)
            }
            Api::Chat => {
                let mut message = json!({"role": "assistant", "content": self.content});
                if !self.reasoning.is_empty() {
                    message["reasoning_content"] = json!(self.reasoning);
                }
                if !self.tools.is_empty() {
                    message["content"] = json!(null);
                    message["tool_calls"] = self.calls();
                }
                (
                    "chatcmpl",
                    "chat.completion",
                    json!({"index": 0, "message": message, "finish_reason": finish}),
                )
            }
        };
        let body = format!(
            r#"{{"id":"{kind}-simulated-{}","object":"{object}","created":{},"model":{},"choices":[{choice}],"usage":{}}}"#,
            self.number,
            self.created,
            quoted(&self.model),
            self.usage()
        );
        (200, body)
    }

    fn content(&mut self, text: &str) -> String {
        self.tokens += u64::from(!text.is_empty());
        self.content.push_str(text);
        match self.api {
            Api::Chat => self.delta(&format!(r#"{{"content":{}}}"#, quoted(text)), None),
            Api::Completions => self.delta(&quoted(text), None),
        }
    }

    fn reasoning(&mut self, text: &str) -> String {
        if self.api == Api::Completions {
            return self.content(text);
        }
        self.tokens += u64::from(!text.is_empty());
        self.reasoning.push_str(text);
        self.delta(
            &format!(r#"{{"reasoning_content":{}}}"#, quoted(text)),
            None,
        )
    }

    fn tool(&mut self, name: &str) -> Option<String> {
        let index = self.tools.len();
        self.tools.push((name.to_owned(), String::new()));
        if self.api == Api::Completions {
            return None;
        }
        self.tokens += 1;
        let function = format!(r#"{{"name":{},"arguments":""}}"#, quoted(name));
        let id = self.call_id(index);
        let call =
            format!(r#"{{"index":{index},"id":"{id}","type":"function","function":{function}}}"#);
        Some(self.delta(&format!(r#"{{"tool_calls":[{call}]}}"#), None))
    }

    fn arguments(&mut self, text: &str) -> String {
        if self.api == Api::Completions {
            return self.content(text);
        }
        self.tokens += u64::from(!text.is_empty());
        let index = self.tools.len().saturating_sub(1);
        if let Some((_, arguments)) = self.tools.last_mut() {
            arguments.push_str(text);
        }
        let call = format!(
            r#"{{"index":{index},"function":{{"arguments":{}}}}}"#,
            quoted(text)
        );
        self.delta(&format!(r#"{{"tool_calls":[{call}]}}"#), None)
    }

    /// An event with one choice: the `delta` of a chat, the `text` of a completion.
    fn delta(&self, delta: &str, finish: Option<&str>) -> String {
        let key = match self.api {
            Api::Chat => "delta",
            Api::Completions => "text",
        };
        let finish = finish.map_or_else(|| "null".to_owned(), quoted);
        format!(
            r#"{},"choices":[{{"index":0,"{key}":{delta},"finish_reason":{finish}}}]}}"#,
            self.opening
        )
    }

    fn usage(&self) -> String {
        let (prompt, completion) = (self.prompt_tokens, self.tokens);
        let total = prompt + completion;
        format!(
            r#"{{"prompt_tokens":{prompt},"completion_tokens":{completion},"total_tokens":{total}}}"#
        )
    }

    fn calls(&self) -> serde_json::Value {
        let call = |(index, (name, arguments)): (usize, &(String, String))| json!({"id": self.call_id(index), "type": "function", "function": {"name": name, "arguments": arguments}});
        self.tools.iter().enumerate().map(call).collect()
    }

    fn call_id(&self, index: usize) -> String {
        format!("call-simulated-{}-{index}", self.number)
    }
}

/// OpenAI's shape of an error.
pub(super) fn error_object(code: u16, kind: &str, message: &str) -> String {
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
