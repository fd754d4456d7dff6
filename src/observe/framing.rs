//! Framing: bytes to events, without IO. Any split of the input gives the same frames.
//!
//! - [`SseDecoder`]: event streams (WHATWG HTML, section 9.2.6, "Interpreting an event stream")
//! - [`NdJsonDecoder`]: one JSON value per line
//! - [`JsonArrayDecoder`]: one JSON array, item by item
//!
//! All keep bytes as bytes: UTF-8 is not validated, so a character cut by a read is nothing
//! special. They hold at most the limit given to them and a small constant; an event beyond it is
//! skipped, counted and followed by the next one.

mod json_array;
mod ndjson;
mod sse;

pub use json_array::JsonArrayDecoder;
pub use ndjson::NdJsonDecoder;
pub use sse::SseDecoder;

/// Largest event that is looked into, in bytes of its lines.
pub const DEFAULT_EVENT_LIMIT: usize = 1024 * 1024;

/// What a decoder found.
#[derive(Debug, PartialEq, Eq)]
pub enum Frame<'a> {
    /// An SSE dispatch, one NDJSON line, or one item of a JSON array.
    Event {
        /// The event's type, as its `event` field gives it, cut at 256 bytes; empty without one.
        name: &'a [u8],
        /// Its `data` lines joined by LF; or the line, or the item.
        data: &'a [u8],
    },
    /// One SSE comment line.
    Comment,
    /// An SSE block that has fields but no data, so that nothing is dispatched.
    Empty {
        /// The type it names, if it does.
        name: &'a [u8],
    },
    /// An event larger than the limit was skipped.
    TooLarge {
        /// Bytes of its lines, without line ends and comments.
        bytes: u64,
    },
}

/// A decoder of any kind.
#[derive(Debug)]
pub enum Decoder {
    /// For event streams.
    Sse(SseDecoder),
    /// For JSON lines.
    NdJson(NdJsonDecoder),
    /// For a JSON array.
    JsonArray(JsonArrayDecoder),
}

impl Decoder {
    /// Decodes the next bytes.
    pub fn push(&mut self, bytes: &[u8], sink: impl FnMut(Frame<'_>)) {
        match self {
            Decoder::Sse(decoder) => decoder.push(bytes, sink),
            Decoder::NdJson(decoder) => decoder.push(bytes, sink),
            Decoder::JsonArray(decoder) => decoder.push(bytes, sink),
        }
    }

    /// The body has ended. An event that lacks its end is handed out all the same, and true is
    /// returned: the SSE grammar drops it, but it is evidence.
    pub fn finish(&mut self, sink: impl FnMut(Frame<'_>)) -> bool {
        match self {
            Decoder::Sse(decoder) => decoder.finish(sink),
            Decoder::NdJson(decoder) => decoder.finish(sink),
            Decoder::JsonArray(decoder) => decoder.finish(sink),
        }
    }

    /// Whether an event has begun and not ended; a comment is none.
    pub fn is_inside(&self) -> bool {
        match self {
            Decoder::Sse(decoder) => decoder.is_inside(),
            Decoder::NdJson(decoder) => decoder.is_inside(),
            Decoder::JsonArray(decoder) => decoder.is_inside(),
        }
    }
}

/// Most memory that stays with an idle decoder, in bytes: an event of ordinary size needs no new
/// memory, and one large event does not cost its size for the rest of a long stream.
const SPARE: usize = 16 * 1024;

/// Adds to what is held from one read to the next. `Vec` alone would grow to twice the limit.
fn hold(held: &mut Vec<u8>, bytes: &[u8], limit: usize) {
    let needed = held.len() + bytes.len();
    if needed > held.capacity() {
        let capacity = (2 * held.capacity()).min(limit).max(needed);
        held.reserve_exact(capacity - held.len());
    }
    held.extend_from_slice(bytes);
}

/// Empties what was held.
fn release(held: &mut Vec<u8>) {
    held.clear();
    held.shrink_to(SPARE);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The data of each event that `decoder` finds in `parts`, and whether the last lacked its end.
    pub fn decoded(mut decoder: Decoder, parts: &[&[u8]]) -> (Vec<String>, bool) {
        let mut found = Vec::new();
        let mut sink = |frame: Frame<'_>| {
            found.push(match frame {
                Frame::Event { data, .. } => String::from_utf8_lossy(data).into_owned(),
                other => format!("{other:?}"),
            });
        };
        parts.iter().for_each(|part| decoder.push(part, &mut sink));
        let unterminated = decoder.finish(&mut sink);
        (found, unterminated)
    }

    /// The same of `text`, which must not depend on how it is cut.
    pub fn in_any_split(decoder: impl Fn() -> Decoder, text: &str) -> (Vec<String>, bool) {
        let whole = decoded(decoder(), &[text.as_bytes()]);
        let bytes: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
        assert_eq!(decoded(decoder(), &bytes), whole, "{text:?}");
        for cut in 0..text.len() {
            let (a, b) = text.as_bytes().split_at(cut);
            assert_eq!(decoded(decoder(), &[a, b]), whole, "{text:?} cut at {cut}");
        }
        whole
    }
}
