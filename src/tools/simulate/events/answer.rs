//! What an answer has said so far, the same in all dialects.

use std::time::Duration;

use super::Said;

/// One answer as it grows.
pub(in crate::tools::simulate) struct Answer {
    /// Names it; counts requests.
    pub number: u64,
    pub model: String,
    /// Seconds since 1970.
    pub created: u64,
    pub prompt_tokens: u64,
    /// The status of the response, which an error repeats.
    pub status: u16,
    /// The time of the script at which the present piece is said.
    pub at: Duration,
    /// The time of the first output.
    pub first_token: Option<Duration>,
    /// Which choice speaks, from 0.
    pub choice: usize,
    pub choices: Vec<Choice>,
    pub reasoning: String,
    /// The calls of functions.
    pub tools: Vec<Tool>,
    pub error: Option<String>,
    /// Events that carried output, and those among them that carried reasoning.
    pub tokens: u64,
    pub reasoning_tokens: u64,
}

/// One of several texts.
#[derive(Default, Clone)]
pub(in crate::tools::simulate) struct Choice {
    pub content: String,
    pub finish: Option<String>,
}

/// A call of a function.
pub(in crate::tools::simulate) struct Tool {
    pub name: String,
    /// JSON as text, as far as it has come.
    pub arguments: String,
}

impl Answer {
    /// `number` names the answer, `created` is its time in seconds since 1970.
    pub fn new(number: u64, model: &str, created: u64, prompt_tokens: u64, status: u16) -> Self {
        Self {
            number,
            model: model.to_owned(),
            created,
            prompt_tokens,
            status,
            at: Duration::ZERO,
            first_token: None,
            choice: 0,
            choices: vec![Choice::default()],
            reasoning: String::new(),
            tools: Vec::new(),
            error: None,
            tokens: 0,
            reasoning_tokens: 0,
        }
    }

    /// Takes in what is said next.
    pub(super) fn add(&mut self, said: &Said) {
        if self.choices.len() <= self.choice {
            self.choices.resize(self.choice + 1, Choice::default());
        }
        let choice = &mut self.choices[self.choice];
        let output = match said {
            Said::Content(text) => {
                choice.content.push_str(text);
                !text.is_empty()
            }
            Said::Reasoning(text) => {
                self.reasoning.push_str(text);
                self.reasoning_tokens += u64::from(!text.is_empty());
                !text.is_empty()
            }
            Said::Tool(name) => {
                self.tools.push(Tool {
                    name: (*name).to_owned(),
                    arguments: String::new(),
                });
                true
            }
            Said::Arguments(text) => {
                if let Some(tool) = self.tools.last_mut() {
                    tool.arguments.push_str(text);
                }
                !text.is_empty()
            }
            Said::Finish(reason) => {
                choice.finish = Some((*reason).to_owned());
                false
            }
            Said::Error(message) => {
                self.error = Some((*message).to_owned());
                false
            }
            Said::Role | Said::Usage | Said::Done => false,
        };
        if output {
            self.tokens += 1;
            self.first_token.get_or_insert(self.at);
        }
    }

    /// The text of the first choice.
    pub fn content(&self) -> &str {
        &self.choices[0].content
    }

    /// The finish reason of the first choice, in OpenAI's words.
    pub fn finish(&self) -> &str {
        self.choices[0].finish.as_deref().unwrap_or("stop")
    }

    /// The status that an error tells: the response's own, or 500 inside a good one.
    pub fn error_status(&self) -> u16 {
        if self.status < 400 { 500 } else { self.status }
    }

    /// The id of the call with that index.
    pub fn call_id(&self, index: usize) -> String {
        format!("call-simulated-{}-{index}", self.number)
    }
}

impl Tool {
    /// The arguments as a JSON object, for APIs that give them whole; `{}` where they are none.
    pub fn object(&self) -> &str {
        match serde_json::from_str::<serde_json::Value>(&self.arguments) {
            Ok(serde_json::Value::Object(_)) => &self.arguments,
            _ => "{}",
        }
    }
}
