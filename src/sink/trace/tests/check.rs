//! What the format and its readers ask of a trace, beside that it is JSON.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// The events of a trace, if it is one; panics with what is wrong.
pub fn checked(text: &str) -> Vec<Value> {
    let trace: Value = serde_json::from_str(text).unwrap();
    assert_eq!(trace["displayTimeUnit"], "ms");
    let events = trace["traceEvents"].as_array().unwrap().clone();
    // by track: where the slices that are open end, and when the last event was
    let mut tracks: BTreeMap<u64, (Vec<i64>, i64)> = BTreeMap::new();
    let mut counters: BTreeMap<u64, (i64, i64)> = BTreeMap::new();
    let (mut processes, mut threads) = (BTreeSet::new(), BTreeSet::new());
    for event in &events {
        let told = || panic!("{event}");
        let whole = |key: &str| event[key].as_i64().unwrap_or_else(told);
        let unsigned = |key: &str| event[key].as_u64().unwrap_or_else(|| panic!("{event}"));
        let pid = unsigned("pid");
        assert!(!event["name"].as_str().unwrap().is_empty(), "{event}");
        match event["ph"].as_str().unwrap() {
            "M" => {
                assert!(!event["args"]["name"].as_str().unwrap().is_empty());
                let is_new = match event["name"].as_str().unwrap() {
                    "process_name" => processes.insert(pid),
                    "thread_name" => processes.contains(&pid) && threads.insert(unsigned("tid")),
                    _ => false,
                };
                assert!(is_new, "named twice, or before its process: {event}");
            }
            kind @ ("X" | "i") => {
                let tid = unsigned("tid");
                assert!(
                    threads.contains(&tid) && !processes.contains(&tid),
                    "{event}"
                );
                let (from, to) = match kind {
                    "X" => (whole("ts"), whole("ts") + unsigned("dur") as i64),
                    _ => (whole("ts"), whole("ts")),
                };
                assert!(from >= 0 && to < 1 << 53, "{event}");
                assert_eq!(event["s"].as_str(), (kind == "i").then_some("t"), "{event}");
                let (open, last) = tracks.entry(tid).or_default();
                assert!(*last <= from, "not in order: {event}");
                *last = from;
                open.retain(|end| *end > from || (*end == from && to == from));
                assert!(open.iter().all(|end| to <= *end), "does not nest: {event}");
                // requests overlap, so no two are on a track
                assert!(event["cat"] != "request" || open.is_empty(), "{event}");
                if kind == "X" {
                    open.push(to);
                }
            }
            "C" => {
                let n = event["args"]["in flight"].as_i64().unwrap();
                let (at, before) = counters.entry(pid).or_insert((-1, 0));
                assert!(*at < whole("ts") && n >= 0 && n != *before, "{event}");
                (*at, *before) = (whole("ts"), n);
            }
            other => panic!("no such kind: {other}"),
        }
    }
    assert!(counters.values().all(|(_, n)| *n == 0), "all requests end");
    let with_request = |tid: &u64| {
        let mut of = events
            .iter()
            .filter(|event| event["cat"] == "request" && event["tid"] == *tid);
        of.next().is_some() && of.next().is_some()
    };
    assert!(!threads.iter().any(with_request), "two requests on a track");
    events
}
