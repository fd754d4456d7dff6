use serde_json::{Value, json};

use super::*;

fn speaker(api: Api, wire: Wire) -> Speaker {
    Speaker::new(api, wire, Answer::new(7, "a \"model\"", 1, 3, 200))
}

fn bytes(speaker: &mut Speaker, pieces: &[Piece]) -> String {
    let mut out = Vec::new();
    for (index, piece) in pieces.iter().enumerate() {
        speaker.say(piece, Duration::from_millis(100 * index as u64), &mut out);
    }
    String::from_utf8(out).unwrap()
}

/// Payloads of an event stream, and the names of its events.
fn named(api: Api, pieces: &[Piece]) -> (Vec<(String, Value)>, Speaker) {
    let mut speaker = speaker(api, Wire::Events);
    let text = bytes(&mut speaker, pieces);
    let event = |event: &str| {
        let (name, data) = match event.strip_prefix("event: ") {
            Some(rest) => rest.split_once('\n').unwrap(),
            None => ("", event),
        };
        let payload = data.strip_prefix("data: ").unwrap();
        (name.to_owned(), serde_json::from_str(payload).unwrap())
    };
    (text.split_terminator("\n\n").map(event).collect(), speaker)
}

fn said(api: Api, pieces: &[Piece]) -> (Vec<Value>, Speaker) {
    let (events, speaker) = named(api, pieces);
    (
        events.into_iter().map(|(_, event)| event).collect(),
        speaker,
    )
}

fn whole(speaker: &Speaker) -> Value {
    let (status, whole) = speaker.whole();
    assert_eq!(status, 200);
    serde_json::from_str(&whole).unwrap()
}

/// Thoughts, text and a call, as a script says them.
fn everything() -> Vec<Piece> {
    let text = |text: &str| text.to_owned();
    vec![
        Piece::Role,
        Piece::Reasoning(text("hm ")),
        Piece::Content(text("a ")),
        Piece::Content(text("b")),
        Piece::Tool(text("f")),
        Piece::Arguments(text("{\"a")),
        Piece::Arguments(text("\":1}")),
        Piece::Finish(text("tool_calls")),
        Piece::Usage,
        Piece::Done,
    ]
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
    let mut speaker = speaker(Api::Chat, Wire::Events);
    let pieces = [
        Piece::Data {
            event: "ping".to_owned(),
            data: "a\nb".to_owned(),
        },
        Piece::Comment("hello".to_owned()),
        Piece::Done,
    ];
    assert_eq!(
        bytes(&mut speaker, &pieces),
        "event: ping\ndata: a\ndata: b\n\n: hello\n\ndata: [DONE]\n\n"
    );
}

#[test]
fn choices_have_their_own_text_and_end() {
    let choice = |index, piece: Piece| Piece::Choice(index, piece.into());
    let pieces = [
        Piece::Content("a".to_owned()),
        choice(1, Piece::Content("b".to_owned())),
        Piece::Finish("stop".to_owned()),
        choice(1, Piece::Finish("length".to_owned())),
    ];
    let (events, speaker) = said(Api::Chat, &pieces);
    let indexes: Vec<&Value> = events.iter().map(|e| &e["choices"][0]["index"]).collect();
    assert_eq!(indexes, [0, 1, 0, 1]);
    assert_eq!(whole(&speaker)["choices"][1]["message"]["content"], "b");
    assert_eq!(whole(&speaker)["choices"][1]["finish_reason"], "length");
}

#[test]
fn responses_open_fill_and_close_items_and_number_their_events() {
    let (events, speaker) = named(Api::Responses, &everything());
    for (index, (name, event)) in events.iter().enumerate() {
        assert_eq!(
            (name, &event["sequence_number"]),
            (&event["type"].as_str().unwrap().to_owned(), &json!(index))
        );
    }
    let names: Vec<&str> = events
        .iter()
        .map(|(name, _)| name.strip_prefix("response.").unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "created",
            "in_progress",
            "output_item.added",
            "reasoning_summary_part.added",
            "reasoning_summary_text.delta",
            "reasoning_summary_text.done",
            "reasoning_summary_part.done",
            "output_item.done",
            "output_item.added",
            "content_part.added",
            "output_text.delta",
            "output_text.delta",
            "output_text.done",
            "content_part.done",
            "output_item.done",
            "output_item.added",
            "function_call_arguments.delta",
            "function_call_arguments.delta",
            "function_call_arguments.done",
            "output_item.done",
            "completed",
        ]
    );
    let last = &events[20].1["response"];
    assert_eq!(last["output"][1]["content"][0]["text"], "a b");
    assert_eq!(last["output"][2]["arguments"], "{\"a\":1}");
    assert_eq!(last["usage"]["output_tokens"], 6);
    assert_eq!(events[11].1["output_index"], 1);
    assert_eq!(whole(&speaker), *last);
}

