//! Whole outputs over a log of many kinds.

mod log;
mod pages;

use std::ffi::OsString;
use std::fs;

use super::*;
use crate::observe::record::{End, RequestRecord, Row};
use crate::sink::console;
use log::{failed, options, printed, records, stream, write};

fn by(by: By, width: u16) -> String {
    let dir = write(&records());
    printed(&dir, &options(&dir, Form::Summary(by), width))
}

/// What stands above the pictures.
fn page(by: By, width: u16) -> String {
    let text = self::by(by, width);
    text.split("\nThe longest gap").next().unwrap().to_owned()
}

/// The folder's name is of any length, so lines with it are folded anywhere.
fn without_unread(text: &str) -> String {
    let lines: Vec<_> = text.lines().collect();
    let from = lines
        .iter()
        .position(|line| line.starts_with("unread"))
        .unwrap();
    let after = lines[from..]
        .iter()
        .position(|line| line.is_empty())
        .unwrap();
    [&lines[..from], &lines[from + after..]].concat().join("\n")
}

#[test]
fn a_summary() {
    insta::assert_snapshot!(without_unread(&by(By::Model, 80)));
}

#[test]
fn a_summary_on_a_narrow_and_on_a_wide_page() {
    insta::assert_snapshot!("narrow", without_unread(&page(By::Model, 40)));
    insta::assert_snapshot!("wide", without_unread(&page(By::Model, 120)));
}

#[test]
fn a_summary_by_all_else() {
    for kind in [By::Path, By::Upstream, By::Verdict, By::Hour, By::Label] {
        insta::assert_snapshot!(kind.name(), without_unread(&page(kind, 80)));
    }
}

#[test]
fn lines_fit_any_page() {
    for width in (40..130).step_by(7) {
        for line in without_unread(&by(By::Model, width)).lines() {
            assert!(
                console::text::columns(line) <= usize::from(width),
                "{width}: {line}"
            );
        }
    }
}

#[test]
fn a_list_names_what_could_not_be_read() {
    let dir = write(&records()[38..]);
    insta::assert_snapshot!(printed(&dir, &options(&dir, Form::List, 80)));
}

#[test]
fn an_object_for_other_programs() {
    let dir = write(&records());
    let text = printed(&dir, &options(&dir, Form::Json(By::Model), 80));
    let object: serde_json::Value = serde_json::from_str(&text).unwrap();
    insta::assert_snapshot!(serde_json::to_string_pretty(&object).unwrap());
}

#[test]
fn rows_have_no_formulas_and_notes_stand_apart() {
    let dir = write(&records());
    let text = printed(&dir, &options(&dir, Form::Csv, 80));
    assert!(text.contains(",'-1+1,"), "{text}");
    assert!(text.ends_with(
        "cut off, the last one: the log is still being written, or its writer was stopped\n"
    ));
    assert_eq!(text.lines().count(), 1 + records().len() + 1);
}

