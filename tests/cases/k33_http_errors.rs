//! Errors by status.

use super::rig::{Run, run};

/// The head is the server's in what a client goes by, and nothing of it looks like a token.
fn passed(run: &Run, status: u16, retry_after: &str) {
    assert_eq!(run.response.status(), status);
    let sent = &run.answer.head;
    for name in ["retry-after", "content-type", "content-length"] {
        assert_eq!(run.response.head.get(name), sent.get(name), "{name}");
    }
    let told = run.response.head.get("retry-after");
    assert_eq!(told.as_deref(), Some(retry_after));
    run.is("/response/status", status)
        .is("/response/origin", "upstream");
    run.end("http_error").is("/error/kind", "http_error");
    run.null("/ttft_ms").is("/ttft_null", "http_error");
    run.null("/ttfa_ms").null("/ttft_after_request_ms");
    run.null("/verdict");
}

#[test]
fn a70_a_429_passes_as_it_is_and_has_no_first_token() {
    let run = run("A70");
    passed(&run, 429, "7");
    run.is("/response/framing", "length");
    run.near("/at/first_byte_ms", 15.0);
}

#[test]
fn a70_an_error_status_stands_whatever_its_body_is_called() {
    let run = run("A70-stream");
    passed(&run, 503, "2");
    run.near("/at/first_byte_ms", 30.0);
}
