//! The dialects: any event of any API is read without a panic, and what is said of it holds together. What is valid JSON
//! says the same however it is spelt.

#![no_main]

use std::io;

use dripline_fuzz::observe::dialect::{Api, Payload, Text, read};
use libfuzzer_sys::fuzz_target;
use serde::Serialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::ser::Formatter;

const APIS: [Api; 13] = [
    Api::Chat,
    Api::Completions,
    Api::Responses,
    Api::Messages,
    Api::OllamaChat,
    Api::OllamaGenerate,
    Api::Gemini,
    Api::Sse,
    Api::Ndjson,
    Api::Json,
    Api::Binary,
    Api::Websocket,
    Api::Other,
];

/// Longest model name, answer id or error code that goes into a record, bytes.
const LABEL: usize = 256;

// A byte for the API, the event's type up to a line end, its data.
fuzz_target!(|input: &[u8]| {
    let Some((&api, event)) = input.split_first() else {
        return;
    };
    let api = APIS[usize::from(api) % APIS.len()];
    let end = event.iter().position(|&byte| byte == b'\n');
    let Some((name, [_, data @ ..])) = end.and_then(|end| event.split_at_checked(end)) else {
        return;
    };
    let payload = read(api, name, data);
    check(&payload, data);
    let blanks = [b" \t", data, b"\r "].concat();
    assert_eq!(Said::of(&read(api, name, &blanks)), Said::of(&payload));

    if serde_json::from_slice::<IgnoredAny>(data).is_ok() {
        assert!(!payload.not_json, "it is JSON");
    }
    if let Ok(value) = serde_json::from_slice::<Value>(data) {
        for spelt in [value.to_string(), escaped(&value)] {
            let again = read(api, name, spelt.as_bytes());
            assert_eq!(Said::of(&again), Said::of(&payload), "{spelt}");
        }
    }
});

/// What must hold for every payload of `data`.
fn check(payload: &Payload<'_>, data: &[u8]) {
    let outputs = [payload.reasoning, payload.answer, payload.tool];
    assert_eq!(
        payload.is_token(),
        outputs.iter().any(|output| output.present)
    );
    for output in outputs {
        assert!(output.present || output.chars == 0);
    }
    let chars: u64 = outputs.iter().map(|output| output.chars).sum();
    assert!(chars <= data.len() as u64, "{chars} characters");
    if let Some(text) = &payload.text {
        assert!(!text.is_empty() && payload.answer.chars >= text.chars());
    }
    assert_eq!(payload.finished & !payload.choices, 0);
    assert!(!payload.empty_delta || !payload.is_token());
    if payload.not_json {
        assert!(!payload.is_token() && !payload.done && payload.usage.is_none());
    }
    for text in [&payload.model, &payload.id].into_iter().flatten() {
        let label = text.to_label(LABEL);
        assert!(label.len() <= LABEL && !label.contains(char::is_control));
    }
    if let Some(code) = payload.error.as_ref().and_then(|error| error.kind.as_ref()) {
        assert!(code.len() <= LABEL && !code.contains([' ', '"', '\n']));
    }
    if let Some(says) = payload.server_says {
        for ms in [
            says.queue_ms,
            says.prompt_ms,
            says.generation_ms,
            says.per_token_ms,
            says.processing_ms,
        ] {
            assert!(ms.is_none_or(|ms| ms.is_finite() && ms >= 0.0));
        }
    }
}

/// What an event says, in a form that can be compared. Times are left out: text of a float may be read one digit off.
#[derive(Debug, PartialEq)]
struct Said(String, [Option<Vec<u8>>; 3]);

impl Said {
    fn of(payload: &Payload<'_>) -> Said {
        let bytes = |text: &Option<Text<'_>>| text.as_ref().map(|text| text.as_bytes().to_vec());
        let texts = [&payload.text, &payload.model, &payload.id].map(bytes);
        let Payload {
            reasoning,
            answer,
            tool,
            whole_tool_call,
            choices,
            finished,
            empty_delta,
            done,
            keepalive,
            not_json,
            error,
            usage,
            azure_filter,
            ..
        } = payload;
        let rest = format!(
            "{reasoning:?} {answer:?} {tool:?} {whole_tool_call} {choices} {finished} {empty_delta} {done} {keepalive} \
             {not_json} {error:?} {usage:?} {azure_filter}"
        );
        Said(rest, texts)
    }
}

/// The same JSON with every character of its strings as an escape.
fn escaped(value: &Value) -> String {
    let mut json = Vec::new();
    let mut serializer = serde_json::Serializer::with_formatter(&mut json, Escapes);
    value.serialize(&mut serializer).unwrap();
    String::from_utf8(json).unwrap()
}

struct Escapes;

impl Formatter for Escapes {
    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        json: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut units = fragment.encode_utf16();
        units.try_for_each(|unit| write!(json, "\\u{unit:04x}"))
    }
}