#[test]
fn a_file_is_written_of_what_is_wanted_and_never_over_a_log() {
    let dir = write(&records());
    let log = dir.path().join("a.jsonl");
    let before = fs::read(&log).unwrap();
    let mut options = options(&dir, Form::Parquet(dir.path().join("a.parquet")), 80);
    options.choice.wanted = vec!["end=truncated".parse().unwrap()];
    let told = printed(&dir, &options);
    assert!(
        told.starts_with("a.parquet: 1 request\n2 lines could not be read"),
        "{told}"
    );
    options.form = Form::Trace(dir.path().join("a.json"));
    assert!(printed(&dir, &options).starts_with("a.json: 1 request\n2 lines"));
    let text = fs::read_to_string(dir.path().join("a.json")).unwrap();
    assert_eq!(text.matches(r#""cat":"request""#).count(), 1);
    options.form = Form::Trace("-".into());
    assert!(printed(&dir, &options).starts_with(&text));
    for form in [Form::Parquet(log.clone()), Form::Trace(log.clone())] {
        options.form = form;
        let error = run(&options, &mut Vec::new(), &mut Vec::new()).unwrap_err();
        assert!(error.to_string().contains("remove it"), "{error}");
        assert_eq!(fs::read(&log).unwrap(), before);
    }
}

#[test]
fn failures_and_whole_replies_are_in_no_latency() {
    let dir = write(&records());
    let options = options(&dir, Form::Json(By::Model), 80);
    let text = printed(&dir, &options);
    let object: serde_json::Value = serde_json::from_str(&text).unwrap();
    // the failed ones have a first token after 5 ms
    assert_eq!(object["warm"]["n"], 42);
    assert_eq!(object["cold"]["n"], 1);
    assert_eq!(object["errors"], 2);
    let streams: Vec<f64> = records()
        .iter()
        .filter(|record| record.end == End::Complete && !record.load.cold)
        .filter_map(|record| record.ttft_ms)
        .collect();
    let mean = streams.iter().sum::<f64>() / streams.len() as f64;
    assert!((object["mean_ttft_ms"].as_f64().unwrap() - mean).abs() < 0.001);
}

#[test]
fn only_what_is_wanted_is_counted() {
    let dir = write(&records());
    let chosen = |since: &str, wanted: &[&str]| {
        let mut options = options(&dir, Form::Json(By::Model), 80);
        options.choice.since = since.parse().ok();
        options.choice.wanted = wanted.iter().map(|text| text.parse().unwrap()).collect();
        let object: serde_json::Value = serde_json::from_str(&printed(&dir, &options)).unwrap();
        (
            object["records"].as_u64().unwrap(),
            object["read"].as_u64().unwrap(),
        )
    };
    let all = records().len() as u64;
    assert_eq!(chosen("", &[]), (all, all));
    assert_eq!(chosen("", &["model=llama*", "end!=complete"]), (3, all));
    assert_eq!(
        chosen("2026-12-02T05:40:00Z", &[]),
        (6, all),
        "{}",
        chosen("2026-12-02T05:40:00Z", &[]).0
    );
    let mut none = options(&dir, Form::Summary(By::Model), 80);
    none.choice.wanted = vec!["model=no".parse().unwrap()];
    let text = printed(&dir, &none);
    assert!(
        text.starts_with("records       0 of 46 in 1 log are as was asked for"),
        "{text}"
    );
}

#[test]
fn gaps_of_timelines_are_all_of_them() {
    let mut record = stream(1, "a", 100.0);
    record.timeline = Some(vec![
        Row(100_000, None, 9, 1, 1),
        Row(125_000, None, 9, 1, 0),
        Row(150_000, None, 9, 2, 2),
        Row(40, None, 9, u64::MAX, u64::MAX),
    ]);
    let dir = write(&[record]);
    let text = printed(&dir, &options(&dir, Form::Summary(By::Model), 80));
    assert!(text.contains("50 –  100 ms       1"), "{text}");
}

#[test]
fn hostile_numbers_are_counted_and_nothing_fails() {
    let mut records = records();
    for (i, record) in records.iter_mut().enumerate() {
        let odd = [-1.0, f64::MAX, 0.0, 1e300, f64::MIN][i % 5];
        record.ttft_ms = Some(odd);
        record.gaps.token.p99_ms = Some(-odd);
        record.gaps.token.mean_ms = Some(odd);
        record.gaps.token.n = u64::MAX;
        record.at.end_ms = Some(odd);
        record.at.last_token_ms = Some(-odd);
        record.tokens.completion = Some(u64::MAX);
        record.load.in_flight = u64::MAX;
        record.started_at = [
            "",
            "x",
            "-009999-01-02T01:59:59Z",
            "9999-12-30T22:00:00Z",
            "2026-12-02",
        ][i % 5]
            .to_owned();
    }
    let dir = write(&records);
    for form in [
        Form::Summary(By::Hour),
        Form::Json(By::Model),
        Form::List,
        Form::Csv,
        Form::Parquet(dir.path().join("requests.parquet")),
        Form::Trace(dir.path().join("trace.json")),
        Form::Trace("-".into()),
        Form::Explain("01M8TN7W26DEHEG7EQ9Z000100".to_owned()),
    ] {
        assert!(!printed(&dir, &options(&dir, form, 80)).is_empty());
    }
}

#[test]
fn what_is_typed_wrongly_is_told_with_its_flag() {
    let of = |args: &[&str]| {
        let args = ["dripline", "report", "a.jsonl"].iter().chain(args);
        let cli::Job::Report(typed) = cli::parse(args.map(OsString::from)).unwrap().command else {
            unreachable!()
        };
        let now = "2026-12-02T16:00:00Z[UTC]".parse().unwrap();
        Options::of(typed, &now, Look::default()).unwrap_err()
    };
    assert!(of(&["--where", "a=b"]).starts_with("--where: there is no key 'a'"));
    assert!(of(&["--since", "soon"]).starts_with("--since: 'soon' is no time"));
}

#[test]
fn a_file_that_is_no_log_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("log.jsonl");
    fs::write(&file, "# a readme\n\n- not a log\n").unwrap();
    for form in [Form::List, Form::Summary(By::default())] {
        let (mut out, mut notes) = (Vec::new(), Vec::new());
        let error = run(&options(&dir, form, 100), &mut out, &mut notes).unwrap_err();
        let error = error.to_string();
        assert!(
            error.contains("has no record") && error.contains("line 1"),
            "{error}"
        );
        assert!(out.is_empty());
    }
}

/// Cuts at one age, one a minute, each after another silence.
fn cuts() -> Vec<RequestRecord> {
    let cut = |i: u32| {
        let mut record = failed(i, End::Truncated);
        record.id = format!("0{i}");
        record.at.end_ms = Some(42_000.0 + f64::from(i));
        record.silence.before_end_ms = Some(20.0 + 400.0 * f64::from(i));
        record
    };
    (0..6).map(cut).collect()
}

#[test]
fn cuts_at_one_age_are_a_limit_in_a_report_too() {
    let dir = write(&cuts());
    let page = printed(&dir, &options(&dir, Form::Explain("05".to_owned()), 100));
    assert!(page.contains("total_cut"), "{page}");
}

#[test]
fn rotated_logs_are_read_from_the_oldest_on() {
    let dir = tempfile::tempdir().unwrap();
    let names = ["a.jsonl.2", "a.jsonl.1", "a.jsonl"];
    for (name, records) in names.iter().zip(cuts().chunks(2)) {
        let lines = records
            .iter()
            .map(|record| serde_json::to_string(record).unwrap() + "\n");
        fs::write(dir.path().join(name), lines.collect::<String>()).unwrap();
    }
    let of = |form| {
        let mut options = options(&dir, form, 100);
        options.logs = vec![dir.path().join("*")];
        printed(&dir, &options)
    };
    let page = of(Form::Explain("05".to_owned()));
    assert!(page.contains("total_cut"), "{page}");
    let list = of(Form::List);
    let ids: Vec<_> = list.lines().skip(1).map(|line| &line[..2]).collect();
    assert_eq!(ids, ["00", "01", "02", "03", "04", "05"]);
}
