//! Bodies that end with their connection.

use super::rig::run;

#[test]
fn a59_a_body_that_ends_with_its_connection_is_whole_where_it_says_so() {
    let run = run("A59");
    run.is("/upstream/http", "1.0")
        .is("/response/framing", "close");
    run.near("/ttft_ms", 50.0).near("/gaps/token/p50_ms", 50.0);
    run.is("/counts/token_events", 10).end("complete");
    run.flag("unterminated_last_event", false);
    run.verdict("steady", "");
}

#[test]
fn a59_an_end_within_an_event_is_a_cut() {
    let run = run("A59-cut");
    run.is("/response/framing", "close").end("truncated");
    run.is("/counts/token_events", 6);
    run.flag("unterminated_last_event", true);
    run.is("/error/kind", "truncated");
    run.near("/ttft_ms", 50.0);
}

#[test]
fn a59_an_end_between_events_is_no_proof_of_either() {
    let run = run("A59-border");
    run.is("/upstream/http", "1.1")
        .is("/response/framing", "close");
    run.end("ended_without_done");
    run.is("/counts/token_events", 6);
    run.flag("unterminated_last_event", false);
}
