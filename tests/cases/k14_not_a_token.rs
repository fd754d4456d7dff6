//! First events that are no tokens.

use super::rig::run;

#[test]
fn a20_a_role_is_no_token() {
    let run = run("A20");
    run.near("/at/first_byte_ms", 900.0)
        .near("/at/first_event_ms", 900.0);
    run.near("/ttft_ms", 2200.0);
    run.near("/gaps/token/max_ms", 20.0);
    run.is("/counts/token_events", 20);
    run.verdict("steady", "").end("complete");
}
