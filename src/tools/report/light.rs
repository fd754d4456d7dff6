//! A record without what no summary looks at. To read a log of a million records is mostly to skip what is not needed.
//!
//! The result is a [`RequestRecord`] all the same, so that what judges records judges these: the fields that were not read
//! are as if they had not been measured.

mod part;

use serde::{Deserialize, Deserializer};

use crate::observe::record::RequestRecord;
use crate::tools::logs::Versioned;
use part::Part;

/// The findings that only several records show; of all others the main one is the verdict itself.
pub const ACROSS: [&str; 5] = [
    "idle_cut",
    "total_cut",
    "constant_cut",
    "constant_latency",
    "cold_start",
];

/// A record whose times, counts and names are read, and whose texts are not.
#[derive(Debug, Clone, PartialEq)]
pub struct Light(pub RequestRecord);

impl Versioned for Light {
    fn schema(&self) -> u32 {
        self.0.schema
    }
}

impl<'de> Deserialize<'de> for Light {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Part::deserialize(deserializer).map(|part| Light(part.into_record()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::across::History;
    use crate::observe::record::End;
    use crate::tools::logs::sample;

    #[test]
    fn what_is_read_is_as_in_the_whole_record() {
        let whole = sample();
        let text = serde_json::to_string(&whole).unwrap();
        let Light(light) = serde_json::from_str(&text).unwrap();
        assert_eq!(light.id, whole.id);
        assert_eq!(light.at.end_ms, whole.at.end_ms);
        assert_eq!(light.ttft_ms, whole.ttft_ms);
        assert_eq!(light.gaps.token.p99_ms, whole.gaps.token.p99_ms);
        assert_eq!(light.gaps.chunk.max_ms, whole.gaps.chunk.max_ms);
        assert_eq!(light.upstream.name, whole.upstream.name);
        assert_eq!(light.request.model, whole.request.model);
        assert_eq!(light.load, whole.load);
        assert_eq!(light.ttfa_ms, whole.ttfa_ms);
        assert_eq!(light.gaps.token.p90_ms, whole.gaps.token.p90_ms);
        assert_eq!(light.counts.token_events, whole.counts.token_events);
        assert_eq!(light.counts.chars, whole.counts.chars);
        assert_eq!(light.response.model, whole.response.model);
        assert_eq!(light.stamps, whole.stamps);
        assert_eq!(light.upstream.reused, whole.upstream.reused);
        assert_eq!(light.stalls.len(), whole.stalls.len());
        let timing = |record: &RequestRecord| record.verdict.as_ref().map(|verdict| verdict.timing);
        assert_eq!(timing(&light), timing(&whole));
    }

    #[test]
    fn the_history_says_of_it_what_it_says_of_the_whole() {
        let mut histories = [History::new(), History::new()];
        for i in 0..12u32 {
            let mut whole = sample();
            whole.started_at = format!("2026-12-02T05:{i:02}:00Z");
            whole.load.cold = i == 9;
            whole.ttft_after_request_ms = Some(if i == 9 { 9000.0 } else { 80.0 });
            whole.request.bytes = 100 << (i % 6);
            whole.at.header_ms = Some(240.0);
            whole.at.first_byte_ms = Some(240.0);
            whole.at.first_token_ms = Some(340.0 + f64::from(i) * 30.0);
            if i > 5 && i != 9 {
                whole.end = End::Truncated;
                whole.at.end_ms = Some(42_000.0 + f64::from(i));
                whole.silence.before_end_ms = Some(20.0 + 400.0 * f64::from(i));
            }
            let Light(light) =
                serde_json::from_value(serde_json::to_value(&whole).unwrap()).unwrap();
            let [one, other] = &mut histories;
            assert_eq!(one.look(&whole), other.look(&light), "record {i}");
        }
    }
}
