//! How one response's body is read: its encodings are undone, its shape is told by its label and by
//! its first bytes where the label may lie; then bytes go to the decoder, its frames to the content,
//! and its events to the clock.

use super::ResponseHead;
use crate::observe::content::Content;
use crate::observe::dialect::Api;
use crate::observe::encoding::{Decoding, Halt};
use crate::observe::framing::{Decoder, JsonArrayDecoder, NdJsonDecoder, SseDecoder};
use crate::observe::media::{self, Media, Shape};
use crate::observe::outcome::{self, Reading};
use crate::observe::record::Counts;
use crate::observe::summary::Summary;
use crate::observe::timeline::Timeline;

/// Longest reply in one piece that is looked into for its model and usage, bytes.
const WHOLE_LIMIT: usize = 256 * 1024;

/// A response's body.
pub struct Body {
    media: Media,
    asked: bool,
    event_limit: usize,
    /// What undoes its encodings, if it has any.
    decoding: Option<Decoding>,
    /// Why they could not be undone to the end.
    halt: Option<Halt>,
    state: State,
    content: Content,
    /// It ended within an event.
    partial: bool,
    label_lies: bool,
}

enum State {
    /// No more than its first bytes came.
    Sniffing(Vec<u8>),
    Events(Decoder),
    /// A reply in one piece; what of it is kept.
    Whole(Option<Vec<u8>>),
    /// Encoded in a way that is not known here.
    Encoded,
    Upgraded,
}

impl Body {
    /// No response yet.
    pub fn none(of_path: Option<Api>) -> Self {
        Body {
            media: Media::Other,
            asked: false,
            event_limit: 0,
            decoding: None,
            halt: None,
            state: State::Whole(None),
            content: Content::new(of_path.unwrap_or(Api::Other)),
            partial: false,
            label_lies: false,
        }
    }

    /// The body of the response that begins with `head`.
    pub fn new(of_path: Option<Api>, head: &ResponseHead, asked: bool, event_limit: usize) -> Self {
        let media = Media::of(head.content_type.as_deref());
        let mut body = Body {
            media,
            asked,
            event_limit,
            content: Content::new(outcome::api(of_path, media, Reading::Whole)),
            state: State::Sniffing(Vec::new()),
            ..Body::none(None)
        };
        if let Some(codings) = head.codings() {
            body.decoding = Decoding::of(codings);
            if body.decoding.is_none() {
                body.state = State::Encoded;
                return body;
            }
        }
        body.decide(&[]);
        body
    }

    /// The bytes of another protocol.
    pub fn upgraded() -> Self {
        Body {
            state: State::Upgraded,
            content: Content::new(Api::Websocket),
            ..Body::none(None)
        }
    }

    /// Takes the next piece, which `timeline` already has.
    pub fn read(&mut self, bytes: &[u8], timeline: &mut Timeline) {
        if self.halt.is_some() {
            return;
        }
        let Some(mut decoding) = self.decoding.take() else {
            return self.take(bytes, timeline);
        };
        self.halt = decoding
            .push(bytes, |plain| self.take(plain, timeline))
            .err();
        self.decoding = Some(decoding);
    }

    fn take(&mut self, bytes: &[u8], timeline: &mut Timeline) {
        match &mut self.state {
            State::Sniffing(held) => {
                held.extend_from_slice(bytes);
                let held = std::mem::take(held);
                self.decide(&held);
                match &mut self.state {
                    State::Sniffing(again) => *again = held,
                    _ => self.take(&held, timeline),
                }
            }
            State::Events(decoder) => {
                let content = &mut self.content;
                decoder.push(bytes, |frame| {
                    if let Some(event) = content.take(frame) {
                        timeline.on_event(event);
                    }
                });
            }
            State::Whole(kept) => {
                let fits = |kept: &Vec<u8>| kept.len() + bytes.len() <= WHOLE_LIMIT;
                match kept {
                    Some(all) if fits(all) => all.extend_from_slice(bytes),
                    _ => *kept = None,
                }
            }
            State::Encoded | State::Upgraded => {}
        }
    }

