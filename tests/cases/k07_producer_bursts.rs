//! Servers that release text in groups.

use super::rig::{Ask, Case, played};

#[test]
fn a11_moderated_groups_may_be_the_servers_or_a_hops() {
    let case = Case::with(&["A11", "A11-varied"], &[]);
    for (name, first, period) in [("A11", 400.0, 400.0), ("A11-varied", 300.0, 300.0)] {
        let [run] = played(|| [case.run(Ask::chat().of(name))]);
        run.near("/at/first_event_ms", 30.0).near("/ttft_ms", first);
        run.flag("azure_filter", true).end("complete");
        run.between("/coalescing/events_per_chunk_max", 20.0, 50.0);
        run.between("/coalescing/burst_period_ms", period * 0.9, period * 1.1);
        run.verdict("tick_burst", "upstream");
        run.says("azure").says("server").says("hop");
        run.between("/verdict/confidence", 0.1, 0.95);
    }
}
