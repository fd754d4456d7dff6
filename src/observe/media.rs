//! What kind of body a response has: by its label, and by its first bytes where the label is known
//! to lie. Gateways send event streams as `application/json` or without a type at all; a tool that
//! gates on the label measures nothing there.

/// What the content type says. Media types are case-insensitive and have parameters (RFC 9110
/// section 8.3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Media {
    /// `text/event-stream`.
    EventStream,
    /// JSON lines.
    JsonLines,
    /// One JSON value.
    Json,
    /// Audio, images and the like.
    Binary,
    /// Anything else, or no label.
    Other,
}

impl Media {
    /// Reads a content type.
    pub fn of(content_type: Option<&str>) -> Media {
        let essence = content_type
            .unwrap_or_default()
            .split(';')
            .next()
            .unwrap_or_default();
        let essence = essence.trim().to_ascii_lowercase();
        match essence.as_str() {
            "text/event-stream" => Media::EventStream,
            "application/x-ndjson"
            | "application/ndjson"
            | "application/jsonl"
            | "application/x-jsonlines"
            | "application/jsonlines"
            | "application/json-lines"
            | "application/stream+json" => Media::JsonLines,
            "application/json" | "text/json" => Media::Json,
            "application/octet-stream"
            | "application/pdf"
            | "application/zip"
            | "application/x-protobuf"
            | "application/vnd.amazon.eventstream" => Media::Binary,
            other if other.ends_with("+json") => Media::Json,
            other => match other.split('/').next() {
                Some("audio" | "image" | "video" | "font") => Media::Binary,
                _ => Media::Other,
            },
        }
    }

    /// Whether the label promises events.
    pub fn is_stream(self) -> bool {
        self.shape() != Shape::Whole
    }

    /// How to read a body whose label is believed.
    pub fn shape(self) -> Shape {
        match self {
            Media::EventStream => Shape::Sse,
            Media::JsonLines => Shape::JsonLines,
            Media::Json | Media::Binary | Media::Other => Shape::Whole,
        }
    }
}

/// How a body is to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// As an event stream.
    Sse,
    /// Line by line.
    JsonLines,
    /// Item by item.
    JsonArray,
    /// Not as events.
    Whole,
}

/// How to read a body labelled `media` that begins with `first`; `None` until enough came.
///
/// `asked` tells whether the request asked for a stream: only then is a label doubted that
/// promises none. `native` is how the API streams where it does not send an event stream.
pub fn shape(media: Media, asked: bool, native: Shape, first: &[u8]) -> Option<Shape> {
    /// Bytes of blank lines that a body may begin with before its label is believed.
    const PATIENCE: usize = 64;
    /// The longest line that is waited for to see whether it is JSON of its own.
    const LONGEST_LINE: usize = 64 * 1024;

    let is_doubtful = media.is_stream() || asked && matches!(media, Media::Json | Media::Other);
    if !is_doubtful {
        return Some(Shape::Whole);
    }
    // Looks no further than it waits, so that it does not matter how much came at once.
    let up_to = |length: usize| &first[..first.len().min(length)];
    if let Look::Short = look(up_to(PATIENCE)) {
        return (first.len() >= PATIENCE).then(|| media.shape());
    }
    match look(up_to(LONGEST_LINE)) {
        Look::Fields => Some(Shape::Sse),
        Look::Array if asked && native == Shape::JsonArray => Some(Shape::JsonArray),
        // JSON lines, or one object that is spread over several lines for people to read.
        Look::Object(line) if media == Media::EventStream || native == Shape::JsonLines => {
            match line {
                Some(line) => Some(of_first_line(line)),
                None if first.len() < LONGEST_LINE => None,
                None => Some(Shape::JsonLines),
            }
        }
        _ => Some(media.shape()),
    }
}

fn of_first_line(line: &[u8]) -> Shape {
    match serde_json::from_slice::<serde::de::IgnoredAny>(line) {
        Err(error) if error.is_eof() => Shape::Whole,
        _ => Shape::JsonLines,
    }
}

/// What first bytes look like.
enum Look<'a> {
    /// Too few to tell.
    Short,
    /// A field or a comment of an event stream.
    Fields,
    /// A JSON object; its first line, if that has ended.
    Object(Option<&'a [u8]>),
    /// A JSON array.
    Array,
    /// Something else.
    Else,
}

