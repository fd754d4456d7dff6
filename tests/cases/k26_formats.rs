//! Other formats, wrong labels.

use super::rig::{Ask, Case};

#[test]
fn a54_json_lines_are_events_and_end_with_done_true() {
    let run = Case::of("A54").run(Ask::to("/api/chat"));
    run.is("/api", "ollama_chat");
    run.near("/ttft_ms", 300.0).near("/gaps/token/p50_ms", 30.0);
    run.is("/counts/token_events", 30).end("complete");
    run.verdict("steady", "");
}
