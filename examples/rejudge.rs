//! Judges recorded streams again, so that a change of the rules shows what it does to all of them in seconds.
//!
//! Each line of the input is one stream, `{"record": RECORD, "body": BODY}`: its record, made with `--timeline`, and its
//! de-framed body, a text whose characters are its bytes (U+0000 to U+00FF). Each line of the output is the new record.

use std::borrow::Cow;
use std::io::{self, BufRead, Write};
use std::time::Duration;

use dripline::observe::observer::{Cause, Observer, Options, RequestHead, ResponseHead, Stamp};
use dripline::observe::record::{End, RequestRecord, Stamps};
use serde::Deserialize;

#[derive(Deserialize)]
struct Stream<'a> {
    record: RequestRecord,
    #[serde(borrow)]
    body: Cow<'a, str>,
}

fn main() -> io::Result<()> {
    let mut output = io::BufWriter::new(io::stdout().lock());
    for line in io::stdin().lock().lines() {
        let line = line?;
        let stream: Stream<'_> = serde_json::from_str(&line)?;
        let body: Vec<u8> = stream.body.chars().map(|c| c as u8).collect();
        serde_json::to_writer(&mut output, &judged(&stream.record, &body))?;
        writeln!(output)?;
    }
    output.flush()
}

/// Shows the observer again what it was shown when `old` was made.
fn judged(old: &RequestRecord, body: &[u8]) -> RequestRecord {
    let mut observer = Observer::new(
        RequestHead {
            id: old.id.clone(),
            started_at: old.started_at.clone(),
            instance: old.instance.clone(),
            method: "POST".to_owned(),
            path: old.request.path.clone().unwrap_or_default(),
            request_id: old.request.request_id.clone(),
            load: old.load.clone(),
            http: "1.1",
            ..RequestHead::default()
        },
        Options::default(),
    );
    observer.on_request_body(
        format!(r#"{{"stream":{}}}"#, old.request.stream == Some(true)).as_bytes(),
    );
    if let Some(at) = old.at.request_end_ms {
        observer.on_request_end(ms(at));
    }
    observer.on_upstream(old.upstream.clone());
    if let Some(at) = old.at.sent_ms {
        observer.on_sent(ms(at));
    }
    if let (Some(at), Some(status)) = (old.at.header_ms, old.response.status) {
        observer.on_header(
            ms(at),
            ResponseHead {
                status,
                http: "1.1",
                content_type: old.response.content_type.clone(),
                content_encoding: old.response.content_encoding.clone(),
                framing: old.response.framing,
                server: old.response.server.clone(),
                server_says: old.server_says,
                ..ResponseHead::default()
            },
        );
    }
    let stamp = match old.stamps {
        Some(Stamps::Kernel) => Stamp::Kernel,
        _ => Stamp::Read,
    };
    let blocked = old.hold.blocked_ms.filter(|blocked| *blocked > 0.0);
    let mut rest = body;
    for (chunks, row) in (1..).zip(old.timeline.iter().flatten()) {
        let (piece, after) = rest.split_at((row.2 as usize).min(rest.len()));
        rest = after;
        observer.on_body(Duration::from_micros(row.0), stamp, true, piece);
        if let Some(flushed) = row.1 {
            observer.on_flushed(chunks, Duration::from_micros(flushed));
        }
    }
    let end = ms(old.at.end_ms.unwrap_or_default());
    if let Some(blocked) = blocked {
        // when it was is not in a record, only for how long
        observer.on_blocked(end.saturating_sub(ms(blocked)));
        observer.on_unblocked(end);
    }
    if old
        .flags
        .contains(&dripline::observe::record::Flag::ArrivalUncertain)
    {
        observer.on_arrival_uncertain();
    }
    observer.on_end(end);
    observer.finish(end, cause(old.end))
}

fn cause(end: End) -> Cause {
    match end {
        End::Truncated => Cause::UpstreamFin,
        End::UpstreamReset => Cause::UpstreamReset,
        End::UpstreamInvalid => Cause::UpstreamInvalid,
        End::UpstreamTimeout => Cause::UpstreamTimeout,
        End::ClientGone => Cause::ClientGone,
        End::ProxyStopped => Cause::ProxyStopped,
        _ => Cause::Whole,
    }
}

fn ms(at: f64) -> Duration {
    Duration::from_micros((at * 1000.0).round() as u64)
}
