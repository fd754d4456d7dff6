//! What observing costs: one chat event of 250 bytes, from bytes and time to figures, hash included.
//!
//! `cargo bench --bench observe`; the figure to keep below 1.5 µs is the time per element.

use std::hint::black_box;
use std::time::Duration;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use dripline::observe::observer::{Cause, Observer, Options, RequestHead, ResponseHead, Stamp};

/// Events of one stream.
const EVENTS: u32 = 2_000;

/// Bytes of one event.
const EVENT_BYTES: usize = 250;

fn event() -> Vec<u8> {
    let data = |text: &str| {
        format!(
            "data: {{\"id\":\"chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT\",\"object\":\"chat.completion.chunk\",\
             \"created\":1741569952,\"model\":\"gpt-5.4\",\"choices\":[{{\"index\":0,\"delta\":\
             {{\"content\":\"{text}\"}},\"logprobs\":null,\"finish_reason\":null}}]}}\n\n"
        )
    };
    let padding = EVENT_BYTES - data("").len();
    data(&"x".repeat(padding)).into_bytes()
}

fn observer() -> Observer {
    let head = RequestHead {
        path: "/v1/chat/completions".into(),
        ..RequestHead::default()
    };
    let mut observer = Observer::new(head, Options::default());
    observer.on_sent(Duration::ZERO);
    let head = ResponseHead {
        status: 200,
        content_type: Some("text/event-stream".into()),
        ..ResponseHead::default()
    };
    observer.on_header(Duration::from_millis(1), head);
    observer
}

/// Events 20 ms apart, `per_chunk` in each read.
fn stream(mut observer: Observer, event: &[u8], per_chunk: u32) -> Observer {
    for i in 0..EVENTS {
        let at = Duration::from_millis(20 * u64::from(i / per_chunk + 1));
        observer.on_body(at, Stamp::Kernel, i % per_chunk == 0, black_box(event));
        if i % per_chunk == per_chunk - 1 {
            observer.on_flushed(u64::from(i / per_chunk + 1), at + Duration::from_micros(50));
        }
    }
    observer
}

fn events(c: &mut Criterion) {
    let event = event();
    assert_eq!(event.len(), EVENT_BYTES);
    let mut group = c.benchmark_group("observe");
    group.throughput(Throughput::Elements(EVENTS.into()));
    for (name, per_chunk) in [("one event per read", 1), ("40 events per read", 40)] {
        group.bench_function(name, |b| {
            b.iter_batched(
                observer,
                |observer| stream(observer, &event, per_chunk),
                BatchSize::LargeInput,
            );
        });
    }
    group.finish();
    c.bench_function("observe/the record at the end", |b| {
        let end = Duration::from_secs(60);
        let streamed = || stream(observer(), &event, 1);
        b.iter_batched(
            streamed,
            |observer| observer.finish(end, Cause::Whole),
            BatchSize::LargeInput,
        );
    });
}

criterion_group!(benches, events);
criterion_main!(benches);
