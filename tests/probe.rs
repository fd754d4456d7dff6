//! `dripline probe` end to end: the binary against the simulated server, against scripted faults, and through a proxy.

mod support;

/// What it says where something is wrong.
#[path = "probe/faults.rs"]
mod faults;
/// Over HTTP/2.
#[path = "probe/h2.rs"]
mod h2;
/// The same, frame by frame.
#[path = "probe/h2_frames.rs"]
mod h2_frames;
/// What other programs read of it.
#[path = "probe/outputs.rs"]
mod outputs;
/// Two ways to the server.
#[path = "probe/via.rs"]
mod via;

use std::process::{Command, Output};

use serde_json::Value;
use support::*;

/// Eight words, one every 10 ms.
pub const SCENARIO: &str = r#"
steps = [
    { wait = "30ms" },
    { head = true },
    { write = "role" },
    { write = "word", times = 8, every = "10ms" },
    { each = ["finish", "usage", "done"] },
]
"#;

/// The binary with these arguments, and without keys but for what `dress` sets.
pub fn probe_with(args: &[&str], dress: impl FnOnce(&mut Command)) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dripline"));
    command.arg("probe").args(args);
    for variable in ["API_TOKEN", "OPENAI_API_KEY"] {
        command.env_remove(variable);
    }
    dress(&mut command);
    command.output().expect("the binary runs")
}

/// The same, with nothing set.
pub fn probe(args: &[&str]) -> Output {
    probe_with(args, |_| {})
}

/// What it printed.
pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// What it said beside.
pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// The rows of a probe that ends well.
pub fn rows(args: &[&str]) -> Vec<Value> {
    let output = probe(&[args, &["--json"]].concat());
    assert!(output.status.success(), "{args:?}: {output:?}");
    let text = stdout(&output);
    let rows = text.lines().map(|line| serde_json::from_str(line).unwrap());
    rows.collect()
}

/// The base URL of a server.
pub fn url(addr: std::net::SocketAddr) -> String {
    format!("http://{addr}")
}

