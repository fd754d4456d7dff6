//! Chat completions: `choices[].delta`.

use serde::Deserialize;

use super::Payload;
use super::text::{Label, Text};

/// What a choice adds in one event.
#[derive(Deserialize)]
pub struct Delta<'a> {
    #[serde(borrow, default)]
    role: Label<'a>,
    #[serde(borrow)]
    content: Option<Text<'a>>,
    #[serde(borrow)]
    reasoning_content: Option<Text<'a>>,
    #[serde(borrow)]
    reasoning: Option<Text<'a>>,
    #[serde(borrow)]
    thinking: Option<Text<'a>>,
    #[serde(borrow)]
    refusal: Option<Text<'a>>,
    #[serde(borrow)]
    audio: Option<Audio<'a>>,
    #[serde(borrow)]
    tool_calls: Option<Vec<ToolCall<'a>>>,
    #[serde(borrow)]
    function_call: Option<Function<'a>>,
}

#[derive(Deserialize)]
struct Audio<'a> {
    #[serde(borrow)]
    data: Option<Text<'a>>,
    #[serde(borrow)]
    transcript: Option<Text<'a>>,
}

#[derive(Deserialize)]
struct ToolCall<'a> {
    #[serde(borrow)]
    function: Option<Function<'a>>,
}

#[derive(Deserialize)]
struct Function<'a> {
    #[serde(borrow)]
    name: Option<Text<'a>>,
    #[serde(borrow)]
    arguments: Option<Text<'a>>,
}

impl<'a> Delta<'a> {
    /// Adds what it carries to `payload`. True when it carries nothing at all, not even a role.
    pub fn add_to(self, payload: &mut Payload<'a>) -> bool {
        // Servers in the middle of a rename send the same thought under two names.
        let thought = [&self.reasoning_content, &self.reasoning, &self.thinking];
        let thought = thought.into_iter().flatten().find(|text| !text.is_empty());
        payload.reasoning.add(thought);
        payload.answer.add(self.refusal.as_ref());
        if let Some(audio) = &self.audio {
            payload.answer.add(audio.transcript.as_ref());
            payload.answer.present |= audio.data.as_ref().is_some_and(|data| !data.is_empty());
        }
        let calls = self
            .tool_calls
            .iter()
            .flatten()
            .filter_map(|call| call.function.as_ref());
        for function in calls.chain(&self.function_call) {
            function.add_to(payload);
        }
        payload.answer.add(self.content.as_ref());
        if let Some(text) = self.content.filter(|text| !text.is_empty()) {
            payload.text = Some(text);
        }
        !payload.is_token() && self.role.non_empty().is_none()
    }
}

impl Function<'_> {
    fn add_to(&self, payload: &mut Payload<'_>) {
        let is_there = |text: &Option<Text<'_>>| text.as_ref().is_some_and(|text| !text.is_empty());
        payload.tool.add(self.name.as_ref());
        payload.tool.add(self.arguments.as_ref());
        payload.whole_tool_call |= is_there(&self.name) && is_there(&self.arguments);
    }
}
