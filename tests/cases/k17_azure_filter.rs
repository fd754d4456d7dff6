//! Content filter results.

use super::rig::run;

#[test]
fn a30_results_on_the_prompt_are_no_token() {
    let run = run("A30");
    run.near("/at/first_event_ms", 180.0)
        .near("/ttft_ms", 450.0);
    run.between("/at/first_event_ms", 178.0, 400.0);
    run.between("/ttft_ms", 448.0, f64::INFINITY);
    run.is("/counts/token_events", 20).is("/gaps/token/n", 19);
    run.is("/response/model", "m");
    let label = run.response.head.get("content-type");
    assert_eq!(label.as_deref(), Some("text/event-stream; charset=utf-8"));
    let id = run.at("/response/id").as_str();
    assert!(id.is_some_and(|id| id.starts_with("chatcmpl-")), "{id:?}");
    run.flag("azure_filter", true);
    run.is("/counts/parse_errors", 0);
    run.verdict("steady", "").end("complete");
}

#[test]
fn a30_a_name_that_comes_later_is_the_name() {
    let run = run("A30-long");
    run.near("/at/first_event_ms", 60.0)
        .near("/ttft_ms", 1600.0);
    run.between("/ttft_ms", 1598.0, f64::INFINITY);
    run.is("/counts/token_events", 15);
    run.is("/response/model", "m-2026").is("/response/id", "c9");
    run.flag("azure_filter", true);
    run.verdict("steady", "").end("complete");
}

#[test]
fn a31_results_without_a_delta_are_no_token_and_no_end() {
    let run = run("A31");
    run.near("/ttft_ms", 200.0);
    run.is("/counts/token_events", 18).is("/gaps/token/n", 17);
    run.is("/counts/events", 28).is("/counts/parse_errors", 0);
    // where results lie between, the gap is twice as long
    run.between("/gaps/token/p50_ms", 15.0, 40.0);
    run.between("/gaps/token/p99_ms", 35.0, 250.0);
    run.between("/tail_ms", 700.0, 1600.0);
    run.flag("azure_filter", true).end("complete");
    let done = run.number("/at/done_ms") - run.number("/at/last_token_ms");
    assert!(done >= 700.0, "{:#}", run.record);
}

#[test]
fn a31_results_with_an_error_of_the_filter_are_no_error_of_the_stream() {
    let run = run("A31-cut");
    run.near("/at/first_event_ms", 100.0)
        .near("/ttft_ms", 400.0);
    run.between("/ttft_ms", 398.0, f64::INFINITY);
    run.is("/counts/token_events", 12);
    run.flag("azure_filter", true).end("truncated");
    run.between("/silence/before_end_ms", 150.0, 900.0);
}
