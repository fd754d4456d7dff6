//! Events come in groups with pauses between them: they were merged somewhere before this proxy.
//! Equal bytes, period or count per group would name a kind of buffer; this is what is left when
//! nothing of that is proven.

use super::engine::{DRAFT, LONGEST_STEP, MOST_PER_STEP};
use super::facts::{Facts, SHARED};
use super::hints::{COALESCED, with_clues};
use super::rhythm::Constant;
use super::words::{count, time};
use super::{Fired, Rule, engine, evenness};
use crate::observe::record::{Side, Timing};
use crate::observe::stats::in_ms;
use crate::observe::timeline::LEAST_STALL;

/// Groups that prove a habit; a single one is a stall that was made up for.
const LEAST_GROUPS: usize = 2;

/// Groups that leave no doubt of it. Fewer that an engine's drafts may be are none.
const MANY_GROUPS: usize = 4;

/// How sure one can be where an engine's drafts give the same.
const SURE_OF_DRAFTS: f64 = 0.6;

/// Fewer bursts than this cannot have a constant.
const FEW: u64 = 5;

/// The rule.
pub const RULE: Rule = Rule {
    code: "transport_coalesced",
    timing: Some(Timing::TransportCoalesced),
    about: "two bursts or more of several events, with pauses between them, and nothing constant",
    rests_on: &[
        "coalescing.burst_events",
        "coalescing.events_per_chunk_max",
        "coalescing.chunks_with_many_events",
    ],
    check,
};

pub fn check(facts: &Facts<'_>) -> Option<Fired> {
    // The steps of a fast engine are as near to each other as those of a group.
    if evenness::is_even(facts) || facts.is_in_steps() || named(facts) {
        return None;
    }
    let groups = facts
        .steps_by_burst()
        .filter(|&steps| steps > facts.choices())
        .count();
    let period = facts.burst_period()?;
    let shared = facts.steps_per_read() >= SHARED || period >= LEAST_STALL;
    let least = engine::least_held(period as f64, shared)?;
    // Where nothing is constant, what an engine could do at all is no hop's.
    let least = if period < LONGEST_STEP { DRAFT } else { least };
    let steps = facts.steps_per_burst();
    if steps < least || groups < LEAST_GROUPS || !engine::can_make(steps, period as f64) {
        return None;
    }
    let largest = facts.steps_by_burst().max().unwrap_or(0);
    let could_be_engine =
        engine::could_draft(largest as f64 / facts.choices() as f64, period as f64);
    // A few drafts are no habit.
    if could_be_engine && groups < MANY_GROUPS && steps < MOST_PER_STEP {
        return None;
    }
    let n = facts.n();
    let all = facts.steps_by_burst().count() as u64;
    let constant = if all < FEW {
        " So few cannot tell a buffer that fills from a timer."
    } else {
        " Neither their size nor their period nor their number of events is constant."
    };
    Some(Fired {
        side: Side::Upstream,
        at_ms: None,
        confidence: match groups {
            _ if could_be_engine => SURE_OF_DRAFTS,
            ..MANY_GROUPS => 0.7,
            _ => 0.9,
        },
        sentence: format!(
            "{} came in {}, up to {largest} at once, one burst every {}: they were merged before this proxy.{constant}{}",
            count(n, "event"),
            count(all, "burst"),
            time(period),
            if could_be_engine { engine::AS_WELL } else { "" },
        ),
        hint: with_clues(facts, &format!("look before this proxy: {COALESCED}")).into(),
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

/// Whether a rule names what is constant.
fn named(facts: &Facts<'_>) -> bool {
    [Constant::Bytes, Constant::Period, Constant::Count]
        .into_iter()
        .any(|what| facts.constant(what).is_some())
}

/// Whether the stream came in groups, of whatever kind.
pub fn is_grouped(facts: &Facts<'_>) -> bool {
    named(facts) || check(facts).is_some()
}
