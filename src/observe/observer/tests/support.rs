//! A scripted exchange in a few words: steps of (time in ms, bytes), then an end.

use std::time::Duration;

use crate::observe::observer::{Cause, Observer, Options, RequestHead, ResponseHead, Stamp};
use crate::observe::record::{Framing, RequestRecord, Side, Timing};

/// A chat event with this delta (JSON) and finish reason.
pub fn delta(delta: &str, finish: Option<&str>) -> Vec<u8> {
    choice(0, delta, finish)
}

/// The same for the choice of this index.
pub fn choice(index: u32, delta: &str, finish: Option<&str>) -> Vec<u8> {
    let finish = finish.map_or("null".to_owned(), |reason| format!("\"{reason}\""));
    event(&format!(
        "{{\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":\
         [{{\"index\":{index},\"delta\":{delta},\"finish_reason\":{finish}}}]}}"
    ))
}

/// An event with this data.
pub fn event(data: &str) -> Vec<u8> {
    format!("data: {data}\n\n").into_bytes()
}

/// The role alone.
pub fn role() -> Vec<u8> {
    delta(r#"{"role":"assistant","content":""}"#, None)
}

/// Some text.
pub fn text(text: &str) -> Vec<u8> {
    delta(&format!("{{\"content\":\"{text}\"}}"), None)
}

/// One word.
pub fn word() -> Vec<u8> {
    text("word ")
}

/// A finish reason.
pub fn finish() -> Vec<u8> {
    delta("{}", Some("stop"))
}

/// Usage with so many completion tokens, after 7 of the prompt.
pub fn usage(completion: u64) -> Vec<u8> {
    let total = completion + 7;
    event(&format!(
        "{{\"id\":\"c1\",\"model\":\"m\",\"choices\":[],\"usage\":{{\"prompt_tokens\":7,\
         \"completion_tokens\":{completion},\"total_tokens\":{total}}}}}"
    ))
}

/// The end marker.
pub fn done() -> Vec<u8> {
    event("[DONE]")
}

/// A comment.
pub fn comment(text: &str) -> Vec<u8> {
    format!(": {text}\n\n").into_bytes()
}

/// Several pieces in one read.
pub fn joined(pieces: impl IntoIterator<Item = Vec<u8>>) -> Vec<u8> {
    pieces.into_iter().flatten().collect()
}

/// An exchange being scripted. By default: a chat stream is asked for and the header comes with
/// the first body byte.
#[derive(Clone)]
pub struct Script {
    pub head: RequestHead,
    pub body: String,
    pub response: Option<ResponseHead>,
    pub header_ms: Option<f64>,
    pub request_end_ms: f64,
    pub options: Options,
    pub steps: Vec<(f64, Vec<u8>)>,
}

/// A chat stream.
pub fn chat() -> Script {
    Script {
        head: RequestHead {
            id: "01".into(),
            started_at: "2026-01-01T00:00:00Z".into(),
            instance: "test".into(),
            method: "POST".into(),
            path: "/v1/chat/completions".into(),
            http: "1.1",
            ..RequestHead::default()
        },
        body: r#"{"model":"m","stream":true,"messages":[]}"#.into(),
        response: Some(ResponseHead {
            status: 200,
            http: "1.1",
            content_type: Some("text/event-stream".into()),
            framing: Some(Framing::Chunked),
            ..ResponseHead::default()
        }),
        header_ms: None,
        request_end_ms: 0.0,
        options: Options {
            timeline: true,
            ..Options::default()
        },
        steps: Vec::new(),
    }
}

impl Script {
    /// The header comes at this time.
    pub fn header(mut self, ms: f64) -> Self {
        self.header_ms = Some(ms);
        self
    }

    /// Changes the response's head.
    pub fn reply(mut self, change: impl FnOnce(&mut ResponseHead)) -> Self {
        change(
            self.response
                .as_mut()
                .expect("scripts have a response by default"),
        );
        self
    }

    /// With this content type.
    pub fn typed(self, content_type: Option<&str>) -> Self {
        let content_type = content_type.map(str::to_owned);
        self.reply(|head| head.content_type = content_type)
    }

    /// No response at all.
    pub fn silent(mut self) -> Self {
        self.response = None;
        self
    }

    /// On this path.
    pub fn path(mut self, path: &str) -> Self {
        self.head.path = path.into();
        self
    }

    /// With this request body.
    pub fn asking(mut self, body: &str) -> Self {
        self.body = body.into();
        self
    }

    /// A read brings these bytes.
    pub fn at(mut self, ms: f64, bytes: impl Into<Vec<u8>>) -> Self {
        self.steps.push((ms, bytes.into()));
        self
    }

    /// `n` reads, `step` ms apart.
    pub fn every(mut self, from: f64, step: f64, n: u32, bytes: impl Fn(u32) -> Vec<u8>) -> Self {
        self.steps
            .extend((0..n).map(|i| (from + step * f64::from(i), bytes(i))));
        self
    }

    /// The end, cleanly.
    pub fn end(self, ms: f64) -> RequestRecord {
        self.cut(ms, Cause::Whole)
    }

    /// The end, of this cause. Observes the exchange whole and byte by byte.
    pub fn cut(self, ms: f64, cause: Cause) -> RequestRecord {
        let whole = self.observe(ms, cause, usize::MAX);
        let bytewise = self.observe(ms, cause, 1);
        assert_eq!(
            whole, bytewise,
            "the split of a chunk into pieces changed its record"
        );
        whole
    }

    /// The end, cleanly, without the comparison: for what is too long for it.
    pub fn observed(self, ms: f64) -> RequestRecord {
        self.observe(ms, Cause::Whole, usize::MAX)
    }

    fn observe(&self, end_ms: f64, cause: Cause, piece: usize) -> RequestRecord {
        let mut observer = Observer::new(self.head.clone(), self.options);
        observer.on_request_body(self.body.as_bytes());
        observer.on_request_end(time(self.request_end_ms));
        observer.on_sent(time(self.request_end_ms));
        if let Some(head) = &self.response {
            let first = self.steps.first().map_or(end_ms, |(ms, _)| *ms);
            observer.on_header(time(self.header_ms.unwrap_or(first)), head.clone());
        }
        for (chunk, (ms, bytes)) in self.steps.iter().enumerate() {
            for (i, bytes) in bytes.chunks(piece.min(bytes.len().max(1))).enumerate() {
                observer.on_body(time(*ms), Stamp::Kernel, i == 0, bytes);
            }
            observer.on_flushed(chunk as u64 + 1, time(ms + 0.05));
        }
        observer.finish(time(end_ms), cause)
    }
}

pub fn time(ms: f64) -> Duration {
    Duration::from_nanos((ms * 1e6).round() as u64)
}

/// The record's main finding.
pub fn timing(record: &RequestRecord) -> Timing {
    record
        .verdict
        .as_ref()
        .expect("a stream has a verdict")
        .timing
}

/// Numbers without a pattern that a rule could take for one, in `[0, 1)`.
pub fn noise(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// On which side of this proxy it was.
pub fn side(record: &RequestRecord) -> Option<Side> {
    record.verdict.as_ref().and_then(|verdict| verdict.side)
}
