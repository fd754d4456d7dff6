//! Hops that flush by a timer.

use super::rig::{Run, run};

/// Asserts that bursts come in that period and differ in bytes.
fn ticks(run: &Run, period: f64) {
    run.between("/coalescing/burst_period_ms", period * 0.9, period * 1.1);
    run.verdict("tick_burst", "upstream").end("complete");
    let bytes = run
        .at("/coalescing/burst_bytes")
        .as_array()
        .expect("a list");
    let bytes: Vec<u64> = bytes.iter().filter_map(|n| n.as_u64()).collect();
    let full = &bytes[..bytes.len() - 1];
    let (least, most) = (full.iter().min(), full.iter().max());
    let (least, most) = least.zip(most).expect("bursts");
    assert!(*most as f64 > *least as f64 * 1.2, "{bytes:?}");
}

#[test]
fn a06_a_timer_is_told_from_a_buffer() {
    let run = run("A06");
    // as read: the timer's first tick, though the event was there after 20 ms
    run.near("/ttft_ms", 250.0);
    run.between("/coalescing/burst_events/2", 8.0, 16.0);
    ticks(&run, 250.0);
    run.says("timer").says("flush_interval");
}

#[test]
fn a06_a_timer_over_a_text_that_comes_unevenly() {
    let run = run("A06-slow");
    run.near("/ttft_ms", 400.0);
    ticks(&run, 400.0);
}
