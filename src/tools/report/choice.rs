//! Which records are wanted: `--since`, `--until` and `--where`.

mod time;
mod wanted;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::observe::record::RequestRecord;

pub use time::instant;
pub use wanted::Wanted;

/// Which records are wanted.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Choice {
    /// Started then or later.
    pub since: Option<Timestamp>,
    /// Started before.
    pub until: Option<Timestamp>,
    /// All of these.
    pub wanted: Vec<Wanted>,
}

impl Choice {
    /// Whether the record is wanted. One without a start that can be read has no time.
    pub fn takes(&self, record: &RequestRecord) -> bool {
        self.is_in_time(record) && self.wanted.iter().all(|wanted| wanted.takes(record))
    }

    /// What was asked for, in words; none where all were.
    pub fn told(&self, zone: &TimeZone) -> Option<String> {
        let time = |word: &str, at: Option<Timestamp>| {
            let at = at?.to_zoned_datetime(zone.clone());
            Some(format!("{word} {}", at.strftime("%Y-%m-%d %H:%M:%S %Z")))
        };
        let times = [time("since", self.since), time("until", self.until)];
        let wanted = self.wanted.iter().map(Wanted::to_string);
        let all: Vec<String> = times.into_iter().flatten().chain(wanted).collect();
        (!all.is_empty()).then(|| all.join(", "))
    }

    fn is_in_time(&self, record: &RequestRecord) -> bool {
        if self.since.is_none() && self.until.is_none() {
            return true;
        }
        record.started_at.parse().is_ok_and(|at: Timestamp| {
            self.since.is_none_or(|since| at >= since) && self.until.is_none_or(|until| at < until)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::logs::sample;

    #[test]
    fn the_time_is_that_of_the_start() {
        let at = |since: &str, until: &str| {
            let instant = |text: &str| text.parse().ok();
            let choice = Choice {
                since: instant(since),
                until: instant(until),
                ..Choice::default()
            };
            let mut record = sample();
            record.started_at = "2026-12-02T05:00:00Z".to_owned();
            choice.takes(&record)
        };
        assert!(at("", "") && at("2026-12-02T05:00:00Z", "2026-12-02T05:00:01Z"));
        assert!(!at("", "2026-12-02T05:00:00Z") && !at("2026-12-02T05:00:01Z", ""));
    }
}