    /// The end of the body: what it left without an end is looked at.
    pub fn finish(&mut self, timeline: &mut Timeline) {
        match &mut self.state {
            State::Sniffing(held) => {
                let held = std::mem::take(held);
                self.settle(self.media.shape());
                self.take(&held, timeline);
                self.finish(timeline);
            }
            State::Events(_) if self.halt.is_some() => {}
            State::Events(decoder) => {
                let content = &mut self.content;
                let inside = decoder.is_inside();
                content.unterminated |= decoder.finish(|frame| {
                    if let Some(event) = content.take_unterminated(frame) {
                        timeline.on_event(event);
                    }
                });
                // JSON lines need no end of the last line.
                let by_line = matches!(decoder, Decoder::NdJson(_));
                self.partial = if by_line { content.broken_end } else { inside };
                // An encoding without its end hides the rest, unless all was said before.
                let hidden = self.decoding.as_ref().is_some_and(Decoding::is_inside);
                self.partial |= hidden && content.done_markers == 0 && !content.is_finished();
            }
            State::Whole(Some(all)) => {
                let all = std::mem::take(all);
                self.content.take_whole(&all);
            }
            State::Whole(None) | State::Encoded | State::Upgraded => {}
        }
    }

    /// Whether an event has begun and not ended.
    pub fn is_inside(&self) -> bool {
        match &self.state {
            State::Events(decoder) => decoder.is_inside(),
            State::Sniffing(held) => !held.trim_ascii().is_empty(),
            State::Whole(_) | State::Encoded | State::Upgraded => false,
        }
    }

    /// Whether the body ended within an event.
    pub fn is_partial(&self) -> bool {
        self.partial
    }

    /// Whether it was not read to its end.
    pub fn has_halted(&self) -> bool {
        self.halt.is_some()
    }

    /// What the events said.
    pub fn content(&self) -> &Content {
        &self.content
    }

    /// What the label says.
    pub fn media(&self) -> Media {
        self.media
    }

    /// What could be made of it.
    pub fn reading(&self) -> Reading {
        match self.state {
            State::Events(_) => Reading::Events,
            State::Sniffing(_) if self.media.is_stream() => Reading::Events,
            State::Sniffing(_) | State::Whole(_) => Reading::Whole,
            State::Encoded => Reading::Encoded,
            State::Upgraded => Reading::Upgraded,
        }
    }

    /// Whether the label says something else than the body.
    pub fn label_lies(&self) -> bool {
        self.label_lies
    }

    /// What was counted.
    pub fn counts(&self, summary: &Summary) -> Counts {
        let content = &self.content;
        let of_events = |n: u64| (self.reading() == Reading::Events).then_some(n);
        Counts {
            chunks: summary.n_chunks,
            events: of_events(summary.n_events),
            token_events: of_events(summary.n_tokens),
            keepalives: of_events(content.keepalives),
            empty_deltas: of_events(content.empty_deltas),
            done_markers: of_events(content.done_markers),
            parse_errors: of_events(
                content.parse_errors + u64::from(self.halt == Some(Halt::Broken)),
            ),
            bytes: summary.bytes,
            chars: of_events(content.chars()),
        }
    }

    /// Settles how to read the body if its first bytes tell.
    fn decide(&mut self, first: &[u8]) {
        let native = match self.content.api {
            Api::Gemini => Shape::JsonArray,
            Api::OllamaChat | Api::OllamaGenerate => Shape::JsonLines,
            _ => Shape::Sse,
        };
        if let Some(shape) = media::shape(self.media, self.asked, native, first) {
            self.settle(shape);
        }
    }

    fn settle(&mut self, shape: Shape) {
        // An array of JSON is labelled as the JSON that it is.
        self.label_lies = shape != self.media.shape() && shape != Shape::JsonArray;
        let limit = self.event_limit;
        self.state = match shape {
            Shape::Sse => State::Events(Decoder::Sse(SseDecoder::new(limit))),
            Shape::JsonLines => State::Events(Decoder::NdJson(NdJsonDecoder::new(limit))),
            Shape::JsonArray => State::Events(Decoder::JsonArray(JsonArrayDecoder::new(limit))),
            Shape::Whole => {
                let is_json = self.media == Media::Json || self.label_lies;
                State::Whole(is_json.then(Vec::new))
            }
        };
        if self.label_lies {
            self.content.api = match (shape, self.content.api) {
                (Shape::Sse, Api::Json | Api::Other) => Api::Sse,
                (Shape::JsonLines, Api::Sse) => Api::Ndjson,
                (Shape::Whole, Api::Sse) => Api::Json,
                (_, api) => api,
            };
        }
    }
}
