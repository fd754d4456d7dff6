//! Who held the stream back: rules over the figures, each with its own sentence.
//!
//! A rule is one file with one `check`; it owns its thresholds, its sentence and its hint, and it
//! gets its line in [`RULES`]. The first that fires names the stream, the others are findings
//! beside it. Where none fires a stream is `steady` if its gaps are even, else `irregular`: the
//! honest default, so that a stream that was held is never called steady for want of a rule.
//!
//! One vantage point can only say on which side of itself something happened.

mod block_burst;
mod broken_end;
mod count_burst;
pub(super) mod cut;
mod downstream_backpressure;
mod engine;
mod evenness;
mod facts;
pub(crate) mod hints;
mod in_steps;
mod late_first_token;
mod late_header;
mod late_tail;
mod producer_batched;
mod proxy_held;
pub(crate) mod rhythm;
pub(crate) mod spread;
mod stall;
mod stall_no_catch_up;
mod stall_with_catch_up;
mod tick_burst;
mod transport_coalesced;
mod unmeasurable;
pub(crate) mod whole_body_burst;
pub(crate) mod words;

use std::borrow::Cow;
use std::collections::HashSet;

use super::record::{Finding, Side, Timing, Verdict};
pub use facts::Facts;

/// All rules, the weightiest first.
pub const RULES: [Rule; 16] = [
    unmeasurable::RULE,
    downstream_backpressure::RULE_OF_READING,
    producer_batched::RULE,
    whole_body_burst::RULE,
    block_burst::RULE,
    tick_burst::RULE,
    count_burst::RULE,
    transport_coalesced::RULE,
    stall_with_catch_up::RULE,
    stall_no_catch_up::RULE,
    proxy_held::RULE,
    downstream_backpressure::RULE,
    late_tail::RULE,
    late_header::RULE,
    late_first_token::RULE,
    broken_end::RULE,
];

/// A rule.
#[derive(Debug)]
pub struct Rule {
    /// Its name among the findings.
    pub code: &'static str,
    /// What it makes of a stream; `None` where it says nothing of its pace.
    pub timing: Option<Timing>,
    /// What it looks for, in plain words.
    pub about: &'static str,
    /// Fields of the record that tell most of why it fired or did not, as `coalescing.burst_bytes`.
    pub rests_on: &'static [&'static str],
    check: fn(&Facts<'_>) -> Option<Fired>,
}

/// What a rule says when it fires.
struct Fired {
    side: Side,
    at_ms: Option<f64>,
    confidence: f64,
    sentence: String,
    hint: Cow<'static, str>,
    evidence: Vec<(&'static str, f64)>,
}

/// Judges a response; `None` where there is no stream.
pub fn judge(facts: &Facts<'_>) -> Option<Verdict> {
    let cut = cut::find(facts);
    if !facts.is_stream() && (cut.is_none() || !facts.is_awaited()) {
        return None;
    }
    let mut fired: Vec<(&Rule, Fired)> = RULES
        .iter()
        .filter_map(|rule| Some((rule, (rule.check)(facts)?)))
        .collect();
    if downstream_backpressure::when_reading_stopped(facts).is_some() {
        // When things arrived was the client's doing then, and says nothing of the upstream's pace.
        fired.retain(|(rule, fired)| rule.timing.is_none() || fired.side != Side::Upstream);
    }
    let mut codes = HashSet::new();
    fired.retain(|(rule, _)| codes.insert(rule.code));
    let main = fired
        .iter_mut()
        .find_map(|(rule, fired)| Some((rule.timing?, fired)));
    let mut verdict = match main {
        Some((timing, main)) => Verdict {
            timing,
            side: Some(main.side),
            confidence: main.confidence,
            summary: main.sentence.clone(),
            evidence: evidence(std::mem::take(&mut main.evidence)),
            cut: None,
            findings: Vec::new(),
        },
        None => evenness::judge(facts),
    };
    verdict.findings = fired.into_iter().map(into_finding).collect();
    if let Some(cut) = cut {
        verdict.findings.push(cut::finding(&cut, facts));
        verdict.cut = Some(cut);
    }
    Some(verdict)
}

fn into_finding((rule, fired): (&Rule, Fired)) -> Finding {
    Finding {
        code: Cow::Borrowed(rule.code),
        side: fired.side,
        at_ms: fired.at_ms,
        sentence: fired.sentence,
        hint: fired.hint.into_owned(),
    }
}

fn evidence(numbers: Vec<(&'static str, f64)>) -> std::collections::BTreeMap<String, f64> {
    numbers
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}
