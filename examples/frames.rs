//! Prints what the framing of event streams finds, for tests that compare it with another's.
//!
//! Each line of the input is one stream: a JSON list of its pieces, each a text whose characters are its bytes (U+0000 to
//! U+00FF). Each line of the output is a JSON list of the frames that the pieces completed:
//! `{"event": TYPE, "data": DATA}`, `{"comment": true}`, `{"empty": TYPE}` or `{"too_large": BYTES}`.

use std::io::{self, BufRead, Write};

use dripline::observe::framing::{DEFAULT_EVENT_LIMIT, Frame, SseDecoder};
use serde_json::{Value, json};

fn main() -> io::Result<()> {
    let mut output = io::BufWriter::new(io::stdout().lock());
    for line in io::stdin().lock().lines() {
        let pieces: Vec<String> = serde_json::from_str(&line?)?;
        let mut decoder = SseDecoder::new(DEFAULT_EVENT_LIMIT);
        let mut frames: Vec<Value> = Vec::new();
        for piece in pieces {
            let bytes: Vec<u8> = piece.chars().map(|c| c as u8).collect();
            decoder.push(&bytes, |frame| frames.push(value(frame)));
        }
        serde_json::to_writer(&mut output, &frames)?;
        writeln!(output)?;
    }
    output.flush()
}

fn value(frame: Frame<'_>) -> Value {
    let text = |bytes| String::from_utf8_lossy(bytes);
    match frame {
        Frame::Event { name, data } => json!({ "event": text(name), "data": text(data) }),
        Frame::Comment => json!({ "comment": true }),
        Frame::Empty { name } => json!({ "empty": text(name) }),
        Frame::TooLarge { bytes } => json!({ "too_large": bytes }),
    }
}
