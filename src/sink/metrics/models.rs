//! Names of models as labels: bounded, whatever clients and servers call them.
//!
//! Each name costs some 300 series, for as long as the program runs, and it is the client who writes it. So a
//! name gets a label of its own when a request for it first went well, and only while there is room. All
//! others share [`OTHER`]: what a server refuses takes no room from what it serves.

use std::collections::{BTreeMap, BTreeSet};

use crate::observe::record::RequestRecord;

/// The label of the names that have none of their own.
pub const OTHER: &str = "other";

/// The models that have labels of their own.
#[derive(Debug)]
pub struct Models {
    most: usize,
    n: usize,
    /// Those asked for, each with those that answered.
    known: BTreeMap<String, BTreeSet<String>>,
}

/// The two names of a request, as labels; empty where there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Named<'a> {
    /// What was asked for.
    pub asked: &'a str,
    /// What answered.
    pub answered: &'a str,
}

impl Models {
    /// None yet, and room for `most` pairs of what was asked for and what answered.
    pub fn new(most: usize) -> Self {
        Models {
            most,
            n: 0,
            known: BTreeMap::new(),
        }
    }

    /// The labels of this record's names. There are never more than `3 · most + 4` pairs of labels, nor more
    /// than `most + 2` of each.
    pub fn named<'a>(&mut self, record: &'a RequestRecord) -> Named<'a> {
        let asked = record.request.model.as_deref().unwrap_or_default();
        let answered = record.response.model.as_deref().unwrap_or_default();
        let pair = Named { asked, answered };
        let is_known = |models: &Models| {
            let answers = models.known.get(asked);
            answers.is_some_and(|answers| answers.contains(answered))
        };
        if pair.is_empty() || is_known(self) {
            return pair;
        }
        if went_well(record) && self.n < self.most {
            self.n += 1;
            let answers = self.known.entry(asked.to_owned()).or_default();
            answers.insert(answered.to_owned());
            return pair;
        }
        let or_other = |name: &'a str, known: bool| match name.is_empty() || known {
            true => name,
            false => OTHER,
        };
        Named {
            asked: or_other(asked, self.known.contains_key(asked)),
            answered: or_other(answered, false),
        }
    }
}

impl Named<'_> {
    fn is_empty(&self) -> bool {
        self.asked.is_empty() && self.answered.is_empty()
    }
}

/// Whether the server took the request for one of its own.
fn went_well(record: &RequestRecord) -> bool {
    let is_good = |status| (200..300).contains(&status);
    record.error.is_none() && record.response.status.is_some_and(is_good)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;
    use crate::observe::record::{Request, Response};
    use crate::sink::sample::sample;

    fn record(asked: &str, answered: &str, status: u16) -> RequestRecord {
        let name = |name: &str| (!name.is_empty()).then(|| name.to_owned());
        RequestRecord {
            request: Request {
                model: name(asked),
                ..Request::default()
            },
            response: Response {
                model: name(answered),
                status: Some(status),
                ..Response::default()
            },
            ..sample()
        }
    }

    /// Each request's labels, in order.
    fn labels(most: usize, requests: &[(&str, &str, u16)]) -> Vec<(String, String)> {
        let mut models = Models::new(most);
        let named = |&(asked, answered, status): &(&str, &str, u16)| {
            let record = record(asked, answered, status);
            let named = models.named(&record);
            (named.asked.to_owned(), named.answered.to_owned())
        };
        requests.iter().map(named).collect()
    }

    #[test]
    fn a_name_that_was_served_has_a_label_from_then_on() {
        let labels = labels(
            9,
            &[
                ("new", "", 503),
                ("new", "new-2026", 200),
                ("new", "", 503),
                ("typo", "", 404),
                ("", "", 200),
                ("", "new-2026", 500),
            ],
        );
        let expected = [
            (OTHER, ""),
            ("new", "new-2026"),
            ("new", ""),
            (OTHER, ""),
            ("", ""),
            ("", OTHER),
        ];
        assert_eq!(labels, expected.map(|(a, b)| (a.into(), b.into())));
    }

    #[test]
    fn past_the_bound_names_are_others_and_those_before_keep_theirs() {
        let labels = labels(
            2,
            &[
                ("a", "a", 200),
                ("b", "b", 200),
                ("c", "c", 200),
                ("a", "x", 200),
                ("a", "a", 200),
                ("b", "", 502),
            ],
        );
        let expected = [
            ("a", "a"),
            ("b", "b"),
            (OTHER, OTHER),
            ("a", OTHER),
            ("a", "a"),
            ("b", ""),
        ];
        assert_eq!(labels, expected.map(|(a, b)| (a.into(), b.into())));
    }

    proptest! {
        #[test]
        fn labels_are_bounded_whatever_comes(
            most in 0..6usize,
            requests in prop::collection::vec(("[a-f]{0,2}", "[a-f]{0,2}", prop::sample::select(&[200u16, 404][..])), 0..300),
        ) {
            let mut models = Models::new(most);
            let (mut pairs, mut asked, mut answered) = (HashSet::new(), HashSet::new(), HashSet::new());
            for (request, response, status) in &requests {
                let record = record(request, response, *status);
                let named = models.named(&record);
                asked.insert(named.asked.to_owned());
                answered.insert(named.answered.to_owned());
                pairs.insert((named.asked.to_owned(), named.answered.to_owned()));
            }
            prop_assert!(pairs.len() <= 3 * most + 4);
            prop_assert!(asked.len() <= most + 2 && answered.len() <= most + 2);
        }
    }
}
