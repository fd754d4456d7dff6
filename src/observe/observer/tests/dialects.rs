//! Whole streams of each API, by its path or under another.

use super::support::*;
use crate::observe::record::{Api, End, Flag, Framing, RequestRecord, Timing};

fn typed(kind: &str, more: &str) -> Vec<u8> {
    format!("event: {kind}\ndata: {{\"type\":\"{kind}\"{more}}}\n\n").into_bytes()
}

fn glance(record: &RequestRecord) -> (Option<Api>, End, Option<f64>, Option<f64>, Timing) {
    let api = record.api;
    (
        api,
        record.end,
        record.ttft_ms,
        record.ttfa_ms,
        timing(record),
    )
}

fn messages() -> Script {
    let usage = r#","message":{"id":"msg_1","model":"claude","usage":{"input_tokens":9,"output_tokens":1}}"#;
    chat()
        .path("/v1/messages")
        .at(150.0, typed("message_start", usage))
        .at(
            151.0,
            typed(
                "content_block_start",
                r#","index":0,"content_block":{"type":"thinking","thinking":""}"#,
            ),
        )
        .at(152.0, typed("ping", ""))
}

fn block(delta: &str) -> Vec<u8> {
    typed(
        "content_block_delta",
        &format!(",\"index\":0,\"delta\":{delta}"),
    )
}

