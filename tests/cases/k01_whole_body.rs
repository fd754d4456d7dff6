//! Whole bodies held until their end.

use super::rig::{Ask, Case};

#[test]
fn a02_a_gateway_that_gathers_the_answer_is_no_fast_engine() {
    let case = Case::with(&["A02-direct", "A02-gateway", "A02-length"], &[]);

    let direct = case.run(Ask::chat().of("A02-direct"));
    direct
        .near("/ttft_ms", 272.0)
        .near("/gaps/token/p50_ms", 24.0);
    direct.verdict("steady", "").end("complete");

    for name in ["A02-gateway", "A02-length"] {
        let held = case.run(Ask::chat().of(name));
        held.near("/ttft_ms", 1740.0);
        held.between("/gaps/token/p50_ms", 0.0, 1.0);
        held.verdict("whole_body_burst", "upstream").end("complete");
        // one write of 10 KB may take two reads
        held.between("/coalescing/events_per_chunk_max", 26.0, 52.0);
        held.between("/counts/chunks", 1.0, 2.0);
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
