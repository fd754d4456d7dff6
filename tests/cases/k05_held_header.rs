//! Heads that wait for the first byte of the body.

use super::rig::{Ask, Case, played};

#[test]
fn a07_a_head_passes_before_there_is_a_body() {
    let case = Case::with(&["A07", "A07-many"], &[]);
    for (name, head, first) in [("A07", 5.0, 2300.0), ("A07-many", 0.0, 2500.0)] {
        let [run] = played(|| [case.run(Ask::chat().of(name))]);
        let body = run.response.had(1).expect("a body");
        let between = body.duration_since(run.response.head_at).as_secs_f64() * 1000.0;
        assert!(between > first / 2.0, "the head waited for the body");

        run.near("/at/header_ms", head);
        run.near("/at/first_byte_ms", first).near("/ttft_ms", first);
        run.near("/silence/longest_ms", first);
        run.verdict("late_first_token", "upstream").end("complete");
        run.between("/verdict/confidence", 0.1, 1.0);
    }
}
