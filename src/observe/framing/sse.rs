//! Event streams, by the rules of the WHATWG HTML standard, section 9.2.6:
//!
//! - one leading byte order mark is skipped;
//! - lines end with LF, CR or CRLF. A CR ends its line at once, so that an event counts at the byte
//!   that completes it; the LF that may follow is skipped then;
//! - a line that begins with a colon is a comment; else the name of a field goes up to the first
//!   colon, and one space after that is no part of the value;
//! - `data` lines are joined with LF; `event` names the type; other fields dispatch nothing;
//! - a blank line dispatches the event if there was data.
//!
//! An event that lies within one read and has one `data` line is handed out where it lies, without
//! a copy. Whether an event is too large depends on the bytes of its lines alone, not on how they
//! were cut.

use memchr::{memchr, memchr2};

use super::{Frame, hold, release};

const BOM: &[u8] = b"\xEF\xBB\xBF";

/// Longest event type that is kept, in bytes; the longest in use has about 50.
const NAME_LIMIT: usize = 256;

/// Decoder of event streams.
#[derive(Debug)]
pub struct SseDecoder {
    /// Bytes of a byte order mark seen so far; `None` once the stream has begun.
    bom: Option<usize>,
    /// The last line ended with a CR: an LF now belongs to it.
    after_cr: bool,
    block: Block,
}

/// What came since the last blank line.
#[derive(Debug, Default)]
struct Block {
    limit: usize,
    name: Vec<u8>,
    /// The joined data, then the line begun in an earlier read. Empty once the block is too large.
    held: Vec<u8>,
    /// How much of `held` is data, unless the block is too large.
    data: usize,
    has_data: bool,
    has_fields: bool,
    /// Bytes of its whole lines, comments left out.
    size: u64,
    /// Bytes of the line begun.
    line: u64,
    /// The line begun is a comment, and not held.
    comment: bool,
}

impl SseDecoder {
    /// A decoder that looks into events of at most `limit` bytes.
    pub fn new(limit: usize) -> Self {
        SseDecoder {
            bom: Some(0),
            after_cr: false,
            block: Block {
                limit,
                ..Block::default()
            },
        }
    }

    /// Whether an event has begun and not ended.
    pub fn is_inside(&self) -> bool {
        let block = &self.block;
        block.has_fields || block.line > 0 && !block.comment || self.bom.is_some_and(|n| n > 0)
    }

