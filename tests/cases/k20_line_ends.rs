//! Line ends.

use super::rig::{Ask, Case, run};

#[test]
fn a36_lines_may_end_with_cr_lf() {
    let run = run("A36");
    run.near("/ttft_ms", 200.0);
    run.between("/gaps/token/p50_ms", 40.0, 75.0);
    run.is("/counts/token_events", 10).is("/counts/events", 11);
    run.is("/counts/done_markers", 1);
    run.is("/counts/keepalives", 0)
        .is("/counts/parse_errors", 0);
    run.verdict("steady", "").end("complete");
    let body = &run.response.body.bytes;
    assert_eq!(body.iter().filter(|byte| **byte == b'\r').count(), 22);
}

#[test]
fn a36_lines_may_end_with_cr() {
    let run = run("A36-cr");
    run.near("/ttft_ms", 200.0);
    run.between("/gaps/token/p50_ms", 22.0, 50.0);
    run.is("/counts/token_events", 12).is("/counts/events", 13);
    run.is("/counts/done_markers", 1)
        .is("/counts/parse_errors", 0);
    run.verdict("steady", "").end("complete");
}

#[test]
fn a36_line_ends_may_be_mixed() {
    let run = run("A36-mixed");
    run.between("/gaps/token/p50_ms", 22.0, 50.0);
    run.is("/counts/token_events", 12).is("/counts/events", 13);
    run.is("/counts/keepalives", 4);
    run.is("/counts/done_markers", 1)
        .is("/counts/parse_errors", 0);
    run.flag("bytes_after_done", false);
    run.verdict("steady", "").end("complete");
}

#[test]
fn a36_json_lines_may_end_with_cr_lf() {
    let run = Case::of("A36-lines").run(Ask::to("/api/chat"));
    run.is("/api", "ollama_chat");
    run.between("/gaps/token/p50_ms", 30.0, 65.0);
    run.is("/counts/token_events", 10).is("/counts/events", 11);
    run.is("/counts/parse_errors", 0);
    run.verdict("steady", "").end("complete");
}

#[test]
fn a37_cr_ends_a_line_and_the_lf_after_it_none() {
    let run = run("A37");
    run.is("/counts/events", 1).is("/counts/token_events", 1);
    run.is("/counts/keepalives", 0)
        .is("/counts/parse_errors", 0);
    // at the CR of the third write, not at the LF of the fourth
    run.between("/ttft_ms", 498.0, 690.0);
    run.is("/coalescing/events_split_over_chunks", 1);
    run.flag("unterminated_last_event", false).end("complete");
}

#[test]
fn a37_cuts_around_line_ends_make_no_event() {
    let run = run("A37-all");
    run.is("/counts/events", 11).is("/counts/token_events", 8);
    run.is("/counts/keepalives", 2)
        .is("/counts/parse_errors", 0);
    run.near("/at/first_event_ms", 140.0)
        .near("/ttft_ms", 260.0);
    run.between("/ttft_ms", 258.0, f64::INFINITY);
    run.between("/gaps/token/p50_ms", 48.0, 90.0);
    run.is("/counts/done_markers", 1);
    run.flag("bytes_after_done", false);
    run.end("complete");
}
