//! A long time between the last token and the end.

use super::rig::{Ask, Case, played};

#[test]
fn a19_the_tail_is_no_gap_between_tokens() {
    let case = Case::with(&["A19", "A19-open"], &[]);
    for (name, words, gap, tail) in [("A19", 50, 30.0, 1230.0), ("A19-open", 30, 20.0, 1620.0)] {
        let [run] = played(|| [case.run(Ask::chat().of(name))]);
        run.near("/ttft_ms", 60.0).near("/gaps/token/p50_ms", gap);
        run.is("/counts/token_events", words);
        run.is("/gaps/token/n", words - 1);
        run.between("/gaps/token/max_ms", gap / 2.0, tail / 2.0);
        run.near("/tail_ms", tail);
        run.verdict("late_tail", "upstream").end("complete");
        run.is("/stalls", serde_json::json!([]));
    }
}
