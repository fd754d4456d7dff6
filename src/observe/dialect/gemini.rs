//! Google's `streamGenerateContent`: `GenerateContentResponse` objects, as an event stream or as the
//! items of one JSON array (Gemini API reference, "Generating content").
//!
//! | key | carries |
//! |---|---|
//! | `candidates[].content.parts[].text` | output: an answer; reasoning where `thought` is true |
//! | `….functionCall` | output: a whole tool call |
//! | `….inlineData`, `.executableCode`, `.codeExecutionResult` | output: an answer |
//! | `candidates[].finishReason`, `promptFeedback.blockReason` | the end of a candidate |
//! | `usageMetadata` | counts |
//! | `error` | an error |

use super::error::InBandError;
use super::lenient::{Add, Lenient, Sum, object};
use super::parse::parse;
use super::text::Text;
use super::{Channel, Payload};
use crate::observe::record::Tokens;

#[derive(Default)]
struct Chunk<'a> {
    candidates: Lenient<Sum<Candidates<'a>>>,
    feedback: Lenient<Feedback<'a>>,
    usage: Lenient<Usage>,
    model: Lenient<Text<'a>>,
    id: Lenient<Text<'a>>,
    error: Lenient<InBandError>,
}

object!(Chunk<'a> {
    b"candidates" => candidates,
    b"promptFeedback" => feedback,
    b"usageMetadata" => usage,
    b"modelVersion" => model,
    b"responseId" => id,
    b"error" => error,
});

#[derive(Default)]
struct Feedback<'a> {
    block_reason: Lenient<Text<'a>>,
}

object!(Feedback<'a> { b"blockReason" => block_reason });

#[derive(Default)]
struct Usage {
    prompt: Lenient<u64>,
    candidates: Lenient<u64>,
    thoughts: Lenient<u64>,
    cached: Lenient<u64>,
}

object!(Usage {
    b"promptTokenCount" => prompt,
    b"candidatesTokenCount" => candidates,
    b"thoughtsTokenCount" => thoughts,
    b"cachedContentTokenCount" => cached,
});

#[derive(Default)]
struct Candidate<'a> {
    index: Lenient<u64>,
    content: Lenient<Content<'a>>,
    finish_reason: Lenient<Text<'a>>,
}

object!(Candidate<'a> {
    b"index" => index,
    b"content" => content,
    b"finishReason" => finish_reason,
});

#[derive(Default)]
struct Content<'a> {
    parts: Lenient<Sum<Parts<'a>>>,
}

object!(Content<'a> { b"parts" => parts });

#[derive(Default)]
struct Part<'a> {
    text: Lenient<Text<'a>>,
    thought: Lenient<bool>,
    call: Lenient<Call<'a>>,
    data: Lenient<Data<'a>>,
    code: Lenient<Code<'a>>,
    result: Lenient<Code<'a>>,
}

object!(Part<'a> {
    b"text" => text,
    b"thought" => thought,
    b"functionCall" => call,
    b"inlineData" => data,
    b"executableCode" => code,
    b"codeExecutionResult" => result,
});

#[derive(Default)]
struct Call<'a> {
    name: Lenient<Text<'a>>,
}

object!(Call<'a> { b"name" => name });

#[derive(Default)]
struct Data<'a> {
    data: Lenient<Text<'a>>,
}

object!(Data<'a> { b"data" => data });

#[derive(Default)]
struct Code<'a> {
    code: Lenient<Text<'a>>,
    output: Lenient<Text<'a>>,
}

object!(Code<'a> { b"code" => code, b"output" => output });

/// All candidates of one chunk.
#[derive(Default)]
struct Candidates<'a>(Payload<'a>);

impl<'a> Add<'a> for Candidates<'a> {
    type Item = Candidate<'a>;

    fn add(&mut self, candidate: Candidate<'a>) {
        let parts = candidate.content.0.unwrap_or_default().parts.0;
        let Sum(Parts {
            payload: parts,
            empty,
        }) = parts.unwrap_or_default();
        let payload = &mut self.0;
        payload.add_output(&parts);
        payload.empty_delta |= empty;
        payload.add_choice(candidate.index.0, candidate.finish_reason);
    }
}

/// All parts of one candidate.
#[derive(Default)]
struct Parts<'a> {
    payload: Payload<'a>,
    empty: bool,
}

