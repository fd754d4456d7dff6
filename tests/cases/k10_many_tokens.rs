//! Several tokens in one event, cumulative texts.

use super::rig::{Ask, Case, Run, played, run};

/// Asserts that rates are of what was counted: chunks, and tokens by the server's own count.
fn rates_are_of_what_was_counted(run: &Run, events: u64) {
    run.is("/counts/token_events", events);
    run.is("/gaps/token/n", events - 1);
    let tokens = run.number("/tokens/completion");
    assert!(tokens >= 2.0 * events as f64, "{tokens} tokens");
    let seconds = (run.number("/at/last_token_ms") - run.number("/ttft_ms")) / 1000.0;
    let rate = tokens / seconds;
    run.between("/rates/tokens_per_s_after_first", rate * 0.8, rate * 1.2);
    let chunks = run.number("/rates/chunks_per_s_after_first");
    assert!(chunks * 1.5 < rate, "{chunks} chunks a second");
}

#[test]
fn a15_events_are_no_tokens() {
    let run = run("A15");
    run.near("/ttft_ms", 100.0);
    run.between("/gaps/chunk/p50_ms", 60.0, 130.0);
    run.between("/gaps/token/p50_ms", 60.0, 130.0);
    rates_are_of_what_was_counted(&run, 22);
    run.verdict("steady", "").end("complete");
}

#[test]
fn a15_drafts_of_many_lengths_are_steady() {
    let run = run("A15-drafts");
    run.near("/ttft_ms", 150.0).near("/gaps/token/p50_ms", 35.5);
    rates_are_of_what_was_counted(&run, 40);
    run.verdict("steady", "").end("complete");
}

#[test]
fn a16_growing_events_are_steady() {
    let [run] = played(|| [Case::of("A16").run(Ask::to("/generate"))]);
    // the first event has no text
    run.near("/at/first_event_ms", 80.0).near("/ttft_ms", 120.0);
    run.near("/gaps/token/p50_ms", 30.0);
    run.is("/counts/token_events", 40)
        .is("/counts/parse_errors", 0);
    run.verdict("steady", "").end("complete");
    run.null("/tokens/completion");
    run.null("/rates/tokens_per_s_after_first");
    // the last text, and not the sum of all
    run.between("/counts/chars", 5900.0, 6100.0);
}

#[test]
fn a16_a_chat_that_repeats_its_message_is_steady() {
    let run = run("A16-message");
    run.near("/ttft_ms", 120.0).near("/gaps/token/p50_ms", 25.0);
    run.is("/counts/token_events", 41);
    run.verdict("steady", "").end("complete");
    run.null("/tokens/completion");
    run.between("/counts/chars", 205.0, 215.0);
}