    /// Decodes the next bytes.
    pub fn push(&mut self, bytes: &[u8], mut sink: impl FnMut(Frame<'_>)) {
        let bytes = self.skip_bom(bytes);
        self.feed(bytes, &mut sink);
    }

    /// The body has ended; see [`super::Decoder::finish`].
    pub fn finish(&mut self, mut sink: impl FnMut(Frame<'_>)) -> bool {
        if self.block.line > 0 && !self.block.comment {
            self.block.end_begun(&mut sink);
        }
        let unterminated = self.block.has_data || self.block.is_too_large();
        if unterminated {
            self.block.dispatch(None, &mut sink);
        }
        unterminated
    }

    /// Takes a byte order mark off the start of the stream. What turns out to be none is part of
    /// the first line.
    fn skip_bom<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let Some(seen) = self.bom else { return bytes };
        let wanted = &BOM[seen..];
        let same = bytes.iter().zip(wanted).take_while(|(a, b)| a == b).count();
        if same == bytes.len() && same < wanted.len() {
            self.bom = Some(seen + same);
            return &[];
        }
        self.bom = None;
        if same == wanted.len() {
            return &bytes[same..];
        }
        self.block.begin(&BOM[..seen]);
        bytes
    }

    fn feed(&mut self, mut bytes: &[u8], sink: &mut impl FnMut(Frame<'_>)) {
        // A `data` value that lies in `bytes`, not copied as long as it is the only one.
        let mut lent: Option<&[u8]> = None;
        while !bytes.is_empty() {
            if std::mem::take(&mut self.after_cr) && bytes[0] == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let Some(end) = memchr2(b'\n', b'\r', bytes) else {
                break;
            };
            let line = &bytes[..end];
            self.after_cr = bytes[end] == b'\r';
            bytes = &bytes[end + 1..];
            if self.block.line > 0 {
                self.block.begin(line);
                self.block.end_begun(sink);
                continue;
            }
            match line.first() {
                None => self.block.dispatch(lent.take(), sink),
                Some(b':') => sink(Frame::Comment),
                Some(_) => lent = self.block.add(line, lent),
            }
        }
        self.block.keep(lent);
        self.block.begin(bytes);
    }
}

impl Block {
    fn is_too_large(&self) -> bool {
        self.size > self.limit as u64
    }

    /// Adds a line that lies within one read. Gives back the value of `data` while it is the only
    /// one, to be lent on or kept.
    fn add<'a>(&mut self, line: &'a [u8], lent: Option<&'a [u8]>) -> Option<&'a [u8]> {
        self.count(line.len() as u64);
        if self.is_too_large() {
            self.held = Vec::new();
            return None;
        }
        match split(line) {
            (b"data", value) if !self.has_data => {
                self.has_data = true;
                return Some(value);
            }
            (b"data", value) => {
                self.keep(lent);
                self.keep(Some(b"\n"));
                self.keep(Some(value));
                return None;
            }
            (b"event", value) => set_name(&mut self.name, value),
            _ => {}
        }
        lent
    }

    /// Adds data that would else be gone with its read.
    fn keep(&mut self, data: Option<&[u8]>) {
        if let Some(data) = data {
            hold(&mut self.held, data, self.limit);
            self.data = self.held.len();
        }
    }

    /// Adds to the line begun, whose end has not come yet.
    fn begin(&mut self, bytes: &[u8]) {
        self.comment |= self.line == 0 && bytes.first() == Some(&b':');
        self.line += bytes.len() as u64;
        if self.comment {
            return;
        }
        if self.size + self.line <= self.limit as u64 {
            hold(&mut self.held, bytes, self.limit);
        } else {
            self.held = Vec::new();
        }
    }

    /// The line begun is whole. Its value is moved to where the data ends: there is no second copy
    /// of a large one.
    fn end_begun(&mut self, sink: &mut impl FnMut(Frame<'_>)) {
        let len = std::mem::take(&mut self.line);
        if std::mem::take(&mut self.comment) {
            sink(Frame::Comment);
            return;
        }
        self.count(len);
        if self.is_too_large() {
            return; // and nothing of it is held
        }
        let (field, value) = split(&self.held[self.data..]);
        match field {
            b"data" => {
                let from = self.held.len() - value.len();
                if std::mem::replace(&mut self.has_data, true) {
                    self.held[self.data] = b'\n'; // where the name of the field began
                    self.data += 1;
                }
                self.held.copy_within(from.., self.data);
                self.data += self.held.len() - from;
            }
            b"event" => set_name(&mut self.name, value),
            _ => {}
        }
        self.held.truncate(self.data);
    }

    fn count(&mut self, line: u64) {
        self.has_fields = true;
        self.size += line;
    }

    /// A blank line, or the end of the body. `lent` is the data if it was not kept.
    fn dispatch(&mut self, lent: Option<&[u8]>, sink: &mut impl FnMut(Frame<'_>)) {
        let name = self.name.as_slice();
        if self.is_too_large() {
            sink(Frame::TooLarge { bytes: self.size });
        } else if self.has_data {
            sink(Frame::Event {
                name,
                data: lent.unwrap_or(&self.held),
            });
        } else if self.has_fields {
            sink(Frame::Empty { name });
        }
        self.name.clear();
        release(&mut self.held);
        (self.data, self.size) = (0, 0);
        (self.has_data, self.has_fields) = (false, false);
    }
}

/// A line's field and its value, which is the line's last part.
fn split(line: &[u8]) -> (&[u8], &[u8]) {
    let (field, value) = match memchr(b':', line) {
        Some(colon) => (&line[..colon], &line[colon + 1..]),
        None => (line, &line[line.len()..]),
    };
    (field, value.strip_prefix(b" ").unwrap_or(value))
}

fn set_name(name: &mut Vec<u8>, value: &[u8]) {
    name.clear();
    name.extend_from_slice(&value[..value.len().min(NAME_LIMIT)]);
}

#[cfg(test)]
mod tests;
