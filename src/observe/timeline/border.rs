//! Whether a body stands between two events, from its last bytes alone.

use memchr::memrchr2;

/// The last bytes of a body.
#[derive(Debug, Default)]
pub struct Border {
    tail: [u8; 4],
    /// First byte of the last line that is not blank.
    line: u8,
}

impl Border {
    /// Takes the next bytes.
    pub fn take(&mut self, bytes: &[u8]) {
        let is_end = |byte: u8| matches!(byte, b'\n' | b'\r' | 0);
        let blank = bytes.iter().rev().take_while(|&&byte| is_end(byte)).count();
        let text = &bytes[..bytes.len() - blank];
        match memrchr2(b'\n', b'\r', text) {
            Some(end) => self.line = text[end + 1],
            None if !text.is_empty() && is_end(self.tail[3]) => self.line = text[0],
            None => {}
        }
        let kept = bytes.len().min(4);
        self.tail.rotate_left(kept);
        self.tail[4 - kept..].copy_from_slice(&bytes[bytes.len() - kept..]);
    }

    /// Whether the body ends within an event; a comment is none.
    pub fn is_partial(&self) -> bool {
        self.is_inside(false) && self.line != b':'
    }

    /// Whether an event (or a comment) has begun and not ended: the last line is not a blank one.
    /// Line ends are LF, CR and CRLF, in any mixture. `by_line` is for JSON lines, where one line
    /// end is enough.
    pub fn is_inside(&self, by_line: bool) -> bool {
        let [_, b, c, d] = self.tail;
        let before = match (c, d) {
            (_, 0) => return false, // nothing came yet
            (b'\r', b'\n') => b,
            (before, b'\n' | b'\r') => before,
            _ => return true,
        };
        !by_line && !matches!(before, b'\n' | b'\r')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_lines_in_every_spelling_are_borders() {
        let inside = |parts: &[&str], by_line| {
            let mut border = Border::default();
            parts.iter().for_each(|part| border.take(part.as_bytes()));
            border.is_inside(by_line)
        };
        for parts in [
            &[][..],
            &["data: x\n\n"],
            &["data: x\r\n\r", "\n"],
            &["x\r\n\r"],
            &["x\r\r"],
            &["x\n", "\n"],
        ] {
            assert!(!inside(parts, false), "{parts:?}");
        }
        for parts in [
            &["d"][..],
            &["data: x"],
            &["data: x\r\n"],
            &["x\n"],
            &["x\n\nd"],
            &["x\r", "\n"],
        ] {
            assert!(inside(parts, false), "{parts:?}");
        }
        assert!(!inside(&["{}\n"], true) && inside(&["{}"], true));
    }

    #[test]
    fn a_comment_is_no_partial_event() {
        let partial = |parts: &[&str]| {
            let mut border = Border::default();
            parts.iter().for_each(|part| border.take(part.as_bytes()));
            border.is_partial()
        };
        for parts in [
            &["x\n\nd"][..],
            &["x\n\n", "da", "t"],
            &["event: x\n"],
            &[": c\ndata"],
            &["da", "ta: {\n"],
        ] {
            assert!(partial(parts), "{parts:?}");
        }
        for parts in [
            &["x\n\n: bye\n"][..],
            &["x\n\n", ":", " bye"],
            &["x\n\n"],
            &[""],
        ] {
            assert!(!partial(parts), "{parts:?}");
        }
    }
}
