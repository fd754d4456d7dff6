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
    /// Not as events.
    Whole,
}

/// How to read a body labelled `media` that begins with `first`; `None` until enough came.
///
/// `asked` tells whether the request asked for a stream: only then is a label doubted that
/// promises none.
pub fn shape(media: Media, asked: bool, first: &[u8]) -> Option<Shape> {
    /// Bytes of blank lines that a body may begin with before its label is believed.
    const PATIENCE: usize = 64;

    let is_doubtful = media.is_stream() || asked && matches!(media, Media::Json | Media::Other);
    if !is_doubtful {
        return Some(Shape::Whole);
    }
    // No further, so that it does not depend on how much came at once.
    match look(&first[..first.len().min(PATIENCE)]) {
        Look::Short if first.len() < PATIENCE => None,
        Look::Fields => Some(Shape::Sse),
        Look::Object if media == Media::EventStream => Some(Shape::JsonLines),
        _ => Some(media.shape()),
    }
}

/// What first bytes look like.
enum Look {
    /// Too few to tell.
    Short,
    /// A field or a comment of an event stream.
    Fields,
    /// A JSON object.
    Object,
    /// Something else.
    Else,
}

fn look(first: &[u8]) -> Look {
    const BOM: &[u8] = b"\xEF\xBB\xBF";
    const FIELDS: [&[u8]; 4] = [b"data", b"event", b"id", b"retry"];

    if BOM.starts_with(first) {
        return Look::Short;
    }
    let text = first.strip_prefix(BOM).unwrap_or(first).trim_ascii_start();
    match text.first() {
        None => Look::Short,
        Some(b':') => Look::Fields,
        Some(b'{') => Look::Object,
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
        let json = |first: &str| shape(Media::Json, true, first.as_bytes());
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
        assert_eq!(
            shape(Media::EventStream, true, b"{"),
            Some(Shape::JsonLines)
        );
        assert_eq!(shape(Media::EventStream, false, b"\xEF\xBB"), None);
        assert_eq!(
            shape(Media::EventStream, false, b"<html>"),
            Some(Shape::Sse)
        );
    }

    #[test]
    fn without_a_wish_for_a_stream_or_with_a_binary_label_nothing_is_guessed() {
        assert_eq!(shape(Media::Json, false, b""), Some(Shape::Whole));
        assert_eq!(shape(Media::Binary, true, b"data: "), Some(Shape::Whole));
    }
}
