//! One event with all the text, or one per tool call: the producer gathered it. No proxy setting
//! can undo that; many events in one read are another matter.

use super::facts::{Facts, Unit};
use super::words::{count, time};
use super::{Fired, Rule};
use crate::observe::record::{Side, Timing};
use crate::observe::stats::{Us, in_ms};

/// A wait in which tokens could have come, µs.
const WAIT: Us = 500_000;

/// More characters than a single token has, after such a wait.
const SOME_CHARS: u64 = 24;

/// So much text in one event is a batch whatever the wait.
const MANY_CHARS: u64 = 100;

/// Events with nothing but tool calls have so many characters on average if each has a whole one; a
/// piece of a call's arguments is a token or two.
const WHOLE_CALL_CHARS: u64 = 8;

/// The server's own count of completion tokens that make a batch.
const MANY_TOKENS: u64 = 4;

/// The rule.
pub const RULE: Rule = Rule {
    code: "producer_batched",
    timing: Some(Timing::ProducerBatched),
    about: "one event with all the text, or with a whole tool call each, after a wait",
    rests_on: &[
        "counts.token_events",
        "counts.chars",
        "tokens.completion",
        "ttft_after_request_ms",
    ],
    check,
};

pub fn check(facts: &Facts<'_>) -> Option<Fired> {
    let content = facts.outcome.content;
    let (n, wait) = (facts.n(), facts.wait());
    let whole_calls = is_whole_calls(facts);
    if facts.unit() != Unit::Token || n == 0 || (n > facts.choices() && !whole_calls) {
        return None;
    }
    let chars = content.chars() / facts.choices();
    let counted = content
        .tokens
        .completion
        .map(|all| (all - content.tokens.reasoning.unwrap_or(0).min(all)) / facts.choices());
    let much = content.whole_tool_call || counted.is_some_and(|tokens| tokens >= MANY_TOKENS);
    let waited = wait >= WAIT && (much || chars >= SOME_CHARS);
    if !waited && chars < MANY_CHARS {
        return None;
    }
    let what = match (content.whole_tool_call, n) {
        (true, 1) => "a whole tool call",
        (true, _) => "a whole tool call each",
        (false, _) => "all the text",
    };
    Some(Fired {
        side: Side::Upstream,
        at_ms: facts.first().map(in_ms),
        confidence: if much || chars >= MANY_CHARS {
            0.9
        } else {
            0.6
        },
        sentence: format!(
            "{} with {what} ({}) after {}: the producer gathered it before it sent anything.",
            if n == 1 {
                "One event".to_owned()
            } else {
                count(n, "event")
            },
            count(content.chars(), "character"),
            time(wait),
        ),
        hint: "a server setting, not a proxy's: tool-call or reasoning parsers that wait for the whole \
               call, guards that check the whole answer; try without `tools`, or another parser"
            .into(),
        evidence: vec![
            ("token_events", n as f64),
            ("chars", content.chars() as f64),
            ("wait_ms", in_ms(wait)),
        ],
    })
}

/// Whether every token event has a whole tool call, as far as numbers tell: pieces of one are
/// smaller, and come one after the other.
fn is_whole_calls(facts: &Facts<'_>) -> bool {
    let (at, content) = (&facts.summary.at, facts.outcome.content);
    content.whole_tool_call
        && facts.steps_by_burst().count() == 1
        && at.first_answer.is_none()
        && at.first_reasoning.is_none()
        && content.chars() >= WHOLE_CALL_CHARS * facts.n()
}
