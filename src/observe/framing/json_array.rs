//! One JSON array whose items come as they are made: what Google's `streamGenerateContent` sends
//! unless an event stream is asked for. An item counts at the byte that ends it.

use memchr::memchr2;

use super::{Frame, hold, release};

/// Decoder of a JSON array.
#[derive(Debug)]
pub struct JsonArrayDecoder {
    limit: usize,
    place: Place,
    /// Open arrays and objects of the item.
    depth: u64,
    /// In a string of the item.
    string: bool,
    /// The byte before was a backslash in that string.
    escaped: bool,
    /// The item as far as it came with earlier reads, unless it is too large.
    item: Vec<u8>,
    /// Bytes of it that came with earlier reads.
    len: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Before,
    Between,
    InItem,
    After,
}

/// What a byte of an item is to its end.
enum Part {
    Middle,
    /// The last byte.
    Last,
    /// No part of it any more.
    Past,
}

impl JsonArrayDecoder {
    /// A decoder that looks into items of at most `limit` bytes.
    pub fn new(limit: usize) -> Self {
        JsonArrayDecoder {
            limit,
            place: Place::Before,
            depth: 0,
            string: false,
            escaped: false,
            item: Vec::new(),
            len: 0,
        }
    }

    /// Whether an item has begun and not ended.
    pub fn is_inside(&self) -> bool {
        self.place == Place::InItem
    }

    /// Decodes the next bytes.
    pub fn push(&mut self, mut bytes: &[u8], mut sink: impl FnMut(Frame<'_>)) {
        while !bytes.is_empty() {
            bytes = match self.place {
                Place::InItem => self.in_item(bytes, &mut sink),
                Place::After => return,
                Place::Before | Place::Between => self.beside(bytes),
            };
        }
    }

    /// The body has ended; see [`super::Decoder::finish`].
    pub fn finish(&mut self, mut sink: impl FnMut(Frame<'_>)) -> bool {
        if self.is_inside() {
            self.emit(&[], &mut sink);
        }
        matches!(self.place, Place::Between)
    }

    /// One byte outside of items; gives the rest.
    fn beside<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        match (self.place, bytes[0]) {
            (Place::Before, b'[') => self.place = Place::Between,
            (Place::Before, _) | (Place::Between, b',') => {}
            (Place::Between, b']') => self.place = Place::After,
            (_, byte) if byte.is_ascii_whitespace() => {}
            _ => {
                self.place = Place::InItem;
                return bytes;
            }
        }
        &bytes[1..]
    }

    /// Bytes of an item, to its end or theirs; gives the rest.
    fn in_item<'a>(&mut self, bytes: &'a [u8], sink: &mut impl FnMut(Frame<'_>)) -> &'a [u8] {
        let mut at = 0;
        while at < bytes.len() {
            if self.string && !self.escaped {
                // Strings are long, and only two bytes in them mean something.
                at += memchr2(b'"', b'\\', &bytes[at..]).unwrap_or(bytes.len() - at);
                if at == bytes.len() {
                    break;
                }
            }
            let end = match self.take(bytes[at]) {
                Part::Middle => {
                    at += 1;
                    continue;
                }
                Part::Last => at + 1,
                Part::Past => at,
            };
            self.emit(&bytes[..end], sink);
            return &bytes[end..];
        }
        self.keep(bytes);
        &[]
    }

    fn take(&mut self, byte: u8) -> Part {
        if self.string {
            match byte {
                _ if std::mem::take(&mut self.escaped) => {}
                b'\\' => self.escaped = true,
                b'"' => self.string = false,
                _ => {}
            }
            return Part::Middle;
        }
        match byte {
            b'"' => self.string = true,
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' if self.depth > 0 => {
                self.depth -= 1;
                if self.depth == 0 {
                    return Part::Last;
                }
            }
            b',' | b']' if self.depth == 0 => return Part::Past,
            _ => {}
        }
        Part::Middle
    }

    fn keep(&mut self, bytes: &[u8]) {
        self.len += bytes.len() as u64;
        if self.len <= self.limit as u64 {
            hold(&mut self.item, bytes, self.limit);
        } else {
            self.item = Vec::new();
        }
    }

    /// The item ends with `last`.
    fn emit(&mut self, last: &[u8], sink: &mut impl FnMut(Frame<'_>)) {
        let bytes = self.len + last.len() as u64;
        if bytes > self.limit as u64 {
            sink(Frame::TooLarge { bytes });
        } else {
            let data = match self.len {
                0 => last,
                _ => {
                    self.keep(last);
                    &self.item
                }
            };
            sink(Frame::Event { name: b"", data });
        }
        release(&mut self.item);
        (self.len, self.place) = (0, Place::Between);
        (self.depth, self.string, self.escaped) = (0, false, false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::framing::{Decoder, tests::in_any_split};

    fn any_split(text: &str, limit: usize) -> (Vec<String>, bool) {
        in_any_split(|| Decoder::JsonArray(JsonArrayDecoder::new(limit)), text)
    }

    #[test]
    fn each_item_is_an_event_whatever_is_in_its_strings() {
        let text = r#" [{"a":"}]\",\\"} ,
            {"b":[1,{"c":2}]}, 7, "x,]" , [], null]
        "#;
        let expected = [
            r#"{"a":"}]\",\\"}"#,
            r#"{"b":[1,{"c":2}]}"#,
            "7",
            r#""x,]" "#,
            "[]",
            "null",
        ];
        assert_eq!(
            any_split(text, 99),
            (expected.map(String::from).into(), false)
        );
    }

    #[test]
    fn an_array_or_item_without_its_end_is_told() {
        assert_eq!(
            any_split("[{\"a\":1}\n", 99),
            (vec!["{\"a\":1}".into()], true)
        );
        assert_eq!(any_split("[{\"a\":", 99), (vec!["{\"a\":".into()], true));
        assert_eq!(any_split("[", 99), (vec![], true));
        assert_eq!(any_split("", 99), (vec![], false));
        assert_eq!(any_split("[]x", 99), (vec![], false));
    }

    #[test]
    fn large_items_are_skipped_however_they_are_cut() {
        let (found, _) = any_split("[[1234],[12345],[1]]", 6);
        assert_eq!(found, ["[1234]", "TooLarge { bytes: 7 }", "[1]"]);
    }
}
