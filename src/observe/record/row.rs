//! The rows of a timeline.

use serde::{Deserialize, Serialize};

/// One chunk: `[arrived_us, flushed_us, bytes, events, token_events]`, times from `t0`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row(
    /// When it arrived, µs.
    pub u64,
    /// When the client's socket had taken it, µs; `null` when it never did.
    pub Option<u64>,
    /// Its bytes.
    pub u64,
    /// Events that it completed.
    pub u64,
    /// Token events among them.
    pub u64,
);

/// The gaps between token events, ms, out of a timeline; events of one chunk came at the same time.
pub fn token_gaps(timeline: &[Row]) -> impl Iterator<Item = f64> {
    /// A file may say anything, and each event stands for one step here.
    const MOST: u64 = 1 << 20;
    let mut last: Option<u64> = None;
    let with_tokens = timeline.iter().filter(|row| row.4 > 0);
    with_tokens.flat_map(move |&Row(arrived, _, _, events, token_events)| {
        let before = last.replace(arrived);
        let gap = before.map(|before| arrived.saturating_sub(before) as f64 / 1000.0);
        let together = token_events.min(events).min(MOST).saturating_sub(1);
        gap.into_iter().chain((0..together).map(|_| 0.0))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_of_a_timeline_are_between_token_events_only() {
        let rows = [
            Row(80_000, Some(80_050), 150, 1, 0),
            Row(100_000, None, 300, 2, 2),
            Row(110_000, None, 20, 0, 0),
            Row(125_500, None, 150, 1, 1),
        ];
        assert_eq!(token_gaps(&rows).collect::<Vec<_>>(), [0.0, 25.5]);
        assert_eq!(token_gaps(&rows[..1]).count(), 0);
    }
}
