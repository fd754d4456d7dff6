//! Strings of a payload, read without copying and without trust.

use std::borrow::Cow;

use serde::de::{MapAccess, SeqAccess};

use super::lenient::{Leaf, Lenient, object};

/// A JSON string as bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Text<'a>(pub(super) Cow<'a, [u8]>);

impl Text<'_> {
    /// From bytes of its own.
    pub fn owned(bytes: Vec<u8>) -> Self {
        Text(Cow::Owned(bytes))
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Unicode scalars: every byte that is not the continuation of one.
    pub fn chars(&self) -> u64 {
        self.0.iter().filter(|&&byte| byte & 0xC0 != 0x80).count() as u64
    }

    /// A short readable form for the record: at most `limit` bytes, no control characters.
    pub fn to_label(&self, limit: usize) -> String {
        let text = String::from_utf8_lossy(&self.0);
        let mut length = 0;
        let fits = |c: &char| {
            length += c.len_utf8();
            length <= limit
        };
        text.chars()
            .filter(|c| !c.is_control())
            .take_while(fits)
            .collect()
    }
}

impl<'a> Leaf<'a> for Text<'a> {
    fn of_text(text: Text<'a>) -> Option<Self> {
        Some(text)
    }

    /// Content in parts: `[{"type":"text","text":"…"}]`, or `["…"]`.
    fn of_list<A: SeqAccess<'a>>(mut parts: A) -> Result<Option<Self>, A::Error> {
        let mut all = Vec::new();
        while let Some(Lenient(part)) = parts.next_element::<Lenient<Text<'a>>>()? {
            all.extend_from_slice(part.unwrap_or_default().as_bytes());
        }
        Ok(Some(Text(Cow::Owned(all))))
    }

    /// Content as one part.
    fn of_object<A: MapAccess<'a>>(part: A) -> Result<Option<Self>, A::Error> {
        let part = Part::of_object(part)?.unwrap_or_default();
        Ok(Some(part.text.0.unwrap_or_default()))
    }
}

#[derive(Default)]
struct Part<'a> {
    text: Lenient<Text<'a>>,
}

object!(Part<'a> { b"text" => text });

impl<'a> Lenient<Text<'a>> {
    /// The string, unless it is empty or none.
    pub fn non_empty(self) -> Option<Text<'a>> {
        self.0.filter(|text| !text.is_empty())
    }

    /// The string's bytes; empty if there is none.
    pub fn bytes(&self) -> &[u8] {
        self.0.as_ref().map_or(&[], |text| text.as_bytes())
    }

    /// Whether it is exactly `other`.
    pub fn is(&self, other: &str) -> bool {
        self.0
            .as_ref()
            .is_some_and(|text| text.as_bytes() == other.as_bytes())
    }
}

/// `data` with a character in place of each broken one.
///
/// Servers that cut a character into several tokens send lone surrogates or broken UTF-8, and
/// others put line ends into their strings as they are. Such a token is a token all the same.
pub fn repaired(data: &[u8]) -> String {
    let mut text = String::from_utf8_lossy(data).replace(|c| c < ' ', " ");
    let mut at = 0;
    while let Some(found) = text.get(at..).and_then(|rest| rest.find('\\')) {
        at += found;
        at += match (unit_at(&text, at), unit_at(&text, at + 6)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => 12,
            (Some(0xD800..=0xDFFF), _) => {
                text.replace_range(at..at + 6, "\\ufffd");
                6
            }
            _ => 1 + text[at + 1..].chars().next().map_or(0, char::len_utf8),
        };
    }
    text
}

/// The UTF-16 unit of an escape at `at`, if there is one.
fn unit_at(text: &str, at: usize) -> Option<u16> {
    let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
    u16::from_str_radix(digits, 16).ok()
}
