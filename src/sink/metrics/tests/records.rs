//! Records as the observer makes them.

use std::time::Duration;

use crate::observe::observer::{Cause, Observer, Options, RequestHead, ResponseHead, Stamp};
use crate::observe::record::{End, ErrorInfo, ErrorKind, Framing, Load, RequestRecord, Upstream};

fn observer(model: &str) -> Observer {
    let head = RequestHead {
        id: "01JE2X3Y4Z".into(),
        method: "POST".into(),
        path: "/v1/chat/completions".into(),
        http: "1.1",
        load: Load {
            cold: true,
            ..Load::default()
        },
        ..RequestHead::default()
    };
    let mut observer = Observer::new(head, Options::default());
    let body = serde_json::json!({"model": model, "stream": true});
    observer.on_request_body(body.to_string().as_bytes());
    observer.on_request_end(Duration::ZERO);
    observer.on_upstream(Upstream {
        name: Some("127.0.0.1:8000".into()),
        ..Upstream::default()
    });
    observer
}

/// A whole chat stream: the first word after 60 ms, the others after these gaps (ms), one a chunk. The first chunk
/// has the role and the word, the last the end.
pub fn streamed(model: &str, gaps: &[f64]) -> RequestRecord {
    let mut observer = observer(model);
    let time = |ms: f64| Duration::from_micros((ms * 1e3).round() as u64);
    let head = ResponseHead {
        status: 200,
        http: "1.1",
        content_type: Some("text/event-stream".into()),
        framing: Some(Framing::Chunked),
        ..ResponseHead::default()
    };
    observer.on_header(time(50.0), head);
    let event = |rest: serde_json::Value| format!("data: {rest}\n\n");
    let choice = |delta: serde_json::Value, finish: Option<&str>| {
        event(serde_json::json!({
            "model": "served",
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        }))
    };
    let word = || choice(serde_json::json!({"content": "word "}), None);
    let role = choice(
        serde_json::json!({"role": "assistant", "content": ""}),
        None,
    );
    let usage = serde_json::json!({"prompt_tokens": 7, "completion_tokens": gaps.len() + 1});
    let end = choice(serde_json::json!({}), Some("stop"))
        + &event(serde_json::json!({"choices": [], "usage": usage}))
        + "data: [DONE]\n\n";
    let mut at = 60.0;
    let mut chunks = vec![(at, role + &word())];
    for gap in gaps {
        at += gap;
        chunks.push((at, word()));
    }
    chunks.last_mut().expect("there is a first").1 += &end;
    for (n, (at, bytes)) in (1..).zip(&chunks) {
        observer.on_body(time(*at), Stamp::Kernel, true, bytes.as_bytes());
        observer.on_flushed(n, time(at + 0.03));
    }
    observer.finish(time(at + 0.1), Cause::Whole)
}

/// A request that ended after 5 ms without a stream, as it would be recorded.
pub fn ended(model: &str, end: End, kind: Option<ErrorKind>) -> RequestRecord {
    let mut record = observer(model).finish(Duration::from_millis(5), Cause::ClientGone);
    record.end = end;
    record.error = kind.map(|kind| ErrorInfo {
        kind,
        server_type: None,
    });
    record
}
