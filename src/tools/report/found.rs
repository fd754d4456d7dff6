//! Limits that cut streams, and what else only several records show, counted and put in words.

use serde::Serialize;

use super::light::ACROSS;
use crate::observe::record::{CutKind, RequestRecord, Side};
use crate::observe::verdict::words::count;
use crate::sink::console::text::{duration, word};

/// Different limits that are told apart. Each is one of someone's settings, so there are few.
const MOST: usize = 32;
/// Limits are one if they differ by less, ms.
const SAME: f64 = 50.0;

/// What was found.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Found {
    /// Limits that seem to have cut streams.
    pub limits: Vec<Limit>,
    /// Findings over several records, by their code.
    pub across: Vec<Across>,
}

/// A limit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Limit {
    /// On silence or on the whole.
    pub kind: CutKind,
    /// How long it is.
    pub after_ms: f64,
    /// Who has it.
    #[serde(rename = "where")]
    pub side: Side,
    /// Streams that it cut.
    pub n: u64,
}

/// A finding over several records.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Across {
    /// Its code.
    pub code: &'static str,
    /// Records that have it.
    pub n: u64,
    /// What the last one said.
    pub last: String,
}

impl Found {
    /// Takes note of a record's cut and findings.
    pub fn take(&mut self, record: &RequestRecord) {
        let Some(verdict) = &record.verdict else {
            return;
        };
        if let Some(cut) = &verdict.cut {
            let same = |limit: &&mut Limit| {
                limit.kind == cut.kind
                    && limit.side == cut.side
                    && (limit.after_ms - cut.after_ms).abs() <= SAME
            };
            let is_full = self.limits.len() >= MOST;
            match self.limits.iter_mut().find(same) {
                Some(limit) => limit.n += 1,
                None if is_full => {}
                None => self.limits.push(Limit {
                    kind: cut.kind,
                    after_ms: cut.after_ms,
                    side: cut.side,
                    n: 1,
                }),
            }
        }
        // limits are told above
        let others = ACROSS
            .into_iter()
            .filter(|code| !matches!(*code, "idle_cut" | "total_cut"));
        for code in others {
            let Some(finding) = verdict.findings.iter().find(|finding| finding.code == code) else {
                continue;
            };
            let place = self.across.iter().position(|known| known.code == code);
            let place = place.unwrap_or_else(|| {
                self.across.push(Across {
                    code,
                    n: 0,
                    last: String::new(),
                });
                self.across.len() - 1
            });
            let across = &mut self.across[place];
            across.n += 1;
            across.last.clone_from(&finding.sentence);
        }
    }

    /// A sentence for each.
    pub fn sentences(&self) -> Vec<String> {
        let mut limits = self.limits.clone();
        limits.sort_by_key(|limit| std::cmp::Reverse(limit.n));
        let limit = |limit: &Limit| {
            let what = match limit.kind {
                CutKind::Idle => "silence",
                CutKind::Total => "the whole",
            };
            let cuts = match limit.n {
                1 => "1 stream was cut, which fits".to_owned(),
                n => format!("{n} streams were cut, which fits"),
            };
            let whose = match limit.side {
                Side::Unknown => "on an unknown side".to_owned(),
                side => format!("on the {} side", word(&side)),
            };
            format!(
                "{cuts} a limit of {} on {what}, {whose}.",
                duration(Some(limit.after_ms))
            )
        };
        let across = |across: &Across| {
            let said = match across.n {
                1 => "it says",
                _ => "the last says",
            };
            format!(
                "{} with {}; {said}: {}",
                count(across.n, "request"),
                across.code,
                across.last
            )
        };
        let limits = limits.iter().map(limit);
        limits.chain(self.across.iter().map(across)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::record::{Cut, Finding};
    use crate::tools::logs::sample;

    #[test]
    fn cuts_and_findings_become_sentences() {
        let mut found = Found::default();
        for i in 0..5u32 {
            let mut record = sample();
            let verdict = record.verdict.as_mut().unwrap();
            verdict.cut = Some(Cut {
                kind: if i == 0 {
                    CutKind::Total
                } else {
                    CutKind::Idle
                },
                after_ms: 60_000.0 + f64::from(i),
                side: Side::Upstream,
            });
            verdict.findings = vec![Finding {
                code: "cold_start".into(),
                side: Side::Upstream,
                at_ms: None,
                sentence: format!("Sentence {i}."),
                hint: String::new(),
            }];
            found.take(&record);
        }
        assert_eq!(
            found.sentences(),
            [
                "4 streams were cut, which fits a limit of 60.0s on silence, on the upstream side.",
                "1 stream was cut, which fits a limit of 60.0s on the whole, on the upstream side.",
                "5 requests with cold_start; the last says: Sentence 4.",
            ]
        );
    }
}
