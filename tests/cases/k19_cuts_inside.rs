//! Reads that end inside characters, fields and events.

use super::rig::run;

#[test]
fn a33_a_character_cut_in_two_counts_when_it_is_whole() {
    let run = run("A33");
    run.is("/counts/token_events", 3)
        .is("/counts/parse_errors", 0);
    run.near("/gaps/token/max_ms", 80.0);
    run.is("/coalescing/events_split_over_chunks", 1);
    run.end("complete");
}
