//! Which record of the one log and which of the other are of the same request.
//!
//! A key counts only if it is there once in each log: a trace has several requests, a hop that retries sends one several
//! times, and two answers may be equal. The strongest key that joins two records joins them; nothing is ever guessed from
//! order or time, since the clocks of two machines differ.

use std::collections::HashMap;

use serde::Serialize;

use crate::observe::record::RequestRecord;

/// What two records may have in common, the strongest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Key {
    /// Trace id of `traceparent`, which a hop passes on.
    TraceId,
    /// The client's `x-request-id`.
    RequestId,
    /// The answer's own id.
    AnswerId,
    /// The hash of the body.
    BodyHash,
}

/// All keys, the strongest first.
pub const KEYS: [Key; 4] = [Key::TraceId, Key::RequestId, Key::AnswerId, Key::BodyHash];

impl Key {
    /// Its name in a sentence.
    pub fn name(self) -> &'static str {
        match self {
            Key::TraceId => "trace id",
            Key::RequestId => "client's request id",
            Key::AnswerId => "answer's id",
            Key::BodyHash => "body hash",
        }
    }

    /// Its value in a record. That all empty bodies are equal says nothing.
    pub fn of(self, record: &RequestRecord) -> Option<&str> {
        let value = match self {
            Key::TraceId => &record.request.trace_id,
            Key::RequestId => &record.request.request_id,
            Key::AnswerId => &record.response.id,
            Key::BodyHash if record.counts.bytes == 0 => &None,
            Key::BodyHash => &record.response.body_hash,
        };
        value.as_deref().filter(|value| !value.is_empty())
    }
}

/// Two records of one request, as places in their logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pair {
    /// Place in the inner log.
    pub inner: usize,
    /// Place in the outer log.
    pub outer: usize,
    /// What joined them.
    pub key: Key,
}

/// How many records of a log are in no pair.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Left {
    /// They have no key that the other log has.
    pub alone: usize,
    /// They have one, but several records have it, or its partner is taken.
    pub ambiguous: usize,
}

/// Both logs, joined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Joined {
    /// In the order of the outer log.
    pub pairs: Vec<Pair>,
    /// Of the inner log.
    pub inner_left: Left,
    /// Of the outer log.
    pub outer_left: Left,
}

/// Joins the records of two logs.
pub fn join(inner: &[RequestRecord], outer: &[RequestRecord]) -> Joined {
    let mut partner_of_inner: Vec<Option<usize>> = vec![None; inner.len()];
    let mut pairs: Vec<Option<Pair>> = vec![None; outer.len()];
    for key in KEYS {
        let (of_inner, of_outer) = (places(key, inner), places(key, outer));
        for (value, at) in &of_outer {
            if let (&[o], Some(&[i])) = (&at[..], of_inner.get(value).map(|at| &at[..]))
                && pairs[o].is_none()
                && partner_of_inner[i].is_none()
            {
                partner_of_inner[i] = Some(o);
                pairs[o] = Some(Pair {
                    inner: i,
                    outer: o,
                    key,
                });
            }
        }
    }
    let is_joined = |pairs: &[Option<Pair>]| pairs.iter().map(Option::is_some).collect::<Vec<_>>();
    let outer_joined = is_joined(&pairs);
    let inner_joined: Vec<bool> = partner_of_inner.iter().map(Option::is_some).collect();
    Joined {
        pairs: pairs.into_iter().flatten().collect(),
        inner_left: left(inner, &inner_joined, outer),
        outer_left: left(outer, &outer_joined, inner),
    }
}

/// Where each value of a key is.
fn places(key: Key, records: &[RequestRecord]) -> HashMap<&str, Vec<usize>> {
    let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, record) in records.iter().enumerate() {
        if let Some(value) = key.of(record) {
            places.entry(value).or_default().push(at);
        }
    }
    places
}

fn left(records: &[RequestRecord], joined: &[bool], others: &[RequestRecord]) -> Left {
    let known = KEYS.map(|key| places(key, others));
    let mut left = Left::default();
    for (record, _) in records.iter().zip(joined).filter(|(_, joined)| !**joined) {
        let is_known = KEYS.iter().zip(&known).any(|(key, known)| {
            key.of(record)
                .is_some_and(|value| known.contains_key(value))
        });
        if is_known {
            left.ambiguous += 1;
        } else {
            left.alone += 1;
        }
    }
    left
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::tools::logs::sample;

    /// A record with these keys; an empty one is none.
    pub fn with(trace: &str, request: &str, answer: &str, hash: &str) -> RequestRecord {
        let id = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let mut record = sample();
        record.request.trace_id = id(trace);
        record.request.request_id = id(request);
        record.response.id = id(answer);
        record.response.body_hash = id(hash);
        record
    }

    fn keys(joined: &Joined) -> Vec<(usize, usize, Key)> {
        let pairs = joined.pairs.iter();
        pairs
            .map(|pair| (pair.inner, pair.outer, pair.key))
            .collect()
    }

    #[test]
    fn the_strongest_key_that_both_have_once_joins() {
        let inner = [
            with("t1", "r1", "a1", "h1"),
            with("t2", "r2", "a2", "h2"),
            with("t2", "r3", "a3", "h2"),
            with("", "", "a4", "h4"),
            with("", "", "", "h5"),
        ];
        let outer = [
            with("", "", "other", "h5"),
            with("t1", "r9", "", ""),
            with("t2", "r3", "", "h2"),
            with("", "", "a4", "changed"),
        ];
        let joined = join(&inner, &outer);
        assert_eq!(
            keys(&joined),
            [
                (4, 0, Key::BodyHash),
                (0, 1, Key::TraceId),
                (2, 2, Key::RequestId),
                (3, 3, Key::AnswerId)
            ]
        );
        let Left { alone, ambiguous } = joined.inner_left;
        assert_eq!((alone, ambiguous), (0, 1), "t2 is known but not once");
        assert_eq!(joined.outer_left, Left::default());
    }

    #[test]
    fn what_is_not_unique_is_ambiguous_and_what_is_nowhere_is_alone() {
        let inner = [
            with("", "", "", "h"),
            with("", "", "", "h"),
            with("", "", "x", ""),
        ];
        let outer = [with("", "", "", "h"), with("", "", "y", "")];
        let joined = join(&inner, &outer);
        assert_eq!(joined.pairs, []);
        assert_eq!(
            (joined.inner_left.alone, joined.inner_left.ambiguous),
            (1, 2)
        );
        assert_eq!(
            (joined.outer_left.alone, joined.outer_left.ambiguous),
            (1, 1)
        );
    }

    #[test]
    fn empty_bodies_are_equal_by_chance() {
        let mut empty = with("", "", "", "h");
        empty.counts.bytes = 0;
        assert_eq!(join(&[empty.clone()], &[empty]).pairs, []);
    }
}
