//! What the words of a record mean, in the words of the README (its test holds them together).

use crate::observe::record::{End, Timing};

/// What was seen of a stream with this verdict.
pub fn of_timing(timing: Timing) -> &'static str {
    match timing {
        Timing::Steady => "even gaps; a first wait of less than 2 s does not count against it",
        Timing::Irregular => "uneven, and no rule fits: the honest default",
        Timing::WholeBodyBurst => {
            "everything at once at the end: something gathered the whole answer"
        }
        Timing::BlockBurst => "groups of constant size: a buffer fills, and then lets go",
        Timing::TickBurst => "groups at a constant period: a timer lets go of what has come since",
        Timing::CountBurst => {
            "groups of a constant number of events: a guard or a batcher counts them"
        }
        Timing::TransportCoalesced => {
            "groups with nothing constant, or too few to tell: merged before dripline"
        }
        Timing::StallNoCatchUp => "a pause, then the usual pace: work stopped, nothing was held",
        Timing::StallWithCatchUp => "a pause, then a lump of what was missing: bytes were held",
        Timing::ProducerBatched => {
            "one event with all the text, or one per tool call: the server gathered it"
        }
        Timing::LateHeader => {
            "over 2 s until the header, then steady: cold start, queue, or a hop that holds the header"
        }
        Timing::LateFirstToken => {
            "header early, over 2 s until the first output, then steady: queue or a long prompt"
        }
        Timing::LateTail => "all text there, and the end comes a second or more later",
        Timing::DownstreamBackpressure => {
            "the client did not take what was ready: its socket was full, or the send buffer took all and nothing was \
             acknowledged"
        }
        Timing::Unmeasurable => "cannot be told, and the summary says why",
    }
}

/// What happened to a request with this end.
pub fn of_end(end: End) -> &'static str {
    match end {
        End::Refused => "dripline's own answer: a bad request",
        End::UpstreamUnreachable => "no connection: name, address or TLS",
        End::UpstreamTimeout => "a limit that you set",
        End::UpstreamInvalid => "not HTTP, or broken framing",
        End::InBandError => "an error object inside a response with a good status",
        End::Complete => "whole",
        End::ProxyStopped => "cut by dripline's shutdown",
        End::ClientGone => "the client left",
        End::HttpError => "status 400 or higher",
        End::UpstreamReset => "cut by the upstream's reset",
        End::Truncated => "cut by the upstream's FIN, or within an event",
        End::Upgraded => "another protocol from then on (WebSocket)",
        End::NotAStream => "a stream was asked for, one whole reply came",
        End::EmptyStream => "an event stream without an event",
        End::EndedWithoutDone => "a clean end of HTTP without the API's",
    }
}
