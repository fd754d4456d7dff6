//! Strings of a payload, read without copying and without trust.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// A JSON string as bytes.
///
/// Bytes, because servers that cut a character into several tokens send lone surrogates or broken
/// UTF-8, and such a token is a token all the same.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Text<'a>(Cow<'a, [u8]>);

impl Text<'_> {
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

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_bytes(TextVisitor)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string, or a list of parts with one")
    }

    fn visit_borrowed_bytes<E>(self, bytes: &'de [u8]) -> Result<Self::Value, E> {
        Ok(Text(Cow::Borrowed(bytes)))
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Self::Value, E> {
        Ok(Text(Cow::Owned(bytes.to_vec())))
    }

    /// Content in parts: `[{"type":"text","text":"…"}]`.
    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Self::Value, A::Error> {
        let mut all = Vec::new();
        while let Some(part) = parts.next_element::<Part<'de>>()? {
            for text in [part.text, part.thinking].into_iter().flatten() {
                all.extend_from_slice(text.as_bytes());
            }
        }
        Ok(Text(Cow::Owned(all)))
    }
}

#[derive(Deserialize)]
struct Part<'a> {
    #[serde(borrow)]
    text: Option<Text<'a>>,
    #[serde(borrow)]
    thinking: Option<Text<'a>>,
}

/// A string that matters little: anything else in its place is taken as none.
#[derive(Debug, Default)]
pub struct Label<'a>(pub Option<Text<'a>>);

impl<'a> Label<'a> {
    /// The string, unless it is empty or none.
    pub fn non_empty(self) -> Option<Text<'a>> {
        self.0.filter(|text| !text.is_empty())
    }

    /// Whether it is exactly `other`.
    pub fn is(&self, other: &str) -> bool {
        self.0
            .as_ref()
            .is_some_and(|text| text.as_bytes() == other.as_bytes())
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Label<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LabelVisitor)
    }
}

struct LabelVisitor;

impl<'de> Visitor<'de> for LabelVisitor {
    type Value = Label<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Label(Some(Text(Cow::Borrowed(text.as_bytes())))))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Label(Some(Text(Cow::Owned(text.as_bytes().to_vec())))))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Label(None))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(Label(None))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(Label(None))
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(Label(None))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(Label(None))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Label(None))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Label(None))
    }
}
