//! `dripline compare` end to end: the binary probes a simulated server that plays two scripts, and compares what it wrote.

mod support;

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;

use serde_json::Value;
use support::*;
use tempfile::TempDir;

/// Ten words, one every 10 ms.
const EVEN: &str = r#"
steps = [
    { wait = "30ms" },
    { head = true },
    { write = "role" },
    { write = "word", times = 10, every = "10ms" },
    { each = ["finish", "usage", "done"] },
]
"#;

/// The same words through a hop that lets go every 60 ms, and a later first one.
const HELD: &str = r#"
hold = { every = "60ms" }
steps = [
    { wait = "90ms" },
    { head = true },
    { write = "role" },
    { write = "word", times = 10, every = "10ms" },
    { each = ["finish", "usage", "done"] },
]
"#;

fn dripline(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dripline"));
    command.args(args);
    for variable in ["API_TOKEN", "OPENAI_API_KEY"] {
        command.env_remove(variable);
    }
    command.output().expect("the binary runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Probes a server that plays `scenario`, and writes the rows to a file.
fn probed(dir: &Path, name: &str, scenario: &str, more: &[&str]) -> String {
    let url = format!("http://{}", simulated(scenario));
    let asked = ["probe", &url, "--model", "t", "--runs", "12", "--json"];
    let output = dripline(&[&asked, more].concat());
    assert!(output.status.success(), "{output:?}");
    let path = dir.join(name);
    fs::write(&path, output.stdout).unwrap();
    path.display().to_string()
}

fn both(dir: &Path) -> [String; 2] {
    thread::scope(|scope| {
        let before = scope.spawn(|| probed(dir, "before.jsonl", EVEN, &["--timeline"]));
        let after = probed(
            dir,
            "after.jsonl",
            HELD,
            &["--timeline", "--label", "a hop"],
        );
        [before.join().unwrap(), after]
    })
}

fn object(args: &[&str]) -> Value {
    let output = dripline(&[&["compare"], args, &["--json"]].concat());
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn kinds(object: &Value) -> Vec<&str> {
    let warnings = object["warnings"].as_array().unwrap();
    let kinds = warnings.iter().map(|warning| warning["kind"].as_str());
    kinds.map(|kind| kind.unwrap()).collect()
}

#[test]
fn a_hop_that_holds_is_seen_and_the_exit_code_says_so() {
    let dir = TempDir::new().unwrap();
    let [before, after] = &both(dir.path());
    let compared = object(&[before, after]);
    let figure = |key: &str| &compared["figures"][key];
    assert_eq!(compared["before"]["warm"], 12);
    assert_eq!(compared["before"]["cold"], 1);
    assert_eq!(compared["after"]["label"], "a hop");
    for key in ["ttft_p50", "gap_p99_p50"] {
        let figure = figure(key);
        assert_eq!(figure["differs"], "clear", "{figure}");
        let [low, high] = ["ci_low", "ci_high"].map(|key| figure[key].as_f64().unwrap());
        assert!(15.0 < low && low < high && high < 200.0, "{figure}");
    }
    assert_eq!(figure("ttft_p95")["differs"], "clear", "they do not mix");
    assert_eq!(figure("ttft_p95")["ci_low"], Value::Null);
    assert_eq!(figure("errors")["after"], 0.0);
    // servers on other ports, and nothing else
    assert_eq!(kinds(&compared), ["upstream"], "{compared}");

    let output = dripline(&["compare", before, after]);
    assert!(output.status.success());
    let page = text(&output.stdout);
    for part in [
        "TTFT p50 rose from ",
        "\nGap p99 of the median stream rose from ",
        "Not alike\n  The upstreams differ: 127.0.0.1:",
        "\nGaps between token events\n",
        "▀ before   ▄ after   █ both",
        "a after: a hop",
    ] {
        assert!(page.contains(part), "no {part:?}:\n{page}");
    }
    assert!(!page.contains('\x1b'));

    let exit = |condition: &str| {
        let output = dripline(&["compare", before, after, "--fail-if", condition]);
        (output.status.code(), text(&output.stderr))
    };
    assert_eq!(exit("gap_p99>+10ms").0, Some(3));
    assert_eq!(exit("gap_p99>+10s").0, Some(0));
    assert_eq!(exit("gap_p99>10s").0, Some(0));
    assert_eq!(exit("gap_p99>-10s").0, Some(2));
    assert_eq!(exit("verdict=staedy").0, Some(2));
    let (code, told) = exit("ttft_p50>+10%");
    assert!(
        code == Some(3) && told.starts_with("--fail-if 'ttft_p50>+10%' holds: it was "),
        "{told}"
    );
}

#[test]
fn two_runs_of_one_server_are_alike() {
    let dir = TempDir::new().unwrap();
    let server = format!("http://{}", simulated(EVEN));
    let rows = |name: &str, more: &[&str]| {
        let asked = ["probe", &server, "--model", "t", "--runs", "12", "--json"];
        let output = dripline(&[&asked, more].concat());
        let path = dir.path().join(name);
        fs::write(&path, output.stdout).unwrap();
        path.display().to_string()
    };
    let [one, other] = ["one.jsonl", "other.jsonl"].map(|name| rows(name, &[]));
    let compared = object(&[&one, &other]);
    assert_eq!(kinds(&compared), [""; 0], "{compared}");
    // the scheduler of a busy machine may make a difference of a part of a millisecond
    let by = compared["figures"]["ttft_p50"]["difference"]
        .as_f64()
        .unwrap();
    assert!(by.abs() < 10.0, "{by}");
    assert_eq!(compared["figures"]["verdict_steady"]["differs"], "no");

    // more at a time, and a longer prompt
    let loaded = rows("loaded.jsonl", &["--concurrency", "6"]);
    assert_eq!(kinds(&object(&[&one, &loaded])), ["concurrency"]);
    let prompt = "word ".repeat(400);
    let longer = rows("longer.jsonl", &[&prompt]);
    let found = object(&[&one, &longer]);
    assert_eq!(kinds(&found), ["prompt"], "{found}");
}

#[test]
fn one_log_may_come_by_a_pipe() {
    let dir = TempDir::new().unwrap();
    let log: PathBuf = probed(dir.path(), "log.jsonl", EVEN, &[]).into();
    let mut command = Command::new(env!("CARGO_BIN_EXE_dripline"));
    let mut child = command
        .args(["compare", "-"])
        .arg(&log)
        .arg("--markdown")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let rows = fs::read(&log).unwrap();
    child.stdin.take().unwrap().write_all(&rows).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let table = text(&output.stdout);
    assert!(
        table.starts_with("- TTFT p50: no difference that 12 and 12 streams could show ("),
        "{table}"
    );
    assert!(
        table.contains("- before: `standard input`: 13 requests"),
        "{table}"
    );
}
