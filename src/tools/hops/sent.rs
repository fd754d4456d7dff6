//! How often the hop sent a request: a hop that retries leaves several records in the inner log.

use std::collections::HashMap;

use super::join::{Key, Pair};
use crate::observe::record::RequestRecord;

/// How often each of these outer requests was sent by the hop, as far as ids of the client tell: the records of the inner
/// log that have the same. A trace that has several requests on the outer side tells nothing.
pub fn times_sent(pair: &Pair, counts: &Counts<'_>, outer: &[RequestRecord]) -> usize {
    let record = &outer[pair.outer];
    [Key::TraceId, Key::RequestId]
        .into_iter()
        .filter_map(|key| {
            let id = (key, key.of(record)?);
            (counts.outer.get(&id) == Some(&1)).then(|| counts.inner.get(&id).copied())?
        })
        .max()
        .unwrap_or(1)
}

/// How often each of the client's ids is in each log.
#[derive(Debug)]
pub struct Counts<'a> {
    inner: HashMap<(Key, &'a str), usize>,
    outer: HashMap<(Key, &'a str), usize>,
}

impl<'a> Counts<'a> {
    /// Of these logs.
    pub fn of(inner: &'a [RequestRecord], outer: &'a [RequestRecord]) -> Self {
        let count = |records: &'a [RequestRecord]| {
            let mut counts = HashMap::new();
            for record in records {
                for key in [Key::TraceId, Key::RequestId] {
                    if let Some(id) = key.of(record) {
                        *counts.entry((key, id)).or_insert(0) += 1;
                    }
                }
            }
            counts
        };
        Counts {
            inner: count(inner),
            outer: count(outer),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::hops::join::{join, tests::with};

    #[test]
    fn a_hop_that_sent_a_request_twice_is_told() {
        let inner = [
            with("", "r1", "a0", ""),
            with("", "r1", "a1", ""),
            with("", "r2", "a2", ""),
        ];
        let outer = [with("", "r1", "a1", ""), with("", "r2", "a2", "")];
        let joined = join(&inner, &outer);
        let counts = Counts::of(&inner, &outer);
        let sent: Vec<_> = joined
            .pairs
            .iter()
            .map(|pair| times_sent(pair, &counts, &outer))
            .collect();
        assert_eq!(sent, [2, 1]);
    }
}
