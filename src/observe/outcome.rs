//! How a request ended: the end, its flags, its error and why there is no TTFT.
//!
//! "The answer is complete" and "the transport is complete" are two facts. Of the ends the first
//! that fits stands, in the order of [`End`]; of a stream it is asked first whether it is complete.

use super::content::Content;
use super::media::Media;
use super::observer::{Cause, ResponseHead};
use super::record::{Api, End, ErrorInfo, ErrorKind, Flag, Framing, Origin, TtftNull};

/// What the observer could make of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// Events.
    Events,
    /// One piece, or nothing at all.
    Whole,
    /// Encoded in a way that is not known here, and so not read.
    Encoded,
    /// Bytes of another protocol.
    Upgraded,
}

/// All that decides how a request ended.
#[derive(Debug)]
pub struct Outcome<'a> {
    /// How the exchange ended on the wire.
    pub cause: Cause,
    /// The response's head, if one came.
    pub response: Option<&'a ResponseHead>,
    /// What its label says.
    pub media: Media,
    /// What the observer made of its body.
    pub reading: Reading,
    /// Whether the request asked for a stream.
    pub asked: bool,
    /// What the events said.
    pub content: &'a Content,
    /// Events.
    pub n_events: u64,
    /// Token events.
    pub n_tokens: u64,
    /// The body ends within an event.
    pub partial: bool,
    /// Whether the observer gave up.
    pub stopped: bool,
}

