//! What an engine does by itself. It makes a token a step, or several if it speculates: a few events
//! at once, at even times. What is beyond that was held by a hop, or gathered by the producer.

use crate::observe::stats::Us;

/// No engine makes the steps of one stream faster than this, µs: at 4,000 a second and more they
/// are let go, not made.
pub const FASTEST: Us = 250;

/// An engine's step takes less than this, µs. With more between them, several events at once are a
/// hop's doing or a producer's.
pub const LONGEST_STEP: Us = 75_000;

/// Nor does it make so many events on average, however well its drafts are guessed.
pub const MOST_PER_STEP: f64 = 5.0;

/// What an engine accepts of a draft at once. Only more than that is a burst if each event has a
/// read of its own: a hop that lets go of what it holds does so in one write.
pub const DRAFT: f64 = 8.0;

/// The longest step of one that drafts, µs: a large model on a CPU. Up to here, so few events at once
/// may be its own.
const LONGEST_DRAFT: Us = 500_000;

/// What a sentence says where that is so.
pub const AS_WELL: &str = " An engine that speculates, with steps as long, would look the same.";

/// So many events at once will do to tell a hop where its bursts are cut within events.
pub const CUT: f64 = 2.0;

/// And so many at times that are as exact as a timer, if they are further apart than a step.
const TIMED: f64 = 2.0;

/// From such a period (µs) on, so many events at once that share reads are no engine's.
const HELD: [(Us, f64); 3] = [(250_000, 2.0), (LONGEST_STEP, 3.0), (30_000, MOST_PER_STEP)];

/// The least number of events at once, on average, that tells a hop at such a period (µs); none
/// does at a shorter one. `shared`: they share reads.
pub fn least_held(period: f64, shared: bool) -> Option<f64> {
    let (_, least) = HELD.iter().find(|(from, _)| period >= *from as f64)?;
    Some(if shared { *least } else { DRAFT })
}

/// The same where the period is a timer's.
pub fn least_of_timer(period: f64) -> Option<f64> {
    if period >= LONGEST_STEP as f64 {
        Some(TIMED)
    } else {
        least_held(period, true)
    }
}

/// Whether one that drafts can have made up to so many at once in such a period (µs).
pub fn could_draft(most: f64, period: f64) -> bool {
    most <= DRAFT && period < LONGEST_DRAFT as f64
}

/// Whether an engine can have made so many events, on average, in such a period (µs). Faster is a
/// bulk transfer: its parts come as the network takes them.
pub fn can_make(events: f64, period: f64) -> bool {
    period >= events * FASTEST as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longer_the_pause_the_fewer_events_tell_a_hop() {
        let least = |ms: f64| least_held(ms * 1e3, true);
        assert_eq!(least(29.0), None);
        assert_eq!(least(30.0), Some(5.0));
        assert_eq!(least(75.0), Some(3.0));
        assert_eq!(least(250.0), Some(2.0));
        assert_eq!(least_held(250e3, false), Some(DRAFT));
        assert_eq!(
            (least_of_timer(76e3), least_of_timer(50e3)),
            (Some(2.0), Some(5.0))
        );
    }
}
