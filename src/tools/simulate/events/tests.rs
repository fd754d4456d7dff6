use super::*;

fn said(api: Api, pieces: &[Piece]) -> (Vec<serde_json::Value>, Speaker) {
    let mut speaker = Speaker::new(api, "a \"model\"", 7, 1, 3);
    let mut out = Vec::new();
    for piece in pieces {
        speaker.say(piece, &mut out);
    }
    let text = String::from_utf8(out).unwrap();
    let payloads = text
        .split_terminator("\n\n")
        .map(|event| event.strip_prefix("data: ").unwrap());
    (
        payloads
            .map(|payload| serde_json::from_str(payload).unwrap())
            .collect(),
        speaker,
    )
}

#[test]
fn chat_events_have_the_shape_of_the_api() {
    let text = |text: &str| text.to_owned();
    let pieces = [
        Piece::Role,
        Piece::Reasoning(text("hm")),
        Piece::Content(text("a\n\"b\" ")),
        Piece::Word,
        Piece::Finish(text("stop")),
        Piece::Usage,
    ];
    let (events, speaker) = said(Api::Chat, &pieces);
    assert_eq!(events[0]["id"], "chatcmpl-simulated-7");
    assert_eq!(events[0]["model"], "a \"model\"");
    assert_eq!(
        events[0]["choices"][0]["delta"],
        json!({"role": "assistant", "content": ""})
    );
    assert_eq!(
        events[1]["choices"][0]["delta"],
        json!({"reasoning_content": "hm"})
    );
    assert_eq!(events[2]["choices"][0]["delta"]["content"], "a\n\"b\" ");
    assert_eq!(events[3]["choices"][0]["delta"]["content"], "Each ");
    assert_eq!(
        events[4]["choices"][0],
        json!({"index": 0, "delta": {}, "finish_reason": "stop"})
    );
    assert_eq!(events[5]["choices"], json!([]));
    assert_eq!(events[5]["usage"]["completion_tokens"], 3);

    let (status, whole) = speaker.whole();
    let whole: serde_json::Value = serde_json::from_str(&whole).unwrap();
    assert_eq!((status, &whole["object"]), (200, &json!("chat.completion")));
    assert_eq!(whole["choices"][0]["message"]["content"], "a\n\"b\" Each ");
    assert_eq!(whole["usage"]["total_tokens"], 6);
}

#[test]
fn a_tool_call_is_named_first_and_argued_in_pieces() {
    let text = |text: &str| text.to_owned();
    let pieces = [
        Piece::Tool(text("f")),
        Piece::Arguments(text("{\"a")),
        Piece::Arguments(text("\":1}")),
        Piece::Tool(text("g")),
    ];
    let (events, speaker) = said(Api::Chat, &pieces);
    let call = |event: usize| &events[event]["choices"][0]["delta"]["tool_calls"][0];
    assert_eq!(call(0)["function"], json!({"name": "f", "arguments": ""}));
    assert_eq!(
        *call(1),
        json!({"index": 0, "function": {"arguments": "{\"a"}})
    );
    assert_eq!(call(3)["index"], 1);

    let whole: serde_json::Value = serde_json::from_str(&speaker.whole().1).unwrap();
    assert_eq!(
        whole["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"],
        "{\"a\":1}"
    );
}

#[test]
fn legacy_completions_are_text() {
    let text = |text: &str| text.to_owned();
    let (events, speaker) = said(
        Api::Completions,
        &[
            Piece::Role,
            Piece::Reasoning(text("x")),
            Piece::Finish(text("length")),
        ],
    );
    assert_eq!(events.len(), 2);
    assert_eq!(events[0]["id"], "cmpl-simulated-7");
    assert_eq!(
        events[0]["choices"][0],
        json!({"index": 0, "text": "x", "finish_reason": null})
    );
    assert_eq!(
        events[1]["choices"][0],
        json!({"index": 0, "text": "", "finish_reason": "length"})
    );
    let whole: serde_json::Value = serde_json::from_str(&speaker.whole().1).unwrap();
    assert_eq!(whole["choices"][0]["text"], "x");
}

#[test]
fn an_error_in_the_script_is_an_error_status_without_stream() {
    let (events, speaker) = said(Api::Chat, &[Piece::Word, Piece::Error("lost".to_owned())]);
    assert_eq!(events[1]["error"]["message"], "lost");
    assert_eq!(speaker.whole().0, 500);
}

#[test]
fn data_of_several_lines_and_comments_follow_the_event_stream_grammar() {
    let mut speaker = Speaker::new(Api::Chat, "m", 1, 1, 1);
    let mut out = Vec::new();
    speaker.say(
        &Piece::Data {
            event: "ping".to_owned(),
            data: "a\nb".to_owned(),
        },
        &mut out,
    );
    speaker.say(&Piece::Comment("hello".to_owned()), &mut out);
    speaker.say(&Piece::Done, &mut out);
    assert_eq!(
        out,
        b"event: ping\ndata: a\ndata: b\n\n: hello\n\ndata: [DONE]\n\n"
    );
}