impl Outcome<'_> {
    /// Whether the response is a stream of events, read or not.
    pub fn is_stream(&self) -> bool {
        match self.reading {
            Reading::Events => true,
            Reading::Encoded => self.media.is_stream(),
            Reading::Whole | Reading::Upgraded => false,
        }
    }

    /// The end: the first that fits.
    pub fn end(&self) -> End {
        match self.cause {
            Cause::Refused => return End::Refused,
            Cause::UpstreamUnreachable(_) => return End::UpstreamUnreachable,
            // The answer was whole before its framing broke or the limit ran out.
            _ if self.is_stream() && self.is_done() => return End::Complete,
            Cause::UpstreamTimeout => return End::UpstreamTimeout,
            Cause::UpstreamInvalid => return End::UpstreamInvalid,
            _ if self.reading == Reading::Upgraded => return self.end_of_upgrade(),
            _ if self.content.error.is_some() && !self.failed() => return End::InBandError,
            _ if self.is_complete() && !self.failed() => return End::Complete,
            Cause::ProxyStopped | Cause::Dropped => return End::ProxyStopped,
            Cause::ClientGone => return End::ClientGone,
            _ if self.failed() => return End::HttpError,
            Cause::UpstreamReset => return End::UpstreamReset,
            Cause::UpstreamFin => return End::Truncated,
            Cause::Whole => {}
        }
        if self.is_stream() && self.partial {
            End::Truncated
        } else if !self.is_stream() {
            End::NotAStream
        } else if self.n_events == 0 {
            End::EmptyStream
        } else {
            End::EndedWithoutDone
        }
    }

    /// Why there is no TTFT; `None` when there is one.
    pub fn ttft_null(&self, end: End) -> Option<TtftNull> {
        if self.n_tokens > 0 {
            return None;
        }
        let content = self.content;
        Some(match (end, self.reading) {
            (End::Refused, _) => TtftNull::Refused,
            (
                End::UpstreamUnreachable
                | End::UpstreamTimeout
                | End::UpstreamInvalid
                | End::UpstreamReset
                | End::Truncated,
                _,
            ) => TtftNull::UpstreamFailed,
            _ if self.failed() => TtftNull::HttpError,
            (_, Reading::Upgraded) => TtftNull::Upgraded,
            _ if self.response.is_some() && self.is_whole_reply() => TtftNull::NotAStream,
            _ if self.media == Media::Binary => TtftNull::NotText,
            (_, Reading::Encoded) => TtftNull::Encoded,
            _ if self.stopped => TtftNull::ObserverStopped,
            (End::InBandError, _) => TtftNull::InBandError,
            (End::ClientGone, _) => TtftNull::ClientGone,
            (End::ProxyStopped, _) => TtftNull::ProxyStopped,
            _ if content.parse_errors + content.too_large > 0 => TtftNull::Unparsable,
            _ => TtftNull::NoToken,
        })
    }

    /// What failed, in the proxy's word and the server's.
    pub fn error(&self, end: End) -> Option<ErrorInfo> {
        let kind = match (end, self.cause) {
            (_, Cause::UpstreamUnreachable(kind)) => kind,
            (End::Refused, _) => ErrorKind::Refused,
            (End::UpstreamTimeout, _) => ErrorKind::UpstreamTimeout,
            (End::UpstreamInvalid, _) => ErrorKind::UpstreamInvalid,
            (End::UpstreamReset, _) => ErrorKind::UpstreamReset,
            (End::Truncated, _) => ErrorKind::Truncated,
            (End::InBandError, _) => ErrorKind::InBandError,
            (End::HttpError, _) => ErrorKind::HttpError,
            _ => return None,
        };
        let server_type = self
            .content
            .error
            .as_ref()
            .and_then(|error| error.kind.clone());
        Some(ErrorInfo { kind, server_type })
    }

    /// The flags that follow from how it ended.
    pub fn flags(&self, end: End) -> impl Iterator<Item = Flag> {
        let (content, done) = (self.content, self.content.done_markers > 0);
        let complete = end == End::Complete;
        let cut = matches!(
            self.cause,
            Cause::UpstreamFin | Cause::UpstreamReset | Cause::UpstreamInvalid
        );
        let framing = self.response.and_then(|head| head.framing);
        [
            (
                complete
                    && self.reading == Reading::Events
                    && content.api.has_end_marker()
                    && !self.stopped
                    && !done,
                Flag::NoDoneMarker,
            ),
            (content.done_markers > 1, Flag::DoneTwice),
            (content.after_done, Flag::BytesAfterDone),
            (
                done && self.cause == Cause::ClientGone,
                Flag::ClientClosedAfterDone,
            ),
            (
                self.reading == Reading::Events && self.is_unterminated(),
                Flag::UnterminatedLastEvent,
            ),
            (complete && cut, Flag::HttpBodyUnterminated),
            (content.too_large > 0, Flag::EventTooLarge),
            (self.stopped, Flag::ObserverStopped),
            (self.is_encoded(), Flag::Encoded),
            (content.choices() > 1, Flag::MultiChoice),
            (content.azure_filter, Flag::AzureFilter),
            (
                self.response.is_some_and(|head| head.trailers),
                Flag::Trailers,
            ),
            (
                self.is_stream() && framing == Some(Framing::Length),
                Flag::LengthKnownStream,
            ),
        ]
        .into_iter()
        .filter_map(|(is_so, flag)| is_so.then_some(flag))
    }

    /// Its end marker came, and no error.
    fn is_done(&self) -> bool {
        self.content.done_markers > 0 && self.content.error.is_none() && !self.failed()
    }

    fn is_complete(&self) -> bool {
        let clean = self.cause == Cause::Whole;
        let content = self.content;
        match self.reading {
            // What was not read to its end is as whole as its transport.
            Reading::Events if self.stopped => clean,
            Reading::Events => {
                let said = content.is_finished()
                    || !content.api.has_protocol_end() && self.n_events > 0 && !self.partial;
                clean && said
            }
            Reading::Encoded if self.media.is_stream() => clean,
            _ => clean && !(self.asked && self.is_whole_reply() && self.is_success()),
        }
    }

    /// Of an upgraded connection every close is an ordinary end.
    fn end_of_upgrade(&self) -> End {
        match self.cause {
            Cause::ProxyStopped | Cause::Dropped => End::ProxyStopped,
            Cause::UpstreamReset => End::UpstreamReset,
            _ => End::Upgraded,
        }
    }

    /// The upstream answered with an error status.
    fn failed(&self) -> bool {
        let is_error = |head: &ResponseHead| head.origin == Origin::Upstream && head.status >= 400;
        self.response.is_some_and(is_error)
    }

    fn is_encoded(&self) -> bool {
        self.response.is_some_and(ResponseHead::is_encoded)
    }

    fn is_success(&self) -> bool {
        self.response
            .is_some_and(|head| (200..300).contains(&head.status))
    }

    fn is_whole_reply(&self) -> bool {
        !self.is_stream() && self.media != Media::Binary
    }

    fn is_unterminated(&self) -> bool {
        self.partial || self.content.unterminated
    }
}

/// The API of a body: by its path, or else by its kind.
pub fn api(of_path: Option<Api>, media: Media, reading: Reading) -> Api {
    match (reading, of_path, media) {
        (Reading::Upgraded, ..) => Api::Websocket,
        (_, Some(api), _) if media != Media::Binary => api,
        (_, _, Media::EventStream) => Api::Sse,
        (_, _, Media::JsonLines) => Api::Ndjson,
        (_, _, Media::Json) => Api::Json,
        (_, _, Media::Binary) => Api::Binary,
        (_, _, Media::Other) => Api::Other,
    }
}
