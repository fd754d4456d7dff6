//! How one response's body is read: decided by its label, and by its first bytes where the label
//! may lie; then bytes go to the decoder, its frames to the content, and its events to the clock.

use super::ResponseHead;
use crate::observe::content::Content;
use crate::observe::dialect::Api;
use crate::observe::framing::{Decoder, NdJsonDecoder, SseDecoder};
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
    state: State,
    content: Content,
    label_lies: bool,
}

enum State {
    /// No more than its first bytes came.
    Sniffing(Vec<u8>),
    Events(Decoder),
    /// A reply in one piece; what of it is kept.
    Whole(Option<Vec<u8>>),
    /// Compressed. A decompressor would stand here and feed what it has to the states above.
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
            state: State::Whole(None),
            content: Content::new(of_path.unwrap_or(Api::Other)),
            label_lies: false,
        }
    }

    /// The body of the response that begins with `head`.
    pub fn new(of_path: Option<Api>, head: &ResponseHead, asked: bool, event_limit: usize) -> Self {
        let media = Media::of(head.content_type.as_deref());
        let encoding = head.content_encoding.as_deref().unwrap_or_default().trim();
        let is_plain = encoding.is_empty() || encoding.eq_ignore_ascii_case("identity");
        let state = match is_plain {
            true => State::Sniffing(Vec::new()),
            false => State::Encoded,
        };
        let mut body = Body {
            media,
            asked,
            event_limit,
            content: Content::new(outcome::api(of_path, media, Reading::Whole)),
            label_lies: false,
            state,
        };
        if is_plain {
            body.decide(&[]);
        }
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
        match &mut self.state {
            State::Sniffing(held) => {
                held.extend_from_slice(bytes);
                let held = std::mem::take(held);
                self.decide(&held);
                match &mut self.state {
                    State::Sniffing(again) => *again = held,
                    _ => self.read(&held, timeline),
                }
            }
            State::Events(decoder) => {
                timeline.by_line = matches!(decoder, Decoder::NdJson(_));
                let content = &mut self.content;
                let done_before = content.done_markers > 0;
                decoder.push(bytes, |frame| {
                    if let Some(event) = content.take(frame) {
                        timeline.on_event(event);
                    }
                });
                content.after_done |= done_before && !bytes.trim_ascii().is_empty();
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
            State::Events(decoder) => {
                let content = &mut self.content;
                decoder.finish(|frame| {
                    if let Some(event) = content.take_unterminated(frame) {
                        timeline.on_event(event);
                    }
                });
            }
            State::Sniffing(held) if !held.is_empty() => {
                let held = std::mem::take(held);
                self.settle(self.media.shape());
                self.read(&held, timeline);
                self.finish(timeline);
            }
            State::Sniffing(_) => self.settle(self.media.shape()),
            State::Whole(Some(all)) => {
                let all = std::mem::take(all);
                self.content.take_whole(&all);
            }
            State::Whole(None) | State::Encoded | State::Upgraded => {}
        }
    }

    /// Whether the body ends within an event. JSON lines need no end of the last line.
    pub fn is_partial(&self, timeline: &Timeline) -> bool {
        match &self.state {
            State::Events(Decoder::Sse(_)) => timeline.is_partial(),
            State::Events(Decoder::NdJson(_)) => self.content.broken_end,
            _ => false,
        }
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
        Counts {
            chunks: summary.n_chunks,
            events: summary.n_events,
            token_events: summary.n_tokens,
            keepalives: self.content.keepalives,
            empty_deltas: self.content.empty_deltas,
            done_markers: self.content.done_markers,
            parse_errors: self.content.parse_errors,
            bytes: summary.bytes,
            chars: self.content.chars(),
        }
    }

    /// Settles how to read the body if its first bytes tell.
    fn decide(&mut self, first: &[u8]) {
        if let Some(shape) = media::shape(self.media, self.asked, first) {
            self.settle(shape);
        }
    }

    fn settle(&mut self, shape: Shape) {
        self.label_lies = shape != self.media.shape();
        let limit = self.event_limit;
        self.state = match shape {
            Shape::Sse => State::Events(Decoder::Sse(SseDecoder::new(limit))),
            Shape::JsonLines => State::Events(Decoder::NdJson(NdJsonDecoder::new(limit))),
            Shape::Whole => State::Whole((self.media == Media::Json).then(Vec::new)),
        };
        if self.label_lies {
            self.content.api = match (shape, self.content.api) {
                (Shape::Sse, Api::Json | Api::Other) => Api::Sse,
                (Shape::JsonLines, Api::Sse) => Api::Ndjson,
                (_, api) => api,
            };
        }
    }
}
