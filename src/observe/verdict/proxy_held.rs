//! This proxy itself was late: read in time and written late, while the client could take it.

use super::Fired;
use super::facts::Facts;
use super::words::time;
use crate::observe::record::{Side, Timing};
use crate::observe::stats::Us;

/// A delay of half the chunks that a user could see, µs.
const MEDIAN: Us = 50_000;

/// A delay of the worst chunks that no scheduling noise explains, µs.
const WORST: Us = 250_000;

pub fn check(facts: &Facts<'_>) -> Option<Fired> {
    let hold = &facts.summary.hold;
    let (p50, p99) = (hold.p50_us?, hold.p99_us?);
    if p50 < MEDIAN && p99 < WORST {
        return None;
    }
    Some(Fired {
        timing: Timing::Irregular,
        code: "proxy_held",
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
