//! Nothing can be told, and why.

use super::facts::{Facts, Unit};
use super::words::time;
use super::{Fired, Rule};
use crate::observe::observer::ResponseHead;
use crate::observe::outcome::Reading;
use crate::observe::record::{End, Flag, Side, Timing};
use crate::observe::stats::Us;

/// Fewer chunks of sound than this have no rhythm.
const LEAST_CHUNKS: u64 = 3;

/// The rule.
pub const RULE: Rule = Rule {
    code: "unmeasurable",
    timing: Some(Timing::Unmeasurable),
    about: "a stream that leaves nothing to judge: no answer, an unread coding, no output",
    rests_on: &[
        "end",
        "counts.chunks",
        "counts.events",
        "counts.token_events",
        "ttft_null",
    ],
    check,
};

fn check(facts: &Facts<'_>) -> Option<Fired> {
    let (sentence, hint) = reason(facts)?;
    Some(Fired {
        side: Side::Unknown,
        at_ms: None,
        confidence: 1.0,
        sentence,
        hint: hint.into(),
        evidence: vec![
            ("chunks", facts.summary.n_chunks as f64),
            ("events", facts.summary.n_events as f64),
        ],
    })
}

fn reason(facts: &Facts<'_>) -> Option<(String, &'static str)> {
    let outcome = facts.outcome;
    if outcome.stopped && outcome.response.is_some_and(ResponseHead::is_encoded) {
        let why = "The body could not be decoded to its end; it passed all the same.".to_owned();
        return Some((
            why,
            "it is not of the coding that its Content-Encoding names, is damaged, or holds far more than \
             its size: look at the server or hop that compresses",
        ));
    }
    if outcome.stopped {
        let why = "The observer stopped in the middle; the stream passed all the same.".to_owned();
        return Some((why, "please report this with the kind of stream it was"));
    }
    if outcome.response.is_none() {
        let why = "No answer came before the end.".to_owned();
        return Some((
            why,
            "look for a limit on the way, and at what the server was doing",
        ));
    }
    if outcome.reading == Reading::Encoded {
        let encoding = outcome
            .response
            .and_then(|head| head.content_encoding.as_deref());
        let encoding = encoding.unwrap_or("unknown");
        let why =
            format!("The event stream is compressed ({encoding}), so its events were not read.");
        return Some((
            why,
            "switch compression off for event streams, or send `Accept-Encoding: identity`",
        ));
    }
    let n = facts.n();
    match facts.unit() {
        Unit::Chunk if n < LEAST_CHUNKS => {
            let why = format!("Only {n} chunks came: too few to have a rhythm.");
            Some((why, "ask for a longer answer"))
        }
        Unit::Token if n == 0 && facts.summary.n_events > 0 => Some(without_output(facts)),
        Unit::Token | Unit::Event if n == 0 => {
            let why = "The event stream has no event.".to_owned();
            Some((
                why,
                "look at the server's log: it accepted the request and gave nothing",
            ))
        }
        _ => None,
    }
}

/// Why events brought no output, as far as it is known.
fn without_output(facts: &Facts<'_>) -> (String, &'static str) {
    let outcome = facts.outcome;
    let (why, hint) = match facts.end {
        _ if facts.has(Flag::EventTooLarge) => (
            "Events came, but what was large was not looked into, and nothing else carried output.",
            "an event of more than 1 MiB (an image, say) passes and is not read; its times are those of \
             the chunks",
        ),
        End::InBandError => (
            "An error came in place of output.",
            "look at `error.type`, and at the server's log",
        ),
        End::ClientGone => {
            let waited = time(facts.summary.at.end.unwrap_or(0));
            let silent = facts.summary.silence.before_end_ms.unwrap_or(0.0);
            let why = format!(
                "The client left after {waited}, before any output; the last {} were silent.",
                time((silent * 1000.0) as Us)
            );
            return (
                why,
                "look at the client's own time limit, and at what the server was doing",
            );
        }
        _ if outcome.content.parse_errors > 0 => (
            "Events came, but could not be read.",
            "they are not what the API sends: look at the first of them with curl -N",
        ),
        _ => (
            "Events came, but none carried output.",
            "look at the end and at the finish reason of this request",
        ),
    };
    (why.to_owned(), hint)
}
