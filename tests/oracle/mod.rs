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

/// What a stream holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The frames that it completes.
    pub frames: Vec<Owned>,
    /// The one that its end cuts off.
    pub last: Option<Owned>,
    /// Whether its end is told as a cut.
    pub cut: bool,
}

impl Found {
    fn new(frames: Vec<Owned>, last: Option<Owned>) -> Self {
        let cut = last.is_some();
        Found { frames, last, cut }
    }

    /// All frames in their order.
    pub fn all(self) -> Vec<Owned> {
        self.frames.into_iter().chain(self.last).collect()
    }
}

/// The standard's algorithm, line after line over the whole stream.
pub fn sse_oracle(stream: &[u8], limit: usize) -> Found {
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
    Found::new(frames, last)
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
pub fn json_lines_oracle(stream: &[u8], limit: usize) -> Found {
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
    Found::new(frames.into_iter().flatten().collect(), last)
}

/// One item after the other, each up to its bracket, or else to the comma or bracket after it.
pub fn json_array_oracle(stream: &[u8], limit: usize) -> Found {
    let Some(start) = stream.iter().position(|byte| *byte == b'[') else {
        return Found::new(Vec::new(), None);
    };
    let mut rest = &stream[start + 1..];
    let mut found = Found::new(Vec::new(), None);
    loop {
        let beside = |byte: &u8| byte.is_ascii_whitespace() || *byte == b',';
        rest = &rest[rest.iter().take_while(|byte| beside(byte)).count()..];
        if rest.is_empty() || rest[0] == b']' {
            found.cut = rest.is_empty();
            return found;
        }
        let end = item_end(rest);
        let item = &rest[..end.unwrap_or(rest.len())];
        let frame = match item.len() <= limit {
            true => Owned::Event(Vec::new(), item.to_vec()),
            false => Owned::TooLarge(item.len() as u64),
        };
        match end {
            Some(_) => found.frames.push(frame),
            None => {
                (found.last, found.cut) = (Some(frame), true);
                return found;
            }
        }
        rest = &rest[item.len()..];
    }
}

/// Where the item ends that `text` begins with.
fn item_end(text: &[u8]) -> Option<usize> {
    let (mut depth, mut at) = (0, 0);
    while at < text.len() {
        match text[at] {
            b'"' => at = string_end(text, at)?,
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth == 1 => return Some(at + 1),
            b'}' | b']' if depth > 1 => depth -= 1,
            b',' | b']' if depth == 0 => return Some(at),
            _ => {}
        }
        at += 1;
    }
    None
}

/// Where the quote is that ends the string that begins at `from`.
fn string_end(text: &[u8], from: usize) -> Option<usize> {
    let mut at = from + 1;
    while *text.get(at)? != b'"' {
        at += if text[at] == b'\\' { 2 } else { 1 };
    }
    Some(at)
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
