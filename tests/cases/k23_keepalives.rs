//! Keep-alives.

use super::rig::run;

#[test]
fn a46_comments_of_a_queue_are_life_and_no_token() {
    let run = run("A46");
    run.near("/at/header_ms", 400.0)
        .near("/at/first_byte_ms", 400.0);
    run.near("/at/first_event_ms", 3200.0)
        .near("/ttft_ms", 3240.0);
    run.between("/at/first_event_ms", 3198.0, f64::INFINITY);
    run.between("/ttft_ms", 3238.0, f64::INFINITY);
    run.is("/counts/keepalives", 4)
        .is("/counts/token_events", 16);
    run.is("/counts/parse_errors", 0).is("/gaps/token/n", 15);
    run.between("/silence/longest_ms", 600.0, 1300.0);
    run.between("/gaps/token/max_ms", 18.0, 250.0);
    run.verdict("late_first_token", "upstream").end("complete");
    run.null("/verdict/cut");
}

#[test]
fn a46_keepalives_have_many_forms() {
    let run = run("A46-forms");
    run.near("/ttft_ms", 700.0);
    run.between("/ttft_ms", 698.0, f64::INFINITY);
    run.is("/counts/keepalives", 20)
        .is("/counts/token_events", 10);
    run.is("/counts/parse_errors", 0).is("/gaps/token/n", 9);
    run.between("/gaps/token/p50_ms", 30.0, 65.0);
    run.between("/silence/longest_ms", 50.0, 400.0);
    run.verdict("steady", "").end("complete");
}

#[test]
fn a47_pings_hide_no_freeze_and_a_freeze_no_pings() {
    let run = run("A47");
    run.near("/ttft_ms", 1040.0);
    run.between("/ttft_ms", 1038.0, f64::INFINITY);
    run.is("/counts/keepalives", 5)
        .is("/counts/token_events", 20);
    run.near("/gaps/token/max_ms", 800.0);
    run.between("/silence/longest_ms", 200.0, 550.0);
    run.between("/gaps/chunk/max_ms", 200.0, 550.0);
    run.verdict("stall_no_catch_up", "upstream").end("complete");
    run.is("/stalls/0/after_token", 10);
    run.near("/stalls/0/gap_ms", 800.0);
    run.between("/stalls/0/catch_up_events", 1.0, 3.0);
    run.null("/verdict/cut");
}

#[test]
fn a47_pings_may_be_events() {
    let run = run("A47-events");
    run.near("/ttft_ms", 200.0)
        .near("/at/first_content_ms", 2050.0);
    run.is("/counts/keepalives", 5)
        .is("/counts/token_events", 37);
    run.near("/gaps/token/max_ms", 1200.0);
    run.between("/gaps/event/max_ms", 150.0, 700.0);
    run.between("/silence/longest_ms", 150.0, 700.0);
    run.verdict("stall_no_catch_up", "upstream").end("complete");
    run.is("/stalls/0/after_token", 12);
    run.null("/verdict/cut");
}

#[test]
fn a48_an_early_head_makes_no_early_token() {
    let run = run("A48");
    run.near("/at/header_ms", 2.0).near("/ttft_ms", 2320.0);
    run.near("/at/first_byte_ms", 2.0);
    run.between("/ttft_ms", 2318.0, f64::INFINITY);
    run.is("/counts/keepalives", 5)
        .is("/counts/token_events", 16);
    run.between("/silence/longest_ms", 350.0, 1000.0);
    run.verdict("late_first_token", "upstream").end("complete");
    // pings came before anything of the answer: whoever sent the head need not be who does the work
    let told = run.at("/verdict").to_string();
    assert!(!told.contains("had accepted"), "{told}");
}

#[test]
fn a48_an_error_after_pings_has_no_first_token() {
    let run = run("A48-error");
    run.is("/response/status", 200).end("in_band_error");
    run.null("/ttft_ms").is("/ttft_null", "in_band_error");
    run.is("/error/kind", "in_band_error")
        .is("/error/type", "429");
    run.near("/at/header_ms", 2.0).near("/at/end_ms", 2320.0);
    run.near("/at/first_event_ms", 2320.0);
    run.is("/counts/keepalives", 5)
        .is("/counts/token_events", 0);
    run.is("/counts/done_markers", 0);
}

#[test]
fn a48_an_end_marker_makes_no_answer_of_an_error() {
    let run = run("A48-error-done");
    run.is("/response/status", 200).end("in_band_error");
    run.null("/ttft_ms").is("/ttft_null", "in_band_error");
    run.is("/error/type", "overloaded_error");
    run.near("/at/end_ms", 600.0).is("/counts/keepalives", 4);
}
