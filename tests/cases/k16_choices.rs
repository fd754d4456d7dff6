//! Empty, null and missing choices.

use super::rig::run;

#[test]
fn a28_usage_alone_is_no_token() {
    let run = run("A28");
    run.is("/counts/token_events", 5).is("/gaps/token/n", 4);
    run.between("/gaps/token/max_ms", 28.0, 240.0);
    run.between("/tail_ms", 240.0, 900.0);
    run.is("/tokens/completion", 5).is("/tokens/prompt", 7);
    run.null("/tokens/reasoning").null("/tokens/cached");
    run.is("/counts/parse_errors", 0).end("complete");
    run.flag("no_done_marker", false);
}

#[test]
fn a28_the_last_counts_stand() {
    let run = run("A28-null");
    run.near("/ttft_ms", 150.0);
    run.is("/counts/token_events", 12).is("/gaps/token/n", 11);
    run.between("/tail_ms", 180.0, 900.0);
    run.is("/tokens/prompt", 100).is("/tokens/completion", 37);
    run.is("/tokens/reasoning", 25).is("/tokens/cached", 64);
    run.is("/counts/parse_errors", 0).end("complete");
}

#[test]
fn a29_null_or_no_choices_are_no_token() {
    let run = run("A29");
    run.near("/at/first_event_ms", 100.0)
        .near("/ttft_ms", 400.0);
    run.between("/ttft_ms", 398.0, f64::INFINITY);
    run.is("/counts/token_events", 10).is("/gaps/token/n", 9);
    run.is("/counts/events", 14).is("/counts/parse_errors", 0);
    run.between("/gaps/token/p50_ms", 45.0, 90.0);
    run.verdict("steady", "").end("complete");
}

#[test]
fn a29_no_shape_of_json_is_an_error() {
    let run = run("A29-shapes");
    run.near("/ttft_ms", 400.0);
    run.between("/ttft_ms", 398.0, f64::INFINITY);
    run.is("/counts/token_events", 10).is("/counts/events", 24);
    run.is("/counts/parse_errors", 0);
    run.flag("multi_choice", false);
    run.verdict("steady", "").end("complete");
}
