//! What only several records show: limits of no round number, a constant that is added to every
//! wait, and what a cold start costs.
//!
//! A [`History`] is of one upstream. It is shown each finished record in the order in which they
//! ended, keeps a few numbers of the latest ones, and says what they add to the record's verdict.
//! The proxy and the reports over a log use the same type. It never says anything of records that
//! it has forgotten, so order matters only within its windows.

mod agree;
mod cold;
mod cuts;
mod waits;

use super::dialect::Api;
use super::record::{Cut, Finding, RequestRecord, Side, Timing, Verdict};
use super::stats::Us;
use cold::Cold;
use cuts::Cuts;
use waits::Waits;

/// The latest records of one upstream, as far as later ones are judged by them.
#[derive(Debug, Default)]
pub struct History {
    cuts: Cuts,
    waits: Waits,
    cold: Cold,
}

/// What the history adds to a record.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Seen {
    /// The limit that cut it; stands instead of what the record alone looked like.
    pub cut: Option<Cut>,
    /// Findings; one of a code that the record has already stands in its place.
    pub findings: Vec<Finding>,
}

impl History {
    /// Nothing seen yet.
    pub fn new() -> Self {
        History::default()
    }

    /// Takes note of a finished record, and says what the ones before it tell of it.
    pub fn look(&mut self, record: &RequestRecord) -> Seen {
        let (cut, limit) = self.cuts.look(record).unzip();
        let findings = [limit, self.waits.look(record), self.cold.look(record)];
        Seen {
            cut: cut.flatten(),
            findings: findings.into_iter().flatten().collect(),
        }
    }

    /// The same, and adds it to the record's verdict.
    pub fn apply(&mut self, record: &mut RequestRecord) {
        self.look(record).add_to(record);
    }
}

impl Seen {
    /// Adds it to the record's verdict. A record without one gets one only where a stream was asked
    /// for and a limit cut the wait for it; the same twice changes nothing.
    pub fn add_to(self, record: &mut RequestRecord) {
        if record.verdict.is_none() && self.cut.is_some() && was_awaited(record) {
            record.verdict = Some(no_answer());
        }
        let Some(verdict) = &mut record.verdict else {
            return;
        };
        if let Some(cut) = self.cut {
            let is_cut = |finding: &Finding| cuts::CODES.contains(&&*finding.code);
            verdict.findings.retain(|finding| !is_cut(finding));
            verdict.cut = Some(cut);
        }
        for finding in self.findings {
            let same = |other: &Finding| other.code == finding.code;
            match verdict.findings.iter().position(same) {
                Some(place) => verdict.findings[place] = finding,
                None => verdict.findings.push(finding),
            }
        }
    }
}

/// Whether a stream was asked for and no answer came.
fn was_awaited(record: &RequestRecord) -> bool {
    let request = &record.request;
    let by_path = || {
        let api = request.path.as_deref().and_then(Api::of_path);
        api.is_some_and(Api::streams_by_default)
    };
    record.response.status.is_none() && request.stream.unwrap_or_else(by_path)
}

fn no_answer() -> Verdict {
    Verdict {
        timing: Timing::Unmeasurable,
        side: Some(Side::Unknown),
        confidence: 1.0,
        summary: "No answer came before the end.".to_owned(),
        evidence: Default::default(),
        cut: None,
        findings: Vec::new(),
    }
}

/// A figure of a record in whole µs. Logs may hold anything: a year is the most.
fn us(ms: f64) -> Us {
    const YEAR_MS: f64 = 366.0 * 86_400_000.0;
    (ms.clamp(0.0, YEAR_MS) * 1000.0).round() as Us
}

#[cfg(test)]
mod tests;
