//! End markers: none, two, unterminated.

use super::rig::{Ask, Case, Run, run};

#[test]
fn a42_a_finish_and_a_clean_end_are_whole() {
    let run = run("A42");
    run.is("/counts/token_events", 5)
        .is("/counts/done_markers", 0);
    run.null("/at/done_ms");
    run.flag("no_done_marker", true).end("complete");
    run.flag("unterminated_last_event", false);
    run.flag("http_body_unterminated", false);
}

#[test]
fn a42_a_clean_end_alone_is_not() {
    let run = run("A42-no-finish");
    run.is("/counts/token_events", 5)
        .is("/counts/done_markers", 0);
    run.null("/at/done_ms").null("/error");
    run.near("/ttft_ms", 120.0);
    run.end("ended_without_done");
}

#[test]
fn a42_the_connections_end_may_be_the_bodys() {
    let run = run("A42-close");
    run.is("/response/framing", "close");
    run.is("/counts/token_events", 12)
        .is("/tokens/completion", 12);
    run.flag("no_done_marker", true).end("complete");
    run.verdict("steady", "");
}

#[test]
fn a42_legacy_completions_are_the_same() {
    for (name, end) in [("A42", "complete"), ("A42-no-finish", "ended_without_done")] {
        let run = Case::of(name).run(Ask::to("/v1/completions"));
        run.is("/api", "completions").is("/counts/token_events", 5);
        run.end(end);
    }
}

#[test]
fn a42_other_dialects_have_ends_of_their_own() {
    let case = Case::with(&["A42", "A42-no-finish"], &[]);
    // a stop reason stands for a finish where there is one before the end
    for (path, api, finished) in [
        ("/v1/messages", "messages", "complete"),
        ("/v1/responses", "responses", "ended_without_done"),
        ("/api/chat", "ollama_chat", "ended_without_done"),
        ("/api/generate", "ollama_generate", "ended_without_done"),
    ] {
        for (name, end) in [("A42", finished), ("A42-no-finish", "ended_without_done")] {
            let run = case.run(Ask::to(path).of(name));
            run.is("/api", api).is("/counts/token_events", 5);
            run.is("/counts/done_markers", 0).null("/at/done_ms");
            run.flag("no_done_marker", end == "complete").end(end);
        }
    }
}

#[test]
fn a43_what_follows_the_first_marker_passes() {
    let case = Case::of("A43");
    let mut client = case.client();
    for reused in [false, true] {
        let run = case.run_on(&mut client, Ask::chat());
        run.is("/upstream/reused", reused);
        run.is("/counts/token_events", 12)
            .is("/counts/done_markers", 2);
        run.is("/counts/keepalives", 1);
        run.flag("done_twice", true).flag("bytes_after_done", true);
        run.end("complete").verdict("steady", "");
        run.near("/at/done_ms", 1000.0).near("/at/end_ms", 1500.0);
        run.between("/at/end_ms", 1498.0, f64::INFINITY);
        // the tail is that of the body, not of the marker
        let tail = run.number("/at/end_ms") - run.number("/at/last_token_ms");
        run.between("/tail_ms", tail - 0.1, tail + 0.1);
        let told = run.number("/at/end_ms") - run.number("/at/done_ms");
        assert!(told > 300.0, "{:#}", run.record);
    }
}

#[test]
fn a43_events_may_follow_one_marker() {
    let run = run("A43-after");
    run.is("/counts/done_markers", 1).is("/counts/events", 16);
    run.flag("done_twice", false).flag("bytes_after_done", true);
    run.is("/tokens/completion", 12).end("complete");
    run.near("/at/done_ms", 400.0).near("/at/end_ms", 700.0);
}

#[test]
fn a43_blank_lines_are_nothing() {
    let run = run("A43-once");
    run.is("/counts/done_markers", 1).end("complete");
    run.flag("done_twice", false)
        .flag("bytes_after_done", false);
}

/// The body is the server's to its last byte: nothing was put to its end.
fn unterminated(name: &str) -> Run {
    let run = run(name);
    run.flag("unterminated_last_event", true);
    run.is("/counts/parse_errors", 0);
    run.near("/ttft_ms", 150.0);
    assert!(!run.response.body.bytes.ends_with(b"\n\n"));
    run
}

#[test]
fn a44_a_marker_without_a_blank_line_is_one() {
    for (name, framing) in [
        ("A44-one-line-end", "chunked"),
        ("A44-no-line-end", "chunked"),
        ("A44-close", "close"),
    ] {
        let run = unterminated(name);
        run.is("/response/framing", framing);
        run.is("/counts/token_events", 12)
            .is("/counts/done_markers", 1);
        run.flag("no_done_marker", false).end("complete");
        run.verdict("steady", "");
        let order = run.number("/at/done_ms") >= run.number("/at/last_token_ms");
        assert!(order, "{:#}", run.record);
    }
}

#[test]
fn a44_a_marker_may_be_an_event_with_a_name() {
    let run = Case::of("A44-messages").run(Ask::to("/v1/messages"));
    run.is("/counts/token_events", 12)
        .is("/counts/done_markers", 1);
    run.flag("unterminated_last_event", true);
    run.flag("no_done_marker", false).end("complete");
    run.verdict("steady", "");
}

#[test]
fn a44_a_finish_without_a_blank_line_is_one() {
    let run = unterminated("A44-finish");
    run.is("/counts/token_events", 12)
        .is("/counts/done_markers", 0);
    run.is("/tokens/completion", 12).is("/tokens/prompt", 7);
    run.flag("no_done_marker", true).end("complete");
    run.verdict("steady", "");
}

#[test]
fn a44_half_an_event_is_a_cut() {
    let run = run("A44-broken");
    run.is("/counts/token_events", 12)
        .is("/counts/done_markers", 0);
    run.flag("unterminated_last_event", true).end("truncated");
    run.is("/error/kind", "truncated");
}

#[test]
fn a44_a_word_without_a_blank_line_is_one_and_no_end() {
    let run = unterminated("A44-half-word");
    run.is("/counts/token_events", 13);
    // a partial event at the end, and nothing that says that it was the end
    run.end("truncated");
}

#[test]
fn a45_a_stream_without_an_event_is_empty() {
    for (name, header, end, keepalives) in [
        ("A45", 900.0, 900.0, 0),
        ("A45-comment", 100.0, 900.0, 1),
        ("A45-blank", 200.0, 500.0, 0),
    ] {
        let run = run(name);
        run.end("empty_stream");
        run.null("/ttft_ms").is("/ttft_null", "no_token");
        run.is("/counts/events", 0).is("/counts/done_markers", 0);
        run.is("/counts/keepalives", keepalives);
        run.is("/response/status", 200);
        run.near("/at/header_ms", header).near("/at/end_ms", end);
        run.between("/at/end_ms", end - 2.0, f64::INFINITY);
        run.null("/at/first_event_ms").null("/at/done_ms");
        run.null("/gaps/token/p50_ms").null("/tail_ms");
        run.verdict("unmeasurable", "unknown");
    }
}

#[test]
fn a45_a_stream_of_any_dialect_may_be_empty() {
    let case = Case::of("A45-blank");
    for path in ["/v1/messages", "/v1/responses", "/api/chat"] {
        let run = case.run(Ask::to(path));
        run.end("empty_stream");
        run.null("/ttft_ms").is("/ttft_null", "no_token");
        run.is("/counts/events", 0);
        run.verdict("unmeasurable", "unknown");
    }
}
