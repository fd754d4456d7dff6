//! What the two ends add to a verdict: a hop that cuts, a cancel that is not passed on, an end before the server's.

use super::{Judgement, LATE, Word};
use crate::observe::record::{CutKind, End, RequestRecord};
use crate::observe::stats::{Us, in_ms};
use crate::observe::timeline::LEAST_STALL;
use crate::observe::verdict::words::time;
use crate::tools::hops::ends::Ending;

/// A hop notices that its client left when it next writes; so long may that take, µs.
const NOTICED: Us = LEAST_STALL;

/// Silence that a limit may have counted, ms.
const SILENT: f64 = 1_000.0;

/// A cut says as much of a stream that was held as of one that was not.
const SURE: f64 = 0.9;

const CANCEL: &str = "have the hop give up its request to the server when its client leaves, or each cancelled answer costs \
    a slot to its end: `proxy_ignore_client_abort off` (nginx), `option abortonclose` (HAProxy), `req.on('close')` with an \
    AbortController (Node), `request.is_disconnected()` (Starlette, FastAPI), the request's context (Go)";

const IDLE: &str = "raise the hop's limit on silence (`proxy_read_timeout` of nginx, `timeout server` of HAProxy, \
    `stream_idle_timeout` of Envoy, a load balancer's idle timeout), or have the server send comments while it thinks";

const TOTAL: &str = "look for a limit of the hop on the whole request (`timeout` of an Envoy route, 15 s as it comes; \
    gunicorn's `--timeout`; the gateway's own) or on its size, and for a reload or a crash of the hop at that time; its own \
    log should name the reason";

/// The verdict on the timing with what the ends say.
pub fn with_ends(
    timing: Judgement,
    ending: Ending,
    inner: &RequestRecord,
    outer: &RequestRecord,
) -> Judgement {
    match ending {
        Ending::Cut => cut(timing, inner, outer),
        Ending::AppLeft {
            worked_on,
            was_told,
        } => app_left(timing, worked_on, was_told, outer),
        Ending::Before(ahead) => timing
            .first(&format!(
                "The hop ended the answer {} before the server did.",
                time(ahead)
            ))
            .evidence([("ended_before_ms", in_ms(ahead))]),
        Ending::Passed => timing,
    }
}

fn cut(timing: Judgement, inner: &RequestRecord, outer: &RequestRecord) -> Judgement {
    // the silence that the hop knew, as long as it listened to the server
    let (silence, silent) = match inner.end {
        End::ClientGone => (inner.silence.before_end_ms, "the server had been silent"),
        _ => (outer.silence.before_end_ms, "nothing had come out"),
    };
    let after = outer.at.end_ms.unwrap_or(0.0);
    let what = match (outer.end, outer.response.status) {
        (End::HttpError, Some(status)) => format!("answered {status} itself"),
        (End::InBandError, _) => "ended the answer with an error of its own".to_owned(),
        _ => "cut the answer".to_owned(),
    };
    let (went_in, came_out) = (inner.counts.bytes, outer.counts.bytes);
    let mut sentence = format!(
        "The hop {what} after {}, {came_out} bytes of {went_in} that went in; {silent} for {}",
        say(after),
        silence.map_or("an unknown time".to_owned(), say),
    );
    let limit = outer
        .verdict
        .as_ref()
        .and_then(|verdict| verdict.cut.as_ref());
    if let Some(limit) = limit {
        let kind = match limit.kind {
            CutKind::Idle => "an idle limit",
            CutKind::Total => "a total limit",
        };
        sentence += &format!(", which looks like {kind} of {}", say(limit.after_ms));
    }
    let is_idle = match limit {
        Some(limit) => limit.kind == CutKind::Idle,
        None => silence.is_some_and(|silence| silence >= SILENT),
    };
    let mut judgement = timing
        .first(&(sentence + "."))
        .hint_first(if is_idle { IDLE } else { TOTAL })
        .evidence([
            ("cut_after_ms", after),
            ("cut_after_bytes", came_out as f64),
        ])
        .evidence(silence.map(|silence| ("silent_ms", silence)));
    judgement.verdict = Word::Cut;
    judgement.confidence = SURE;
    judgement
}

fn app_left(timing: Judgement, worked_on: Us, was_told: bool, outer: &RequestRecord) -> Judgement {
    let after = say(outer.at.end_ms.unwrap_or(0.0));
    let on = time(worked_on);
    let sentence = match was_told {
        true if worked_on >= NOTICED => {
            format!("The app left after {after}, and the hop told the server only {on} later.")
        }
        false if worked_on > LATE => {
            format!("The app left after {after}, and the hop let the server work on for {on} more.")
        }
        _ => return timing.first(&format!("The app left after {after}.")),
    };
    timing
        .first(&sentence)
        .hint_first(CANCEL)
        .evidence([("worked_on_ms", in_ms(worked_on))])
}

fn say(ms: f64) -> String {
    time((ms * 1000.0) as Us)
}
