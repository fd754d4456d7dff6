//! What both ends of a request say together: who broke the answer off, and who knew of it.
//!
//! An answer that was broken off is a part of the other side's. So its bytes are not changed, and no figure that is taken
//! at the end may be compared.

use super::judge::LATE;
use crate::observe::record::{End, RequestRecord};
use crate::observe::stats::Us;

/// How the two ends belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The hop passed the end on, or something beyond it or a dripline itself broke off.
    Passed,
    /// The hop broke the answer off; the server had not.
    Cut,
    /// The app left. The server worked on for so long, µs.
    AppLeft {
        /// How long, µs.
        worked_on: Us,
        /// Whether it was told in the end.
        was_told: bool,
    },
    /// The hop ended the answer well, so long (µs) before the server did.
    Before(Us),
}

impl Ending {
    /// Of both records of one request.
    pub fn of(inner: &RequestRecord, outer: &RequestRecord) -> Ending {
        let ahead = match (inner.at.end_ms, outer.at.end_ms) {
            // saturates: below zero is zero
            (Some(inner), Some(outer)) => ((inner - outer) * 1000.0) as Us,
            _ => 0,
        };
        match (inner.end, outer.end) {
            (server, End::ClientGone) => Ending::AppLeft {
                worked_on: ahead,
                was_told: server == End::ClientGone,
            },
            (server, hop) if server != hop && is_good(server) && is_cut(inner, outer) => {
                Ending::Cut
            }
            (_, hop) if is_whole(hop) && ahead > LATE => Ending::Before(ahead),
            _ => Ending::Passed,
        }
    }

    /// Whether one of both answers is only a part of what the other may be.
    pub fn is_of_part(self, inner: &RequestRecord, outer: &RequestRecord) -> bool {
        self == Ending::Cut || !is_whole(inner.end) || !is_whole(outer.end)
    }
}

/// Whether the server's side says nothing against the answer: a hop that cuts is the client that left.
fn is_good(server: End) -> bool {
    matches!(
        server,
        End::Complete | End::EndedWithoutDone | End::ClientGone
    )
}

/// Whether what came out of the hop was broken off. Some hops end well when they give up: then fewer tokens tell.
fn is_cut(inner: &RequestRecord, outer: &RequestRecord) -> bool {
    match outer.end {
        End::Truncated | End::UpstreamReset | End::HttpError => true,
        End::InBandError | End::EndedWithoutDone | End::EmptyStream => {
            outer.counts.token_events < inner.counts.token_events
        }
        _ => false,
    }
}

/// Whether such an end lets the whole answer pass.
fn is_whole(end: End) -> bool {
    !matches!(
        end,
        End::ClientGone
            | End::ProxyStopped
            | End::Refused
            | End::Truncated
            | End::UpstreamInvalid
            | End::UpstreamReset
            | End::UpstreamTimeout
            | End::UpstreamUnreachable
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::logs::sample;

    /// How these ends belong together, the second so much (ms) after the first, of so many tokens outside.
    fn ending(inner: End, outer: End, after: f64, tokens: u64) -> Ending {
        let [mut server, mut app] = [sample(), sample()];
        (server.end, app.end) = (inner, outer);
        app.at.end_ms = server.at.end_ms.map(|end| end + after);
        app.counts.token_events = Some(tokens);
        Ending::of(&server, &app)
    }

    #[test]
    fn a_hop_cuts_if_the_server_did_not() {
        use End::*;
        for (inner, outer) in [
            (ClientGone, Truncated),
            (ClientGone, UpstreamReset),
            (Complete, Truncated),
            (ClientGone, HttpError),
            (ClientGone, InBandError),
            (ClientGone, EndedWithoutDone),
        ] {
            assert_eq!(ending(inner, outer, -1.0, 7), Ending::Cut, "{inner:?}");
        }
        for (inner, outer) in [
            (Truncated, Truncated),
            (UpstreamReset, Truncated),
            (UpstreamTimeout, Truncated),
            (ProxyStopped, Truncated),
            (InBandError, InBandError),
            (EndedWithoutDone, EndedWithoutDone),
            (ClientGone, ProxyStopped),
        ] {
            assert_eq!(ending(inner, outer, 1.0, 7), Ending::Passed, "{inner:?}");
        }
        // all tokens came, so only the words of the end were lost
        let ending = ending(Complete, EndedWithoutDone, 1.0, 40);
        assert_eq!(ending, Ending::Passed);
    }

    #[test]
    fn an_earlier_end_outside_is_told() {
        let left = |worked_on, was_told| Ending::AppLeft {
            worked_on,
            was_told,
        };
        use End::{ClientGone, Complete};
        assert_eq!(
            ending(Complete, ClientGone, -500.0, 7),
            left(500_000, false)
        );
        assert_eq!(ending(ClientGone, ClientGone, -5.0, 7), left(5_000, true));
        assert_eq!(ending(Complete, ClientGone, 5.0, 7), left(0, false));
        assert_eq!(
            ending(Complete, Complete, -500.0, 40),
            Ending::Before(500_000)
        );
        assert_eq!(ending(Complete, Complete, -5.0, 40), Ending::Passed);
        assert_eq!(ending(Complete, Complete, 500.0, 40), Ending::Passed);
    }
}
