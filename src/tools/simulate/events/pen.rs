//! How events stand in a body.

use std::io::Write as _;

/// The framing of events within a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::tools::simulate) enum Wire {
    /// Server-sent events (WHATWG HTML, section 9.2).
    Events,
    /// One JSON text a line.
    Lines,
    /// One JSON array over the whole body.
    Array,
    /// The JSON text alone, as in an answer with an error status.
    Bare,
}

impl Wire {
    /// The media type that says so.
    pub fn content_type(self) -> &'static str {
        match self {
            Self::Events => "text/event-stream; charset=utf-8",
            Self::Lines => "application/x-ndjson",
            Self::Array | Self::Bare => "application/json",
        }
    }
}

/// Writes events to the end of a body.
pub(in crate::tools::simulate) struct Pen<'a> {
    pub wire: Wire,
    /// Whether something was written before.
    pub begun: &'a mut bool,
    pub out: &'a mut Vec<u8>,
}

impl Pen<'_> {
    /// An event with this payload; only an event stream has names for them.
    pub fn event(&mut self, name: &str, payload: &str) {
        let first = !std::mem::replace(self.begun, true);
        // a Vec takes every byte
        let _ = match self.wire {
            Wire::Events => {
                if !name.is_empty() {
                    let _ = writeln!(self.out, "event: {name}");
                }
                write!(self.out, "data: {}\n\n", payload.replace('\n', "\ndata: "))
            }
            Wire::Lines => writeln!(self.out, "{payload}"),
            Wire::Array if first => write!(self.out, "[{payload}"),
            Wire::Array => write!(self.out, ",\r\n{payload}"),
            Wire::Bare => write!(self.out, "{payload}"),
        };
    }

    /// A comment, where there are such.
    pub fn comment(&mut self, text: &str) {
        if self.wire == Wire::Events {
            let _ = write!(self.out, ": {text}\n\n");
        }
    }

    /// Closes what must be closed.
    pub fn end(&mut self) {
        if self.wire == Wire::Array {
            let start = if *self.begun { "" } else { "[" };
            let _ = write!(self.out, "{start}\r\n]\r\n");
        }
    }
}
