//! An early header, a long wait for the first token, then a steady body: a queue or the prompt.

use super::facts::Facts;
use super::late_header::LONG_WAIT;
use super::words::time;
use super::{Fired, Rule, evenness};
use crate::observe::record::{Side, Timing};
use crate::observe::stats::in_ms;

/// The rule.
pub const RULE: Rule = Rule {
    code: "late_first_token",
    timing: Some(Timing::LateFirstToken),
    about: "an early header, a wait of 2 s or more for the first output, and an even body then",
    rests_on: &["at.header_ms", "at.first_token_ms", "counts.keepalives"],
    check,
};

fn check(facts: &Facts<'_>) -> Option<Fired> {
    // A client that still sends is not waited for: the header may come long before its end.
    let since = facts.summary.at.header?.max(facts.began());
    let wait = facts.first()?.saturating_sub(since);
    if wait < LONG_WAIT || !evenness::is_even(facts) {
        return None;
    }
    let silence = facts.summary.silence.longest_ms.unwrap_or(0.0);
    let kept_alive = facts.outcome.content.keepalives > 0 && silence < in_ms(wait);
    Some(Fired {
        side: Side::Upstream,
        at_ms: facts.first().map(in_ms),
        confidence: evenness::confidence(facts),
        sentence: format!(
            "The header came early and the first output {} later{}.",
            time(wait),
            evenness::steady_then(facts)
        ),
        hint: if kept_alive {
            "keep-alives came before any output: whoever sent the header need not be who does the \
             work. Look at the queue behind it, at the length of the prompt (prefill) and at the \
             prompt cache"
        } else {
            "the server had accepted the request: look at its queue, at the length of the prompt \
             (prefill) and at its prompt cache"
        }
        .into(),
        evidence: vec![
            ("wait_after_header_ms", in_ms(wait)),
            ("wait_ms", in_ms(facts.wait())),
        ],
    })
}
