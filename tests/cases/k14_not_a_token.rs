//! First events that are no tokens.

use serde_json::json;

use super::rig::{Ask, Case, Run, run};

/// The server never writes before its time, so a first token told as earlier is another event's.
fn first_token(run: &Run, ms: f64) {
    run.near("/ttft_ms", ms);
    run.between("/ttft_ms", ms - 2.0, f64::INFINITY);
}

#[test]
fn a20_a_role_is_no_token() {
    let run = run("A20");
    run.near("/at/first_byte_ms", 900.0)
        .near("/at/first_event_ms", 900.0);
    run.near("/ttft_ms", 2200.0);
    run.near("/gaps/token/max_ms", 20.0);
    run.is("/counts/token_events", 20);
    run.verdict("steady", "").end("complete");
}

#[test]
fn a21_progress_of_the_prompt_is_life_and_no_token() {
    let run = run("A21");
    first_token(&run, 2100.0);
    run.near("/at/first_event_ms", 20.0);
    run.between("/silence/longest_ms", 300.0, 900.0);
    run.is("/counts/token_events", 20).is("/gaps/token/n", 19);
    run.between("/gaps/token/p50_ms", 20.0, 45.0);
    run.between("/gaps/token/max_ms", 20.0, 300.0);
    run.is("/counts/parse_errors", 0).end("complete");
    assert!(run.at("/stalls").as_array().is_some_and(Vec::is_empty));
}

#[test]
fn a21_progress_comes_without_choices_too() {
    let run = run("A21-no-choice");
    first_token(&run, 1300.0);
    run.near("/at/first_event_ms", 100.0);
    run.between("/silence/longest_ms", 100.0, 600.0);
    run.is("/counts/token_events", 12).is("/gaps/token/n", 11);
    run.is("/counts/parse_errors", 0);
    run.verdict("steady", "").end("complete");
}

#[test]
fn a21_progress_comes_in_json_lines_too() {
    let run = Case::of("A21-lines").run(Ask::to("/api/chat"));
    first_token(&run, 1100.0);
    run.near("/at/first_event_ms", 100.0);
    run.is("/api", "ollama_chat");
    run.is("/counts/token_events", 15).is("/gaps/token/n", 14);
    run.verdict("steady", "").end("complete");
}

#[test]
fn a22_a_message_opens_long_before_its_text() {
    let run = Case::of("A22").run(Ask::to("/v1/messages"));
    a_message(&run);
    run.is("/api", "messages");
}

#[test]
fn a22_a_message_is_known_by_its_first_event() {
    let run = Case::of("A22").run(Ask::to("/gateway/claude"));
    a_message(&run);
}

fn a_message(run: &Run) {
    first_token(run, 1400.0);
    run.near("/ttfa_ms", 1400.0);
    run.near("/at/first_event_ms", 150.0);
    run.is("/counts/token_events", 16).is("/counts/events", 22);
    run.is("/counts/keepalives", 1)
        .is("/counts/parse_errors", 0);
    run.is("/counts/chars", 32);
    run.is("/tokens/prompt", 25).is("/tokens/completion", 17);
    run.is("/response/model", "m").is("/response/id", "msg_1");
    run.between("/gaps/token/p50_ms", 17.0, 40.0);
    run.verdict("steady", "").end("complete");
    run.flag("no_done_marker", false);
    assert!(run.number("/at/done_ms") >= run.number("/at/last_token_ms"));
}

#[test]
fn a22_a_message_without_its_stop_is_not_whole() {
    let run = Case::of("A22-cut").run(Ask::to("/v1/messages"));
    first_token(&run, 500.0);
    run.is("/counts/token_events", 20).is("/gaps/token/n", 19);
    run.is("/counts/keepalives", 2);
    run.is("/counts/done_markers", 0).end("ended_without_done");
}

#[test]
fn a23_null_is_no_token_and_no_error() {
    let run = run("A23");
    first_token(&run, 700.0);
    run.near("/at/first_event_ms", 30.0);
    run.is("/counts/token_events", 2).is("/gaps/token/n", 1);
    // the empty text between them halves the gap of events alone
    run.between("/gaps/token/max_ms", 5.0, 200.0);
    run.between("/gaps/event/p50_ms", 8.0, 34.0);
    run.is("/counts/empty_deltas", 2);
    run.is("/counts/parse_errors", 0).end("complete");
}

#[test]
fn a23_null_on_every_channel_is_none() {
    let run = run("A23-all-null");
    first_token(&run, 400.0);
    run.is("/counts/token_events", 10).is("/counts/events", 16);
    run.is("/counts/parse_errors", 0);
    run.verdict("steady", "").end("complete");
}

#[test]
fn a24_a_turn_of_tool_calls_has_a_first_token_and_no_answer() {
    let tools = json!([{"type": "function", "function": {"name": "get_weather"}}]);
    let run = Case::of("A24").run(Ask::chat().with("tools", tools));
    first_token(&run, 600.0);
    run.near("/at/first_tool_ms", 600.0);
    run.null("/ttfa_ms").null("/at/first_content_ms");
    run.is("/request/has_tools", true);
    run.is("/counts/token_events", 42).is("/gaps/token/n", 41);
    run.between("/gaps/token/p50_ms", 8.0, 30.0);
    run.between("/gaps/token/max_ms", 18.0, 250.0);
    run.verdict("steady", "").end("complete");
    assert!(run.at("/stalls").as_array().is_some_and(Vec::is_empty));
}

#[test]
fn a24_the_older_function_call_is_one_too() {
    let run = run("A24-function");
    first_token(&run, 300.0);
    run.near("/at/first_tool_ms", 300.0);
    run.null("/ttfa_ms");
    run.is("/counts/token_events", 15);
    run.verdict("steady", "").end("complete");
}

#[test]
fn a24_arguments_are_tokens_in_other_dialects() {
    let case = Case::of("A24-dialects");
    for path in ["/v1/responses", "/v1/messages"] {
        let run = case.run(Ask::to(path));
        run.near("/ttft_ms", 200.0);
        run.between("/ttft_ms", 198.0, f64::INFINITY);
        run.near("/at/first_tool_ms", 200.0);
        run.null("/ttfa_ms").null("/at/first_content_ms");
        run.between("/counts/token_events", 15.0, 16.0);
        run.between("/gaps/token/p50_ms", 12.0, 36.0);
        run.verdict("steady", "").end("complete");
        run.flag("no_done_marker", false);
    }
}

#[test]
fn a25_an_empty_text_is_no_token() {
    let run = run("A25");
    first_token(&run, 560.0);
    run.near("/at/first_event_ms", 10.0);
    run.is("/counts/empty_deltas", 3);
    run.is("/counts/token_events", 2).is("/counts/chars", 2);
    run.is("/gaps/token/n", 1).end("complete");
    // they were there, and only for those who ask whether the server lives
    run.near("/silence/longest_ms", 490.0);
    run.between("/silence/longest_ms", 0.0, run.number("/ttft_ms") - 30.0);
}

#[test]
fn a25_a_character_in_two_escapes_is_one() {
    let run = run("A25-escaped");
    first_token(&run, 450.0);
    run.near("/at/first_reasoning_ms", 450.0);
    run.near("/ttfa_ms", 630.0);
    run.between("/ttfa_ms", 628.0, f64::INFINITY);
    run.is("/counts/empty_deltas", 10);
    run.is("/counts/token_events", 2).is("/counts/chars", 2);
    run.end("complete");
}
