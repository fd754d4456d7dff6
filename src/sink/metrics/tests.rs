//! Records in, text out.

pub mod records;
mod text;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proptest::prelude::*;

use super::catalog::ALL;
use super::*;
use crate::observe::distribution::GAP_BOUNDS;
use crate::observe::record::{End, ErrorInfo, ErrorKind};
use records::{ended, streamed};
use text::{Sample, samples};

fn metrics(most_models: usize, records: &[RequestRecord]) -> Arc<Metrics> {
    let metrics = Metrics::new(most_models);
    records
        .iter()
        .for_each(|record| assert!(metrics.write(record)));
    Arc::new(metrics)
}

/// As the proxy would have it with one request open.
fn now() -> Now {
    let totals = |kind, written, lost| Totals {
        name: "/a/path/that/is/nobody's".into(),
        kind,
        written,
        lost,
    };
    Now {
        in_flight: vec![("127.0.0.1:8000".into(), 1)],
        records: vec![totals("log", 4, 1), totals("metrics", 5, 0)],
    }
}

/// A few requests of each kind.
fn some() -> Vec<RequestRecord> {
    let steady = streamed("gpt-oss", &[0.4, 12.0, 20.0, 20.0, 30.0]);
    let mut traced = streamed("gpt-oss", &[20.0, 700.0, 20.0]);
    traced.request.trace_id = Some("4bf92f3577b34da6a3ce929d0e0e4736".into());
    traced.load.cold = false;
    let mut refused = ended("gpt-oss", End::HttpError, Some(ErrorKind::HttpError));
    refused.response.status = Some(429);
    let mut typo = refused.clone();
    typo.request.model = Some("gpt-os".into());
    typo.response.status = Some(404);
    let gone = ended("gpt-oss", End::UpstreamUnreachable, Some(ErrorKind::Dns));
    vec![steady, traced, refused, typo, gone]
}

#[test]
fn the_text_of_prometheus() {
    insta::assert_snapshot!(metrics(9, &some()).encode(Format::Text, now));
}

#[test]
fn the_text_of_open_metrics() {
    insta::assert_snapshot!(metrics(9, &some()).encode(Format::OpenMetrics, now));
}

#[test]
fn what_is_open_is_asked_for_after_what_has_ended() {
    let metrics = metrics(9, &[]);
    let late = metrics.clone();
    let page = metrics.encode(Format::Text, move || {
        late.write(&streamed("late", &[20.0]));
        Now::default()
    });
    assert!(!page.contains("late"), "{page}");
    assert!(metrics.encode(Format::Text, now).contains("late"));
}

#[test]
fn every_gap_of_every_request_is_in_its_bucket() {
    let gaps = [
        [0.4, 0.5, 0.501, 25.0, 700.0],
        [81_920.0, 90_000.0, 0.0, 25.001, 1.0],
    ];
    let records: Vec<_> = gaps.iter().map(|gaps| streamed("m", gaps)).collect();
    let page = metrics(9, &records).encode(Format::Text, Now::default);
    let samples = samples(&page);
    let value = |name: &str, le: Option<f64>| -> f64 {
        let fits = |sample: &&Sample| {
            let bound = sample.labels.get("le").map(|le| le.parse::<f64>().unwrap());
            sample.name == name && bound == le
        };
        samples
            .iter()
            .find(fits)
            .unwrap_or_else(|| panic!("no {name} {le:?}"))
            .value
    };
    let up_to = |bound: f64| {
        gaps.iter()
            .flatten()
            .filter(|ms| **ms / 1e3 <= bound)
            .count() as f64
    };
    for (name, least) in [
        ("dripline_token_gap_seconds", 0.0005),
        (
            "gen_ai_client_operation_time_per_output_chunk_seconds",
            0.01,
        ),
    ] {
        let bucket = format!("{name}_bucket");
        let bounds: Vec<f64> = samples
            .iter()
            .filter(|sample| sample.name == bucket)
            .map(|sample| sample.labels["le"].parse().unwrap())
            .collect();
        assert_eq!((bounds[0], bounds.is_sorted()), (least, true));
        for bound in bounds {
            assert_eq!(value(&bucket, Some(bound)), up_to(bound), "{name} {bound}");
        }
        assert_eq!(value(&format!("{name}_count"), None), 10.0);
        let sum: f64 = gaps.iter().flatten().sum::<f64>() / 1e3;
        assert!((value(&format!("{name}_sum"), None) - sum).abs() < 1e-9);
    }
    // The longest of each request, once.
    assert_eq!(value("dripline_longest_token_gap_seconds_count", None), 2.0);
    assert_eq!(
        value("dripline_longest_token_gap_seconds_bucket", Some(0.75)),
        1.0
    );
    assert_eq!(GAP_BOUNDS.last(), Some(&81_920_000));
}

#[test]
fn stalls_past_the_worst_five_are_counted() {
    let mut gaps = [20.0; 100];
    gaps[10..17].fill(300.0);
    let record = streamed("m", &gaps);
    assert_eq!(record.stalls.len(), 5);
    let page = metrics(9, &[record]).encode(Format::Text, Now::default);
    let stalls = samples(&page)
        .into_iter()
        .find(|sample| sample.name == "dripline_stalls_total");
    assert_eq!(stalls.unwrap().value, 7.0);
}

