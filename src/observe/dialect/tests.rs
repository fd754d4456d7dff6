use super::*;

fn chat(delta: &str) -> String {
    format!(
        r#"{{"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{{"index":0,"delta":{delta},"finish_reason":null}}]}}"#
    )
}

fn is_token(data: &str) -> bool {
    let payload = read(Api::Chat, b"", data.as_bytes());
    assert!(!payload.not_json, "{data}");
    payload.is_token()
}

#[test]
fn every_channel_of_output_is_a_token() {
    for delta in [
        r#"{"content":"a"}"#,
        r#"{"content":" "}"#,
        r#"{"role":"assistant","content":"a"}"#,
        r#"{"content":[{"type":"text","text":"a"}]}"#,
        r#"{"content":null,"reasoning_content":"a"}"#,
        r#"{"content":"","reasoning":"a"}"#,
        r#"{"thinking":"a"}"#,
        r#"{"refusal":"a"}"#,
        r#"{"audio":{"data":"AAAA"}}"#,
        r#"{"audio":{"transcript":"a"}}"#,
        r#"{"tool_calls":[{"index":0,"id":"c0","type":"function","function":{"name":"f","arguments":""}}]}"#,
        r#"{"tool_calls":[{"index":0,"function":{"arguments":"{"}}]}"#,
        r#"{"function_call":{"arguments":"{"}}"#,
    ] {
        assert!(is_token(&chat(delta)), "{delta}");
    }
    assert!(is_token(r#"{"choices":[{"text":"a"}]}"#));
    assert!(is_token(r#"{"text":"a"}"#));
}

#[test]
fn nothing_else_is_a_token_or_an_error() {
    for delta in [
        r#"{"role":"assistant","content":""}"#,
        r#"{"content":null,"reasoning_content":null}"#,
        r#"{"content":""}"#,
        r#"{}"#,
        "null",
        r#"{"audio":{"id":"a","expires_at":1}}"#,
        r#"{"tool_calls":[]}"#,
        r#"{"tool_calls":[{"index":0,"id":"c0"}]}"#,
        r#"{"content":7}"#,
    ] {
        assert!(!is_token(&chat(delta)), "{delta}");
    }
    for data in [
        r#"{"choices":null}"#,
        r#"{"id":"x"}"#,
        r#"{"choices":[],"usage":{"prompt_tokens":7}}"#,
        r#"{"choices":{}}"#,
        r#"{"choices":[{"index":0,"finish_reason":null,"content_filter_results":{},"content_filter_offsets":{"check_offset":10}}]}"#,
        r#"{"choices":[{"delta":{"content":""}}],"prompt_progress":{"total":9,"processed":0}}"#,
        "7",
        "[]",
    ] {
        let payload = read(Api::Chat, b"", data.as_bytes());
        assert!(
            !payload.is_token() && !payload.not_json && payload.error.is_none(),
            "{data}"
        );
    }
}

#[test]
fn broken_characters_are_tokens_and_broken_json_is_counted() {
    let data = b"{\"choices\":[{\"delta\":{\"content\":\"\xE9\x82\"}}]}";
    assert!(read(Api::Chat, b"", data).is_token());
    let data = br#"{"choices":[{"delta":{"content":"\ud83c"}}]}"#;
    assert_eq!(read(Api::Chat, b"", data).answer.chars, 1);
    assert!(read(Api::Chat, b"", br#"{"choices":[{"del"#).not_json);
}

#[test]
fn a_field_of_an_unexpected_type_costs_nothing_beside_it() {
    for delta in [
        r#"{"content":"a","tool_calls":[{"function":{"name":7,"arguments":[]}}]}"#,
        r#"{"tool_calls":[{"index":0,"function":{"name":"","arguments":{"city":"Rome"}}}]}"#,
        r#"{"content":"a","reasoning":{}}"#,
        r#"{"thinking":false,"content":"a"}"#,
        r#"{"content":"a","refusal":{}}"#,
        r#"{"content":"a","audio":""}"#,
        r#"{"content":"a","tool_calls":{}}"#,
        r#"{"content":"a","function_call":"f"}"#,
        r#"{"content":"","content":"a"}"#,
        r#"{"content":[null,7,{"text":"a"}]}"#,
        r#"{"content":["a"]}"#,
        r#"{"content":{"type":"text","text":"a"}}"#,
    ] {
        assert!(is_token(&chat(delta)), "{delta}");
    }
    for data in [
        r#"{"choices":[null,{"delta":{"content":"a"}}]}"#,
        r#"{"choices":[{"index":"0","delta":{"content":"a"}}]}"#,
        r#"{"choices":[{"index":-1,"delta":{"content":"a"}}]}"#,
        r#"{"id":"x","choices":[{"delta":{"content":"a"}}],"id":"y"}"#,
    ] {
        assert!(is_token(data), "{data}");
    }
    let whole = r#"{"tool_calls":[{"function":{"name":"f","arguments":{"a":1}}}]}"#;
    let payload = chat(whole);
    assert!(read(Api::Chat, b"", payload.as_bytes()).whole_tool_call);
    let empty = r#"{"tool_calls":[{"function":{"arguments":{}}}]}"#;
    assert!(!is_token(&chat(empty)));
    let last = br#"{"id":"x","id":"y"}"#;
    let id = read(Api::Chat, b"", last).id.unwrap();
    assert_eq!(id.as_bytes(), b"y");
}

#[test]
fn broken_strings_cost_nothing_beside_them() {
    for data in [
        &b"{\"model\":\"caf\xE9\",\"choices\":[{\"delta\":{\"content\":\"a\"}}]}"[..],
        br#"{"id":"\ud83c","choices":[{"delta":{"content":"a"}}]}"#,
        br#"{"id":"\\\ud83c\ud83c\udf0d","choices":[{"delta":{"content":"\udf0d"}}]}"#,
        b"{\"choices\":[{\"delta\":{\"content\":\"\n\"}}]}",
    ] {
        let payload = read(Api::Chat, b"", data);
        let text = String::from_utf8_lossy(data);
        assert!(payload.is_token() && !payload.not_json, "{text}");
        assert_eq!(payload.answer.chars, 1, "{text}");
    }
    let id = br#"{"id":"\\ud83c\ud83c\udf0d\ud83c"}"#;
    let id = read(Api::Chat, b"", id).id.unwrap();
    assert_eq!(id.to_label(64), "\\ud83c🌍\u{fffd}");
    for broken in [r#"{"id":"\"#, r#"{"id":"\ud83"#, r#"{"id":"\é\ud83c"#] {
        assert!(read(Api::Chat, b"", broken.as_bytes()).not_json);
    }
}

#[test]
fn a_bare_text_names_no_api_and_a_typed_one_is_no_token() {
    let bare = read(Api::Sse, b"", br#"{"text":"Al"}"#);
    assert!(bare.is_token() && bare.text.is_some());
    assert_eq!(shape::of(b"", br#"{"text":"Al"}"#), None);
    let completion = br#"{"choices":[{"text":"Al"}]}"#;
    assert_eq!(shape::of(b"", completion), Some(Api::Completions));
    let typed = br#"{"type":"response.output_text.done","text":"Alpha"}"#;
    assert!(!read(Api::Sse, b"", typed).is_token());
}

#[test]
fn many_choices_are_added_up() {
    let choice = r#"{"delta":{"tool_calls":[{},{}]}},"#;
    let data = format!(r#"{{"choices":[{}{{"index":1}}]}}"#, choice.repeat(1_000));
    assert_eq!(read(Api::Chat, b"", data.as_bytes()).choices, 0b11);
}

#[test]
fn characters_are_unicode_scalars() {
    let payload = chat(r#"{"content":"aé那🌍\n"}"#);
    assert_eq!(read(Api::Chat, b"", payload.as_bytes()).answer.chars, 5);
}

#[test]
fn empty_deltas_are_told_from_role_finish_and_progress() {
    let empty = |data: &str| read(Api::Chat, b"", data.as_bytes()).empty_delta;
    assert!(empty(&chat(r#"{"content":""}"#)));
    assert!(empty(&chat(r#"{"content":null,"reasoning_content":null}"#)));
    assert!(empty(r#"{"choices":[{"text":""}]}"#));
    assert!(!empty(&chat(r#"{"role":"assistant","content":""}"#)));
    assert!(!empty(
        r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#
    ));
    assert!(!empty(
        r#"{"choices":[{"delta":{"content":null}}],"prompt_progress":{"total":9}}"#
    ));
    assert!(!empty(r#"{"choices":[]}"#));
}

#[test]
fn markers_pings_and_finish_reasons() {
    let event = |name: &str, data: &'static str| read(Api::Chat, name.as_bytes(), data.as_bytes());
    assert!(event("", "[DONE]").done && event("", "  [DONE]").done);
    assert!(event("", r#"{"type":"ping"}"#).keepalive);
    assert!(
        event("ping", "{}").keepalive && event("", " ").keepalive && event("", ": x").keepalive
    );
    let both = r#"{"choices":[{"index":0,"finish_reason":"stop"},{"index":2,"finish_reason":""}]}"#;
    let payload = event("", both);
    assert_eq!((payload.choices, payload.finished), (0b101, 0b001));
}

#[test]
fn errors_by_every_sign_and_never_their_text() {
    let kind = |name: &str, data: &str| {
        read(Api::Chat, name.as_bytes(), data.as_bytes())
            .error
            .map(|error| error.kind)
    };
    let some = |text: &str| Some(Some(text.to_owned()));
    assert_eq!(
        kind(
            "",
            r#"{"error":{"code":500,"message":"lost","type":"server_error"}}"#
        ),
        some("server_error")
    );
    assert_eq!(kind("", r#"{"error":{"code":429}}"#), some("429"));
    assert_eq!(kind("", r#"{"error":"my secret prompt"}"#), Some(None));
    assert_eq!(
        kind("", r#"{"error":{"type":"my secret prompt"}}"#),
        Some(None)
    );
    assert_eq!(
        kind(
            "",
            r#"{"object":"error","type":"BadRequestError","code":400}"#
        ),
        some("BadRequestError")
    );
    assert_eq!(
        kind(
            "",
            r#"{"type":"error","error":{"type":"overloaded_error","message":"busy"}}"#
        ),
        some("overloaded_error")
    );
    assert_eq!(kind("error", r#"{"message":"x"}"#), Some(None));
    assert_eq!(kind("", r#"{"error":true}"#), Some(None));
    assert_eq!(kind("", r#"{"error":true,"code":"busy"}"#), some("busy"));
    assert_eq!(kind("", r#"{"error":500}"#), some("500"));
    assert_eq!(
        kind("", r#"{"error":[{"message":"x"},{"code":503}]}"#),
        some("503")
    );
    assert_eq!(
        kind(
            "",
            r#"{"error":{"message":"\ud83c","type":"server_error"}}"#
        ),
        some("server_error")
    );
    let latin = b"{\"error\":{\"message\":\"caf\xE9\",\"code\":\"busy\"}}";
    let error = read(Api::Chat, b"", latin).error.unwrap();
    assert_eq!(error.kind.as_deref(), Some("busy"));
    for none in ["null", "false", "0", r#""""#, "{}", "[]"] {
        let data = format!(r#"{{"error":{none},"choices":[]}}"#);
        assert_eq!(kind("", &data), None, "{data}");
    }
}

#[test]
fn usage_and_times_of_the_server() {
    let data = br#"{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":5,"total_tokens":12,
        "completion_tokens_details":{"reasoning_tokens":2},"prompt_tokens_details":{"cached_tokens":4}}}"#;
    let usage = read(Api::Chat, b"", data).usage.unwrap();
    let expected = Tokens {
        prompt: Some(7),
        completion: Some(5),
        reasoning: Some(2),
        cached: Some(4),
    };
    assert_eq!(usage, expected);

    let data = br#"{"choices":[],"timings":{"prompt_ms":12.5,"predicted_ms":300.0,"predicted_per_token_ms":20.1}}"#;
    let says = read(Api::Chat, b"", data).server_says.unwrap();
    assert_eq!(
        (says.prompt_ms, says.generation_ms, says.per_token_ms),
        (Some(12.5), Some(300.0), Some(20.1))
    );

    let data = br#"{"x_groq":{"usage":{"prompt_tokens":1,"completion_tokens":1,"queue_time":0.25,"completion_time":0.5}}}"#;
    let says = read(Api::Chat, b"", data).server_says.unwrap();
    assert_eq!(
        (says.queue_ms, says.generation_ms),
        (Some(250.0), Some(500.0))
    );

    let data = br#"{"usage":{"queue_time":-0.012,"prompt_time":1e305,"completion_time":0.5}}"#;
    let says = read(Api::Chat, b"", data).server_says.unwrap();
    assert_eq!((says.queue_ms, says.prompt_ms), (None, None));
    let data = br#"{"timings":{"prompt_ms":-1.0,"predicted_ms":0.0}}"#;
    let says = read(Api::Chat, b"", data).server_says.unwrap();
    assert_eq!((says.prompt_ms, says.generation_ms), (None, Some(0.0)));
}

#[test]
fn paths_name_their_api_below_any_prefix() {
    assert_eq!(Api::of_path("/v1/chat/completions"), Some(Api::Chat));
    assert_eq!(
        Api::of_path("/openai/deployments/d/chat/completions/"),
        Some(Api::Chat)
    );
    assert_eq!(Api::of_path("/v1/completions"), Some(Api::Completions));
    for (path, api) in [
        ("/v1/responses", Api::Responses),
        ("/anthropic/v1/messages", Api::Messages),
        ("/api/chat", Api::OllamaChat),
        ("/api/chat/completions", Api::Chat),
        ("/ollama/api/generate/", Api::OllamaGenerate),
        ("/v1beta/models/m:streamGenerateContent", Api::Gemini),
        ("/v1beta/models/m:generateContent", Api::Gemini),
    ] {
        assert_eq!(Api::of_path(path), Some(api), "{path}");
    }
    assert_eq!(Api::of_path("/v1/threads/t/messages"), None);
    assert_eq!(Api::of_path("/v1/models"), None);
}

#[test]
fn parts_that_are_thoughts_are_no_answer() {
    let parts =
        chat(r#"{"content":[{"type":"thinking","thinking":[{"type":"text","text":"Hm"}]}]}"#);
    let payload = read(Api::Chat, b"", parts.as_bytes());
    assert_eq!(
        (payload.reasoning.chars, payload.answer.present),
        (2, false)
    );
    let both =
        chat(r#"{"content":[{"type":"thinking","thinking":"Hm"},{"type":"text","text":"Hi!"}]}"#);
    let payload = read(Api::Chat, b"", both.as_bytes());
    assert_eq!((payload.reasoning.chars, payload.answer.chars), (2, 3));
}

#[test]
fn numbers_beyond_all_count_are_none() {
    let data = br#"{"choices":[],"usage":{"prompt_tokens":1e30,"completion_tokens":18446744073709551615,"input_tokens":-1}}"#;
    assert_eq!(read(Api::Chat, b"", data).usage, None);
}
