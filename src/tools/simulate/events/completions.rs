//! OpenAI's legacy completions: API reference, "completions/object" (`text_completion`). Text only: reasoning and
//! arguments are text, and there is no role.

use serde_json::json;

use super::chat::usage;
use super::{Answer, Dialect, Pen, Said, error_object, quoted};

/// The dialect; an event says all by itself, so there is nothing to remember.
pub(super) struct Completions;

impl Dialect for Completions {
    fn say(&mut self, said: &Said, answer: &Answer, pen: &mut Pen) {
        let payload = match said {
            Said::Role | Said::Tool(_) => return,
            Said::Content(text) | Said::Reasoning(text) | Said::Arguments(text) => {
                event(answer, text, None)
            }
            Said::Finish(reason) => event(answer, "", Some(reason)),
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
            let text = match index {
                0 => format!("{}{}", answer.reasoning, choice.content),
                _ => choice.content.clone(),
            };
            let finish = choice.finish.as_deref().unwrap_or("stop");
            json!({"index": index, "text": text, "logprobs": null, "finish_reason": finish})
        });
        format!(
            r#"{},"choices":{},"usage":{}}}"#,
            opening(answer),
            choices.collect::<serde_json::Value>(),
            usage(answer)
        )
    }

    fn error(&self, status: u16, message: &str) -> String {
        error_object(status, message)
    }
}

fn event(answer: &Answer, text: &str, finish: Option<&str>) -> String {
    let finish = finish.map_or_else(|| "null".to_owned(), quoted);
    format!(
        r#"{},"choices":[{{"index":{},"text":{},"finish_reason":{finish}}}]}}"#,
        opening(answer),
        answer.choice,
        quoted(text)
    )
}

fn opening(answer: &Answer) -> String {
    format!(
        r#"{{"id":"cmpl-simulated-{}","object":"text_completion","created":{},"model":{}"#,
        answer.number,
        answer.created,
        quoted(&answer.model)
    )
}