#[test]
fn messages_of_anthropic() {
    let thinking = |_| block(r#"{"type":"thinking_delta","thinking":"Hm. "}"#);
    let text = |_| block(r#"{"type":"text_delta","text":"Hi "}"#);
    let script = messages()
        .every(200.0, 25.0, 20, thinking)
        .at(
            680.0,
            block(r#"{"type":"signature_delta","signature":"c2ln"}"#),
        )
        .every(700.0, 25.0, 20, text);
    let end = joined([
        typed("content_block_stop", ""),
        typed(
            "message_delta",
            r#","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":40}"#,
        ),
        typed("message_stop", ""),
    ]);
    let record = script.clone().at(1_200.0, end).end(1_200.0);
    let steady = (
        Some(Api::Messages),
        End::Complete,
        Some(200.0),
        Some(700.0),
        Timing::Steady,
    );
    assert_eq!(glance(&record), steady);
    assert_eq!(
        (record.counts.token_events, record.counts.keepalives),
        (Some(40), Some(1))
    );
    assert_eq!(
        (record.tokens.prompt, record.tokens.completion),
        (Some(9), Some(40))
    );
    assert_eq!((record.flags.len(), record.at.done_ms), (0, Some(1_200.0)));
    assert_eq!(record.response.id.as_deref(), Some("msg_1"));

    let busy = r#","error":{"type":"overloaded_error","message":"busy"}"#;
    let record = script
        .clone()
        .at(1_200.0, typed("error", busy))
        .end(1_200.0);
    assert_eq!(
        (record.end, record.ttft_ms),
        (End::InBandError, Some(200.0))
    );
    let kind = record.error.unwrap().server_type;
    assert_eq!(kind.as_deref(), Some("overloaded_error"));

    // A stop reason and a clean end without the marker; and neither.
    let reason = typed("message_delta", r#","delta":{"stop_reason":"end_turn"}"#);
    let record = script.clone().at(1_200.0, reason).end(1_200.0);
    assert_eq!(
        (record.end, record.flags),
        (End::Complete, vec![Flag::NoDoneMarker])
    );
    assert_eq!(script.end(1_200.0).end, End::EndedWithoutDone);
}

#[test]
fn responses_of_openai() {
    let response = r#","response":{"id":"resp_1","model":"m","usage":null}"#;
    let script = chat()
        .path("/v1/responses")
        .at(
            50.0,
            joined([
                typed("response.created", response),
                typed("response.in_progress", response),
            ]),
        )
        .at(
            60.0,
            typed(
                "response.output_item.added",
                r#","item":{"type":"reasoning"}"#,
            ),
        )
        .every(300.0, 20.0, 10, |_| {
            typed(
                "response.reasoning_summary_text.delta",
                r#","delta":"Hm. ""#,
            )
        })
        .every(500.0, 20.0, 10, |_| {
            typed("response.output_text.delta", r#","delta":"Hi ""#)
        })
        .at(
            700.0,
            typed("response.output_text.done", r#","text":"Hi Hi Hi""#),
        );
    let usage = r#","response":{"id":"resp_1","usage":{"input_tokens":9,"output_tokens":20}}"#;
    for kind in ["response.completed", "response.incomplete"] {
        let record = script.clone().at(710.0, typed(kind, usage)).end(710.0);
        let steady = (
            Some(Api::Responses),
            End::Complete,
            Some(300.0),
            Some(500.0),
            Timing::Steady,
        );
        assert_eq!(glance(&record), steady);
        assert_eq!(
            (record.counts.token_events, record.tokens.completion),
            (Some(20), Some(20))
        );
        assert_eq!(
            (record.response.id.as_deref(), record.flags.len()),
            (Some("resp_1"), 0)
        );
    }
    let failed = r#","response":{"error":{"code":"server_error","message":"x"}}"#;
    let record = script
        .clone()
        .at(710.0, typed("response.failed", failed))
        .end(710.0);
    assert_eq!(record.end, End::InBandError);
    assert_eq!(script.end(710.0).end, End::EndedWithoutDone);
}

#[test]
fn json_lines_of_ollama() {
    let line = |more: &str| format!("{{\"model\":\"m\",{more}}}\n").into_bytes();
    let script = chat()
        .path("/api/chat")
        .asking(r#"{"model":"m"}"#)
        .typed(Some("application/x-ndjson"))
        .at(
            100.0,
            line(r#""message":{"role":"assistant","content":""},"done":false"#),
        )
        .every(300.0, 30.0, 20, |_| {
            line(r#""message":{"content":"Hi "},"done":false"#)
        });
    let last = line(
        r#""message":{"content":""},"done":true,"done_reason":"stop","total_duration":900000000,"eval_count":20"#,
    );
    let record = script.clone().at(900.0, last).end(900.0);
    let steady = (
        Some(Api::OllamaChat),
        End::Complete,
        Some(300.0),
        Some(300.0),
        Timing::Steady,
    );
    assert_eq!(glance(&record), steady);
    assert_eq!(
        (record.counts.empty_deltas, record.flags.len()),
        (Some(1), 0)
    );
    assert_eq!(
        (record.server_says.processing_ms, record.tokens.completion),
        (Some(900.0), Some(20))
    );
    let lost = script
        .clone()
        .at(900.0, line(r#""error":"runner lost""#))
        .end(900.0);
    assert_eq!(lost.end, End::InBandError);
    assert_eq!(script.end(900.0).end, End::EndedWithoutDone);
    // Without `stream` Ollama streams; one whole reply is not what was asked for.
    let whole = chat()
        .path("/api/generate")
        .asking(r#"{"model":"m"}"#)
        .typed(Some("application/json"))
        .at(
            900.0,
            br#"{"model":"m","response":"Hi","done":true,"eval_count":2}"#.to_vec(),
        )
        .end(900.0);
    assert_eq!(
        (whole.end, whole.tokens.completion),
        (End::NotAStream, Some(2))
    );
}

fn gemini(text: &str, more: &str) -> String {
    format!(
        "{{\"candidates\":[{{\"content\":{{\"parts\":[{{\"text\":\"{text}\"}}]}},\"index\":0{more}}}],\"modelVersion\":\"g\"}}"
    )
}

#[test]
fn gemini_as_an_event_stream_and_as_an_array() {
    let path = "/v1beta/models/g-1:streamGenerateContent";
    let stop = r#","finishReason":"STOP""#;
    let stream = chat()
        .path(path)
        .asking(r#"{"contents":[]}"#)
        .every(300.0, 30.0, 20, |_| event(&gemini("Hi ", "")))
        .at(900.0, event(&gemini("", stop)));
    let array = chat()
        .path(path)
        .asking(r#"{"contents":[]}"#)
        .typed(Some("application/json; charset=UTF-8"))
        .at(300.0, format!("[{}\n", gemini("Hi ", "")))
        .every(330.0, 30.0, 19, |_| {
            format!(",\r\n{}\n", gemini("Hi ", "")).into_bytes()
        })
        .at(900.0, format!(",{}", gemini("", stop)));
    let steady = (
        Some(Api::Gemini),
        End::Complete,
        Some(300.0),
        Some(300.0),
        Timing::Steady,
    );
    for record in [
        stream.end(900.0),
        array.clone().at(900.0, *b"\n]\n").end(900.0),
    ] {
        assert_eq!(glance(&record), steady);
        assert_eq!(
            (record.counts.token_events, record.gaps.token.p50_ms),
            (Some(20), Some(30.0))
        );
        assert_eq!(
            (record.flags.as_slice(), record.at.done_ms),
            (&[][..], None)
        );
        assert_eq!(record.request.model.as_deref(), Some("g-1"));
        assert_eq!(record.request.stream, Some(true));
    }
    let open = array.clone().end(900.0);
    assert_eq!(
        (open.end, open.flags),
        (End::Complete, vec![Flag::UnterminatedLastEvent])
    );
    let cut = array.at(950.0, *b",{\"candidates\":[{\"cont").end(950.0);
    assert_eq!(cut.flags, [Flag::UnterminatedLastEvent]);
    // A whole reply to a request for one.
    let whole = chat()
        .path("/v1beta/models/g-1:generateContent")
        .asking("{}")
        .typed(Some("application/json"))
        .reply(|head| head.framing = Some(Framing::Length))
        .at(900.0, gemini("Hi", stop))
        .end(900.0);
    assert_eq!(
        (whole.end, whole.api, whole.counts.events),
        (End::Complete, Some(Api::Gemini), None)
    );
}

#[test]
fn what_comes_counts_more_than_the_path() {
    // An unknown path, and that of another API.
    for path in ["/proxy", "/v1/chat/completions", "/api/chat"] {
        let record = messages()
            .path(path)
            .every(200.0, 25.0, 20, |_| {
                block(r#"{"type":"text_delta","text":"Hi "}"#)
            })
            .at(800.0, typed("message_stop", ""))
            .end(800.0);
        assert_eq!(
            (record.api, record.ttft_ms),
            (Some(Api::Messages), Some(200.0)),
            "{path}"
        );
        assert_eq!((record.end, record.flags.len()), (End::Complete, 0));
    }
    let record = chat()
        .path("/v1/messages")
        .every(200.0, 25.0, 20, |_| word())
        .at(800.0, joined([finish(), done()]))
        .end(800.0);
    assert_eq!((record.api, record.end), (Some(Api::Chat), End::Complete));
}

#[test]
fn a_farewell_for_clients_of_chat_is_no_second_end() {
    let script = messages()
        .every(200.0, 25.0, 20, |_| {
            block(r#"{"type":"text_delta","text":"Hi "}"#)
        })
        .at(800.0, joined([typed("message_stop", ""), done()]));
    let record = script.clone().end(800.0);
    assert_eq!(
        (record.end, record.flags.as_slice()),
        (End::Complete, &[][..])
    );
    assert_eq!(record.counts.done_markers, Some(1));
    let twice = script
        .at(810.0, done())
        .at(820.0, typed("message_stop", ""))
        .end(820.0);
    assert_eq!(twice.flags, [Flag::DoneTwice, Flag::BytesAfterDone]);
}

#[test]
fn lines_of_ollama_under_a_wrong_label_or_none() {
    for label in [None, Some("text/plain"), Some("application/json")] {
        let record = chat()
            .path("/api/chat")
            .asking(r#"{"model":"m"}"#)
            .typed(label)
            .every(300.0, 30.0, 20, |_| {
                b"{\"message\":{\"content\":\"Hi \"},\"done\":false}\n".to_vec()
            })
            .at(900.0, *b"{\"message\":{\"content\":\"\"},\"done\":true}\n")
            .end(900.0);
        assert_eq!(
            (record.end, record.ttft_ms),
            (End::Complete, Some(300.0)),
            "{label:?}"
        );
        assert_eq!(record.flags, [Flag::LabelBodyMismatch], "{label:?}");
    }
}
