//! What is printed, in every form.

use super::*;
use crate::sink::console::text::columns;

fn page(compared: &Compared, width: u16) -> String {
    let look = Look {
        width,
        ..Look::default()
    };
    print::text(compared, look)
}

#[test]
fn a_page() {
    let compared = compared(&run_of(40, 80.0, 25.0), &held(40));
    insta::assert_snapshot!("80", page(&compared, 80));
    insta::assert_snapshot!("120", page(&compared, 120));
}

#[test]
fn a_page_of_few_runs() {
    let compared = compared(&run_of(5, 80.0, 25.0), &run_of(5, 250.0, 25.0));
    let page = page(&compared, 80);
    insta::assert_snapshot!("few", page.split("\nThe longest").next().unwrap());
}

#[test]
fn a_page_of_cold_streams_and_failures_alone() {
    let mut failed = run_of(7, 80.0, 25.0);
    failed.iter_mut().for_each(|r| r.end = End::HttpError);
    let compared = compared(&run_of(0, 80.0, 25.0), &failed);
    insta::assert_snapshot!("nothing_warm", page(&compared, 80));
}

#[test]
fn lines_fit_any_page_and_nothing_steers_the_terminal() {
    let mut after = held(40);
    for record in &mut after {
        record.request.model = Some("\u{1b}[2J模型|`<b>@all \u{202e}".repeat(9));
        record.label = Some("\u{7}\n# label".to_owned());
    }
    let mut compared = compared(&run_of(40, 80.0, 25.0), &after);
    compared.after.name = "a\u{1b}]0;title\u{7}.jsonl".to_owned();
    for width in (40..170).step_by(7) {
        let page = page(&compared, width);
        for line in page.lines() {
            assert!(columns(line) <= usize::from(width), "{width}: {line}");
        }
        assert!(!page.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{page}");
    }
}

#[test]
fn a_table_for_a_pull_request() {
    let compared = compared(&run_of(40, 80.0, 25.0), &held(40));
    let condition = "gap_p99>+20ms".parse().unwrap();
    let checked = limits::check(&condition, &compared.before, &compared.after, 1);
    insta::assert_snapshot!("markdown", markdown::text(&compared, &[checked]));
}

#[test]
fn names_are_code_in_a_pull_request() {
    let mut after = run_of(9, 80.0, 25.0);
    for record in &mut after {
        record.label = Some("<img src=x> | @octocat `x` #1".to_owned());
        record.request.model = Some("![](http://h/)\n\n# big".to_owned());
    }
    let text = markdown::text(&compared(&run_of(9, 80.0, 25.0), &after), &[]);
    assert!(
        text.contains("(`` <img src=x> | @octocat `x` #1 ``)"),
        "{text}"
    );
    assert!(
        text.contains("`![](http://h/)\\n\\n# big` after."),
        "{text}"
    );
    // the table has as many cells in each row
    let rows = text.lines().filter(|line| line.starts_with('|'));
    assert!(rows.clone().count() > 10);
    assert!(
        rows.clone().all(|row| row.matches('|').count() == 8),
        "{text}"
    );
}

#[test]
fn an_object_for_other_programs() {
    let compared = compared(&run_of(40, 80.0, 25.0), &held(40));
    let condition = "ttft_p95>+10%".parse().unwrap();
    let checked = limits::check(&condition, &compared.before, &compared.after, 1);
    let text = json::text(&compared, &[checked]).unwrap();
    assert_eq!(text.lines().count(), 1);
    let object: serde_json::Value = serde_json::from_str(&text).unwrap();
    insta::assert_snapshot!("json", serde_json::to_string_pretty(&object).unwrap());
    let first = text.split("\"figures\":{\"").nth(1).unwrap();
    assert!(first.starts_with("ttft_p50"), "in their order");
}

#[test]
fn what_could_not_be_read_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let run = run_of(9, 80.0, 25.0);
    let [before, after] = ["b.jsonl", "a.jsonl"].map(|name| write(&dir, name, &run));
    let text = fs::read_to_string(&after).unwrap() + "not a record\n";
    fs::write(&after, text).unwrap();
    let (ended, page, _) = ran(typed(before.clone(), after));
    assert_eq!(ended.unwrap(), Ended::Well);
    assert!(page.contains("1 line could not be read"), "{page}");
    let (ended, ..) = ran(typed(before.clone(), dir.path().join("none.jsonl")));
    assert!(format!("{:#}", ended.unwrap_err()).contains("none.jsonl"));
    let empty = dir.path().join("empty.jsonl");
    fs::write(&empty, "").unwrap();
    let (ended, ..) = ran(typed(before, empty));
    assert!(ended.unwrap_err().to_string().contains("is empty"));
}

#[test]
fn either_run_may_be_chosen_out_of_one_log() {
    let dir = tempfile::tempdir().unwrap();
    let labelled = |ttft: f64, label: &str| {
        let mut run = run_of(9, ttft, 25.0);
        run.iter_mut()
            .for_each(|r| r.label = Some(label.to_owned()));
        run
    };
    let both = [labelled(80.0, "off"), labelled(250.0, "on")].concat();
    let log = write(&dir, "both.jsonl", &both);
    let mut asked = typed(log.clone(), log.clone());
    asked.wanted_before = vec!["label=off".to_owned()];
    asked.wanted_after = vec!["label=on".to_owned()];
    asked.wanted = vec!["model=llama*".to_owned()];
    let (_, page, _) = ran(asked);
    assert!(page.contains("(off): 10 of 20 requests, 9 warm"), "{page}");
    assert!(page.contains("TTFT p50 rose from"), "{page}");
    assert!(!page.contains("Not alike"), "{page}");
    let mut none = typed(log.clone(), log);
    none.wanted_after = vec!["label=other".to_owned()];
    let error = ran(none).0.unwrap_err().to_string();
    assert!(error.contains("none of the 20 records"), "{error}");
}
