//! Errors inside a stream of status 200.

use super::rig::{Ask, Case, Run, run};

fn failed(run: &Run, kind: &str) {
    assert_eq!(run.response.status(), 200);
    run.is("/response/status", 200).end("in_band_error");
    run.is("/error/kind", "in_band_error")
        .is("/error/type", kind);
    // what went wrong is known, and its text is none of the record's business
    assert!(
        !run.record.to_string().contains("backend lost"),
        "{:#}",
        run.record
    );
}

fn nothing_came(run: &Run) {
    run.null("/ttft_ms").is("/ttft_null", "in_band_error");
    run.null("/ttfa_ms").null("/ttft_after_request_ms");
    run.is("/counts/token_events", 0);
}

#[test]
fn a51_an_error_after_tokens_keeps_their_times() {
    let run = run("A51");
    failed(&run, "server_error");
    run.near("/ttft_ms", 20.0)
        .between("/ttft_ms", 18.0, f64::INFINITY);
    run.is("/counts/token_events", 3).is("/gaps/token/n", 2);
    run.near("/gaps/token/p50_ms", 40.0);
    run.is("/counts/parse_errors", 0).null("/ttft_null");
    run.null("/verdict/cut");
}

#[test]
fn a51_an_error_alone_is_no_token() {
    let run = run("A51-only");
    failed(&run, "server_error");
    nothing_came(&run);
    run.near("/at/first_event_ms", 250.0);
}

#[test]
fn a51_an_end_marker_does_not_make_it_whole() {
    let run = run("A51-done");
    failed(&run, "context_length_exceeded");
    run.is("/counts/token_events", 4)
        .is("/counts/done_markers", 1);
    let run = super::rig::run("A51-finish");
    failed(&run, "server_error");
    run.is("/counts/token_events", 2);
}

#[test]
fn a51_every_api_says_it_in_its_way() {
    let case = Case::with(&["A51", "A51-only"], &[]);
    for path in [
        "/v1/completions",
        "/v1/responses",
        "/v1/messages",
        "/api/chat",
        "/api/generate",
        "/v1beta/models/A51:streamGenerateContent?alt=sse",
        "/gateway/elsewhere",
    ] {
        let run = case.run(Ask::to(path));
        run.is("/response/status", 200).end("in_band_error");
        run.is("/error/kind", "in_band_error");
        run.is("/counts/token_events", 3);
        run.near("/ttft_ms", 20.0);
        if path.contains("A51") {
            continue;
        }
        let run = case.run(Ask::to(path).of("A51-only"));
        run.is("/response/status", 200).end("in_band_error");
        nothing_came(&run);
    }
}

#[test]
fn a52_an_error_event_says_why_the_end_is_missing() {
    let case = Case::of("A52");
    for path in ["/v1/messages", "/anthropic/v1/messages"] {
        let run = case.run(Ask::to(path));
        failed(&run, "overloaded_error");
        run.is("/api", "messages");
        run.near("/ttft_ms", 150.0);
        run.is("/counts/token_events", 2).is("/gaps/token/n", 1);
        run.null("/at/done_ms");
    }
}

#[test]
fn a52_an_error_event_may_be_all() {
    let run = Case::of("A52-only").run(Ask::to("/v1/messages"));
    failed(&run, "overloaded_error");
    nothing_came(&run);
    run.is("/counts/events", 1);
}

#[test]
fn a53_the_payload_tells_where_no_line_names_the_event() {
    for name in ["A53", "A53-named"] {
        let case = Case::of(name);
        for path in ["/v1/messages", "/gateway/claude"] {
            let run = case.run(Ask::to(path));
            failed(&run, "rate_limit_error");
            nothing_came(&run);
            run.is("/counts/keepalives", 2);
            run.near("/at/first_event_ms", 50.0);
        }
    }
}
