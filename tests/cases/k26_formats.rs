//! Other formats, wrong labels.

use serde_json::json;

use super::rig::{Ask, Case, Run, near, played, run};
use crate::support::{Client, LAST, Proxy, Upstream, chunk, post};

#[test]
fn a54_json_lines_are_events_and_end_with_done_true() {
    let [run] = played(|| [Case::of("A54").run(Ask::to("/api/chat"))]);
    run.is("/api", "ollama_chat");
    run.near("/ttft_ms", 300.0).near("/gaps/token/p50_ms", 30.0);
    run.is("/counts/token_events", 30).end("complete");
    run.flag("label_body_mismatch", false);
    run.verdict("steady", "");
}

#[test]
fn a54_an_empty_line_while_it_loads_is_no_token() {
    let case = Case::of("A54-load");
    for (path, api) in [
        ("/api/generate", "ollama_generate"),
        ("/api/chat", "ollama_chat"),
    ] {
        let [run] = played(|| [case.run(Ask::to(path))]);
        run.is("/api", api).end("complete");
        run.near("/at/first_event_ms", 40.0);
        run.near("/ttft_ms", 440.0)
            .between("/ttft_ms", 438.0, f64::INFINITY);
        run.near("/gaps/token/p50_ms", 20.0);
        run.is("/counts/token_events", 25).is("/counts/events", 27);
        run.is("/counts/done_markers", 1)
            .is("/counts/parse_errors", 0);
        run.is("/tokens/completion", 25);
        run.verdict("steady", "");
    }
}

/// The label reached the client as it was.
fn label_is_kept(run: &Run) {
    let label = |head: &crate::support::http::Head| head.get("content-type");
    assert_eq!(label(&run.response.head), label(&run.answer.head));
    run.is("/response/content_type", json!(label(&run.answer.head)));
}

#[test]
fn a55_a_label_has_parameters_and_no_case() {
    let names = ["A55-charset", "A55-case", "A55-spaced"];
    let case = Case::with(&names, &[]);
    for name in names {
        let [run] = played(|| [case.run(Ask::chat().of(name))]);
        label_is_kept(&run);
        run.is("/api", "chat").flag("label_body_mismatch", false);
        run.near("/ttft_ms", 100.0).near("/gaps/token/p50_ms", 30.0);
        run.is("/counts/token_events", 15);
        run.verdict("steady", "").end("complete");
    }
}

#[test]
fn a55_json_lines_under_the_label_of_an_event_stream_are_found_out() {
    let run = run("A55-lines");
    label_is_kept(&run);
    run.flag("label_body_mismatch", true).end("complete");
    run.is("/counts/events", 13).is("/counts/token_events", 12);
    run.near("/ttft_ms", 100.0).near("/gaps/token/p50_ms", 30.0);
    run.verdict("steady", "");
}

#[test]
fn a55_lines_of_no_known_api_are_events_too() {
    let case = Case::of("A55-foreign");
    for path in ["/v1/chat/completions", "/conversation"] {
        let [run] = played(|| [case.run(Ask::to(path))]);
        label_is_kept(&run);
        run.flag("label_body_mismatch", true);
        run.is("/counts/events", 13);
        run.near("/at/first_event_ms", 100.0);
        run.near("/gaps/event/p50_ms", 30.0);
        assert_ne!(run.at("/end"), "empty_stream");
    }
}

/// No stream came, and no time to a first token.
fn one_reply(run: &Run, ms: f64) {
    run.null("/ttft_ms").is("/ttft_null", "not_a_stream");
    run.null("/ttfa_ms").null("/verdict");
    run.near("/at/first_byte_ms", ms).near("/at/header_ms", ms);
    run.is("/counts/bytes", run.answer.body.len());
    run.flag("label_body_mismatch", false);
}

