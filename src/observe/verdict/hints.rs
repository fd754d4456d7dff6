//! What to try: what was seen of the likely cause of a burst, before what its rule has to say; and the settings that
//! let go of each kind, which one vantage point and two (`dripline hops`) name alike.

use std::ops::RangeInclusive;

use super::facts::Facts;
use crate::observe::record::Flag;
use crate::observe::stats::Us;

/// What holds a whole answer, and how to make it let go.
pub(crate) const WHOLE_BODY: &str = "response buffering: `proxy_buffering off` or `X-Accel-Buffering: no` (nginx), \
    compression of event streams, a gateway that gathers the body";

/// What holds blocks.
pub(crate) const BLOCKS: &str = "`proxy_buffering off` or `X-Accel-Buffering: no` (nginx; the size is that of \
    `proxy_buffer_size` and `proxy_buffers`), a gateway that reads in blocks, compression, a server that writes through \
    a buffer and does not flush per event";

/// What holds by a timer.
pub(crate) const TICKS: &str = "at 40 to 200 ms TCP itself: `option http-no-delay` (HAProxy), TCP_NODELAY; a server or a \
    moderation filter that releases text in groups (`stream_interval` and the like); for replies with a length that are \
    no event stream, `flush_interval -1` (Caddy; `FlushInterval` of Go's ReverseProxy)";

/// How long TCP waits, µs: Linux's least delay of an ACK is 40 ms; a cork (`TCP_CORK`, HAProxy's MSG_MORE)
/// and other systems' delayed ACKs hold for 200 ms (tcp(7)). Timers fire late, never early.
const DELAYED_ACK: RangeInclusive<Us> = 39_000..=46_000;
const CORK: RangeInclusive<Us> = 198_000..=212_000;

/// What to try where something waits for so long, µs, if TCP itself may be what waits.
pub(crate) fn of_tcp_timer(wait: Us) -> Option<&'static str> {
    if DELAYED_ACK.contains(&wait) {
        Some(
            "40 ms is a delayed ACK: a hop writes in two steps without `TCP_NODELAY`; set it at the server and at each \
             hop before this proxy (`tcp_nodelay on`)",
        )
    } else if CORK.contains(&wait) {
        Some(
            "200 ms is a cork or a delayed ACK: `option http-no-delay` in HAProxy, `TCP_NODELAY` and no `TCP_CORK` at \
             the server and at each hop before this proxy",
        )
    } else {
        None
    }
}

/// What counts events.
pub(crate) const COUNTS: &str = "a guard that checks text in pieces (its chunk size), a batcher of tokens in the server or \
    the gateway (`stream_interval` and the like); no buffering setting of a proxy counts events";

/// What merges without a constant.
pub(crate) const COALESCED: &str = "a server that never yields to its event loop, a buffer (`proxy_buffering off`, \
    `X-Accel-Buffering: no`), a flush timer (`flush_interval -1`), compression of event streams";

/// A compressed body as a clue.
pub(crate) fn of_encoding(encoding: &str) -> String {
    format!(
        "the body has `content-encoding: {encoding}`: a compressor that does not flush after each event holds it \
         (switch compression off for event streams, or compare with `Accept-Encoding: identity`); else "
    )
}

/// `hint` after what the stream itself gives as a clue.
pub fn with_clues(facts: &Facts<'_>, hint: &str) -> String {
    let mut text = String::new();
    if let Some(encoding) = facts.encoding() {
        text += &of_encoding(encoding);
    }
    if facts.has(Flag::AzureFilter) {
        text += "fields of Azure's content filter were seen: its default mode checks text in groups (try the \
                 asynchronous filter); else ";
    }
    text + hint
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::content::Content;
    use crate::observe::media::Media;
    use crate::observe::observer::{Cause, ResponseHead};
    use crate::observe::outcome::{Outcome, Reading};
    use crate::observe::record::{Api, End};
    use crate::observe::summary::Summary;
    use crate::observe::timeline::Timeline;

    fn hint(content_encoding: Option<&str>, flags: &[Flag]) -> String {
        let head = ResponseHead {
            content_encoding: content_encoding.map(str::to_owned),
            ..ResponseHead::default()
        };
        let outcome = Outcome {
            cause: Cause::Whole,
            response: Some(&head),
            media: Media::EventStream,
            reading: Reading::Events,
            asked: true,
            content: &Content::new(Api::Chat),
            n_events: 0,
            n_tokens: 0,
            partial: false,
            stopped: false,
        };
        let summary = Summary::of(Timeline::new(false));
        let facts = Facts::new(&summary, &outcome, End::Complete, flags);
        with_clues(&facts, "look there")
    }

    #[test]
    fn what_was_seen_comes_first() {
        for plain in [None, Some(""), Some("Identity")] {
            assert_eq!(hint(plain, &[]), "look there");
        }
        let compressed = hint(Some("br"), &[Flag::Encoded]);
        assert!(
            compressed.contains("`content-encoding: br`"),
            "{compressed}"
        );
        assert!(compressed.ends_with("look there"));
        assert!(hint(None, &[Flag::AzureFilter]).contains("Azure"));
    }
}
