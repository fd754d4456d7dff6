//! Reads that end inside characters, fields and events.

use serde_json::json;

use super::rig::{Ask, Case, run};

#[test]
fn a33_a_character_cut_in_two_counts_when_it_is_whole() {
    let run = run("A33");
    run.is("/counts/token_events", 3)
        .is("/counts/parse_errors", 0);
    run.near("/gaps/token/max_ms", 80.0);
    run.is("/coalescing/events_split_over_chunks", 1);
    run.end("complete");
}

#[test]
fn a34_reads_and_events_are_two_series() {
    let run = run("A34");
    run.is("/counts/token_events", 8).is("/counts/events", 9);
    run.is("/counts/parse_errors", 0);
    // a busy machine may read two writes at once
    run.between("/counts/chunks", 30.0, 44.0);
    run.between("/coalescing/events_split_over_chunks", 6.0, 9.0);
    run.between("/gaps/chunk/p50_ms", 8.0, 24.0);
    run.between("/gaps/event/p50_ms", 45.0, 90.0);
    // the first event is whole with its second line end: the sixth write
    run.near("/ttft_ms", 160.0);
    run.between("/ttft_ms", 158.0, f64::INFINITY);
    run.between("/at/first_byte_ms", 98.0, run.number("/ttft_ms") - 30.0);
    run.end("complete");
}

#[test]
fn a34_a_name_is_kept_until_its_data_comes() {
    let run = run("A34-name");
    run.is("/counts/token_events", 3)
        .is("/counts/keepalives", 6);
    run.is("/counts/events", 11).is("/counts/parse_errors", 0);
    run.near("/at/first_event_ms", 130.0);
    run.near("/ttft_ms", 220.0);
    run.between("/ttft_ms", 218.0, f64::INFINITY);
    run.end("complete");
}

#[test]
fn a34_cuts_may_fall_anywhere() {
    let run = run("A34-sevenths");
    run.is("/counts/token_events", 3).is("/counts/events", 7);
    run.is("/counts/keepalives", 1)
        .is("/counts/parse_errors", 0);
    run.is("/counts/chars", 13).is("/response/model", "m");
    run.is("/tokens/completion", 3);
    run.end("complete");
}

#[test]
fn a34_lines_may_be_cut_anywhere() {
    let run = Case::of("A34-lines").run(Ask::to("/api/chat"));
    run.is("/api", "ollama_chat");
    run.is("/counts/token_events", 3).is("/counts/events", 5);
    run.is("/counts/chars", 13).is("/counts/parse_errors", 0);
    run.end("complete");
}

#[test]
fn a35_many_events_in_one_read_are_a_burst() {
    let run = run("A35");
    run.near("/ttft_ms", 300.0);
    run.is("/counts/events", 91).is("/counts/chunks", 3);
    run.is("/coalescing/burst_events", json!([30, 30, 31]));
    run.is("/coalescing/events_per_chunk_max", 31);
    run.is("/coalescing/chunks_with_many_events", 3);
    run.near("/coalescing/burst_period_ms", 900.0);
    run.between("/gaps/token/p50_ms", 0.0, 1.0);
    run.verdict("transport_coalesced", "upstream")
        .end("complete");
}

#[test]
fn a35_bursts_without_a_rhythm_are_no_buffer() {
    let run = run("A35-uneven");
    run.near("/ttft_ms", 200.0);
    run.is("/counts/events", 215);
    run.is("/coalescing/burst_events", json!([48, 41, 9, 50, 23, 44]));
    run.between("/counts/chunks", 6.0, 8.0);
    run.verdict("transport_coalesced", "upstream")
        .end("complete");
}
