//! This proxy itself was late: read in time and written late, while the client could take it.

use super::facts::Facts;
use super::words::time;
use super::{Fired, Rule};
use crate::observe::record::{Side, Timing};
use crate::observe::stats::Us;

/// A delay of half the chunks that a user could see, µs.
const MEDIAN: Us = 50_000;

/// A delay of the worst chunks that no scheduling noise explains, µs.
const WORST: Us = 250_000;

/// The rule.
pub const RULE: Rule = Rule {
    code: "proxy_held",
    timing: Some(Timing::Irregular),
    about: "chunks that this proxy itself passed on late: 50 ms at the median or 250 ms at the 99th percentile",
    rests_on: &["hold.p50_us", "hold.p99_us"],
    check,
};

fn check(facts: &Facts<'_>) -> Option<Fired> {
    let hold = &facts.summary.hold;
    let (p50, p99) = (hold.p50_us?, hold.p99_us?);
    if p50 < MEDIAN && p99 < WORST {
        return None;
    }
    Some(Fired {
        side: Side::Proxy,
        at_ms: None,
        confidence: 0.7,
        sentence: format!(
            "This proxy passed chunks on late: {} at the median, {} at the 99th percentile.",
            time(p50),
            time(p99)
        ),
        hint:
            "this machine is overloaded: give the proxy more CPU; if it is not, please report this"
                .into(),
        evidence: vec![("hold_p50_us", p50 as f64), ("hold_p99_us", p99 as f64)],
    })
}
