//! What a request spent its time on, one phase after the other, as far as it was measured.

use super::record::{Api, RequestRecord};
use super::stats::Us;

/// A part of a request, µs from its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Phase {
    /// What for.
    pub name: &'static str,
    /// When it began.
    pub from: Us,
    /// When it ended.
    pub to: Us,
    /// It ended because the request did: what was waited for never came.
    pub is_vain: bool,
}

/// Milliseconds of a record in whole µs. What is no duration becomes 0: logs may hold anything.
pub fn us(ms: f64) -> Us {
    // a cast stays within the type's range
    (ms * 1000.0).round() as Us
}

/// Setting up the connection, and how long each step took.
fn set_up(record: &RequestRecord) -> impl Iterator<Item = (&'static str, Us)> {
    let upstream = &record.upstream;
    let steps = [
        ("earlier attempts", upstream.retry_ms),
        ("DNS", upstream.dns_ms),
        ("connect", upstream.connect_ms),
        ("TLS", upstream.tls_ms),
    ];
    let known = steps.into_iter();
    known.filter_map(|(name, ms)| Some((name, us(ms?))))
}

/// How long after `started_at` the record's own clock begins, µs. The proxy's begins with the request. A probe's begins
/// when the request is sent, after its connection was set up (`relay/client.rs`).
pub fn lead(record: &RequestRecord) -> Us {
    let steps = set_up(record).fold(0, |sum: Us, (_, step)| sum.saturating_add(step));
    match record.at.sent_ms {
        Some(sent) if us(sent) < steps => steps,
        _ => 0,
    }
}

/// The phases of a request, µs from its start.
pub fn of(record: &RequestRecord) -> Vec<Phase> {
    let lead = lead(record);
    let at = |ms: f64| us(ms).saturating_add(lead);
    phases(record, length(record, at))
}

/// How long it took, by `at` as the clock: until its end, or the last that is known of it.
pub fn length(record: &RequestRecord, at: impl Fn(f64) -> Us) -> Us {
    let marks = &record.at;
    let known = [
        marks.sent_ms,
        marks.header_ms,
        marks.first_byte_ms,
        marks.last_token_ms,
        marks.done_ms,
    ];
    match marks.end_ms {
        Some(end) => at(end),
        None => known.into_iter().flatten().map(at).max().unwrap_or(0),
    }
}

/// The phases of a request that is `length` µs long, in their order. None overlaps another, none is empty.
///
/// The steps of setting up are measured as durations; they are laid from the start on, which is when the first begins.
pub fn phases(record: &RequestRecord, length: Us) -> Vec<Phase> {
    let at = &record.at;
    let lead = lead(record);
    let mark = |ms: Option<f64>| ms.map(|ms| us(ms).saturating_add(lead));
    let mut all = Phases {
        phases: Vec::new(),
        at: 0,
        length,
    };
    for (name, step) in set_up(record) {
        all.until(name, all.at.saturating_add(step));
    }
    let (sent, header) = (mark(at.sent_ms), mark(at.header_ms));
    if let Some(sent) = sent {
        // an answer may begin before the request was sent as a whole
        all.until("send", header.map_or(sent, |header| header.min(sent)));
    }
    match (sent, header) {
        (_, Some(header)) => all.until("header wait", header),
        (Some(_), None) => all.in_vain("header wait"),
        (None, None) => {}
    }
    if header.is_none() {
        return all.phases;
    }
    let (first_byte, first) = (mark(at.first_byte_ms), mark(at.first_token_ms));
    match (first, first_byte) {
        (Some(first), _) => {
            all.until("first token wait", first);
            all.until("streaming", mark(at.last_token_ms).unwrap_or(first));
            all.until("tail", length);
        }
        (None, _) if is_for_tokens(record) => all.in_vain("first token wait"),
        (None, Some(first_byte)) => {
            all.until("body wait", first_byte);
            all.until("body", length);
        }
        (None, None) => all.in_vain("body wait"),
    }
    all.phases
}

/// Whether it is a stream of an API whose events can be tokens.
fn is_for_tokens(record: &RequestRecord) -> bool {
    use Api::{Binary, Json, Ndjson, Other, Sse, Websocket};
    let without = [Sse, Ndjson, Json, Binary, Websocket, Other];
    record.verdict.is_some() && record.api.is_some_and(|api| !without.contains(&api))
}

/// Phases so far.
struct Phases {
    phases: Vec<Phase>,
    /// When the next one begins.
    at: Us,
    length: Us,
}

impl Phases {
    /// The next lasts until then.
    fn until(&mut self, name: &'static str, to: Us) {
        self.push(name, to.min(self.length), false);
    }

    /// The last one, until the end.
    fn in_vain(&mut self, name: &'static str) {
        self.push(name, self.length, true);
    }

    fn push(&mut self, name: &'static str, to: Us, is_vain: bool) {
        let from = self.at;
        if to > from {
            self.phases.push(Phase {
                name,
                from,
                to,
                is_vain,
            });
            self.at = to;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::logs::sample;

    fn told(record: &RequestRecord) -> Vec<(&'static str, Us, Us)> {
        let length = us(record.at.end_ms.unwrap()) + lead(record);
        let all = phases(record, length);
        all.iter()
            .map(|phase| (phase.name, phase.from, phase.to))
            .collect()
    }

    #[test]
    fn a_stream_through_the_proxy() {
        assert_eq!(
            told(&sample()),
            [
                ("connect", 0, 209),
                ("send", 209, 508),
                ("header wait", 508, 80_890),
                ("streaming", 80_890, 1_860_903),
                ("tail", 1_860_903, 1_881_663),
            ]
        );
    }

    #[test]
    fn a_probe_connects_before_its_clock_begins() {
        let mut record = sample();
        record.at.sent_ms = Some(0.0);
        record.upstream.dns_ms = Some(1.0);
        record.upstream.tls_ms = Some(2.0);
        assert_eq!(lead(&record), 3209);
        let all = told(&record);
        assert_eq!(
            all[..4],
            [
                ("DNS", 0, 1000),
                ("connect", 1000, 1209),
                ("TLS", 1209, 3209),
                ("header wait", 3209, 84_099),
            ]
        );
    }

    #[test]
    fn what_never_came_was_waited_for_until_the_end() {
        let mut record = sample();
        record.at.first_token_ms = None;
        let last = |record: &RequestRecord| *phases(record, 1_881_663).last().unwrap();
        let vain = |name, from| Phase {
            name,
            from,
            to: 1_881_663,
            is_vain: true,
        };
        assert_eq!(last(&record), vain("first token wait", 80_890));
        record.verdict = None;
        assert_eq!(last(&record).name, "body");
        record.at.first_byte_ms = None;
        assert_eq!(last(&record), vain("body wait", 80_890));
        record.at.header_ms = None;
        assert_eq!(last(&record), vain("header wait", 508));
        record.at.sent_ms = None;
        assert_eq!(last(&record).name, "connect");
    }

    #[test]
    fn an_answer_may_begin_before_the_request_is_sent() {
        let mut record = sample();
        record.at.sent_ms = Some(900.0);
        let all = told(&record);
        assert_eq!(
            all[1..3],
            [("send", 209, 80_890), ("streaming", 80_890, 1_860_903)]
        );
    }
}
