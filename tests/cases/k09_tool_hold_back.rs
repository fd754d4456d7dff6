//! Text held back because of tools.

use serde_json::json;

use super::rig::{Ask, Case, Run, played, run};

fn tools() -> serde_json::Value {
    json!([{"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}])
}

/// Asserts that all came in one event after so long.
fn in_one_event(run: &Run, after: f64) {
    run.near("/ttft_ms", after).near("/at/end_ms", after);
    run.is("/counts/token_events", 1);
    run.verdict("producer_batched", "upstream").end("complete");
    let findings = run.findings();
    assert!(
        !findings.contains(&"transport_coalesced") && !findings.contains(&"whole_body_burst"),
        "{findings:?}"
    );
    run.null("/rates/chunks_per_s_after_first");
}

#[test]
fn a13_tools_make_one_event_of_an_answer() {
    let case = Case::with(&["A13", "A13-tools", "A13-call"], &[]);
    let [without] = played(|| [case.run(Ask::chat().of("A13"))]);
    without
        .is("/request/has_tools", false)
        .is("/request/stream", true);
    without
        .near("/ttft_ms", 60.0)
        .near("/gaps/token/p50_ms", 30.0);
    without.verdict("steady", "").end("complete");

    for (name, after) in [("A13-tools", 1500.0), ("A13-call", 900.0)] {
        let run = case.run(Ask::chat().of(name).with("tools", tools()));
        run.is("/request/has_tools", true)
            .is("/request/stream", true);
        in_one_event(&run, after);
    }
}

#[test]
fn a14_a_call_that_comes_whole_comes_late() {
    let run = run("A14-whole");
    run.near("/at/first_event_ms", 50.0);
    in_one_event(&run, 1320.0);
    run.near("/at/first_tool_ms", 1320.0);
    run.null("/ttfa_ms");
}

#[test]
fn a14_the_name_of_a_function_is_the_first_token() {
    let run = run("A14-pieces");
    run.near("/ttft_ms", 226.0).near("/at/first_tool_ms", 226.0);
    run.null("/ttfa_ms").null("/at/first_content_ms");
    run.is("/counts/token_events", 70);
    run.near("/gaps/token/p50_ms", 15.0);
    run.verdict("steady", "").end("complete");
}
