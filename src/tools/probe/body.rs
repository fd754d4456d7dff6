//! The request's body and own fields, in the words of each API.

use std::num::NonZeroU32;

use http::HeaderValue;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderName, USER_AGENT};
use serde_json::{Map, Value, json};

use crate::config::probe::ProbeApi;

/// What is asked.
#[derive(Debug, Clone, Copy)]
pub(super) struct Question<'a> {
    pub api: ProbeApi,
    pub model: Option<&'a str>,
    pub prompt: &'a str,
    pub max_tokens: NonZeroU32,
    /// The server's host: OpenAI's own has another name for the longest answer than most that imitate it.
    pub host: &'a str,
}

/// The body, which asks for a stream.
pub(super) fn body(question: Question<'_>) -> Vec<u8> {
    let Question {
        prompt, max_tokens, ..
    } = question;
    let messages = json!([{"role": "user", "content": prompt}]);
    let mut body = match question.api {
        ProbeApi::Chat => {
            let openai = question.host == "openai.com" || question.host.ends_with(".openai.com");
            let limit = match openai {
                true => "max_completion_tokens",
                false => "max_tokens",
            };
            json!({"stream": true, "stream_options": {"include_usage": true}, "messages": messages, limit: max_tokens})
        }
        ProbeApi::Completions => {
            json!({"stream": true, "stream_options": {"include_usage": true}, "prompt": prompt, "max_tokens": max_tokens})
        }
        ProbeApi::Responses => {
            json!({"stream": true, "input": prompt, "max_output_tokens": max_tokens})
        }
        ProbeApi::Messages => {
            json!({"stream": true, "messages": messages, "max_tokens": max_tokens})
        }
        ProbeApi::Ollama => {
            json!({"stream": true, "messages": messages, "options": {"num_predict": max_tokens}})
        }
        ProbeApi::OllamaGenerate => {
            json!({"stream": true, "prompt": prompt, "options": {"num_predict": max_tokens}})
        }
    };
    let fields: Option<&mut Map<String, Value>> = body.as_object_mut();
    if let (Some(fields), Some(model)) = (fields, question.model) {
        fields.insert("model".to_owned(), model.into());
    }
    body.to_string().into_bytes()
}

/// The fields that a request of this API has, but for the key.
pub(super) fn fields(api: ProbeApi) -> Vec<(HeaderName, HeaderValue)> {
    let text = HeaderValue::from_static;
    let mut fields = vec![
        (
            USER_AGENT,
            text(concat!("dripline/", env!("CARGO_PKG_VERSION"))),
        ),
        (CONTENT_TYPE, text("application/json")),
    ];
    match api {
        ProbeApi::Ollama | ProbeApi::OllamaGenerate => {}
        _ => fields.push((ACCEPT, text("text/event-stream"))),
    }
    if api == ProbeApi::Messages {
        let version = HeaderName::from_static("anthropic-version");
        fields.push((version, text("2023-06-01")));
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(api: ProbeApi, host: &str) -> Value {
        let question = Question {
            api,
            model: Some("m"),
            prompt: "hi",
            max_tokens: NonZeroU32::new(7).unwrap(),
            host,
        };
        serde_json::from_slice(&body(question)).unwrap()
    }

    #[test]
    fn each_api_gets_its_own_words_and_is_asked_for_a_stream() {
        for (api, pointer, limit) in [
            (ProbeApi::Chat, "/messages/0/content", "/max_tokens"),
            (ProbeApi::Completions, "/prompt", "/max_tokens"),
            (ProbeApi::Responses, "/input", "/max_output_tokens"),
            (ProbeApi::Messages, "/messages/0/content", "/max_tokens"),
            (
                ProbeApi::Ollama,
                "/messages/0/content",
                "/options/num_predict",
            ),
            (ProbeApi::OllamaGenerate, "/prompt", "/options/num_predict"),
        ] {
            let body = asked(api, "127.0.0.1");
            assert_eq!(body.pointer(pointer), Some(&json!("hi")), "{api:?}");
            assert_eq!(body.pointer(limit), Some(&json!(7)), "{api:?}");
            assert_eq!(
                (&body["stream"], &body["model"]),
                (&json!(true), &json!("m"))
            );
        }
    }

    #[test]
    fn openai_itself_gets_its_newer_word_for_the_longest_answer() {
        let body = asked(ProbeApi::Chat, "api.openai.com");
        assert_eq!(body["max_completion_tokens"], 7);
        assert!(body.get("max_tokens").is_none());
        assert!(
            asked(ProbeApi::Chat, "notopenai.com")
                .get("max_tokens")
                .is_some()
        );
    }
}
