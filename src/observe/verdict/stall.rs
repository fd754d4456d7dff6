//! One long pause in the middle. What came after it tells its kind: gaps as usual, then nothing
//! was held and work stopped; a lump of what was missing, then bytes were held.

use super::facts::{Facts, Unit};
use super::transport_coalesced;
use super::words::time;
use crate::observe::record::{Flag, Stall};
use crate::observe::stats::{self, Us};

/// How sure one is of the kind of a pause when it is not known what came after it.
const UNKNOWN: f64 = 0.4;

/// The lump after a pause has at least this part of what would have come in it, were it held.
const PART_OF_MISSING: u64 = 4;

/// And at least so many events per choice: two in one read are chance.
const LEAST_LUMP: u64 = 3;

/// And more than nearly all other bursts (percentile): an engine that speculates goes on with a draft.
const USUAL: usize = 90;

/// The worst pause of a stream, and what came after it.
pub struct Pause<'a> {
    stall: &'a Stall,
    usual: Us,
    /// Token events that would have come in it.
    missing: u64,
    /// Token events that came at once after it; `None` where that is not known.
    pub lump: Option<u64>,
    least_lump: u64,
}

impl Pause<'_> {
    /// The worst pause, if there is one that is not among groups.
    pub fn of<'a>(facts: &'a Facts<'_>) -> Option<Pause<'a>> {
        let stall = facts.summary.stalls.first()?;
        if facts.unit() != Unit::Token || transport_coalesced::is_grouped(facts) {
            return None;
        }
        // An event too large to look into may have been what came then, if bytes went on coming.
        let longest_silence = facts.summary.silence.longest_ms.unwrap_or(0.0);
        if facts.has(Flag::EventTooLarge) && 2.0 * longest_silence < stall.gap_ms {
            return None;
        }
        let usual = facts.gaps().median_non_zero().unwrap_or(0).max(1);
        let mut steps: Vec<u64> = facts.steps_by_burst().collect();
        steps.sort_unstable();
        let usual_burst = stats::percentile(&steps, USUAL).unwrap_or(0);
        let gaps = (stall.gap_ms * 1000.0) / usual as f64;
        let missing = (gaps * facts.steps_per_burst() * facts.choices() as f64) as u64;
        Some(Pause {
            stall,
            usual,
            missing,
            // Not all events: what ends a stream often shares the last token's write, and was not missing.
            lump: facts.lump_after(stall),
            least_lump: (missing / PART_OF_MISSING)
                .max(LEAST_LUMP * facts.choices())
                .max(usual_burst + 1),
        })
    }

    /// Whether what was missing came at once after it.
    pub fn is_caught_up(&self) -> bool {
        self.lump.is_some_and(|lump| lump >= self.least_lump)
    }

    /// When it ended.
    pub fn at_ms(&self) -> Option<f64> {
        Some(self.stall.at_ms)
    }

    /// The pause in a sentence.
    pub fn sentence(&self) -> String {
        format!(
            "No output for {} after token event {}; usual gaps are {}.",
            time((self.stall.gap_ms * 1000.0) as Us),
            self.stall.after_token,
            time(self.usual)
        )
    }

    /// The numbers that a verdict rests on.
    pub fn evidence(&self, facts: &Facts<'_>) -> Vec<(&'static str, f64)> {
        let mut evidence = vec![
            ("gap_ms", self.stall.gap_ms),
            ("after_token", self.stall.after_token as f64),
            ("missing_events", self.missing as f64),
            ("stalls", facts.summary.stalls.len() as f64),
        ];
        evidence.extend(self.lump.map(|lump| ("catch_up_events", lump as f64)));
        evidence
    }

    /// How sure one is. A pause that ended with the stream's own usual gap leaves no doubt.
    pub fn confidence(&self, facts: &Facts<'_>) -> f64 {
        match self.lump {
            None => UNKNOWN,
            Some(_) if facts.n() >= 20 => 0.9,
            Some(_) => 0.6,
        }
    }
}