#[test]
fn a56_one_json_object_is_no_stream() {
    let case = Case::of("A56");
    let [run] = played(|| [case.run(Ask::chat())]);
    one_reply(&run, 1200.0);
    run.end("not_a_stream").is("/request/stream", true);
    run.is("/response/framing", "length");
    run.is("/response/model", "m-large")
        .is("/response/id", "chatcmpl-56");
    run.is("/tokens/completion", 5);
    let length = |head: &crate::support::http::Head| head.get("content-length");
    assert_eq!(length(&run.response.head), length(&run.answer.head));
    assert_eq!(
        length(&run.response.head),
        Some(run.answer.body.len().to_string())
    );

    let [run] = played(|| [case.run(Ask::chat().with("stream", json!(false)))]);
    one_reply(&run, 1200.0);
    run.end("complete").is("/request/stream", false);
}

#[test]
fn a56_pieces_of_one_json_object_are_no_stream() {
    let run = run("A56-pieces");
    one_reply(&run, 300.0);
    run.end("not_a_stream").is("/response/framing", "chunked");
    run.is("/tokens/completion", 15);
    run.between("/counts/chunks", 2.0, 4.0);
}

#[test]
fn a57_a_stream_is_known_by_its_first_bytes() {
    let names = ["A57-json", "A57-html", "A57-none", "A57-list"];
    let case = Case::with(&names, &[]);
    for name in names {
        let [run] = played(|| [case.run(Ask::chat().of(name))]);
        label_is_kept(&run);
        run.flag("label_body_mismatch", true);
        run.is("/api", "chat");
        run.near("/ttft_ms", 100.0).near("/gaps/token/p50_ms", 30.0);
        run.is("/counts/token_events", 20)
            .is("/counts/parse_errors", 0);
        run.is("/tokens/completion", 20);
        run.verdict("steady", "").end("complete");
    }
}

#[test]
fn a57_a_named_event_shows_it_too() {
    let case = Case::of("A57-json");
    let [run] = played(|| [case.run(Ask::to("/v1/messages"))]);
    label_is_kept(&run);
    run.flag("label_body_mismatch", true).is("/api", "messages");
    run.is("/counts/token_events", 20);
    run.verdict("steady", "").end("complete");
}

#[test]
fn a58_sound_has_a_first_byte_and_no_tokens() {
    let [run] = played(|| [Case::of("A58").run(Ask::to("/v1/audio/speech"))]);
    label_is_kept(&run);
    run.is("/api", "binary").end("complete");
    run.null("/ttft_ms").is("/ttft_null", "not_text");
    run.null("/ttfa_ms").null("/at/first_event_ms");
    run.near("/at/first_byte_ms", 150.0);
    run.near("/gaps/chunk/p50_ms", 100.0);
    run.between("/counts/chunks", 18.0, 19.0);
    run.is("/counts/bytes", 18 * 4096);
    // the counts of what was not read are null
    run.null("/counts/events").null("/counts/token_events");
    run.verdict("steady", "");
}

#[test]
fn a58_sound_needs_no_wish_for_a_stream() {
    let up = Upstream::start(|x| {
        x.request();
        x.wait(100);
        x.send("HTTP/1.1 200 OK\r\nContent-Type: audio/ogg; codecs=opus\r\nTransfer-Encoding: chunked\r\n\r\n");
        for i in 0..10_u8 {
            x.send(chunk([i; 1500]));
            x.wait(60);
        }
        x.send(LAST);
    });
    let proxy = Proxy::start(&up);
    let body = br#"{"model":"tts-1","input":"hi","voice":"a"}"#;
    let start = crate::support::now();
    let response = Client::connect(proxy.addr).ask(post("/v1/audio/speech", "", body));
    assert_eq!(response.body.bytes.len(), 15_000);
    let record = proxy.record();
    assert_eq!(record["api"], "binary");
    assert_eq!(record["end"], "complete");
    assert_eq!(record["ttft_null"], "not_text");
    assert_eq!(record["ttft_ms"], json!(null));
    let first = (up.sends()[1] - start).as_secs_f64() * 1000.0;
    near(&record, "/at/first_byte_ms", first, crate::support::ms(50));
    near(&record, "/gaps/chunk/p50_ms", 60.0, crate::support::ms(0));
}
