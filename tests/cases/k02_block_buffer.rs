//! Buffers that pass full blocks on.

use super::hop::holding;
use super::rig::{Ask, Run, Server, near, number, played, record_of, run};
use crate::support::{Client, Proxy};

/// Asserts that all bursts but the first (which shares its block with others' bytes) and the last have so many bytes,
/// give or take an event.
fn in_blocks_of(run: &Run, block: i64, event: i64) {
    let bursts = run.at("/coalescing/burst_bytes").as_array();
    let bursts: Vec<i64> = bursts
        .expect("a list")
        .iter()
        .filter_map(serde_json::Value::as_i64)
        .collect();
    assert!(bursts.len() >= 6, "{bursts:?}");
    for burst in &bursts[1..bursts.len() - 1] {
        assert!((burst - block).abs() <= event, "{bursts:?}");
    }
}

#[test]
fn a03_blocks_of_16_kib_have_a_size() {
    let run = run("A03");
    // the 67th event fills the first block, and the head waits for it
    run.near("/at/header_ms", 446.0).near("/ttft_ms", 446.0);
    run.near("/coalescing/burst_period_ms", 398.0);
    run.between("/coalescing/burst_events/1", 64.0, 68.0);
    in_blocks_of(&run, 16 * 1024, 247);
    run.verdict("block_burst", "upstream").end("complete");
    run.says("16 KiB").says("proxy_buffering off");
}

#[test]
fn a03_a_stream_shorter_than_a_block_cannot_tell() {
    let short = run("A03-short");
    short.near("/ttft_ms", 550.0).near("/at/end_ms", 550.0);
    short.verdict("whole_body_burst", "upstream");
    short.says("cannot tell");
    short.between("/verdict/confidence", 0.1, 0.8);
}

#[test]
fn a03_blocks_are_constant_where_counts_and_times_are_not() {
    let run = run("A03-varied");
    in_blocks_of(&run, 4096, 700);
    run.verdict("block_burst", "upstream").end("complete");
    run.says("4 KiB");
}

/// What two proxies say of one answer with a hop between them that passes full blocks on.
fn on_both_sides(script: &str) -> (serde_json::Value, Run) {
    let server = Server::start(&[script]);
    let behind = Proxy::with(&server.url(), &["--instance", "engine-side"]);
    // a block that no round period fits
    let hop = holding(behind.addr, 7 * 1024);
    let before = Proxy::with(&format!("http://{hop}"), &["--instance", "client-side"]);
    let [run] = played(|| {
        let mut client = Client::connect(before.addr);
        [server.exchange(&mut client, Ask::chat(), &before)]
    });
    run.bytes_are_the_servers();
    (record_of(&behind, &run.id), run)
}

fn a04(script: &str, http: &str, framing: &str) {
    let (behind, run) = on_both_sides(script);
    // the way to the server is long on a busy machine
    let late = run.answer.late + run.answer.asked.duration_since(run.start);
    near(&behind, "/ttft_ms", 22.0, late);
    near(&behind, "/gaps/token/p50_ms", 5.5, late);
    assert_eq!(behind["verdict"]["timing"], "steady", "{behind:#}");
    assert_eq!(behind["instance"], "engine-side");
    assert_eq!(behind["upstream"]["http"], http);
    assert_eq!(behind["response"]["framing"], framing);

    run.is("/instance", "client-side").end("complete");
    run.verdict("block_burst", "upstream");
    run.between("/gaps/token/p50_ms", 0.0, 2.0);

    // joined: the first token comes later and the rest nearer together, which no network does by itself
    let both = |pointer| (number(&behind, pointer), run.number(pointer));
    let (there, here) = both("/ttft_ms");
    assert!(here - there > 100.0, "{there} and {here} ms to the first");
    let (there, here) = both("/gaps/token/p50_ms");
    assert!(here < there / 2.0, "gaps of {there} and {here} ms");
    let (there, here) = both("/gaps/token/mean_ms");
    assert!(here < there, "gaps of {there} and {here} ms");
    let (there, here) = both("/at/end_ms");
    assert!(
        (here - there).abs() < there / 10.0 + 30.0,
        "{there} and {here} ms in all"
    );
    assert_eq!(both("/counts/bytes").0, both("/counts/bytes").1);
    assert_eq!(
        behind["response"]["body_hash"],
        *run.at("/response/body_hash")
    );
}

#[test]
fn a04_two_proxies_show_that_the_hop_between_them_holds() {
    a04("A04", "1.1", "chunked");
}

#[test]
fn a04_the_leg_that_is_http_1_0_is_recorded() {
    a04("A04-http10", "1.0", "close");
}

#[test]
fn a05_the_end_that_sits_in_a_buffer_is_a_late_tail() {
    let held = run("A05");
    held.near("/ttft_ms", 100.0)
        .near("/gaps/token/max_ms", 150.0);
    held.near("/tail_ms", 1500.0);
    held.verdict("late_tail", "upstream").end("complete");
    held.says("buffer").says("server").says("p99");
}

#[test]
fn a05_padding_brings_the_end_in_time_and_is_no_token() {
    let padded = run("A05-padded");
    padded.near("/tail_ms", 150.0);
    padded.near("/gaps/token/p50_ms", 150.0);
    padded
        .is("/counts/token_events", 12)
        .is("/counts/keepalives", 1);
    padded.verdict("steady", "").end("complete");
    assert!(
        !padded.findings().contains(&"late_tail"),
        "{:#}",
        padded.record
    );
}
