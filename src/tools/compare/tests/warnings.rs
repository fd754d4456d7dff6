//! An alarm for each kind of difference, and none without one.

use super::*;
use crate::observe::dialect::Api;
use crate::observe::record::Stamps;
use crate::tools::compare::unlike::unlike;

fn kinds(before: &[RequestRecord], after: &[RequestRecord]) -> Vec<&'static str> {
    let found = unlike(&side("b", before), &side("a", after), str::to_owned);
    found.into_iter().map(|unlike| unlike.kind).collect()
}

/// A run of the same probe, changed by `change`.
fn other(n: u32, change: impl Fn(u32, &mut RequestRecord)) -> Vec<RequestRecord> {
    let mut run = run_of(n, 80.0, 25.0);
    (0..)
        .zip(&mut run)
        .for_each(|(i, record)| change(i, record));
    run
}

#[test]
fn two_runs_of_one_probe_give_no_alarm() {
    for n in [1, 5, 12, 40] {
        let before = other(n, |i, record| {
            record.load.in_flight = u64::from(i.min(3));
            record.label = Some("off".to_owned());
        });
        // everything that is measured may differ, and so may labels and a few characters
        let mut after = held(n);
        for (i, record) in (0u32..).zip(&mut after) {
            record.load.in_flight = u64::from(i.min(2 + i % 2));
            record.label = Some("on".to_owned());
            record.tokens.completion = Some(40 - u64::from(i % 3));
        }
        assert_eq!(kinds(&before, &after), [""; 0], "{n}");
    }
}

#[test]
fn each_kind_of_difference_gives_its_alarm() {
    type Alter = fn(u32, &mut RequestRecord);
    let all: [(&str, Alter); 12] = [
        ("model", |_, r| r.request.model = Some("other".to_owned())),
        ("model_answered", |_, r| {
            r.response.model = Some("llama-3.1-8b-0602".to_owned());
        }),
        ("path", |_, r| {
            r.request.path = Some("/v1/messages".to_owned())
        }),
        ("api", |_, r| r.api = Some(Api::Messages)),
        ("upstream", |_, r| {
            r.upstream.name = Some("gpu-2:8000".to_owned())
        }),
        ("encoding", |_, r| {
            r.response.content_encoding = Some("gzip".to_owned())
        }),
        ("stamps", |_, r| r.stamps = Some(Stamps::Read)),
        ("connections", |_, r| r.upstream.reused = Some(true)),
        ("prompt", |_, r| r.request.bytes = 4800),
        ("prompt_tokens", |_, r| r.tokens.prompt = Some(1200)),
        ("prompt_cache", |_, r| r.tokens.cached = Some(16)),
        ("answers", |_, r| r.tokens.completion = Some(400)),
    ];
    for n in [1, 5, 40] {
        let before = other(n, |_, r| r.tokens.cached = Some(0));
        for (kind, alter) in all {
            let after = other(n, |i, r| {
                r.tokens.cached = Some(0);
                alter(i, r);
            });
            assert_eq!(kinds(&before, &after), [kind], "{n}");
            assert_eq!(kinds(&after, &before), [kind], "{n}");
        }
    }
}

#[test]
fn mixes_give_alarms_too() {
    let half = |i: u32, record: &mut RequestRecord| {
        if i.is_multiple_of(2) {
            record.request.model = Some("other".to_owned());
            record.response.model = Some("other".to_owned());
        }
    };
    let (one, two) = (other(40, |_, _| {}), other(40, half));
    assert_eq!(kinds(&one, &two), ["model"]);
    assert_eq!(kinds(&two, &two), [""; 0]);
    let found = unlike(&side("b", &one), &side("a", &two), str::to_owned);
    assert_eq!(
        found[0].sentence,
        "The models asked for differ: llama-3.1-8b before, other 51 %, llama-3.1-8b 49 % after. Keep one of them with \
         `--where model=NAME`, or ask for the same."
    );
    let labels = other(40, |i, r| r.label = Some((i % 2).to_string()));
    assert_eq!(kinds(&one, &labels), ["label"]);
    let sizes = other(40, |i, r| r.request.bytes = 75 + u64::from(i % 2) * 4000);
    assert_eq!(kinds(&one, &sizes), ["prompt"]);
}

#[test]
fn load_cold_starts_and_size_give_alarms() {
    let one = other(40, |_, _| {});
    let loaded = other(40, |i, r| r.load.in_flight = u64::from(i.min(7)));
    assert_eq!(kinds(&one, &loaded), ["concurrency"]);
    let few = other(5, |_, _| {});
    let loaded = other(5, |i, r| r.load.in_flight = u64::from(i.min(3)));
    assert_eq!(kinds(&few, &loaded), ["concurrency"]);
    let cold = other(40, |i, r| r.load.cold = i.is_multiple_of(2));
    assert_eq!(kinds(&one, &cold), ["cold"]);
    assert_eq!(kinds(&one, &other(400, |_, _| {})), ["n"]);
    assert_eq!(kinds(&one, &other(300, |_, _| {})), [""; 0]);
}

/// A longer name of the model makes a request longer, and its prompt not.
#[test]
fn a_name_of_a_model_is_no_prompt() {
    let named = |name: &str| {
        other(5, |_, r| {
            r.request.model = Some(name.to_owned());
            r.request.bytes = 70 + name.len() as u64;
        })
    };
    assert_eq!(kinds(&named("m"), &named(&"m".repeat(60))), ["model"]);
}

#[test]
fn answers_without_a_count_are_compared_by_characters() {
    let uncounted = |chars: u64| {
        other(5, |_, r| {
            r.tokens.completion = None;
            r.counts.chars = Some(chars);
        })
    };
    assert_eq!(
        kinds(&uncounted(200), &uncounted(900)),
        ["answer_characters"]
    );
    let counted = other(5, |_, r| r.counts.chars = Some(900));
    assert_eq!(kinds(&other(5, |_, _| {}), &counted), [""; 0]);
}