impl<'a> Add<'a> for Parts<'a> {
    type Item = Part<'a>;

    fn add(&mut self, part: Part<'a>) {
        let payload = &mut self.payload;
        self.empty |= part.text.0.as_ref().is_some_and(Text::is_empty);
        let channel = match part.thought.0 {
            Some(true) => Channel::Reasoning,
            _ => Channel::Answer,
        };
        payload.add(channel, part.text.0.as_ref());
        if let Some(call) = part.call.0 {
            payload.add(Channel::Tool, call.name.0.as_ref());
            payload.whole_tool_call |= payload.tool.present;
        }
        if let Some(data) = part.data.0 {
            payload.add(Channel::Data, data.data.0.as_ref());
        }
        for code in [part.code.0, part.result.0].into_iter().flatten() {
            payload.add(Channel::Answer, code.code.0.as_ref());
            payload.add(Channel::Answer, code.output.0.as_ref());
        }
    }
}

/// Reads one chunk.
pub fn read(data: &[u8]) -> Payload<'_> {
    let Some(chunk) = parse::<Chunk<'_>>(data) else {
        return Payload::not_json();
    };
    let Sum(Candidates(mut payload)) = chunk.candidates.0.unwrap_or_default();
    if let Some(reason) = chunk
        .feedback
        .0
        .and_then(|feedback| feedback.block_reason.0)
    {
        payload.add_choice(None, Lenient(Some(reason)));
    }
    payload.empty_delta &= !payload.is_token() && payload.finished == 0;
    payload.usage = chunk.usage.0.and_then(|usage| usage.tokens());
    payload.model = chunk.model.non_empty();
    payload.id = chunk.id.non_empty();
    payload.error = chunk.error.0;
    payload
}

impl Usage {
    /// Google counts thoughts beside the candidates; other servers include them.
    fn tokens(&self) -> Option<Tokens> {
        let parts = [self.candidates.0, self.thoughts.0];
        let tokens = Tokens {
            prompt: self.prompt.0,
            completion: parts.into_iter().flatten().reduce(|a, b| a + b),
            reasoning: self.thoughts.0,
            cached: self.cached.0,
        };
        (tokens.prompt.is_some() || tokens.completion.is_some()).then_some(tokens)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(parts: &str) -> String {
        format!(r#"{{"candidates":[{{"content":{{"role":"model","parts":{parts}}},"index":0}}]}}"#)
    }

    #[test]
    fn parts_are_output_of_their_channel() {
        let channels = |data: &str| {
            let payload = read(data.as_bytes());
            let (reasoning, answer, tool) = (payload.reasoning, payload.answer, payload.tool);
            (
                reasoning.present,
                answer.present,
                tool.present,
                payload.empty_delta,
            )
        };
        let of = |list: &str| channels(&parts(list));
        assert_eq!(of(r#"[{"text":"Hi"}]"#), (false, true, false, false));
        assert_eq!(
            of(r#"[{"text":"Hm","thought":true},{"text":"Hi"}]"#),
            (true, true, false, false)
        );
        assert_eq!(
            of(r#"[{"functionCall":{"name":"f","args":{}}}]"#),
            (false, false, true, false)
        );
        assert_eq!(
            of(r#"[{"inlineData":{"mimeType":"image/png","data":"AA"}}]"#),
            (false, true, false, false)
        );
        assert_eq!(
            of(r#"[{"executableCode":{"code":"1+1"}}]"#),
            (false, true, false, false)
        );
        assert_eq!(of(r#"[{"text":""}]"#), (false, false, false, true));
        assert_eq!(
            of(r#"[{"thoughtSignature":"c2ln"}]"#),
            (false, false, false, false)
        );
        for none in [
            r#"{"candidates":null}"#,
            r#"{"candidates":[{}]}"#,
            r#"{"usageMetadata":{}}"#,
            "[]",
        ] {
            assert_eq!(channels(none), (false, false, false, false), "{none}");
        }
    }

    #[test]
    fn ends_counts_and_names() {
        let payload = read(
            br#"{"candidates":[{"content":{"parts":[{"text":""}]},"finishReason":"STOP","index":0},{"index":1}],
            "usageMetadata":{"promptTokenCount":7,"candidatesTokenCount":5,"thoughtsTokenCount":3,"cachedContentTokenCount":2},
            "modelVersion":"m","responseId":"r"}"#,
        );
        assert_eq!(
            (payload.choices, payload.finished, payload.empty_delta),
            (0b11, 0b1, false)
        );
        let tokens = payload.usage.unwrap();
        assert_eq!(
            (tokens.completion, tokens.reasoning, tokens.cached),
            (Some(8), Some(3), Some(2))
        );
        assert_eq!(payload.model.unwrap().to_label(9), "m");
        let blocked = read(br#"{"promptFeedback":{"blockReason":"SAFETY"}}"#);
        assert_eq!((blocked.choices, blocked.finished), (1, 1));
        let error = read(br#"{"error":{"code":503,"message":"x","status":"UNAVAILABLE"}}"#).error;
        assert_eq!(error.unwrap().kind.as_deref(), Some("UNAVAILABLE"));
    }
}
