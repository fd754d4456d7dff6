//! What only several records show, for each proxy and upstream of the logs.

use std::collections::HashMap;

use crate::observe::across::History;
use crate::observe::record::RequestRecord;

/// Pairs of proxy and upstream that are kept apart. Logs may hold anything; further ones are left as they are.
const MOST: usize = 4096;

/// The histories of all upstreams.
#[derive(Debug, Default)]
pub struct Histories {
    /// By instance, then by the upstream's name.
    all: HashMap<String, HashMap<String, History>>,
    n: usize,
}

impl Histories {
    /// Adds to the record what it has in common with those before it, as the proxy does while it runs. Records stand in a
    /// log in the order in which they ended; of several logs the oldest is to come first.
    pub fn apply(&mut self, record: &mut RequestRecord) {
        let upstream = record.upstream.name.as_deref().unwrap_or_default();
        let known = self
            .all
            .get(&record.instance)
            .is_some_and(|of_instance| of_instance.contains_key(upstream));
        if !known {
            if self.n == MOST {
                return;
            }
            self.n += 1;
            let of_instance = self.all.entry(record.instance.clone()).or_default();
            of_instance.insert(upstream.to_owned(), History::new());
        }
        let history = self
            .all
            .get_mut(&record.instance)
            .and_then(|of_instance| of_instance.get_mut(upstream));
        if let Some(history) = history {
            history.apply(record);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::record::End;
    use crate::tools::logs::sample;

    fn cut(i: u32, instance: &str) -> RequestRecord {
        let mut record = sample();
        record.instance = instance.to_owned();
        record.started_at = format!("2026-12-02T05:0{i}:00Z");
        record.end = End::Truncated;
        record.at.end_ms = Some(42_000.0 + f64::from(i));
        record.silence.before_end_ms = Some(20.0 + 400.0 * f64::from(i));
        record
    }

    fn is_limit(record: &RequestRecord) -> bool {
        let findings = &record.verdict.as_ref().unwrap().findings;
        findings.iter().any(|finding| finding.code == "total_cut")
    }

    #[test]
    fn cuts_at_one_age_are_a_limit_in_a_report_too() {
        let mut histories = Histories::default();
        let mut records: Vec<_> = (0..6).map(|i| cut(i, "here")).collect();
        records
            .iter_mut()
            .for_each(|record| histories.apply(record));
        assert!(is_limit(&records[5]), "{:?}", records[5].verdict);
        let mut elsewhere = cut(6, "there");
        histories.apply(&mut elsewhere);
        assert!(!is_limit(&elsewhere));
    }

    #[test]
    fn instances_without_number_are_not_kept() {
        let mut histories = Histories::default();
        for i in 0..2 * MOST {
            histories.apply(&mut cut(0, &i.to_string()));
        }
        assert_eq!(histories.all.len(), MOST);
    }
}
