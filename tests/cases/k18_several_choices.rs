//! Several choices in one stream.

use super::rig::{Ask, Case, run};

#[test]
fn a32_choices_in_turn_are_one_stream() {
    let run = Case::of("A32").run(Ask::chat().with("n", 2.into()));
    run.near("/ttft_ms", 200.0);
    run.between("/ttft_ms", 198.0, f64::INFINITY);
    run.is("/counts/token_events", 44).is("/gaps/token/n", 43);
    run.between("/gaps/token/p50_ms", 7.0, 30.0);
    run.between("/gaps/token/max_ms", 18.0, 240.0);
    run.flag("multi_choice", true).flag("no_done_marker", false);
    run.verdict("steady", "").end("complete");
    assert!(run.at("/stalls").as_array().is_some_and(Vec::is_empty));
    run.near("/at/done_ms", 900.0);
    run.between("/at/done_ms", 898.0, f64::INFINITY);
}

#[test]
fn a32_a_choice_without_its_end_is_missed() {
    let run = run("A32-open");
    run.flag("multi_choice", true);
    run.is("/counts/token_events", 24).end("ended_without_done");
}

#[test]
fn a32_all_choices_with_their_ends_are_whole() {
    let run = run("A32-closed");
    run.flag("multi_choice", true).flag("no_done_marker", true);
    run.is("/counts/token_events", 24).end("complete");
    run.verdict("steady", "");
}
