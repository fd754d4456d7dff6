//! Chat completions: `choices[].delta`.

use serde::de::{IgnoredAny, MapAccess, SeqAccess};

use super::lenient::{Add, Leaf, Lenient, Sum, object};
use super::text::Text;
use super::{Output, Payload};

/// What a choice adds in one event.
#[derive(Default)]
pub struct Delta<'a> {
    role: Lenient<Text<'a>>,
    content: Lenient<Content<'a>>,
    reasoning_content: Lenient<Text<'a>>,
    reasoning: Lenient<Text<'a>>,
    thinking: Lenient<Text<'a>>,
    refusal: Lenient<Text<'a>>,
    audio: Lenient<Audio<'a>>,
    tool_calls: Lenient<Sum<Tools>>,
    function_call: Lenient<Function<'a>>,
}

object!(Delta<'a> {
    b"role" => role,
    b"content" => content,
    b"reasoning_content" => reasoning_content,
    b"reasoning" => reasoning,
    b"thinking" => thinking,
    b"refusal" => refusal,
    b"audio" => audio,
    b"tool_calls" => tool_calls,
    b"function_call" => function_call,
});

/// A text, or a list of parts of which some are thoughts (Mistral's Magistral).
#[derive(Default)]
struct Content<'a> {
    text: Text<'a>,
    thinking: Output,
}

impl<'a> Leaf<'a> for Content<'a> {
    fn of_text(text: Text<'a>) -> Option<Self> {
        Some(Content {
            text,
            ..Content::default()
        })
    }

    fn of_list<A: SeqAccess<'a>>(mut parts: A) -> Result<Option<Self>, A::Error> {
        let (mut all, mut thinking) = (Vec::new(), Output::default());
        while let Some(Lenient(part)) = parts.next_element::<Lenient<Content<'a>>>()? {
            let part = part.unwrap_or_default();
            all.extend_from_slice(part.text.as_bytes());
            thinking.merge(part.thinking);
        }
        let text = Text::owned(all);
        Ok(Some(Content { text, thinking }))
    }

    fn of_object<A: MapAccess<'a>>(part: A) -> Result<Option<Self>, A::Error> {
        let part = Part::of_object(part)?.unwrap_or_default();
        let mut content = Content {
            text: part.text.0.unwrap_or_default(),
            ..Content::default()
        };
        content.thinking.add(part.thinking.0.as_ref());
        Ok(Some(content))
    }
}

#[derive(Default)]
struct Part<'a> {
    text: Lenient<Text<'a>>,
    thinking: Lenient<Text<'a>>,
}

object!(Part<'a> { b"text" => text, b"thinking" => thinking });

#[derive(Default)]
struct Audio<'a> {
    data: Lenient<Text<'a>>,
    transcript: Lenient<Text<'a>>,
}

object!(Audio<'a> { b"data" => data, b"transcript" => transcript });

/// One call.
#[derive(Default)]
pub struct ToolCall<'a> {
    function: Lenient<Function<'a>>,
}

object!(ToolCall<'a> { b"function" => function });

#[derive(Default)]
struct Function<'a> {
    name: Lenient<Text<'a>>,
    arguments: Lenient<Arguments>,
}

object!(Function<'a> { b"name" => name, b"arguments" => arguments });

/// A string of JSON, or the object itself as some servers send it. Its characters are then not
/// known.
struct Arguments(Output);

impl<'a> Leaf<'a> for Arguments {
    fn of_text(text: Text<'a>) -> Option<Self> {
        let mut output = Output::default();
        output.add(Some(&text));
        Some(Arguments(output))
    }

    fn of_object<A: MapAccess<'a>>(mut object: A) -> Result<Option<Self>, A::Error> {
        let mut output = Output::default();
        while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {
            output.present = true;
        }
        Ok(Some(Arguments(output)))
    }
}

/// All tool calls of one delta.
#[derive(Default)]
pub struct Tools {
    output: Output,
    whole_call: bool,
}

impl Tools {
    fn add_function(&mut self, function: &Function<'_>) {
        let mut name = Output::default();
        name.add(function.name.0.as_ref());
        let arguments = function.arguments.0.as_ref();
        let arguments = arguments.map_or(Output::default(), |arguments| arguments.0);
        self.output.present |= name.present || arguments.present;
        self.output.chars += name.chars + arguments.chars;
        self.whole_call |= name.present && arguments.present;
    }

    /// Adds them to what an event carries.
    pub fn add_to(&self, payload: &mut Payload<'_>) {
        payload.tool.merge(self.output);
        payload.whole_tool_call |= self.whole_call;
    }
}

impl<'a> Add<'a> for Tools {
    type Item = ToolCall<'a>;

    fn add(&mut self, call: ToolCall<'a>) {
        if let Some(function) = call.function.0 {
            self.add_function(&function);
        }
    }
}

impl<'a> Delta<'a> {
    /// Adds what it carries to `payload`. True when it carries nothing at all, not even a role.
    pub fn add_to(self, payload: &mut Payload<'a>) -> bool {
        // Servers in the middle of a rename send the same thought under two names.
        let thought = [&self.reasoning_content, &self.reasoning, &self.thinking];
        let mut thought = thought.into_iter().filter_map(|text| text.0.as_ref());
        payload.reasoning.add(thought.find(|text| !text.is_empty()));
        payload.answer.add(self.refusal.0.as_ref());
        if let Some(audio) = self.audio.0 {
            payload.answer.add(audio.transcript.0.as_ref());
            payload.answer.present |= audio.data.non_empty().is_some();
        }
        let Sum(mut tools) = self.tool_calls.0.unwrap_or_default();
        if let Some(function) = &self.function_call.0 {
            tools.add_function(function);
        }
        tools.add_to(payload);
        let content = self.content.0.unwrap_or_default();
        payload.reasoning.merge(content.thinking);
        payload.answer.add(Some(&content.text));
        if !content.text.is_empty() {
            payload.text = Some(content.text);
        }
        !payload.is_token() && self.role.non_empty().is_none()
    }
}
