//! The event stream's grammar.

use super::rig::{Ask, Case, run};

#[test]
fn a38_the_space_after_the_colon_may_be_missing() {
    let run = run("A38");
    run.near("/ttft_ms", 150.0);
    run.between("/gaps/token/p50_ms", 22.0, 50.0);
    run.is("/counts/token_events", 5).is("/counts/events", 6);
    run.is("/counts/done_markers", 1)
        .is("/counts/parse_errors", 0);
    run.end("complete");
    run.flag("no_done_marker", false);
}

#[test]
fn a38_other_spellings_are_as_good() {
    let run = run("A38-other");
    run.near("/ttft_ms", 180.0);
    run.between("/ttft_ms", 178.0, f64::INFINITY);
    run.is("/counts/token_events", 8).is("/gaps/token/n", 7);
    run.is("/counts/events", 10).is("/counts/parse_errors", 0);
    run.is("/counts/done_markers", 1).is("/counts/chars", 16);
    run.end("complete");
}

#[test]
fn a39_a_byte_order_mark_hides_no_event() {
    let run = run("A39");
    run.between("/ttft_ms", 98.0, 400.0);
    run.between("/at/first_byte_ms", 63.0, 300.0);
    run.is("/counts/token_events", 2).is("/counts/events", 3);
    run.between("/gaps/token/max_ms", 350.0, 900.0);
    run.is("/counts/parse_errors", 0).end("complete");
    assert!(run.response.body.bytes.starts_with(b"\xEF\xBB\xBFdata"));
}

#[test]
fn a39_a_mark_may_be_cut_and_only_the_first_is_one() {
    let run = run("A39-cut");
    run.between("/ttft_ms", 98.0, 290.0);
    run.is("/counts/token_events", 2).is("/counts/events", 3);
    run.is("/counts/chars", 2).is("/counts/parse_errors", 0);
    run.between("/gaps/token/max_ms", 300.0, 900.0);
    run.end("complete");
}

#[test]
fn a39_half_a_mark_is_none() {
    let run = run("A39-none");
    run.near("/ttft_ms", 400.0);
    run.between("/ttft_ms", 398.0, f64::INFINITY);
    run.is("/counts/token_events", 1).is("/counts/events", 2);
    run.is("/counts/parse_errors", 0).end("complete");
}

#[test]
fn a40_an_event_may_have_several_data_lines() {
    let run = run("A40");
    run.near("/ttft_ms", 100.0);
    run.between("/ttft_ms", 98.0, f64::INFINITY);
    run.is("/counts/token_events", 6).is("/counts/events", 7);
    run.is("/counts/chars", 6).is("/counts/parse_errors", 0);
    run.end("complete");
}

#[test]
fn a40_lines_may_be_many_and_come_apart() {
    let run = run("A40-pretty");
    run.near("/ttft_ms", 140.0);
    run.between("/ttft_ms", 138.0, f64::INFINITY);
    run.between("/gaps/token/p50_ms", 48.0, 90.0);
    run.is("/counts/token_events", 6).is("/counts/events", 8);
    run.between("/coalescing/events_split_over_chunks", 3.0, 6.0);
    run.is("/counts/chars", 6).is("/counts/parse_errors", 0);
    run.end("complete");
}

#[test]
fn a41_only_cr_and_lf_end_lines() {
    let run = run("A41");
    run.near("/ttft_ms", 120.0);
    run.is("/counts/token_events", 3).is("/counts/events", 4);
    run.is("/counts/chars", 9).is("/counts/parse_errors", 0);
    run.flag("no_done_marker", true).end("complete");
}

#[test]
fn a41_nothing_else_ends_lines_when_it_is_cut() {
    let run = run("A41-cut");
    run.is("/counts/token_events", 4).is("/counts/events", 6);
    run.is("/counts/keepalives", 4).is("/counts/chars", 12);
    run.is("/counts/done_markers", 1)
        .is("/counts/parse_errors", 0);
    run.between("/ttft_ms", 178.0, f64::INFINITY);
    run.end("complete");
}

#[test]
fn a41_only_lf_ends_json_lines() {
    let run = Case::of("A41-lines").run(Ask::to("/api/chat"));
    run.is("/counts/token_events", 3).is("/counts/events", 4);
    run.is("/counts/chars", 9).is("/counts/parse_errors", 0);
    run.end("complete");
}