fn look(first: &[u8]) -> Look<'_> {
    const BOM: &[u8] = b"\xEF\xBB\xBF";
    const FIELDS: [&[u8]; 4] = [b"data", b"event", b"id", b"retry"];

    if BOM.starts_with(first) {
        return Look::Short;
    }
    let text = first.strip_prefix(BOM).unwrap_or(first).trim_ascii_start();
    match text.first() {
        None => Look::Short,
        Some(b':') => Look::Fields,
        Some(b'{') => Look::Object(memchr::memchr(b'\n', text).map(|end| &text[..end])),
        Some(b'[') => Look::Array,
        Some(_) => FIELDS
            .iter()
            .find_map(|field| match text.strip_prefix(*field) {
                Some([]) => Some(Look::Short),
                Some([b':' | b'\r' | b'\n', ..]) => Some(Look::Fields),
                Some(_) => None,
                None => field.starts_with(text).then_some(Look::Short),
            })
            .unwrap_or(Look::Else),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_in_any_spelling() {
        for label in [
            "text/event-stream;charset=UTF-8",
            "Text/Event-Stream",
            " text/event-stream ; x=y",
        ] {
            assert_eq!(Media::of(Some(label)), Media::EventStream, "{label}");
        }
        assert_eq!(
            Media::of(Some("application/json, text/event-stream; charset=utf-8")),
            Media::Other
        );
        assert_eq!(Media::of(Some("application/problem+json")), Media::Json);
        assert_eq!(Media::of(Some("audio/mpeg")), Media::Binary);
        assert_eq!(Media::of(None), Media::Other);
    }

    #[test]
    fn a_lying_label_is_found_out_as_soon_as_it_can_be() {
        let json = |first: &str| shape(Media::Json, true, Shape::Sse, first.as_bytes());
        assert_eq!(json("dat"), None);
        assert_eq!(json("data"), None);
        assert_eq!(json("data:"), Some(Shape::Sse));
        assert_eq!(json(": ping"), Some(Shape::Sse));
        assert_eq!(json("\u{FEFF}event: x"), Some(Shape::Sse));
        assert_eq!(json("\n\nid:1"), Some(Shape::Sse));
        assert_eq!(json("database"), Some(Shape::Whole));
        assert_eq!(json("{\"id\":1}"), Some(Shape::Whole));
        let late = "\n".repeat(64) + "data:";
        assert_eq!(
            (json(&late[1..]), json(&late)),
            (Some(Shape::Whole), Some(Shape::Whole))
        );
        assert_eq!(json(&late[5..]), Some(Shape::Sse));
        let stream = |first: &[u8]| shape(Media::EventStream, false, Shape::Sse, first);
        assert_eq!(stream(b"{\"a\":"), None);
        assert_eq!(stream(b"{\"a\":1}\n"), Some(Shape::JsonLines));
        assert_eq!(stream(b"{not JSON}\n"), Some(Shape::JsonLines));
        assert_eq!(stream(b"{\n \"error\":1\n}"), Some(Shape::Whole));
        assert_eq!(stream(&[b'{'; 70_000]), Some(Shape::JsonLines));
        assert_eq!(stream(b"\xEF\xBB"), None);
        assert_eq!(stream(b"<html>"), Some(Shape::Sse));
    }

    #[test]
    fn an_array_is_a_stream_where_one_was_asked_for_and_may_be_an_array() {
        let json = |asked, native| shape(Media::Json, asked, native, b"\n[");
        assert_eq!(json(true, Shape::JsonArray), Some(Shape::JsonArray));
        assert_eq!(json(true, Shape::Sse), Some(Shape::Whole));
        assert_eq!(json(false, Shape::JsonArray), Some(Shape::Whole));
        let lines = |native| shape(Media::Other, true, native, b"{\"a\":1}\n");
        assert_eq!(lines(Shape::JsonLines), Some(Shape::JsonLines));
        assert_eq!(lines(Shape::Sse), Some(Shape::Whole));
    }

    #[test]
    fn without_a_wish_for_a_stream_or_with_a_binary_label_nothing_is_guessed() {
        assert_eq!(
            shape(Media::Json, false, Shape::Sse, b""),
            Some(Shape::Whole)
        );
        assert_eq!(
            shape(Media::Binary, true, Shape::Sse, b"data: "),
            Some(Shape::Whole)
        );
    }
}
