//! Channels of reasoning.

use super::rig::{Ask, Case, Run};

/// Asserts both firsts. The server never writes before its time, so that neither can be told as earlier.
fn firsts(run: &Run, thought: f64, answer: f64) {
    for (pointer, ms) in [
        ("/ttft_ms", thought),
        ("/at/first_reasoning_ms", thought),
        ("/ttfa_ms", answer),
        ("/at/first_content_ms", answer),
    ] {
        run.near(pointer, ms);
        run.between(pointer, ms - 2.0, f64::INFINITY);
    }
    // not the first thought under another name
    let between = run.number("/ttfa_ms") - run.number("/ttft_ms");
    assert!(between > (answer - thought) / 2.0, "{:#}", run.record);
}

#[test]
fn a26_thoughts_are_tokens_and_no_answer() {
    let run = super::rig::run("A26");
    firsts(&run, 300.0, 1500.0);
    run.is("/counts/token_events", 80).is("/gaps/token/n", 79);
    run.between("/gaps/token/p50_ms", 12.0, 34.0);
    run.between("/gaps/token/max_ms", 12.0, 250.0);
    run.is("/counts/chars", 160);
    run.verdict("steady", "").end("complete");
}

#[test]
fn a26_the_name_of_the_channel_does_not_matter() {
    for name in ["A26-content", "A26-null", "A26-both", "A26-thinking"] {
        let run = super::rig::run(name);
        firsts(&run, 250.0, 650.0);
        run.is("/counts/token_events", 30).is("/gaps/token/n", 29);
        run.is("/counts/chars", 60).is("/counts/parse_errors", 0);
        run.verdict("steady", "").end("complete");
    }
}

#[test]
fn a27_thoughts_in_lines_are_no_answer() {
    let run = Case::of("A27-lines").run(Ask::to("/api/chat"));
    firsts(&run, 200.0, 2000.0);
    run.is("/api", "ollama_chat");
    run.is("/counts/token_events", 65).is("/gaps/token/n", 64);
    run.verdict("steady", "").end("complete");
}

#[test]
fn a27_a_signature_is_neither() {
    let run = Case::of("A27-messages").run(Ask::to("/v1/messages"));
    firsts(&run, 200.0, 2000.0);
    run.is("/api", "messages");
    run.is("/counts/token_events", 64).is("/gaps/token/n", 63);
    run.is("/counts/chars", 44 * 3 + 20 * 4);
    run.verdict("steady", "").end("complete");
}

#[test]
fn a27_two_numbers_in_every_dialect() {
    let case = Case::of("A27-dialects");
    for (path, api) in [
        ("/v1/chat/completions", "chat"),
        ("/v1/responses", "responses"),
        ("/v1/messages", "messages"),
        ("/api/chat", "ollama_chat"),
        ("/api/generate", "ollama_generate"),
        (
            "/v1beta/models/A27-dialects:streamGenerateContent?alt=sse",
            "gemini",
        ),
    ] {
        let run = case.run(Ask::to(path));
        run.is("/api", api);
        firsts(&run, 150.0, 450.0);
        run.is("/counts/token_events", 25).is("/gaps/token/n", 24);
        run.between("/gaps/token/p50_ms", 12.0, 34.0);
        run.verdict("steady", "").end("complete");
    }
}