#[test]
fn what_fails_is_an_operation_with_the_type_of_its_error() {
    let page = metrics(9, &some()).encode(Format::Text, Now::default);
    let mut types = BTreeMap::new();
    for sample in samples(&page) {
        if sample.name == "gen_ai_client_operation_duration_seconds_count" {
            let kind = sample.labels.get("error_type").cloned().unwrap_or_default();
            types.insert(kind, sample.value);
        }
    }
    let expected = [("", 2.0), ("404", 1.0), ("429", 1.0), ("dns", 1.0)];
    assert_eq!(types, expected.map(|(kind, n)| (kind.to_owned(), n)).into());
}

/// What the catalog says of names, kinds, units and labels is what is written, of all and nothing else.
#[test]
fn the_catalog_is_what_is_written() {
    let mut all = some();
    all.push(ended("m", End::ClientGone, None));
    let metrics = metrics(9, &all);
    for format in [Format::Text, Format::OpenMetrics] {
        let page = metrics.encode(format, now);
        let helps: Vec<&str> = page
            .lines()
            .filter_map(|line| line.strip_prefix("# HELP "))
            .collect();
        assert_eq!(helps.len(), ALL.len());
        let samples = samples(&page);
        for (about, help) in ALL.iter().zip(helps) {
            assert!(help.ends_with(about.help), "{help}");
            let name = about.full_name();
            let series: Vec<&Sample> = samples
                .iter()
                .filter(|sample| {
                    let rest = sample.name.strip_prefix(&name);
                    matches!(rest, Some("" | "_bucket" | "_sum" | "_count"))
                })
                .collect();
            assert!(!series.is_empty(), "the records here show no {name}");
            let mut labels: BTreeSet<&str> = series
                .iter()
                .flat_map(|sample| sample.labels.keys().map(String::as_str))
                .collect();
            assert_eq!(labels.remove("le"), !about.bounds.is_empty(), "{name}");
            assert_eq!(labels, about.labels.iter().copied().collect(), "{name}");
        }
    }
}

#[test]
fn an_exemplar_leads_to_its_request_and_stays_short() {
    let page = metrics(9, &some()).encode(Format::OpenMetrics, now);
    let exemplars: Vec<&str> = page
        .lines()
        .filter_map(|line| line.split_once(" # "))
        .map(|(_, e)| e)
        .collect();
    let longest = r#"{trace_id="4bf92f3577b34da6a3ce929d0e0e4736",record_id="01JE2X3Y4Z"} 0.7"#;
    assert!(exemplars.contains(&longest), "{exemplars:?}");
    for exemplar in exemplars {
        let labels = exemplar.split_once('}').unwrap().0;
        assert!(
            labels.len() <= 128 && labels.contains("record_id"),
            "{exemplar}"
        );
    }
    assert!(page.ends_with("\n# EOF\n"));
}

#[test]
fn a_record_of_a_log_has_no_gaps_to_count_but_the_rest() {
    let mut record = streamed("m", &[20.0, 20.0]);
    record.distributions = None;
    let page = metrics(9, &[record]).encode(Format::Text, Now::default);
    let names: BTreeSet<String> = samples(&page)
        .into_iter()
        .map(|sample| sample.name)
        .collect();
    assert!(names.contains("dripline_ttft_seconds_count"));
    assert!(!names.contains("dripline_token_gap_seconds_count"));
}

/// What may stand in a name.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-c]",
        any::<String>(),
        r#"[\\"\n{}=,# ]{0,8}"#,
        Just("other".to_owned()),
        Just("# EOF".to_owned()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever clients and servers call their models: the text can be read, no label is changed on its way, and there
    /// are only so many series.
    #[test]
    fn hostile_names_neither_break_the_text_nor_grow_it(
        most in 0..4usize,
        names in prop::collection::vec((name(), name(), prop::bool::ANY), 1..40),
    ) {
        let records: Vec<RequestRecord> = names
            .iter()
            .map(|(asked, answered, well)| {
                let mut record = streamed("m", &[20.0, 30.0]);
                record.request.model = Some(asked.clone());
                record.response.model = Some(answered.clone());
                if !well {
                    record.response.status = Some(404);
                    record.error = Some(ErrorInfo { kind: ErrorKind::HttpError, server_type: Some(answered.clone()) });
                    record.end = End::HttpError;
                }
                record
            })
            .collect();
        let metrics = metrics(most, &records);
        for format in [Format::Text, Format::OpenMetrics] {
            let page = metrics.encode(format, now);
            let samples = samples(&page);
            let known: BTreeSet<&str> = names
                .iter()
                .flat_map(|(asked, answered, _)| [asked.as_str(), answered])
                .chain(["other"])
                .collect();
            let mut pairs = BTreeSet::new();
            for sample in &samples {
                let label = |name| sample.labels.get(name).map_or("", String::as_str);
                for model in ["model", "gen_ai_request_model", "gen_ai_response_model"].map(label) {
                    prop_assert!(model.is_empty() || known.contains(model), "{model:?}");
                }
                pairs.insert((label("gen_ai_request_model"), label("gen_ai_response_model")));
            }
            prop_assert!(pairs.len() <= 3 * most + 4);
            prop_assert!(samples.len() <= 200 + (3 * most + 4) * 350, "{} series", samples.len());
        }
    }
}
