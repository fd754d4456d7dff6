//! What observing costs: one event of 250 bytes of each dialect, from bytes and time to figures, hash
//! included.
//!
//! `cargo bench --bench observe`; the figure to keep below 1.5 µs is the time per element of a chat
//! event.

use std::hint::black_box;
use std::time::Duration;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use dripline::observe::observer::{Cause, Observer, Options, RequestHead, ResponseHead, Stamp};

/// Events of one stream.
const EVENTS: u32 = 2_000;

/// Bytes of one event.
const EVENT_BYTES: usize = 250;

/// One API's event as its servers send it: path, label, bytes before and after the text.
struct Dialect(
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    &'static str,
);

const SSE: &str = "text/event-stream";

const DIALECTS: [Dialect; 9] = [
    Dialect(
        "chat",
        "/v1/chat/completions",
        SSE,
        "data: {\"id\":\"chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT\",\"object\":\"chat.completion.chunk\",\"created\":1741569952,\"model\":\"gpt-5.4\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"",
        "\"},\"logprobs\":null,\"finish_reason\":null}]}\n\n",
    ),
    Dialect(
        "chat, tool call",
        "/v1/chat/completions",
        SSE,
        "data: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"created\":1741569952,\"model\":\"gpt-5.4\",\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"",
        "\"}}]},\"finish_reason\":null}]}\n\n",
    ),
    Dialect(
        "completions",
        "/v1/completions",
        SSE,
        "data: {\"id\":\"cmpl-7iA7iJjj8V2zOkCGvWF2hAkDWBQZe\",\"object\":\"text_completion\",\"created\":1690759702,\"model\":\"m\",\"choices\":[{\"text\":\"",
        "\",\"index\":0,\"logprobs\":null,\"finish_reason\":null}]}\n\n",
    ),
    Dialect(
        "responses",
        "/v1/responses",
        SSE,
        "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"sequence_number\":9,\"item_id\":\"msg_68af4030baa48193b0b43b4c2a176a1a\",\"output_index\":0,\"content_index\":0,\"delta\":\"",
        "\",\"logprobs\":[]}\n\n",
    ),
    Dialect(
        "messages",
        "/v1/messages",
        SSE,
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"",
        "\"}}\n\n",
    ),
    Dialect(
        "ollama chat",
        "/api/chat",
        "application/x-ndjson",
        "{\"model\":\"llama3.2\",\"created_at\":\"2023-08-04T08:52:19.385406455-07:00\",\"message\":{\"role\":\"assistant\",\"content\":\"",
        "\"},\"done\":false}\n",
    ),
    Dialect(
        "ollama generate",
        "/api/generate",
        "application/x-ndjson",
        "{\"model\":\"llama3.2\",\"created_at\":\"2023-08-04T08:52:19.385406455-07:00\",\"response\":\"",
        "\",\"done\":false}\n",
    ),
    Dialect(
        "gemini",
        "/v1beta/models/g:streamGenerateContent",
        SSE,
        "data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"",
        "\"}]},\"index\":0}],\"usageMetadata\":{\"promptTokenCount\":4,\"totalTokenCount\":4},\"modelVersion\":\"gemini-2.5\"}\n\n",
    ),
    Dialect(
        "unknown",
        "/events",
        SSE,
        "data: {\"step\":7,\"text\":{\"of\":\"",
        "\"}}\n\n",
    ),
];

impl Dialect {
    /// An event of [`EVENT_BYTES`].
    fn event(&self) -> Vec<u8> {
        let Dialect(_, _, _, before, after) = self;
        let text = "x".repeat(EVENT_BYTES - before.len() - after.len());
        [before, text.as_str(), after].concat().into_bytes()
    }

    fn observer(&self) -> Observer {
        let Dialect(_, path, label, ..) = self;
        let head = RequestHead {
            path: (*path).into(),
            ..RequestHead::default()
        };
        let mut observer = Observer::new(head, Options::default());
        observer.on_sent(Duration::ZERO);
        let head = ResponseHead {
            status: 200,
            content_type: Some((*label).into()),
            ..ResponseHead::default()
        };
        observer.on_header(Duration::from_millis(1), head);
        observer
    }
}

fn event() -> Vec<u8> {
    DIALECTS[0].event()
}

fn observer() -> Observer {
    DIALECTS[0].observer()
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
    for dialect in DIALECTS {
        let event = dialect.event();
        group.bench_function(dialect.0, |b| {
            b.iter_batched(
                || dialect.observer(),
                |observer| stream(observer, &event, 1),
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
