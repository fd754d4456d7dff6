//! Error objects, of which only a type or code is kept.

use serde::de::{IgnoredAny, MapAccess, SeqAccess};

use super::lenient::{Leaf, Lenient};
use super::text::Text;

/// An error object inside a stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InBandError {
    /// The server's type or code of it, when it looks like one.
    pub kind: Option<String>,
}

/// An error's type or code, if it looks like one.
pub struct Code(pub Option<String>);

impl<'a> Leaf<'a> for Code {
    fn of_text(text: Text<'a>) -> Option<Self> {
        let text = std::str::from_utf8(text.as_bytes()).ok()?;
        Some(Code(as_code(text)))
    }

    fn of_number(number: f64) -> Option<Self> {
        Some(Code(as_code(&number.to_string())))
    }
}

impl Lenient<Code> {
    /// The code, if there is one.
    pub fn code(&self) -> Option<String> {
        self.0.as_ref()?.0.clone()
    }
}

/// Under `error` stands an error unless it says that there is none: anything that is neither null,
/// false, 0 nor empty is one.
impl<'a> Leaf<'a> for InBandError {
    fn of_text(text: Text<'a>) -> Option<Self> {
        (!text.is_empty()).then(InBandError::default)
    }

    fn of_number(number: f64) -> Option<Self> {
        let kind = Code::of_number(number)?.0;
        (number != 0.0).then_some(InBandError { kind })
    }

    fn of_bool(is_error: bool) -> Option<Self> {
        is_error.then(InBandError::default)
    }

    /// The first that has a code stands for all.
    fn of_list<A: SeqAccess<'a>>(mut list: A) -> Result<Option<Self>, A::Error> {
        let mut all: Option<InBandError> = None;
        while let Some(Lenient(error)) = list.next_element::<Lenient<InBandError>>()? {
            let all = all.get_or_insert_default();
            all.kind = all.kind.take().or(error.and_then(|error| error.kind));
        }
        Ok(all)
    }

    /// A word says more than a number: `type` (OpenAI, Anthropic) or `status` (Google) before `code`.
    fn of_object<A: MapAccess<'a>>(mut object: A) -> Result<Option<Self>, A::Error> {
        let (mut kind, mut status, mut code) = <(Lenient<Code>, Lenient<Code>, _)>::default();
        let mut empty = true;
        while let Some(Lenient(Some(key))) = object.next_key::<Lenient<Text<'a>>>()? {
            empty = false;
            match key.as_bytes() {
                b"type" => kind = object.next_value()?,
                b"status" => status = object.next_value()?,
                b"code" => code = object.next_value::<Lenient<Code>>()?,
                _ => drop(object.next_value::<IgnoredAny>()?),
            }
        }
        let kind = [kind, status, code].iter().find_map(Lenient::code);
        Ok((!empty).then_some(InBandError { kind }))
    }
}

/// Keeps a server's type or code only if it looks like one: no free text gets into a record.
pub fn as_code(text: &str) -> Option<String> {
    const LONGEST: usize = 64;
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b':' | b'/');
    let is_code = (1..=LONGEST).contains(&text.len()) && text.bytes().all(plain);
    is_code.then(|| text.to_owned())
}
