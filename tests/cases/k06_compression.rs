//! Compressed event streams.

use std::fs;
use std::io::Write;
use std::thread;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::rig::{Ask, Case, Run, played};
use crate::support::{
    Client, DONE, End, LAST, Proxy, STREAM, Upstream, chat_request, chunk, event, finish,
};

/// Asks that scenario and accepts that coding.
fn ask(script: &str, accept: &str) -> Run {
    let case = Case::of(script);
    let [run] = played(|| [case.run(Ask::chat().field("Accept-Encoding", accept))]);
    encodings_pass(&run, accept);
    run
}

fn encodings_pass(run: &Run, accept: &str) {
    let asked = run.answer.request.get("accept-encoding");
    assert_eq!(asked.as_deref(), Some(accept));
    let said = |head: &crate::support::http::Head| head.get("content-encoding");
    assert_eq!(said(&run.response.head), said(&run.answer.head));
    run.is("/request/accept_encoding", accept);
    run.is("/response/content_encoding", said(&run.answer.head));
}

#[test]
fn a08_the_head_of_gzip_is_no_first_token() {
    let run = ask("A08", "gzip");
    run.near("/at/header_ms", 10.0)
        .near("/at/first_byte_ms", 10.0);
    run.near("/ttft_ms", 1610.0).null("/ttft_null");
    run.is("/counts/token_events", 40).flag("encoded", true);
    run.verdict("whole_body_burst", "upstream").end("complete");
    run.says("content-encoding: gzip");
    run.null("/rates/chunks_per_s_after_first");
}

#[test]
fn a08_another_compressor_that_waits_for_more() {
    let run = ask("A08-zstd", "zstd, gzip;q=0.5");
    run.near("/at/header_ms", 10.0).near("/ttft_ms", 1610.0);
    run.is("/counts/token_events", 40).flag("encoded", true);
    run.verdict("whole_body_burst", "upstream").end("complete");
    run.says("content-encoding: zstd");
}

#[test]
fn a08_what_cannot_be_decoded_has_no_first_token() {
    let run = ask("A08-unknown", "x-secret");
    run.near("/at/first_byte_ms", 10.0);
    run.null("/ttft_ms").is("/ttft_null", "encoded");
    run.null("/counts/events").null("/counts/token_events");
    run.is("/counts/bytes", 410).flag("encoded", true);
    run.verdict("unmeasurable", "unknown").says("x-secret");
}

/// Asks for a compressed stream that is flushed as it should be.
fn flushed(script: &str, coding: &str, words: u64, every: f64) {
    let run = ask(script, coding);
    run.is("/response/content_encoding", coding);
    run.flag("encoded", true).null("/ttft_null");
    run.near("/ttft_ms", 100.0)
        .near("/gaps/token/p50_ms", every);
    run.is("/counts/token_events", words);
    run.is("/counts/parse_errors", 0);
    run.verdict("steady", "").end("complete");
}

#[test]
fn a09_gzip_that_is_flushed_is_steady() {
    flushed("A09", "gzip", 30, 50.0);
}

#[test]
fn a09_deflate_that_is_flushed_is_steady() {
    flushed("A09-deflate", "deflate", 25, 30.0);
}

#[test]
fn a09_brotli_that_is_flushed_is_steady() {
    flushed("A09-br", "br", 30, 25.0);
}

#[test]
fn a09_zstd_that_is_flushed_is_steady() {
    flushed("A09-zstd", "zstd", 20, 35.0);
}

#[test]
fn a09_a_flush_cut_in_two() {
    flushed("A09-split", "gzip", 13, 60.0);
}

/// What unpacks to far more than the proxy may use passes, and is not unpacked whole.
#[test]
fn a09_a_bomb_passes_and_does_not_go_off() {
    let bomb = bomb(256);
    let body = bomb.clone();
    let upstream = Upstream::start(move |exchange| {
        exchange.request();
        let head = STREAM.replace("\r\n\r\n", "\r\nContent-Encoding: gzip\r\n\r\n");
        exchange.send(head);
        for piece in body.chunks(64 * 1024) {
            exchange.send(chunk(piece));
        }
        exchange.send(LAST);
    });
    let label = format!("bomb-{}", upstream.addr);
    let proxy = Proxy::with(&upstream.url(), &["--label", &label]);
    let mut client = Client::connect(proxy.addr);
    let response = client.ask(chat_request("Accept-Encoding: gzip\r\n"));
    assert_eq!(response.end, Some(End::Whole));
    assert!(response.body.bytes == bomb, "the bytes are others");

    let record = proxy.record();
    assert_eq!(record["counts"]["bytes"], bomb.len() as u64);
    let flags = crate::support::flags(&record);
    assert!(flags.contains(&"encoded"), "{record:#}");
    let stopped = flags.contains(&"observer_stopped") || flags.contains(&"event_too_large");
    assert!(stopped, "{record:#}");
    let used = most_memory_of(&label).expect("the proxy runs");
    assert!(used < 160 << 10, "the proxy used {used} KiB");
}

/// A token, an event of so many MiB, and the end: gzipped.
fn bomb(mib: usize) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    let mut say = |bytes: &[u8]| gzip.write_all(bytes).expect("a Vec takes every byte");
    say(event("before ").as_bytes());
    say(b"data: ");
    let mebibyte = vec![b'a'; 1 << 20];
    for _ in 0..mib {
        say(&mebibyte);
    }
    say(format!("\n\n{}{DONE}", finish()).as_bytes());
    gzip.finish().expect("a Vec takes every byte")
}

/// The most memory (KiB) that the process with this label on its command line ever had.
fn most_memory_of(label: &str) -> Option<u64> {
    let processes = fs::read_dir("/proc").ok()?.flatten();
    let read = |path: std::path::PathBuf| fs::read(path).unwrap_or_default();
    let ours = processes.map(|entry| entry.path()).find(|path| {
        let line = read(path.join("cmdline"));
        line.split(|byte| *byte == 0)
            .any(|word| word == label.as_bytes())
    })?;
    let status = String::from_utf8(read(ours.join("status"))).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

/// The two requests differ in `Accept-Encoding` alone; the proxy passes it on and tells both records apart by it.
#[test]
fn a10_only_the_coding_differs_and_only_one_is_bursty() {
    let (coded, plain) = thread::scope(|scope| {
        let coded = scope.spawn(|| ask("A10-br", "br, gzip"));
        let plain = ask("A10-identity", "identity");
        (coded.join().expect("a good run"), plain)
    });
    coded
        .is("/response/content_encoding", "br")
        .flag("encoded", true);
    coded.near("/ttft_ms", 400.0).null("/ttft_null");
    coded.verdict("tick_burst", "upstream").end("complete");
    coded.says("content-encoding: br").says("identity");

    plain
        .null("/response/content_encoding")
        .flag("encoded", false);
    plain.near("/ttft_ms", 30.0);
    plain.near("/gaps/token/p50_ms", 30.0);
    plain.verdict("steady", "").end("complete");
}
