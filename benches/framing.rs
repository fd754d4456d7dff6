//! Framing and the request scan: time per event of 250 bytes, and bytes per second over a prompt
//! of 34 MiB.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use dripline::observe::framing::{DEFAULT_EVENT_LIMIT, Decoder, NdJsonDecoder, SseDecoder};
use dripline::observe::request::RequestScan;

const READ: usize = 16 * 1024;
const BODY: usize = 34 * 1024 * 1024;

fn framing(c: &mut Criterion) {
    let payload = payload();
    let event = format!("data: {payload}\n\n").into_bytes();
    let crlf = format!("data: {payload}\r\n\r\n").into_bytes();
    let typed = format!("event: content_block_delta\ndata: {payload}\n\n").into_bytes();
    let line = format!("{payload}\n").into_bytes();
    let many = event.repeat(64);
    let large = format!("data: {}\n\n", "x".repeat(1_000_000)).into_bytes();
    let sse = || Decoder::Sse(SseDecoder::new(DEFAULT_EVENT_LIMIT));
    let json_lines = || Decoder::NdJson(NdJsonDecoder::new(DEFAULT_EVENT_LIMIT));
    let (head, tail) = event.split_at(100);

    let mut group = c.benchmark_group("framing");
    let mut bench = |name, decoder: Decoder, reads: Vec<&[u8]>| {
        let mut decoder = decoder;
        let bytes: usize = reads.iter().map(|read| read.len()).sum();
        group.throughput(Throughput::Bytes(bytes as u64));
        group.bench_function(name, |b| {
            b.iter(|| {
                let mut frames = 0;
                for read in &reads {
                    decoder.push(black_box(read), |frame| {
                        black_box(frame);
                        frames += 1;
                    });
                }
                frames
            });
        });
    };
    bench("event in one read", sse(), vec![&event]);
    bench("event in two reads", sse(), vec![head, tail]);
    bench("event byte by byte", sse(), event.chunks(1).collect());
    bench("event with CRLF", sse(), vec![&crlf]);
    bench("event with a type", sse(), vec![&typed]);
    bench("64 events in one read", sse(), vec![&many]);
    bench("event of 1 MB", sse(), large.chunks(READ).collect());
    bench("JSON line in one read", json_lines(), vec![&line]);
}

/// What makes an event of 250 bytes.
fn payload() -> String {
    let text = "w".repeat(151);
    format!(
        r#"{{"id":"c1","object":"chat.completion.chunk","choices":[{{"index":0,"delta":{{"content":"{text}"}}}}]}}"#
    )
}

fn request(c: &mut Criterion) {
    let mut group = c.benchmark_group("request");
    group.sample_size(10);
    let message = r#"{"role":"user","content":[{"type":"text","text":"Tell me a joke about it"}]}"#;
    for (name, value) in [
        ("image", format!(r#""{}""#, "QUJD".repeat(BODY / 4))),
        (
            "code with escapes",
            format!(r#""{}""#, r#"    let x = \"abc\";\n"#.repeat(BODY / 23)),
        ),
        ("token ids", format!("[{}1]", "12345, ".repeat(BODY / 7))),
        (
            "messages",
            format!("[{}]", vec![message; BODY / (message.len() + 1)].join(",")),
        ),
    ] {
        let body = format!(r#"{{"model":"m","prompt":{value},"stream":true}}"#).into_bytes();
        group.throughput(Throughput::Bytes(body.len() as u64));
        group.bench_function(name, |b| {
            b.iter(|| {
                let mut scan = RequestScan::new();
                body.chunks(READ)
                    .for_each(|read| scan.push(black_box(read)));
                scan.facts()
            });
        });
    }
}

criterion_group!(benches, framing, request);
criterion_main!(benches);
