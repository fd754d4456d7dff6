//! Who held the stream back: rules over the figures, each with its own sentence.
//!
//! A rule is one file with one `check`; it owns its thresholds, its sentence and its hint, and it
//! gets its line in `RULES`. The first that fires names the stream, the others are findings
//! beside it. Where none fires a stream is `steady` if its gaps are even, else `irregular`: the
//! honest default, so that a stream that was held is never called steady for want of a rule.
//!
//! One vantage point can only say on which side of itself something happened.

mod block_burst;
mod count_burst;
pub(super) mod cut;
mod downstream_backpressure;
mod evenness;
mod facts;
mod hints;
mod late_first_token;
mod late_header;
mod late_tail;
mod producer_batched;
mod proxy_held;
mod rhythm;
mod spread;
mod stall;
mod tick_burst;
mod transport_coalesced;
mod unmeasurable;
mod whole_body_burst;
pub(super) mod words;

use std::borrow::Cow;
use std::collections::HashSet;

use super::record::{Finding, Side, Timing, Verdict};
pub use facts::Facts;

/// All rules, the weightiest first.
const RULES: [Rule; 14] = [
    unmeasurable::check,
    downstream_backpressure::when_reading_stopped,
    producer_batched::check,
    whole_body_burst::check,
    block_burst::check,
    tick_burst::check,
    count_burst::check,
    transport_coalesced::check,
    stall::check,
    proxy_held::check,
    downstream_backpressure::when_blocked,
    late_tail::check,
    late_header::check,
    late_first_token::check,
];

type Rule = fn(&Facts<'_>) -> Option<Fired>;

/// A rule that fired.
pub(crate) struct Fired {
    timing: Timing,
    code: &'static str,
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
    let mut fired: Vec<Fired> = RULES.iter().filter_map(|rule| rule(facts)).collect();
    if downstream_backpressure::when_reading_stopped(facts).is_some() {
        // When things arrived was the client's doing then, and says nothing of the upstream.
        fired.retain(|rule| rule.side != Side::Upstream);
    }
    let mut codes = HashSet::new();
    fired.retain(|rule| codes.insert(rule.code));
    let mut verdict = match fired.first_mut() {
        Some(main) => Verdict {
            timing: main.timing,
            side: Some(main.side),
            confidence: main.confidence,
            summary: main.sentence.clone(),
            evidence: evidence(std::mem::take(&mut main.evidence)),
            cut: None,
            findings: Vec::new(),
        },
        None => evenness::judge(facts),
    };
    verdict.findings = fired.into_iter().map(Fired::into_finding).collect();
    if let Some(cut) = cut {
        verdict.findings.push(cut::finding(&cut, facts));
        verdict.cut = Some(cut);
    }
    Some(verdict)
}

impl Fired {
    fn into_finding(self) -> Finding {
        Finding {
            code: Cow::Borrowed(self.code),
            side: self.side,
            at_ms: self.at_ms,
            sentence: self.sentence,
            hint: self.hint.into_owned(),
        }
    }
}

fn evidence(numbers: Vec<(&'static str, f64)>) -> std::collections::BTreeMap<String, f64> {
    numbers
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}
