//! Events come in groups with pauses between them: they were merged somewhere before this proxy.
//! Equal bytes, period or count per group would name a kind of buffer; this is what is left when
//! nothing of that is proven.

use super::facts::Facts;
use super::words::{count, time};
use super::{Fired, evenness};
use crate::observe::bursts;
use crate::observe::record::{Flag, Side, Timing};
use crate::observe::stats::in_ms;

/// Steps per burst and choice, on average, from which a stream counts as grouped. Jitter and a
/// busy machine merge a pair now and then, never every other one.
const GROUPED: f64 = 2.0;

/// Groups that prove a habit; a single one is a stall that was made up for.
const LEAST_GROUPS: usize = 2;

pub fn check(facts: &Facts<'_>) -> Option<Fired> {
    // The steps of a fast engine are as near to each other as those of a group.
    if evenness::is_even(facts) {
        return None;
    }
    let groups = facts
        .steps_by_burst()
        .filter(|&steps| steps > facts.choices())
        .count();
    if facts.steps_per_burst() < GROUPED || groups < LEAST_GROUPS {
        return None;
    }
    let n = facts.n();
    let all = facts.steps_by_burst().count() as u64;
    let largest = facts.steps_by_burst().max().unwrap_or(0);
    let period = bursts::period(&facts.summary.bursts).unwrap_or(0);
    let azure = facts.has(Flag::AzureFilter);
    Some(Fired {
        timing: Timing::TransportCoalesced,
        code: "transport_coalesced",
        side: Side::Upstream,
        at_ms: None,
        confidence: if groups >= 4 { 0.8 } else { 0.6 },
        sentence: format!(
            "{} came in {}, up to {largest} at once, one burst every {}: they were merged before this proxy.",
            count(n, "event"),
            count(all, "burst"),
            time(period),
        ),
        hint: if azure {
            "fields of Azure's content filter were seen: its default mode checks text in groups (try the \
             asynchronous filter); else look at the hops before this proxy for buffering"
        } else {
            "look before this proxy: a server that never yields to its event loop, a buffer \
             (`proxy_buffering off`, `X-Accel-Buffering: no`), a flush timer (`flush_interval -1`), \
             compression of event streams"
        },
        evidence: vec![
            ("token_events", n as f64),
            ("bursts", all as f64),
            (
                "events_per_burst",
                facts.steps_per_burst() * facts.choices() as f64,
            ),
            ("burst_period_ms", in_ms(period)),
        ],
    })
}
