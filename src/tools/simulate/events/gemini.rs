//! Google's Gemini: API reference, `streamGenerateContent` and `GenerateContentResponse`. Each event is a response of its
//! own, with the counts so far. A call of a function comes whole. There is no end marker; a JSON array is closed.

use super::{Answer, Dialect, Pen, Said, quoted};

/// The dialect.
#[derive(Default)]
pub(super) struct Gemini {
    /// A call was begun and not written yet.
    call: bool,
}

impl Dialect for Gemini {
    fn say(&mut self, said: &Said, answer: &Answer, pen: &mut Pen) {
        if self.call && !matches!(said, Said::Arguments(_)) {
            self.call = false;
            // a call that was begun before this one, or the last if this is none
            let tools =
                &answer.tools[..answer.tools.len() - usize::from(matches!(said, Said::Tool(_)))];
            if let Some(tool) = tools.last() {
                pen.event("", &response(answer, &call(tool), None));
            }
        }
        match said {
            Said::Content(text) => pen.event("", &response(answer, &part(text), None)),
            Said::Reasoning(text) => pen.event("", &response(answer, &thought(text), None)),
            Said::Finish(reason) => pen.event("", &response(answer, &part(""), Some(reason))),
            Said::Error(message) => {
                pen.event("", &self.error(answer.error_status(), message));
            }
            Said::Tool(_) => self.call = true,
            Said::Done => pen.end(),
            Said::Role | Said::Arguments(_) | Said::Usage => {}
        }
    }

    fn whole(&self, answer: &Answer) -> String {
        let mut parts = Vec::new();
        if !answer.reasoning.is_empty() {
            parts.push(thought(&answer.reasoning));
        }
        if !answer.content().is_empty() {
            parts.push(part(answer.content()));
        }
        parts.extend(answer.tools.iter().map(call));
        response(answer, &parts.join(","), Some(answer.finish()))
    }

    fn error(&self, status: u16, message: &str) -> String {
        let name = match status {
            400 => "INVALID_ARGUMENT",
            404 => "NOT_FOUND",
            429 => "RESOURCE_EXHAUSTED",
            503 => "UNAVAILABLE",
            _ => "INTERNAL",
        };
        format!(
            r#"{{"error":{{"code":{status},"message":{},"status":"{name}"}}}}"#,
            quoted(message)
        )
    }
}

fn part(text: &str) -> String {
    format!(r#"{{"text":{}}}"#, quoted(text))
}

fn thought(text: &str) -> String {
    format!(r#"{{"text":{},"thought":true}}"#, quoted(text))
}

fn call(tool: &super::answer::Tool) -> String {
    format!(
        r#"{{"functionCall":{{"name":{},"args":{}}}}}"#,
        quoted(&tool.name),
        tool.object()
    )
}

fn response(answer: &Answer, parts: &str, finish: Option<&str>) -> String {
    let finish = match finish {
        None => String::new(),
        Some(reason) => format!(r#""finishReason":{},"#, quoted(finish_reason(reason))),
    };
    let (prompt, output) = (answer.prompt_tokens, answer.tokens);
    let thoughts = answer.reasoning_tokens;
    format!(
        r#"{{"candidates":[{{"content":{{"parts":[{parts}],"role":"model"}},{finish}"index":{}}}],"usageMetadata":{{"promptTokenCount":{prompt},"candidatesTokenCount":{},"totalTokenCount":{},"thoughtsTokenCount":{thoughts}}},"modelVersion":{},"responseId":"simulated-{}"}}"#,
        answer.choice,
        output - thoughts,
        prompt + output,
        quoted(&answer.model),
        answer.number
    )
}

/// OpenAI's finish reasons in Gemini's words; others stay as they are.
fn finish_reason(finish: &str) -> &str {
    match finish {
        "stop" | "tool_calls" => "STOP",
        "length" => "MAX_TOKENS",
        "content_filter" => "SAFETY",
        other => other,
    }
}
