//! Upstreams that end in the middle, or do not end.

use super::rig::{Ask, Case, Run, run};
use crate::support::End;

/// The client can see that it was cut.
fn stays_a_cut(run: &Run) {
    let end = run.response.end;
    assert!(
        matches!(end, Some(End::Cut | End::Reset)),
        "the client was told {end:?}"
    );
}

#[test]
fn a64_a_fin_within_an_event_stays_a_cut() {
    let case = Case::of("A64");
    for path in ["/v1/chat/completions", "/v1/messages", "/v1/responses"] {
        let run = case.run(Ask::to(path));
        stays_a_cut(&run);
        run.end("truncated").is("/error/kind", "truncated");
        run.is("/counts/token_events", 8);
        run.flag("unterminated_last_event", true);
        run.flag("http_body_unterminated", false);
        run.near("/ttft_ms", 60.0).near("/gaps/token/p50_ms", 30.0);
        run.near("/at/last_token_ms", 270.0);
        run.null("/at/done_ms").null("/verdict/cut");
        run.verdict("steady", "");
    }
}

#[test]
fn a64_a_cut_line_is_one_too() {
    let run = Case::of("A64").run(Ask::to("/api/chat"));
    stays_a_cut(&run);
    run.end("truncated").is("/counts/token_events", 8);
    run.flag("unterminated_last_event", true);
}

#[test]
fn a64_a_reset_is_told_apart() {
    let run = run("A64-reset");
    stays_a_cut(&run);
    run.end("upstream_reset")
        .is("/error/kind", "upstream_reset");
    run.is("/counts/token_events", 8);
    run.flag("unterminated_last_event", true);
    run.near("/gaps/token/p50_ms", 30.0);
}

#[test]
fn a64_a_promised_length_is_not_made_up() {
    let run = run("A64-length");
    stays_a_cut(&run);
    run.end("truncated").is("/counts/token_events", 5);
    run.is("/response/framing", "length");
    run.flag("unterminated_last_event", true);
}

#[test]
fn a65_an_answer_may_be_whole_where_its_body_is_not() {
    let run = run("A65");
    stays_a_cut(&run);
    run.end("complete").flag("http_body_unterminated", true);
    run.null("/error").null("/verdict/cut");
    run.is("/counts/token_events", 20)
        .is("/counts/done_markers", 1);
    run.flag("unterminated_last_event", false);
    run.verdict("steady", "");
}

#[test]
fn a65_an_end_that_is_late_is_waited_for() {
    let case = Case::of("A65-open");
    for path in ["/v1/messages", "/v1/chat/completions"] {
        let run = case.run(Ask::to(path));
        stays_a_cut(&run);
        run.end("complete").flag("http_body_unterminated", true);
        tail(&run, 1620.0);
    }
    let run = super::rig::run("A65-late");
    assert_eq!(run.response.end, Some(End::Whole));
    run.end("complete").flag("http_body_unterminated", false);
    tail(&run, 1420.0);
}

fn tail(run: &Run, ms: f64) {
    run.near("/tail_ms", ms);
    run.verdict("late_tail", "upstream");
    let done = run.number("/at/done_ms");
    run.between("/at/end_ms", done + ms * 0.7, f64::INFINITY);
    run.is("/counts/token_events", 20);
}
