//! A model that is loaded first.

use super::rig::{Ask, Case, played};

#[test]
fn a17_a_model_that_is_loaded_first_is_a_late_header() {
    let [cold, warm] = played(|| {
        let case = Case::with(&["A17", "A17-warm"], &[]);
        let mut client = case.client();
        ["A17", "A17-warm"].map(|name| case.run_on(&mut client, Ask::chat().of(name)))
    });
    cold.near("/at/header_ms", 2400.0).near("/ttft_ms", 2460.0);
    cold.near("/gaps/token/p50_ms", 30.0);
    cold.is("/load/cold", true);
    cold.verdict("late_header", "upstream").end("complete");
    cold.says("cold start")
        .says("queue")
        .says("hop")
        .says("cannot tell");
    cold.says("steady");

    warm.near("/at/header_ms", 20.0).near("/ttft_ms", 60.0);
    warm.near("/gaps/token/p50_ms", 30.0);
    // nothing of the first is left in the second
    warm.is("/load/cold", false).is("/upstream/reused", true);
    warm.between("/silence/longest_ms", 0.0, 500.0);
    warm.is("/counts/token_events", 25);
    warm.verdict("steady", "").end("complete");
    assert!(cold.at("/id") != warm.at("/id"));
}
