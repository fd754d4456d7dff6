//! OpenAI's chat completions: API reference, "chat/streaming" (`chat.completion.chunk`); `reasoning_content` as vLLM,
//! SGLang and DeepSeek send it.

use serde_json::json;

use super::{Answer, Dialect, Pen, Said, error_object, quoted};

/// The dialect; an event says all by itself, so there is nothing to remember.
pub(super) struct Chat;

impl Dialect for Chat {
    fn say(&mut self, said: &Said, answer: &Answer, pen: &mut Pen) {
        let delta = |delta: &str| event(answer, delta, None);
        let payload = match said {
            Said::Role => delta(r#"{"role":"assistant","content":""}"#),
            Said::Content(text) => delta(&format!(r#"{{"content":{}}}"#, quoted(text))),
            Said::Reasoning(text) => delta(&format!(r#"{{"reasoning_content":{}}}"#, quoted(text))),
            Said::Tool(name) => {
                let index = answer.tools.len() - 1; // the answer has this one in it
                delta(&format!(
                    r#"{{"tool_calls":[{{"index":{index},"id":"{}","type":"function","function":{{"name":{},"arguments":""}}}}]}}"#,
                    answer.call_id(index),
                    quoted(name)
                ))
            }
            Said::Arguments(text) => delta(&format!(
                r#"{{"tool_calls":[{{"index":{},"function":{{"arguments":{}}}}}]}}"#,
                answer.tools.len().saturating_sub(1),
                quoted(text)
            )),
            Said::Finish(reason) => event(answer, "{}", Some(reason)),
            Said::Usage => format!(
                r#"{},"choices":[],"usage":{}}}"#,
                opening(answer),
                usage(answer)
            ),
            Said::Done => "[DONE]".to_owned(),
            Said::Error(message) => error_object(answer.error_status(), message),
        };
        pen.event("", &payload);
    }

    fn whole(&self, answer: &Answer) -> String {
        let choices = answer.choices.iter().enumerate().map(|(index, choice)| {
            let mut message = json!({"role": "assistant", "content": choice.content});
            if index == 0 && !answer.reasoning.is_empty() {
                message["reasoning_content"] = json!(answer.reasoning);
            }
            if index == 0 && !answer.tools.is_empty() {
                message["content"] = json!(null);
                message["tool_calls"] = calls(answer);
            }
            let finish = choice.finish.as_deref().unwrap_or("stop");
            json!({"index": index, "message": message, "finish_reason": finish})
        });
        format!(
            r#"{{"id":"chatcmpl-simulated-{}","object":"chat.completion","created":{},"model":{},"choices":{},"usage":{}}}"#,
            answer.number,
            answer.created,
            quoted(&answer.model),
            choices.collect::<serde_json::Value>(),
            usage(answer)
        )
    }

    fn error(&self, status: u16, message: &str) -> String {
        error_object(status, message)
    }
}

/// An event with one choice.
fn event(answer: &Answer, delta: &str, finish: Option<&str>) -> String {
    let finish = finish.map_or_else(|| "null".to_owned(), quoted);
    format!(
        r#"{},"choices":[{{"index":{},"delta":{delta},"finish_reason":{finish}}}]}}"#,
        opening(answer),
        answer.choice
    )
}

/// The start of each event, the same for all.
fn opening(answer: &Answer) -> String {
    format!(
        r#"{{"id":"chatcmpl-simulated-{}","object":"chat.completion.chunk","created":{},"model":{}"#,
        answer.number,
        answer.created,
        quoted(&answer.model)
    )
}

/// The token counts, as both of OpenAI's older APIs tell them.
pub(super) fn usage(answer: &Answer) -> String {
    let (prompt, completion) = (answer.prompt_tokens, answer.tokens);
    format!(
        r#"{{"prompt_tokens":{prompt},"completion_tokens":{completion},"total_tokens":{}}}"#,
        prompt + completion
    )
}

fn calls(answer: &Answer) -> serde_json::Value {
    let call = |(index, tool): (usize, &super::answer::Tool)| json!({"id": answer.call_id(index), "type": "function", "function": {"name": tool.name, "arguments": tool.arguments}});
    answer.tools.iter().enumerate().map(call).collect()
}