fn number(value: &Value) -> f64 {
    value
        .as_f64()
        .unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn every_api_is_spoken_and_measured_alike() {
    let server = url(simulated(SCENARIO));
    for (api, of_record, path) in [
        ("chat", "chat", "/v1/chat/completions"),
        ("completions", "completions", "/v1/completions"),
        ("responses", "responses", "/v1/responses"),
        ("messages", "messages", "/v1/messages"),
        ("ollama", "ollama_chat", "/api/chat"),
    ] {
        let rows = rows(&[
            &server, "hi", "--api", api, "--model", "t", "--runs", "1", "--warmup", "0",
        ]);
        assert_eq!(rows.len(), 1);
        let (row, record) = (&rows[0], &rows[0]["record"]);
        assert_eq!(record["api"], of_record, "{row}");
        assert_eq!(record["request"]["path"], path);
        assert_eq!(record["request"]["model"], "t");
        assert_eq!(record["request"]["stream"], true);
        assert_eq!(record["end"], "complete");
        assert_eq!(row["chunks"], 8, "{api}: {row}");
        assert!(number(&row["chars"]) > 8.0);
        // 30 ms; the server may have the request a little before the client knows that it has left.
        assert!((0.02..1.0).contains(&number(&row["ttft_s"])), "{row}");
        assert!(number(&row["total_s"]) >= 0.09, "{row}");
        assert!((0.005..0.05).contains(&number(&row["gap_p50_s"])), "{row}");
        assert!(
            (10.0..=300.0).contains(&number(&row["tps_after_first"])),
            "{row}"
        );
    }
    let generate = rows(&[&format!("{server}/api/generate"), "--runs", "1"]);
    assert_eq!(generate[1]["record"]["api"], "ollama_generate");
}

#[test]
fn what_a_record_says_of_its_connection_and_its_request() {
    let server = simulated(SCENARIO);
    let named = format!("http://localhost:{}", server.port());
    let rows = rows(&[
        &named, "hi", "--model", "t", "--label", "mine", "--runs", "1",
    ]);
    for row in &rows {
        let record = &row["record"];
        assert_eq!(record["label"], "mine");
        assert_eq!(record["request"]["request_id"], record["id"]);
        let upstream = &record["upstream"];
        assert_eq!(upstream["reused"], false);
        assert!(number(&upstream["dns_ms"]) > 0.0, "{upstream}");
        assert!(number(&upstream["connect_ms"]) > 0.0, "{upstream}");
        assert_eq!(upstream["tls_ms"], Value::Null);
        let at = &record["at"];
        assert_eq!(
            (&at["request_end_ms"], &at["sent_ms"]),
            (&0.0.into(), &0.0.into())
        );
        if cfg!(target_os = "linux") {
            assert_eq!(record["stamps"], "kernel");
        }
    }
}

#[test]
fn cold_runs_are_marked_and_stand_apart() {
    // cold is a second, warm is nothing
    let up = Upstream::start(|x| {
        x.request();
        if x.number < 2 {
            pause(600);
        }
        x.send(short_stream(4));
    });
    let output = probe(&[
        &up.url(),
        "--runs",
        "3",
        "--warmup",
        "2",
        "--fail-if",
        "ttft_max>500ms",
    ]);
    assert!(
        output.status.success(),
        "no cold run is in a figure: {output:?}"
    );
    let text = stdout(&output);
    let (table, summary) = text.split_once("\n\n3 warm runs\n").expect("a summary");
    let marked: Vec<_> = table
        .lines()
        .filter(|line| line.starts_with("warm-up"))
        .collect();
    assert_eq!(marked.len(), 2, "{text}");
    for run in ["1 ", "2 ", "3 "] {
        let own = table.lines().filter(|line| line.starts_with(run));
        assert_eq!(own.count(), 1, "{text}");
    }
    assert!(
        summary.contains("c cold") && summary.contains(" 9 "),
        "{text}"
    );

    // with no warm-up the first run is cold all the same
    let rows = rows(&[&up.url(), "--runs", "2", "--warmup", "0"]);
    let cold: Vec<_> = rows
        .iter()
        .map(|row| row["cold"].as_bool().unwrap())
        .collect();
    assert_eq!(cold, [true, false]);
}

#[test]
fn runs_go_side_by_side_or_by_the_second() {
    let server = url(simulated(SCENARIO));
    let in_flight = |rows: &[Value]| {
        let loads = rows
            .iter()
            .map(|row| row["record"]["load"]["in_flight"].as_u64().unwrap());
        loads.max().unwrap()
    };
    let side_by_side = rows(&[&server, "--model", "t", "--runs", "8", "--concurrency", "4"]);
    assert_eq!((side_by_side.len(), in_flight(&side_by_side)), (9, 3));
    assert_eq!(
        in_flight(&rows(&[&server, "--model", "t", "--runs", "3"])),
        0
    );

    let open = rows(&[&server, "--model", "t", "--runs", "20", "--rate", "100"]);
    assert_eq!(open.len(), 21);
    assert!(in_flight(&open) > 3, "it does not wait for the server");

    let timed = rows(&[
        &server,
        "--model",
        "t",
        "--duration",
        "500ms",
        "--warmup",
        "0",
    ]);
    assert!((2..=6).contains(&timed.len()), "{}", timed.len());
}

#[test]
fn everything_is_shown_to_a_person() {
    let server = url(simulated(SCENARIO));
    let output = probe(&[
        &server,
        "a prompt of my own",
        "--model",
        "stall",
        "--runs",
        "2",
    ]);
    let text = stdout(&output);
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{output:?}"
    );
    for part in [
        &format!("{server}\n  chat, model stall, prompt of 18 characters, at most 128 tokens\n"),
        "  1 warm-up, then 2 runs, one after the other\n",
        "warm-up ",
        "2 warm runs\nconnection    connect ",
        "verdicts      2 stall_no_catch_up (upstream)",
        "to try: look at the server's scheduler",
        "token events 40",
        "Gaps between token events",
        "time to first token (TTFT)",
        "s stall at 127.0.0.1:",
        "c cold",
    ] {
        assert!(text.contains(part), "no {part:?}:\n{text}");
    }
    assert!(
        !text.contains("a prompt of my own") && !text.contains('\x1b'),
        "{text}"
    );
}