#[test]
fn messages_come_in_blocks() {
    let (events, speaker) = named(Api::Messages, &everything());
    let kinds: Vec<&str> = events
        .iter()
        .map(|(name, event)| {
            assert_eq!(event["type"], name.as_str());
            event["delta"]["type"].as_str().unwrap_or(name)
        })
        .collect();
    assert_eq!(
        kinds,
        [
            "message_start",
            "content_block_start",
            "thinking_delta",
            "signature_delta",
            "content_block_stop",
            "content_block_start",
            "text_delta",
            "text_delta",
            "content_block_stop",
            "content_block_start",
            "input_json_delta",
            "input_json_delta",
            "content_block_stop",
            "message_delta",
            "message_stop",
        ]
    );
    assert_eq!(events[10].1["index"], 2);
    assert_eq!(events[13].1["delta"]["stop_reason"], "tool_use");
    assert_eq!(events[13].1["usage"]["output_tokens"], 6);
    let whole = whole(&speaker);
    assert_eq!(whole["content"][1]["text"], "a b");
    assert_eq!(whole["content"][2]["input"], json!({"a": 1}));
}

#[test]
fn ollama_speaks_in_lines_and_tells_a_call_whole() {
    let mut chat = speaker(Api::OllamaChat, Wire::Lines);
    let text = bytes(&mut chat, &everything());
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 6);
    assert_eq!(lines[0]["message"]["content"], "");
    assert_eq!(lines[1]["message"]["thinking"], "hm ");
    assert_eq!(lines[3]["created_at"], "1970-01-01T00:00:01.3Z");
    let call = &lines[4]["message"]["tool_calls"][0]["function"];
    assert_eq!(*call, json!({"name": "f", "arguments": {"a": 1}}));
    let last = &lines[5];
    assert_eq!(
        (&last["done"], &last["eval_count"]),
        (&json!(true), &json!(6))
    );
    assert_eq!(last["prompt_eval_duration"], 100_000_000);
    assert_eq!(last["total_duration"], 900_000_000);

    let mut generate = speaker(Api::OllamaGenerate, Wire::Lines);
    let text = bytes(&mut generate, &everything()[1..3]);
    assert!(
        text.contains(r#""response":"","thinking":"hm ""#) && text.contains(r#""response":"a ""#),
        "{text}"
    );
}

#[test]
fn two_calls_in_a_row_are_two() {
    let text = |text: &str| text.to_owned();
    let pieces = [
        Piece::Tool(text("f")),
        Piece::Arguments(text("{}")),
        Piece::Tool(text("g")),
        Piece::Done,
    ];
    for api in [Api::OllamaChat, Api::Gemini] {
        let text = bytes(&mut speaker(api, Wire::Lines), &pieces);
        let at = |name| text.find(name).unwrap();
        assert!(at(r#""name":"f""#) < at(r#""name":"g""#), "{text}");
        assert_eq!(text.matches(r#""name":"#).count(), 2, "{text}");
    }
}

#[test]
fn gemini_is_an_event_stream_or_a_json_array() {
    let (events, speaker) = said(Api::Gemini, &everything());
    assert_eq!(events.len(), 5);
    let part = |event: &Value| event["candidates"][0]["content"]["parts"][0].clone();
    assert_eq!(part(&events[0]), json!({"text": "hm ", "thought": true}));
    assert_eq!(part(&events[1]), json!({"text": "a "}));
    assert_eq!(
        part(&events[3])["functionCall"],
        json!({"name": "f", "args": {"a": 1}})
    );
    assert_eq!(events[4]["candidates"][0]["finishReason"], "STOP");
    assert_eq!(
        whole(&speaker)["candidates"][0]["content"]["parts"][1]["text"],
        "a b"
    );

    let array = bytes(
        &mut super::tests::speaker(Api::Gemini, Wire::Array),
        &everything(),
    );
    let array: Vec<Value> = serde_json::from_str(&array).unwrap();
    assert_eq!(array, events);
    let nothing = bytes(
        &mut super::tests::speaker(Api::Gemini, Wire::Array),
        &[Piece::Done],
    );
    assert_eq!(serde_json::from_str::<Value>(&nothing).unwrap(), json!([]));
}
