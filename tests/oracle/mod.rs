//! Naive oracles: what a stream or a body holds, found by looking at all of it at once. Slow, simple and
//! written apart from the code that they judge. The property tests and the fuzz targets share them.

// Each user is a crate of its own and takes its part.
#![allow(dead_code)]

use dripline::observe::framing::Frame;
use dripline::observe::request::RequestFacts;
use serde_json::Value;

/// What an event stream, or a text at all, may begin with.
pub const BOM: &[u8] = b"\xEF\xBB\xBF";

/// Longest event type that is kept, in bytes.
const NAME_LIMIT: usize = 256;

/// A frame with bytes of its own.
#[derive(Debug, Clone, PartialEq)]
pub enum Owned {
    /// Its type and its data.
    Event(Vec<u8>, Vec<u8>),
    /// A comment line.
    Comment,
    /// A block without data, and its type.
    Empty(Vec<u8>),
    /// The bytes of an event beyond the limit.
    TooLarge(u64),
}

/// A copy of a frame.
pub fn own(frame: Frame<'_>) -> Owned {
    match frame {
        Frame::Event { name, data } => Owned::Event(name.to_vec(), data.to_vec()),
        Frame::Comment => Owned::Comment,
        Frame::Empty { name } => Owned::Empty(name.to_vec()),
        Frame::TooLarge { bytes } => Owned::TooLarge(bytes),
    }
}

/// What a stream holds: the frames it completes, and the one that its end cuts off, if any.
pub type Frames = (Vec<Owned>, Option<Owned>);

/// The standard's algorithm, line after line over the whole stream.
pub fn sse_oracle(stream: &[u8], limit: usize) -> Frames {
    let stream = stream.strip_prefix(BOM).unwrap_or(stream);
    let mut lines: Vec<Vec<u8>> = vec![Vec::new()];
    let mut at = 0;
    while at < stream.len() {
        match stream[at] {
            b'\r' if stream.get(at + 1) == Some(&b'\n') => {
                at += 1;
                lines.push(Vec::new());
            }
            b'\r' | b'\n' => lines.push(Vec::new()),
            byte => lines.last_mut().unwrap().push(byte),
        }
        at += 1;
    }
    let rest = lines.pop().unwrap();
    let mut frames = Vec::new();
    let mut block: Vec<Vec<u8>> = Vec::new();
    for line in lines {
        if line.starts_with(b":") {
            frames.push(Owned::Comment);
        } else if line.is_empty() {
            frames.extend(dispatch(&block, limit));
            block.clear();
        } else {
            block.push(line);
        }
    }
    if !rest.is_empty() && !rest.starts_with(b":") {
        block.push(rest);
    }
    let last = dispatch(&block, limit).filter(|frame| !matches!(frame, Owned::Empty(_)));
    (frames, last)
}

fn dispatch(block: &[Vec<u8>], limit: usize) -> Option<Owned> {
    let size: usize = block.iter().map(Vec::len).sum();
    if size > limit {
        return Some(Owned::TooLarge(size as u64));
    }
    let (mut name, mut data) = (Vec::new(), None::<Vec<u8>>);
    for line in block {
        let colon = line.iter().position(|byte| *byte == b':');
        let colon = colon.unwrap_or(line.len());
        let value = line.get(colon + 1..).unwrap_or_default();
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match &line[..colon] {
            b"event" => name = value[..value.len().min(NAME_LIMIT)].to_vec(),
            b"data" => match &mut data {
                Some(data) => data.extend([b"\n", value].concat()),
                None => data = Some(value.to_vec()),
            },
            _ => {}
        }
    }
    match data {
        Some(data) => Some(Owned::Event(name, data)),
        None => (!block.is_empty()).then_some(Owned::Empty(name)),
    }
}

/// Every line by itself.
pub fn json_lines_oracle(stream: &[u8], limit: usize) -> Frames {
    let frame = |(number, line): (usize, &[u8])| {
        if line.len() > limit {
            return Some(Owned::TooLarge(line.len() as u64));
        }
        let line = line
            .strip_prefix(BOM)
            .filter(|_| number == 0)
            .unwrap_or(line);
        let line = line.trim_ascii();
        (!line.is_empty()).then(|| Owned::Event(Vec::new(), line.to_vec()))
    };
    let lines = stream.split(|byte| *byte == b'\n').enumerate();
    let mut frames: Vec<Option<Owned>> = lines.map(frame).collect();
    let last = frames.pop().flatten();
    (frames.into_iter().flatten().collect(), last)
}

/// What a JSON parser finds in a request's body.
pub fn facts_oracle(value: &Value) -> RequestFacts {
    let plain = |text: &str| {
        let kept = |c: &char| !c.is_control() && *c != char::REPLACEMENT_CHARACTER;
        text.chars().filter(kept).collect()
    };
    let offers = |key: &str| value[key].as_array().is_some_and(|tools| !tools.is_empty());
    RequestFacts {
        model: value["model"].as_str().map(plain),
        stream: value["stream"].as_bool(),
        has_tools: offers("tools") || offers("functions"),
    }
}
