//! Blocks: what a buffer that fills lets go of.

use super::Rhythm;
use crate::observe::bursts::Burst;
use crate::observe::stats::percentile;

/// Bursts whose bytes grow with their number of events by this part of an event each are no blocks:
/// a buffer that fills lets go of no more bytes for having more events.
const GROWING: f64 = 0.5;

impl Rhythm {
    /// The size in KiB of the buffer that such blocks would fill: a power of two, and no more than
    /// one event is above it.
    pub fn block(&self) -> Option<u64> {
        let block = self.power_of_two();
        let above = self.bytes.mean - block;
        (-1.0..self.event_bytes())
            .contains(&above)
            .then_some(block as u64 / 1024)
    }

    /// Whether a burst has more bytes for having more steps.
    pub(super) fn is_growing(&self) -> bool {
        self.growth
            .is_some_and(|growth| growth >= GROWING * self.event_bytes())
    }

    /// Whether each burst is what a buffer lets go of that whole events fill.
    pub(super) fn is_just_above_block(&self) -> bool {
        let block = self.power_of_two();
        self.bytes.min >= block && self.bytes.max < block + self.event_bytes()
    }

    /// Equal to the byte though their events are not: that is a buffer's cut.
    pub(super) fn is_cut(&self) -> bool {
        self.bytes.range() == 0.0 && self.steps.range() > 0.0
    }

    /// The power of two that a buffer of at least 1 KiB may have been set to.
    pub(super) fn power_of_two(&self) -> f64 {
        self.bytes.mean.log2().floor().max(10.0).exp2()
    }
}

fn usual_bytes(bursts: &[Burst]) -> u64 {
    let mut bytes: Vec<u64> = bursts.iter().map(|burst| burst.bytes).collect();
    bytes.sort_unstable();
    percentile(&bytes, 50).unwrap_or(0)
}

/// How many blocks of the usual size a burst has: a write that fills a buffer twice lets go of two at once.
fn blocks_in(burst: &Burst, block: u64) -> f64 {
    match burst.bytes.checked_rem(block) {
        Some(0) => (burst.bytes / block).max(1) as f64,
        _ => 1.0,
    }
}

/// Whether a buffer that fills has cut these: equal to the byte, or several blocks of that size,
/// though their numbers of events (`steps`) are not equal.
pub fn are_cut(full: &[Burst], steps: impl Fn(&Burst) -> u64) -> bool {
    let block = usual_bytes(full);
    let is_whole = |burst: &Burst| burst.bytes as f64 == blocks_in(burst, block) * block as f64;
    let of_a_block = |burst: &Burst| steps(burst) as f64 / blocks_in(burst, block);
    full.iter().all(is_whole)
        && full
            .windows(2)
            .any(|two| of_a_block(&two[0]) != of_a_block(&two[1]))
}

/// Steps and bytes of each burst; of a block each where a buffer has cut them.
pub(super) fn each(bursts: &[Burst], steps: impl Fn(&Burst) -> u64) -> Vec<(f64, f64)> {
    let block = if are_cut(bursts, &steps) {
        usual_bytes(bursts)
    } else {
        0
    };
    let of_a_block = |burst: &Burst| {
        let blocks = blocks_in(burst, block);
        (steps(burst) as f64 / blocks, burst.bytes as f64 / blocks)
    };
    bursts.iter().map(of_a_block).collect()
}
