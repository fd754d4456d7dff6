//! What was the same in all runs, and what was not: a silent change is how throughput becomes folklore.

use super::run::Run;
use crate::observe::record::RequestRecord;
use crate::sink::console::text::{shown, word};

/// Columns that a word of the server's may take.
const NAME: usize = 40;

/// What a run is looked at for.
enum Fact {
    /// A word, the same or another.
    Word(fn(&RequestRecord) -> Option<String>),
    /// A number, whose range tells.
    Number(fn(&RequestRecord) -> Option<u64>),
}

const FACTS: [(&str, Fact); 14] = [
    (
        "status",
        Fact::Word(|r| Some(r.response.status?.to_string())),
    ),
    (
        "model that answered",
        Fact::Word(|r| own(&r.response.model)),
    ),
    ("server", Fact::Word(|r| own(&r.response.server))),
    ("address", Fact::Word(|r| own(&r.upstream.addr))),
    (
        "content type",
        Fact::Word(|r| own(&r.response.content_type)),
    ),
    (
        "content encoding",
        Fact::Word(|r| own(&r.response.content_encoding)),
    ),
    ("framing", Fact::Word(|r| Some(word(&r.response.framing?)))),
    ("arrival times by", Fact::Word(|r| Some(word(&r.stamps?)))),
    ("prompt tokens", Fact::Number(|r| r.tokens.prompt)),
    ("cached tokens", Fact::Number(|r| r.tokens.cached)),
    ("completion tokens", Fact::Number(|r| r.tokens.completion)),
    ("token events", Fact::Number(|r| r.counts.token_events)),
    ("characters", Fact::Number(|r| r.counts.chars)),
    ("others open", Fact::Number(|r| Some(r.load.in_flight))),
];

fn own(text: &Option<String>) -> Option<String> {
    text.as_deref().map(|text| shown(text, NAME))
}

/// What is the same in all `runs`, and what differs between them, each as a list in words.
pub(super) fn compared(runs: &[&Run]) -> (Vec<String>, Vec<String>) {
    let (mut same, mut differs) = (Vec::new(), Vec::new());
    for (name, fact) in &FACTS {
        let told = match fact {
            Fact::Word(of) => words(runs.iter().map(|run| of(&run.record))),
            Fact::Number(of) => numbers(runs.iter().map(|run| of(&run.record))),
        };
        match told {
            Some(Told::Same(value)) => same.push(format!("{name} {value}")),
            Some(Told::Differs(values)) => differs.push(format!("{name} {values}")),
            None => {}
        }
    }
    (same, differs)
}

enum Told {
    Same(String),
    Differs(String),
}

fn words(values: impl Iterator<Item = Option<String>>) -> Option<Told> {
    let mut counts: Vec<(String, usize)> = Vec::new();
    for value in values {
        let value = value.unwrap_or_else(|| "none".to_owned());
        match counts.iter_mut().find(|(known, _)| *known == value) {
            Some((_, count)) => *count += 1,
            None => counts.push((value, 1)),
        }
    }
    match counts.as_slice() {
        [] => None,
        [(value, _)] if value == "none" => None,
        [(value, _)] => Some(Told::Same(value.clone())),
        many => {
            let many: Vec<_> = many
                .iter()
                .map(|(value, count)| format!("{value} ({count})"))
                .collect();
            Some(Told::Differs(many.join(" or ")))
        }
    }
}

fn numbers(values: impl Iterator<Item = Option<u64>>) -> Option<Told> {
    let values: Vec<_> = values.collect();
    let known: Vec<u64> = values.iter().flatten().copied().collect();
    let (least, most) = (known.iter().min()?, known.iter().max()?);
    let missing = values.len() - known.len();
    Some(match (least == most, missing) {
        (true, 0) => Told::Same(least.to_string()),
        (true, n) => Told::Differs(format!("{least} ({n} without)")),
        (false, 0) => Told::Differs(format!("{least} to {most}")),
        (false, n) => Told::Differs(format!("{least} to {most} ({n} without)")),
    })
}

#[cfg(test)]
mod tests {
    use super::super::run::sample;
    use super::*;

    #[test]
    fn what_differs_is_named_with_its_values() {
        let mut runs = [
            sample(Some(1), 80.0),
            sample(Some(2), 80.0),
            sample(Some(3), 80.0),
        ];
        let compared_now = |runs: &[Run]| compared(&runs.iter().collect::<Vec<_>>());
        let (same, differs) = compared_now(&runs);
        assert!(differs.is_empty(), "{differs:?}");
        assert!(same.contains(&"characters 203".to_owned()), "{same:?}");
        assert!(
            same.iter().all(|fact| !fact.contains("encoding")),
            "{same:?}"
        );

        runs[1].record.counts.chars = Some(221);
        runs[2].record.response.model = Some("other\u{1b}".to_owned());
        runs[2].record.tokens.completion = None;
        let (_, differs) = compared_now(&runs);
        assert_eq!(
            differs,
            [
                "model that answered stall (2) or other\\u{1b} (1)",
                "completion tokens 40 (1 without)",
                "characters 203 to 221",
            ]
        );
    }
}
