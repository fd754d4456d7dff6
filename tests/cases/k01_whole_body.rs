//! Whole bodies held until their end.

use super::hop::holding;
use super::rig::{Ask, Case, played, run};
use crate::support::Client;

#[test]
fn a01_what_was_gathered_before_is_the_upstreams() {
    let run = run("A01-held");
    run.near("/ttft_ms", 2000.0).near("/at/header_ms", 2000.0);
    run.near("/at/end_ms", 2000.0);
    run.is("/counts/token_events", 8);
    run.between("/gaps/token/max_ms", 0.0, 50.0);
    run.verdict("whole_body_burst", "upstream").end("complete");
    run.null("/rates/chunks_per_s_after_first");
}

#[test]
fn a01_what_is_gathered_behind_is_none_of_this_proxys() {
    let case = Case::of("A01");
    let [run] = played(|| {
        let mut client = Client::connect(holding(case.proxy.addr, usize::MAX));
        [case.server.exchange(&mut client, Ask::chat(), &case.proxy)]
    });
    run.bytes_are_the_servers();
    let first = run.response.had(1).expect("a body");
    let waited = first.duration_since(run.start).as_millis();
    assert!(waited > 1700, "the hop held nothing: {waited} ms");

    run.near("/ttft_ms", 0.0).near("/gaps/token/p50_ms", 250.0);
    run.verdict("steady", "").end("complete");
    // what keeps a hop from gathering must reach it
    let opt_out = run.response.head.get("x-accel-buffering");
    assert_eq!(opt_out.as_deref(), Some("no"));
}

#[test]
fn a02_a_gateway_that_gathers_the_answer_is_no_fast_engine() {
    let case = Case::with(&["A02-direct", "A02-gateway", "A02-length"], &[]);

    let [direct] = played(|| [case.run(Ask::chat().of("A02-direct"))]);
    direct
        .near("/ttft_ms", 272.0)
        .near("/gaps/token/p50_ms", 24.0);
    direct.verdict("steady", "").end("complete");

    for name in ["A02-gateway", "A02-length"] {
        let [held] = played(|| [case.run(Ask::chat().of(name))]);
        held.near("/ttft_ms", 1740.0);
        held.between("/gaps/token/p50_ms", 0.0, 1.0);
        held.verdict("whole_body_burst", "upstream").end("complete");
        held.is("/coalescing/events_per_chunk_max", 52);
        held.is("/counts/chunks", 1);
        held.null("/rates/chunks_per_s_after_first");
        held.null("/rates/tokens_per_s_after_first");
        held.flag("length_known_stream", name == "A02-length");
        let (first, last) = (held.number("/at/first_byte_ms"), held.number("/at/end_ms"));
        assert!(
            last - first < 50.0,
            "one write came over {first} to {last} ms"
        );
    }
}
