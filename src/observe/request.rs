//! What a request's body asks for: a bounded scan of its JSON object, as the bytes go by.
//!
//! Only keys at the top level count. Nothing is held but the key and the short value being read,
//! so a prompt of any size passes, and long strings are skipped at the speed of `memchr`. It is a
//! scan, not a validation: what is no JSON object yields nothing, but one that breaks off later
//! yields what it said up to there. Of a key given twice the last counts, as with JSON parsers.

use memchr::memchr2;

/// Longest key or value that is kept, in bytes. A model's name is shorter.
const KEPT: usize = 256;

/// What is kept of an array with something in it.
const FILLED_ARRAY: &[u8] = b"[+";

/// What the body asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequestFacts {
    /// The model asked for, without control characters.
    pub model: Option<String>,
    /// Whether a stream is asked for; `None` if it does not say.
    pub stream: Option<bool>,
    /// Whether tools (or functions, as they were called) are offered.
    pub has_tools: bool,
}

/// Where the scan is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before the object, a byte order mark and white space aside.
    Start,
    /// In the top level object, at a key or its end.
    Key,
    /// Between a key and its value.
    Colon,
    /// At a value of the top level.
    Value,
    /// In a number or a literal of the top level.
    Bare,
    /// In an array or object below the top level.
    Nested,
    /// After the object, or it was none.
    Done,
}

/// Scans a request's body.
#[derive(Debug)]
pub struct RequestScan {
    /// The value of `model`, raw.
    model: Vec<u8>,
    stream: Option<bool>,
    tools: bool,
    functions: bool,
    state: State,
    /// Open arrays and objects below the top level.
    depth: u64,
    /// In a string, wherever it stands.
    string: bool,
    /// The byte before was a backslash in a string.
    escaped: bool,
    key: Vec<u8>,
    /// The key or value being read, raw, with its quotes.
    token: Vec<u8>,
}

impl Default for RequestScan {
    fn default() -> Self {
        RequestScan {
            model: Vec::new(),
            stream: None,
            tools: false,
            functions: false,
            state: State::Start,
            depth: 0,
            string: false,
            escaped: false,
            key: Vec::new(),
            token: Vec::new(),
        }
    }
}

impl RequestScan {
    /// A scan that has seen nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// What was found so far.
    pub fn facts(&self) -> RequestFacts {
        RequestFacts {
            model: text(&self.model),
            stream: self.stream,
            has_tools: self.tools || self.functions,
        }
    }

    /// Scans the next bytes.
    pub fn push(&mut self, mut bytes: &[u8]) {
        while let (Some(&byte), false) = (bytes.first(), self.state == State::Done) {
            if self.string {
                bytes = self.in_string(bytes);
            } else {
                self.take(byte);
                bytes = &bytes[1..];
            }
        }
    }

    /// Skips to the end of the string; keeps what of it may be a key or a value. Gives the rest.
    fn in_string<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        if std::mem::take(&mut self.escaped) {
            self.keep(&bytes[..1]);
            return &bytes[1..];
        }
        let end = memchr2(b'"', b'\\', bytes).map_or(bytes.len(), |end| end + 1);
        let (part, rest) = bytes.split_at(end);
        self.keep(part);
        match part.last() {
            Some(b'\\') => self.escaped = true,
            Some(b'"') => {
                self.string = false;
                self.on_string_end();
            }
            _ => {}
        }
        rest
    }

    fn keep(&mut self, part: &[u8]) {
        if self.state != State::Nested {
            let room = (KEPT + 1).saturating_sub(self.token.len());
            self.token.extend_from_slice(&part[..part.len().min(room)]);
        }
    }

    fn on_string_end(&mut self) {
        match self.state {
            State::Key => {
                std::mem::swap(&mut self.key, &mut self.token);
                self.token.clear();
                if self.key.contains(&b'\\') {
                    self.key = plain(&self.key);
                }
                self.state = State::Colon;
            }
            State::Value => self.on_value(),
            _ => {}
        }
    }

    /// One byte outside of strings.
    fn take(&mut self, byte: u8) {
        let blank = byte.is_ascii_whitespace();
        match (self.state, byte) {
            (State::Start, b'{') => self.state = State::Key,
            (State::Start, b'\xEF' | b'\xBB' | b'\xBF') => {}
            (State::Start | State::Key | State::Colon | State::Value, _) if blank => {}
            (State::Key, b'"') | (State::Value, b'"') => self.begin_string(),
            (State::Key, b',') => {}
            (State::Colon, b':') => self.state = State::Value,
            (State::Value, b'{' | b'[') => self.begin_nested(byte),
            (State::Value, _) => {
                self.state = State::Bare;
                self.token.push(byte);
            }
            (State::Bare, b',' | b'}') => {
                self.on_value();
                if byte == b'}' {
                    self.state = State::Done;
                }
            }
            (State::Bare, _) => self.keep(&[byte]),
            (State::Nested, _) => self.in_nested(byte),
            _ => self.state = State::Done, // the object's end, or no JSON
        }
    }

    fn begin_string(&mut self) {
        self.string = true;
        self.token.clear();
        self.token.push(b'"');
    }

    fn begin_nested(&mut self, byte: u8) {
        (self.state, self.depth) = (State::Nested, 1);
        // Whether it is a non-empty array is all that counts.
        self.token.clear();
        self.token.push(byte);
    }

    fn in_nested(&mut self, byte: u8) {
        match byte {
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => self.depth -= 1,
            b'"' => self.string = true,
            _ => {}
        }
        if self.depth == 0 {
            self.on_value();
        } else if self.token.len() == 1 && !byte.is_ascii_whitespace() {
            self.token.push(b'+'); // something is in it
        }
    }

    /// A value of the top level has ended: `token` is what it began with.
    fn on_value(&mut self) {
        match self.key.as_slice() {
            br#""model""# => self.model.clone_from(&self.token),
            br#""stream""# => self.stream = serde_json::from_slice(&self.token).ok(),
            br#""tools""# => self.tools = self.token == FILLED_ARRAY,
            br#""functions""# => self.functions = self.token == FILLED_ARRAY,
            _ => {}
        }
        self.state = State::Key;
    }
}

/// A key that is spelt with escapes as it is spelt without; one that cannot be read is of no use.
fn plain(key: &[u8]) -> Vec<u8> {
    let text = serde_json::from_slice::<String>(key).unwrap_or_default();
    format!("\"{text}\"").into_bytes()
}

/// The text of a JSON string that may be cut or broken: as much of it as can be read.
fn text(raw: &[u8]) -> Option<String> {
    let lossy = String::from_utf8_lossy(raw.strip_prefix(b"\"")?);
    let inner = lossy.strip_suffix('"').unwrap_or(&lossy);
    let text = (0..=inner.len()).rev().find_map(|end| {
        let part = inner.get(..end)?;
        serde_json::from_str::<String>(&format!("\"{part}\"")).ok()
    })?;
    Some(
        text.chars()
            .filter(|c| !c.is_control() && *c != char::REPLACEMENT_CHARACTER)
            .collect(),
    )
}

#[cfg(test)]
mod tests;
