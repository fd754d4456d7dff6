//! A limit that seems to have cut the stream: by the silence before the cut, or by its age.
//!
//! Silence counts from the last byte of any kind, as idle limits do. One record is a hint; the
//! same number in several is a proof.

use std::borrow::Cow;

use super::facts::Facts;
use super::words::time;
use crate::observe::outcome::Reading;
use crate::observe::record::{Cut, CutKind, End, Finding, Side};
use crate::observe::stats::{Us, in_ms};

/// Limits that servers, gateways, load balancers and client libraries have by default, s.
const LIMITS: [Us; 14] = [
    5, 10, 15, 30, 60, 90, 100, 120, 180, 300, 600, 900, 1_800, 3_600,
];

/// Timers fire late, and clocks start at different bytes: this much on either side, in percent.
const TOLERANCE: Us = 3;

/// A timer of silence that is not set anew for each byte fires early: nginx leaves one that would move by less
/// than this where it is (`NGX_TIMER_LAZY_DELAY`), µs.
const LAZY: Us = 300_000;

/// Bytes were flowing if the silence before the cut is at most this part of the age.
pub const FLOWING: Us = 10;

/// Finds the limit, if one fits.
pub fn find(facts: &Facts<'_>) -> Option<Cut> {
    let side = match facts.end {
        End::Truncated | End::UpstreamReset => Side::Upstream,
        End::ClientGone => Side::Downstream,
        _ => return None,
    };
    if facts.outcome.reading == Reading::Upgraded {
        return None;
    }
    let silence = (facts.summary.silence.before_end_ms? * 1000.0) as Us;
    let start = if side == Side::Upstream {
        facts.began()
    } else {
        0
    };
    let age = facts.summary.at.end?.saturating_sub(start);
    let is_flowing = silence * FLOWING <= age;
    let idle = near_limit(CutKind::Idle, silence).map(|limit| (CutKind::Idle, limit));
    let total = near_limit(CutKind::Total, age)
        .filter(|_| is_flowing)
        .map(|limit| (CutKind::Total, limit));
    let (kind, limit) = idle.or(total)?;
    Some(Cut {
        kind,
        after_ms: in_ms(limit),
        side,
    })
}

/// The cut as a finding.
pub fn finding(cut: &Cut, facts: &Facts<'_>) -> Finding {
    let limit = time((cut.after_ms * 1000.0) as Us);
    let silence = facts.summary.silence.before_end_ms.unwrap_or(0.0);
    let silence = time((silence * 1000.0) as Us);
    let who = whose(cut.side);
    let sentence = match cut.kind {
        CutKind::Idle => format!(
            "The {who} side cut the stream after {silence} of silence, which looks like an idle limit of {limit}."
        ),
        CutKind::Total => format!(
            "The {who} side cut the stream while bytes were flowing (silence before it: {silence}), at an age that looks like a total limit of {limit}."
        ),
    };
    Finding {
        code: Cow::Borrowed(code(cut.kind)),
        side: cut.side,
        at_ms: facts.summary.at.end.map(in_ms),
        sentence,
        hint: hint(cut.kind, cut.side).to_owned(),
    }
}

/// The finding's code.
pub fn code(kind: CutKind) -> &'static str {
    match kind {
        CutKind::Idle => "idle_cut",
        CutKind::Total => "total_cut",
    }
}

/// Whose side cut, in words.
pub fn whose(side: Side) -> &'static str {
    match side {
        Side::Upstream => "upstream",
        _ => "client's",
    }
}

/// What to try.
pub fn hint(kind: CutKind, side: Side) -> &'static str {
    match (kind, side) {
        (CutKind::Idle, Side::Upstream) => {
            "raise the idle limit of the server or of the hop before this proxy (`proxy_read_timeout`, a load \
             balancer's idle timeout), or have the server send comments while it thinks"
        }
        (CutKind::Idle, _) => {
            "a client-side idle limit: raise the read timeout of the client's library"
        }
        (CutKind::Total, Side::Upstream) => {
            "a limit on the whole request at the server or at a hop before this proxy; keep-alives do not help"
        }
        (CutKind::Total, _) => {
            "a client-side limit on the whole request: raise the timeout of the client's library"
        }
    }
}

/// The round limit of this kind that `duration` is near to.
pub fn near_limit(kind: CutKind, duration: Us) -> Option<Us> {
    let mut limits = LIMITS.iter().map(|s| s * 1_000_000);
    limits.find(|limit| {
        let around = limit * TOLERANCE / 100;
        let early = match kind {
            CutKind::Idle => around.max(LAZY),
            CutKind::Total => around,
        };
        (limit - early..=limit + around).contains(&duration)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_round_limits_and_only_nearly() {
        assert_eq!(near_limit(CutKind::Idle, 60_900_000), Some(60_000_000));
        assert_eq!(near_limit(CutKind::Idle, 9_800_000), Some(10_000_000));
        assert_eq!(near_limit(CutKind::Idle, 62_000_000), None);
        // nginx with `proxy_read_timeout 5s`
        assert_eq!(near_limit(CutKind::Idle, 4_806_504), Some(5_000_000));
        assert_eq!(near_limit(CutKind::Idle, 4_690_000), None);
        assert_eq!(near_limit(CutKind::Total, 4_806_504), None);
        assert_eq!(near_limit(CutKind::Idle, 5_300_000), None);
        assert_eq!(near_limit(CutKind::Idle, 0), None);
    }
}
