//! Anthropic's Messages: API documentation, "Streaming messages". Content comes in blocks, each opened and stopped; the
//! end is `message_stop`, and `message_delta` before it carries the stop reason and the usage.

use super::{Answer, Dialect, Pen, Said, quoted};

/// The dialect, and where in the message it is.
#[derive(Default)]
pub(super) struct Messages {
    begun: bool,
    /// The block that is open.
    open: Option<Block>,
    /// Blocks so far.
    blocks: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Block {
    Text,
    Thinking,
    Tool,
}

impl Dialect for Messages {
    fn say(&mut self, said: &Said, answer: &Answer, pen: &mut Pen) {
        if let Said::Error(message) = said {
            return pen.event("error", &self.error(answer.error_status(), message));
        }
        self.begin(answer, pen);
        match said {
            Said::Content(text) => {
                self.block(Block::Text, r#"{"type":"text","text":""}"#, pen);
                self.delta("text_delta", "text", text, pen);
            }
            Said::Reasoning(text) => {
                let start = r#"{"type":"thinking","thinking":"","signature":""}"#;
                self.block(Block::Thinking, start, pen);
                self.delta("thinking_delta", "thinking", text, pen);
            }
            Said::Tool(name) => {
                self.stop(pen);
                let start = format!(
                    r#"{{"type":"tool_use","id":"{}","name":{},"input":{{}}}}"#,
                    call_id(answer, answer.tools.len() - 1),
                    quoted(name)
                );
                self.block(Block::Tool, &start, pen);
            }
            Said::Arguments(text) => self.delta("input_json_delta", "partial_json", text, pen),
            Said::Finish(reason) => {
                self.stop(pen);
                let payload = format!(
                    r#"{{"type":"message_delta","delta":{{"stop_reason":{},"stop_sequence":null}},"usage":{{"output_tokens":{}}}}}"#,
                    quoted(stop_reason(reason)),
                    answer.tokens
                );
                pen.event("message_delta", &payload);
            }
            Said::Done => {
                self.stop(pen);
                pen.event("message_stop", r#"{"type":"message_stop"}"#);
            }
            Said::Role | Said::Usage | Said::Error(_) => {}
        }
    }

    fn whole(&self, answer: &Answer) -> String {
        let mut content = Vec::new();
        if !answer.reasoning.is_empty() {
            content.push(format!(
                r#"{{"type":"thinking","thinking":{},"signature":"{SIGNATURE}"}}"#,
                quoted(&answer.reasoning)
            ));
        }
        if !answer.content().is_empty() {
            content.push(format!(
                r#"{{"type":"text","text":{}}}"#,
                quoted(answer.content())
            ));
        }
        content.extend(answer.tools.iter().enumerate().map(|(index, tool)| {
            format!(
                r#"{{"type":"tool_use","id":"{}","name":{},"input":{}}}"#,
                call_id(answer, index),
                quoted(&tool.name),
                tool.object()
            )
        }));
        message(
            answer,
            &content.join(","),
            &quoted(stop_reason(answer.finish())),
            answer.tokens,
        )
    }

    fn error(&self, status: u16, message: &str) -> String {
        let kind = match status {
            429 => "rate_limit_error",
            529 => "overloaded_error",
            400..=499 => "invalid_request_error",
            _ => "api_error",
        };
        format!(
            r#"{{"type":"error","error":{{"type":"{kind}","message":{}}}}}"#,
            quoted(message)
        )
    }
}

/// What stands where a real server signs its thoughts.
const SIGNATURE: &str = "c2ltdWxhdGVk";

impl Messages {
    /// Opens the message, once.
    fn begin(&mut self, answer: &Answer, pen: &mut Pen) {
        if !std::mem::replace(&mut self.begun, true) {
            let message = message(answer, "", "null", 1);
            pen.event(
                "message_start",
                &format!(r#"{{"type":"message_start","message":{message}}}"#),
            );
        }
    }

    /// Makes `block` the open one, opened by `start`.
    fn block(&mut self, block: Block, start: &str, pen: &mut Pen) {
        if self.open == Some(block) {
            return;
        }
        self.stop(pen);
        self.open = Some(block);
        let payload = format!(
            r#"{{"type":"content_block_start","index":{},"content_block":{start}}}"#,
            self.blocks
        );
        pen.event("content_block_start", &payload);
    }

    fn delta(&self, kind: &str, key: &str, text: &str, pen: &mut Pen) {
        let payload = format!(
            r#"{{"type":"content_block_delta","index":{},"delta":{{"type":"{kind}","{key}":{}}}}}"#,
            self.blocks,
            quoted(text)
        );
        pen.event("content_block_delta", &payload);
    }

    /// Stops the open block; thoughts are signed first.
    fn stop(&mut self, pen: &mut Pen) {
        let Some(block) = self.open.take() else {
            return;
        };
        if block == Block::Thinking {
            self.delta("signature_delta", "signature", SIGNATURE, pen);
        }
        let payload = format!(r#"{{"type":"content_block_stop","index":{}}}"#, self.blocks);
        pen.event("content_block_stop", &payload);
        self.blocks += 1;
    }
}

fn message(answer: &Answer, content: &str, stop_reason: &str, output_tokens: u64) -> String {
    format!(
        r#"{{"id":"msg_simulated_{}","type":"message","role":"assistant","model":{},"content":[{content}],"stop_reason":{stop_reason},"stop_sequence":null,"usage":{{"input_tokens":{},"output_tokens":{output_tokens}}}}}"#,
        answer.number,
        quoted(&answer.model),
        answer.prompt_tokens
    )
}

fn call_id(answer: &Answer, index: usize) -> String {
    format!("toolu_simulated_{}_{index}", answer.number)
}

/// OpenAI's finish reasons in Anthropic's words; others stay as they are.
fn stop_reason(finish: &str) -> &str {
    match finish {
        "stop" => "end_turn",
        "length" => "max_tokens",
        "tool_calls" => "tool_use",
        "content_filter" => "refusal",
        other => other,
    }
}
