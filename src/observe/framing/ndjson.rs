//! JSON lines: one value per line. A line ends with LF; a CR before it is white space, which JSON
//! allows. Blank lines are none. A byte order mark at the start is skipped, as JSON readers may
//! (RFC 8259 section 8.1).

use memchr::memchr;

use super::{Frame, hold, release};

const BOM: &[u8] = b"\xEF\xBB\xBF";

/// Decoder of JSON lines.
#[derive(Debug)]
pub struct NdJsonDecoder {
    limit: usize,
    begun: bool,
    /// The line as far as it came with earlier reads, unless it is too large.
    line: Vec<u8>,
    len: u64,
}

impl NdJsonDecoder {
    /// A decoder that looks into lines of at most `limit` bytes.
    pub fn new(limit: usize) -> Self {
        NdJsonDecoder {
            limit,
            begun: false,
            line: Vec::new(),
            len: 0,
        }
    }

    /// Whether a line has begun and not ended.
    pub fn is_inside(&self) -> bool {
        self.len > 0
    }

    /// Decodes the next bytes.
    pub fn push(&mut self, mut bytes: &[u8], mut sink: impl FnMut(Frame<'_>)) {
        while let Some(end) = memchr(b'\n', bytes) {
            if self.len == 0 {
                let line = &bytes[..end];
                self.emit(line, line.len() as u64, &mut sink);
            } else {
                self.keep(&bytes[..end]);
                self.emit_kept(&mut sink);
            }
            bytes = &bytes[end + 1..];
        }
        self.keep(bytes);
    }

    /// The body has ended; see [`super::Decoder::finish`].
    pub fn finish(&mut self, mut sink: impl FnMut(Frame<'_>)) -> bool {
        let mut unterminated = false;
        self.emit_kept(&mut |frame: Frame<'_>| {
            unterminated = true;
            sink(frame);
        });
        unterminated
    }

    fn keep(&mut self, bytes: &[u8]) {
        self.len += bytes.len() as u64;
        if self.len <= self.limit as u64 {
            hold(&mut self.line, bytes, self.limit);
        } else {
            self.line = Vec::new();
        }
    }

    fn emit_kept(&mut self, sink: &mut impl FnMut(Frame<'_>)) {
        let (mut line, len) = (
            std::mem::take(&mut self.line),
            std::mem::take(&mut self.len),
        );
        self.emit(&line, len, sink);
        release(&mut line);
        self.line = line;
    }

    /// Hands out a line of `len` bytes, of which `line` holds all or, if it is too large, none.
    fn emit(&mut self, line: &[u8], len: u64, sink: &mut impl FnMut(Frame<'_>)) {
        if len > self.limit as u64 {
            self.begun = true;
            sink(Frame::TooLarge { bytes: len });
            return;
        }
        let begun = std::mem::replace(&mut self.begun, true);
        let line = if begun {
            line
        } else {
            line.strip_prefix(BOM).unwrap_or(line)
        };
        let line = line.trim_ascii();
        if !line.is_empty() {
            sink(Frame::Event {
                name: b"",
                data: line,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::framing::{Decoder, tests::in_any_split};

    fn any_split(text: &str, limit: usize) -> (Vec<String>, bool) {
        in_any_split(|| Decoder::NdJson(NdJsonDecoder::new(limit)), text)
    }

    #[test]
    fn one_event_a_line_whatever_is_around_it() {
        assert_eq!(
            any_split("{\"a\":1}\n\n  {\"b\":2} \r\n", 99),
            (vec!["{\"a\":1}".into(), "{\"b\":2}".into()], false)
        );
        assert_eq!(
            any_split("\u{FEFF}1\n\u{FEFF}2\n", 99).0,
            ["1", "\u{FEFF}2"]
        );
    }

    #[test]
    fn a_last_line_without_its_end_is_handed_out_and_told() {
        assert_eq!(any_split("1\n2", 99), (vec!["1".into(), "2".into()], true));
        assert!(!any_split("1\n  ", 99).1);
    }

    #[test]
    fn long_lines_are_skipped_however_they_are_cut() {
        assert_eq!(
            any_split("12345\n123456\n1\n", 5).0,
            ["12345", "TooLarge { bytes: 6 }", "1"]
        );
    }

    #[test]
    fn memory_stays_within_the_limit_and_is_given_back() {
        let mut decoder = NdJsonDecoder::new(100_000);
        (0..99).for_each(|_| decoder.push(&[b'x'; 1000], |_| panic!("no line ended")));
        assert!(decoder.line.capacity() <= 100_000);
        decoder.push(b"\n", |frame| assert!(matches!(frame, Frame::Event { .. })));
        assert!(decoder.line.capacity() <= super::super::SPARE);
        (0..999).for_each(|_| decoder.push(&[b'x'; 1000], |_| panic!("no line ended")));
        assert!(decoder.line.capacity() <= super::super::SPARE);
    }
}
