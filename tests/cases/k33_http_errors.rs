//! Errors by status.

use super::rig::run;

#[test]
fn a70_a_429_passes_as_it_is_and_has_no_first_token() {
    let run = run("A70");
    let retry_after = run.response.head.get("retry-after");
    assert_eq!(retry_after.as_deref(), Some("7"));
    run.is("/response/status", 429).end("http_error");
    run.null("/ttft_ms").is("/ttft_null", "http_error");
    run.null("/verdict");
}
