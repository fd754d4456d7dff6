//! Ollama's own API: its API documentation, "Generate a chat message" and "Generate a completion". One JSON object a
//! line; the last has `done: true`, the counts, and how long things took, in nanoseconds. A call of a function comes
//! whole.

use std::time::Duration;

use super::{Answer, Dialect, Pen, Said, quoted};

/// The dialect of both paths.
pub(super) struct Ollama {
    chat: bool,
    /// A call was begun and not written yet.
    call: bool,
}

impl Ollama {
    /// `/api/chat`.
    pub fn chat() -> Self {
        Self {
            chat: true,
            call: false,
        }
    }

    /// `/api/generate`, which has no calls: their arguments are text.
    pub fn generate() -> Self {
        Self {
            chat: false,
            call: false,
        }
    }

    /// The part that differs: a message or a response.
    fn text(&self, content: &str, thinking: &str, more: &str) -> String {
        let thinking = match thinking {
            "" => String::new(),
            thinking => format!(r#","thinking":{}"#, quoted(thinking)),
        };
        match self.chat {
            true => format!(
                r#""message":{{"role":"assistant","content":{}{thinking}{more}}}"#,
                quoted(content)
            ),
            false => format!(r#""response":{}{thinking}"#, quoted(content)),
        }
    }
}

impl Dialect for Ollama {
    fn say(&mut self, said: &Said, answer: &Answer, pen: &mut Pen) {
        if self.call && !matches!(said, Said::Arguments(_)) {
            self.call = false;
            // a call that was begun before this one, or the last if this is none
            let tools =
                &answer.tools[..answer.tools.len() - usize::from(matches!(said, Said::Tool(_)))];
            let text = self.text("", "", &calls(&tools[tools.len().saturating_sub(1)..]));
            pen.event("", &line(answer, &text));
        }
        let text = match said {
            Said::Role => self.text("", "", ""),
            Said::Content(text) => self.text(text, "", ""),
            Said::Reasoning(text) => self.text("", text, ""),
            Said::Tool(_) => {
                self.call = self.chat;
                return;
            }
            Said::Arguments(_) if self.chat => return,
            Said::Arguments(text) => self.text(text, "", ""),
            Said::Finish(_) | Said::Usage => return,
            Said::Done => return pen.event("", &last(answer, &self.text("", "", ""))),
            Said::Error(message) => return pen.event("", &self.error(500, message)),
        };
        pen.event("", &line(answer, &text));
    }

    fn whole(&self, answer: &Answer) -> String {
        let more = match answer.tools.is_empty() {
            true => String::new(),
            false => calls(&answer.tools),
        };
        last(
            answer,
            &self.text(answer.content(), &answer.reasoning, &more),
        )
    }

    fn error(&self, _: u16, message: &str) -> String {
        format!(r#"{{"error":{}}}"#, quoted(message))
    }
}

fn calls(tools: &[super::answer::Tool]) -> String {
    let call = |tool: &super::answer::Tool| {
        format!(
            r#"{{"function":{{"name":{},"arguments":{}}}}}"#,
            quoted(&tool.name),
            tool.object()
        )
    };
    let calls: Vec<String> = tools.iter().map(call).collect();
    format!(r#","tool_calls":[{}]"#, calls.join(","))
}

fn line(answer: &Answer, text: &str) -> String {
    format!("{},{text},\"done\":false}}", opening(answer))
}

fn last(answer: &Answer, text: &str) -> String {
    let first = answer.first_token.unwrap_or(answer.at);
    let nanos = Duration::as_nanos;
    format!(
        r#"{},{text},"done":true,"done_reason":{},"total_duration":{},"load_duration":0,"prompt_eval_count":{},"prompt_eval_duration":{},"eval_count":{},"eval_duration":{}}}"#,
        opening(answer),
        quoted(answer.finish()),
        nanos(&answer.at),
        answer.prompt_tokens,
        nanos(&first),
        answer.tokens,
        nanos(&answer.at.saturating_sub(first))
    )
}

fn opening(answer: &Answer) -> String {
    let now = Duration::from_secs(answer.created) + answer.at;
    let now = i64::try_from(now.as_micros()).unwrap_or(i64::MAX);
    // a time that no calendar holds is told as 1970
    let now = jiff::Timestamp::from_microsecond(now).unwrap_or_default();
    format!(
        r#"{{"model":{},"created_at":"{now}""#,
        quoted(&answer.model)
    )
}
