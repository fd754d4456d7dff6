//! The README is true: what of it can be run is run, and what it names exists.
//!
//! A comment `<!-- test: … -->` before a block says what is done with it:
//!
//! - `run`: a shell runs it, and each of its commands must succeed; server and proxy are there
//! - `run apart`: the same, with a server and a proxy of its own
//! - `stays up`: each of its commands must listen, and end well when it is asked to
//! - `run with the SDK`: the same as `run`, with what `make test` installs (`TEST_FULL=1`)
//! - `not run, REASON`
//! - `what it prints`: the output of the command before it, whole or up to `[…]`
//! - what else is compared: `the proxy's terminal`, `a record`, `settings`, `a probe`

mod support;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{Write, stderr};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use dripline::config::threshold::Condition;
use dripline::config::{self, Settings};
use dripline::observe::record::{End as RecordEnd, Flag, RequestRecord, Timing};
use dripline::tools::hops::judge::Word as HopVerdict;
use dripline::tools::probe::is_threshold;
use dripline::tools::report::meaning;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use support::http::Head;
use support::*;
use tempfile::TempDir;

const README: &str = include_str!("../README.md");

/// Where server and proxy listen in the README. Here they get free ports.
const SERVER: &str = "127.0.0.1:8000";
const PROXY: &str = "127.0.0.1:8080";
const PAGE: &str = "127.0.0.1:8090";

/// The rows of the table of changes, and the tests that pin each.
const PINNED: [(&str, &str, &[&str]); 13] = [
    (
        "requests",
        "`Host`",
        &[
            "a_request_head_passes_in_order_and_only_host_names_the_upstream",
            "a_missing_host_is_added_and_an_absolute_target_becomes_a_path",
        ],
    ),
    (
        "requests",
        "target, version",
        &[
            "a_path_in_the_upstream_url_is_a_prefix",
            "a_missing_host_is_added_and_an_absolute_target_becomes_a_path",
            "a_target_that_is_no_uri_is_refused_and_a_fragment_does_not_pass",
        ],
    ),
    (
        "responses",
        "`Date`",
        &["a_response_head_passes_in_order_but_for_what_is_listed"],
    ),
    (
        "responses",
        "`Connection`",
        &["a_response_head_passes_in_order_but_for_what_is_listed"],
    ),
    (
        "responses",
        "status line",
        &[
            "status_lines_pass",
            "a_reason_phrase_that_is_not_ascii_is_lost",
            "an_http_1_0_upstream_is_not_held",
        ],
    ),
    (
        "responses",
        "trailers",
        &["trailers_do_not_pass_and_the_body_ends_well"],
    ),
    (
        "both",
        "fields of one connection",
        &["fields_of_one_connection_do_not_pass_and_no_others_are_lost"],
    ),
    (
        "both",
        "fields of one name that stand apart",
        &["fields_of_one_name_that_stand_apart_come_together"],
    ),
    (
        "both",
        "white space around values",
        &["a_request_head_passes_in_order_and_only_host_names_the_upstream"],
    ),
    (
        "framing",
        "borders of HTTP chunks",
        &["a_chunked_upload_may_be_cut_anywhere"],
    ),
    (
        "framing",
        "a body that ends with the connection",
        &["an_event_stream_that_ends_with_the_connection_is_not_held"],
    ),
    (
        "framing",
        "for an HTTP/1.0 client",
        &[
            "an_http_1_0_client_gets_no_chunks_and_is_not_held",
            "a_client_that_knows_no_interim_answers_gets_none",
        ],
    ),
    (
        "framing",
        "Content-Length beside Transfer-Encoding",
        &[
            "a_request_with_two_framings_never_becomes_two_requests",
            "an_answer_with_two_framings_leaves_with_one",
        ],
    ),
];

#[test]
fn every_command_and_program_says_whether_it_is_run() {
    for block in blocks() {
        let known = match block.language {
            "sh" => {
                ["run", "run apart", "stays up"].contains(&block.mark)
                    || block.mark.starts_with("not run, ")
            }
            "python" | "js" => block.mark == "run with the SDK",
            "json" => block.mark == "a record",
            "toml" => block.mark == "settings",
            _ => true,
        };
        assert!(known, "marked '{}':\n{}", block.mark, block.text);
    }
}

#[test]
fn what_stays_up_listens_and_ends_well() {
    let stage = Stage::open();
    for block in marked("stays up") {
        for line in block.text.lines() {
            let mut program = stage.start(line);
            program.address();
            let told = program.told();
            for label in line.split('\'').skip(1).step_by(2) {
                assert!(told.contains(label), "{line}: {label} is not told\n{told}");
            }
            program.stop();
        }
    }
}

#[test]
fn what_is_run_succeeds_and_shows_what_is_shown() {
    let stage = Stage::open();
    let terminal = one("the proxy's terminal").text;
    let shown: Vec<_> = terminal.lines().collect();
    let header = shown
        .iter()
        .position(|line| line.starts_with("time "))
        .expect("the lines have a header");
    let requests = shown.len() - header - 1;
    for block in marked("run") {
        if block.text.contains("dripline.jsonl") {
            stage.records(requests);
        }
        let printed = stage.run(&block.text);
        assert!(
            !printed.trim().is_empty(),
            "nothing printed: {}",
            block.text
        );
    }

    let records = stage.records(requests);
    let record: Value = serde_json::from_str(&one("a record").text).expect("the record is JSON");
    let typed: RequestRecord = serde_json::from_value(record.clone()).expect("it is a record");
    assert_eq!(json!(typed), record, "it is a whole record");
    let real = records
        .iter()
        .find(|real| real["request"]["model"] == record["request"]["model"])
        .expect("its request was among those run");
    assert_eq!(keys(&record), keys(real));

    let told = stage.proxy.told();
    let real: Vec<_> = told.lines().collect();
    for (shown, real) in shown[..=header].iter().zip(&real) {
        assert_eq!(stage.here(shown), *real);
    }
    assert_eq!(shown.len(), real.len(), "{told}");
    for (shown, real) in shown[header + 1..].iter().zip(&real[header + 1..]) {
        let status_and_model = |line: &str| {
            let words: Vec<_> = line.split_whitespace().map(str::to_owned).collect();
            words[1..3].to_vec()
        };
        assert_eq!(status_and_model(shown), status_and_model(real));
    }
}

#[test]
fn probes_run_and_show_what_is_shown() {
    let stage = Stage::open();
    let all = blocks();
    let apart: Vec<_> = all
        .iter()
        .filter(|block| block.mark == "run apart")
        .collect();
    let printed: Vec<String> = std::thread::scope(|scope| {
        let stage = &stage;
        let run = |block: &&Block| {
            let text = block.text.clone();
            scope.spawn(move || stage.run(&text))
        };
        let running: Vec<_> = apart.iter().map(run).collect();
        let ended = running.into_iter().map(|run| run.join());
        ended.map(|ended| ended.expect("it succeeds")).collect()
    });
    assert!(printed.iter().all(|printed| !printed.trim().is_empty()));

    // Times differ, and so may what is said of them: rows and headings are there, in their order.
    let shape = |text: &str| -> Vec<String> {
        let (rows, rest) = text
            .split_once("\n\n")
            .and_then(|(head, rest)| {
                let (rows, rest) = rest.split_once("\n\n")?;
                Some((format!("{head}\n{rows}"), rest.to_owned()))
            })
            .expect("head, rows, summary");
        let first = |line: &str| {
            line.split_whitespace()
                .next()
                .unwrap_or_default()
                .to_owned()
        };
        let heading = |line: &&str| {
            ["connection", "the same", "Gaps", "Each run", "Right"]
                .iter()
                .any(|start| line.starts_with(start))
        };
        let head = rows.lines().take(4).map(str::to_owned);
        head.chain(rows.lines().skip(4).map(first))
            .chain(rest.lines().filter(heading).map(first))
            .collect()
    };
    let shown = one("a probe").text;
    assert_eq!(
        shape(&stage.here(&shown)),
        shape(&printed[0]),
        "{}",
        printed[0]
    );
    for line in README.lines() {
        for condition in line.split("--fail-if '").skip(1) {
            let condition = condition.split('\'').next().unwrap();
            let is_change = || condition.parse::<Condition>().is_ok();
            let is_known = is_threshold(condition) || line.contains("compare") && is_change();
            assert!(is_known, "{condition}");
        }
    }
    let line = README
        .lines()
        .find(|line| line.contains("`ttft_s`"))
        .unwrap_or_default();
    assert!(
        line.contains("`dripline probe --json`"),
        "the keys of its rows are told: {line}"
    );
}

#[test]
fn the_sdk_examples_stream() {
    if std::env::var_os("TEST_FULL").is_none() {
        return say("README's examples for the SDKs were NOT run: TEST_FULL=1 runs them");
    }
    let stage = Stage::open();
    let python = root().join(".venv/bin/python");
    assert!(python.is_file(), "no {}: make setup", python.display());
    for (i, block) in marked("run with the SDK").iter().enumerate() {
        let mut command = match block.language {
            "python" => Command::new(&python),
            _ => Command::new("node"),
        };
        match block.language {
            "python" => command.arg("-c"),
            // where npm put the SDK
            _ => command
                .current_dir(root().join("tests/peers"))
                .args(["--input-type=module", "-e"]),
        };
        let output = command
            .arg(stage.here(&block.text))
            .env("OPENAI_API_KEY", "none")
            .env_remove("OPENAI_BASE_URL")
            .env("NO_PROXY", "127.0.0.1")
            .output()
            .unwrap_or_else(|error| panic!("{}: {error}: make setup", block.language));
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{output:?}");
        let record = &stage.records(i + 1)[i];
        assert_eq!(record["counts"]["chars"], text.chars().count(), "{text:?}");
    }
    say("README's examples for the SDKs were run");
}

#[test]
fn what_a_command_prints_is_shown() {
    let all = blocks();
    let mut compared = 0;
    for two in all.windows(2) {
        let [command, shown] = two else {
            unreachable!()
        };
        if shown.mark != "what it prints" {
            continue;
        }
        let printed = printed_by(&command.text, &[]);
        match shown.text.trim_end().strip_suffix("[…]") {
            Some(beginning) => assert!(printed.starts_with(beginning.trim_end()), "{printed}"),
            None => assert_eq!(printed.trim_end(), shown.text.trim_end()),
        }
        compared += 1;
    }
    assert_eq!(compared, README.matches("test: what it prints").count());
    assert!(compared > 0);
}

#[test]
fn the_keys_of_the_comparison_are_listed() {
    let command = marked("run")
        .into_iter()
        .find(|block| block.text.starts_with("dripline hops"))
        .expect("it is run");
    let object: Value =
        serde_json::from_str(&printed_by(&command.text, &["--json"])).expect("one object");
    let printed: BTreeSet<_> = object.as_object().unwrap().keys().cloned().collect();
    let listed: BTreeSet<_> = rows("Two driplines", "key")
        .iter()
        .flat_map(|row| code(&row[0]))
        .collect();
    assert_eq!(listed, printed);
}

#[test]
fn the_columns_and_keys_of_a_report_are_listed() {
    let report = "dripline report tests/haproxy/before.jsonl";
    let head = printed_by(report, &["--csv"]);
    let head = head.lines().next().unwrap();
    let text = README.replace('\n', " ");
    let (_, list) = text.split_once("Its columns, times in ms: ").unwrap();
    let (list, _) = list.split_once(". ").unwrap();
    assert_eq!(code(list).join(","), head);

    let object: Value = serde_json::from_str(&printed_by(report, &["--json"])).expect("one object");
    let printed: BTreeSet<_> = object.as_object().unwrap().keys().cloned().collect();
    let listed: BTreeSet<_> = rows("Reading a log", "key of the summary")
        .iter()
        .flat_map(|row| code(&row[0]))
        .collect();
    assert_eq!(listed, printed);
}

#[test]
fn a_page_explains_verdicts_and_ends_in_these_words() {
    let typed = |word: &str| Value::String(word.to_owned());
    for row in rows("What the figures mean", "`verdict.timing`") {
        let timing: Timing = serde_json::from_value(typed(&code(&row[0])[0])).unwrap();
        let said = meaning::of_timing(timing);
        assert!(row[1].starts_with(said), "{timing:?}: {said}");
    }
    let mut ends = 0;
    for row in rows("What the figures mean", "`end`, the first that fits") {
        let mut meanings = row[1].split("; ");
        for word in code(&row[0]) {
            let end: RecordEnd = serde_json::from_value(typed(&word)).unwrap();
            assert_eq!(meanings.next(), Some(meaning::of_end(end)), "{end:?}");
            ends += 1;
        }
    }
    assert_eq!(ends, 15);
}

#[test]
fn the_keys_of_two_runs_compared_are_listed() {
    let compare = "dripline compare tests/compare/before.jsonl tests/compare/after.jsonl --json";
    let object: Value = serde_json::from_str(&printed_by(compare, &[])).expect("one object");
    let keys_of = |object: &Value| -> BTreeSet<String> {
        object.as_object().unwrap().keys().cloned().collect()
    };
    let rows = rows("Comparing two runs", "key of a comparison");
    let listed: BTreeSet<_> = rows.iter().flat_map(|row| code(&row[0])).collect();
    assert_eq!(listed, keys_of(&object));
    let told = |key: &str| {
        let row = rows
            .iter()
            .find(|row| code(&row[0]).contains(&key.to_owned()));
        code(&row.unwrap()[1]).into_iter().collect::<BTreeSet<_>>()
    };
    assert_eq!(told("before"), keys_of(&object["before"]));
    let figures = told("figures");
    for (key, figure) in object["figures"].as_object().unwrap() {
        let is_told = figures.contains(key) || key.starts_with("verdict_");
        assert!(is_told && keys_of(figure).is_subset(&figures), "{key}");
    }
}

/// What one `dripline` command prints in the checkout's root.
fn printed_by(command: &str, more: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_dripline"))
        .args(command.split_whitespace().skip(1))
        .args(more)
        .current_dir(root())
        .env("TZ", "UTC")
        .output()
        .unwrap();
    assert!(output.status.success(), "{command}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_figures_of_the_calibration_are_the_page_s() {
    let page = fs::read_to_string(root().join("docs/calibration.md")).unwrap();
    let figure = |row: &str| {
        let line = page
            .lines()
            .find(|line| line.starts_with(&format!("| {row} |")));
        let cell = line.and_then(|line| line.split('|').nth(2));
        cell.unwrap_or_else(|| panic!("no row {row:?}"))
            .trim()
            .to_owned()
    };
    let percent = |row: &str| {
        let part: f64 = figure(row).split(' ').next().unwrap().parse().unwrap();
        format!("{:.1} %", part * 100.0)
    };
    let text = README.replace('\n', " ");
    for said in [
        format!(
            "{} streams that a hop held",
            figure("of these held by a hop")
        ),
        format!("said so in {}", percent("held: said so (recall)")),
        format!("of {} healthy ones it accused none", figure("healthy")),
        format!(
            "an acceptable kind was named in {}",
            percent("exact `timing` right")
        ),
    ] {
        assert!(text.contains(&said), "README does not say: {said}");
    }
    assert!(figure("false alarms among the healthy").contains("(0/"));
}

#[test]
fn the_settings_are_settings() {
    let text = one("settings").text;
    let settings: Settings = toml::from_str(&text).expect("known keys and good values");
    config::load(settings).expect("they are enough to start");
}

#[test]
fn every_flag_and_variable_exists() {
    let help = |command: &str| {
        let program = Command::new(env!("CARGO_BIN_EXE_dripline"))
            .args([command, "--help"])
            .output()
            .unwrap();
        let text = String::from_utf8(program.stdout).unwrap();
        words(&text).map(str::to_owned).collect::<BTreeSet<_>>()
    };
    let proxy = help("proxy");
    let others = ["simulate", "demo", "hops", "report", "compare", "probe"]
        .map(|command| (command, help(command)));
    let mut named = 0;
    for line in README.replace("cargo install --path .", "").lines() {
        for word in words(line) {
            let is_flag = word
                .strip_prefix("--")
                .is_some_and(|flag| flag.starts_with(|c: char| c.is_ascii_lowercase()));
            if is_flag && word != "--help" || word.starts_with("DRIPLINE_") {
                let elsewhere = others
                    .iter()
                    .any(|(command, help)| line.contains(command) && help.contains(word));
                assert!(proxy.contains(word) || elsewhere, "no {word}: {line}");
                named += 1;
            }
        }
    }
    assert!(named > 10, "flags were looked for in the wrong way");
}

#[test]
fn every_linked_file_and_heading_exists() {
    let targets: Vec<_> = README
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
        .filter(|target| !target.starts_with("https://"))
        .collect();
    assert!(targets.contains(&"ARCHITECTURE.md"), "{targets:?}");
    // as GitHub names headings, those of letters and spaces
    let anchors: BTreeSet<String> = README
        .lines()
        .filter_map(|line| line.strip_prefix('#'))
        .map(|head| head.trim_start_matches('#').trim())
        .map(|head| head.to_lowercase().replace(' ', "-"))
        .collect();
    for target in targets {
        match target.strip_prefix('#') {
            Some(anchor) => assert!(anchors.contains(anchor), "no heading {anchor}"),
            None => assert!(root().join(target).exists(), "no {target}"),
        }
    }
}

#[test]
fn every_word_of_the_record_exists() {
    fn is<T: DeserializeOwned>(word: &str) -> bool {
        serde_json::from_value::<T>(word.into()).is_ok()
    }
    let timings: Vec<_> = rows("What the figures mean", "`verdict.timing`")
        .iter()
        .flat_map(|row| code(&row[0]))
        .collect();
    assert_eq!(timings.len(), 15);
    for word in &timings {
        assert!(is::<Timing>(word), "{word}");
    }
    let of_hops: Vec<_> = rows("Two driplines", "verdict of a hop")
        .iter()
        .flat_map(|row| code(&row[0]))
        .collect();
    assert_eq!(of_hops.len(), 12);
    for word in &of_hops {
        assert!(is::<HopVerdict>(word), "{word}");
    }
    let figures = rows("What the figures mean", "word");
    let end = figures.iter().find(|row| row[0] == "`end`").unwrap();
    for word in code(&end[1]) {
        assert!(is::<RecordEnd>(&word), "{word}");
    }
    for flag in ["retried", "arrival_uncertain"] {
        assert!(README.contains(&format!("`{flag}`")) && is::<Flag>(flag));
    }
}

#[test]
fn every_row_of_changes_is_pinned_by_a_test() {
    let listed: Vec<_> = rows("What it changes", "of")
        .iter()
        .map(|row| (row[0].clone(), row[1].clone()))
        .collect();
    let pinned = PINNED.map(|(of, what, _)| (of.to_owned(), what.to_owned()));
    assert_eq!(listed, pinned);

    let mut sources = fs::read_to_string(root().join("src/relay/headers.rs")).unwrap();
    for file in fs::read_dir(root().join("tests")).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            sources += &fs::read_to_string(path).unwrap();
        }
    }
    for test in PINNED.iter().flat_map(|(_, _, tests)| *tests) {
        assert!(sources.contains(&format!("fn {test}()")), "no {test}");
    }
}

#[test]
fn the_fields_that_change_are_those_in_the_table() {
    const KEPT: [&str; 8] = [
        "User-Agent: a",
        "Authorization: Bearer none",
        "Accept-Encoding: br",
        "Cookie: a=b",
        "X-Forwarded-For: 192.0.2.1",
        "Via: 1.1 other",
        "Cache-Control: no-cache",
        "X-Request-Id: r",
    ];
    const OF_ONE_CONNECTION: [&str; 6] = [
        "Connection: X-Mine, keep-alive",
        "X-Mine: 1",
        "Keep-Alive: timeout=5",
        "Proxy-Connection: keep-alive",
        "TE: trailers",
        "Upgrade: h2c",
    ];
    let lines = |more: [&'static str; 2]| [&more[..], &OF_ONE_CONNECTION, &KEPT].concat();
    let request = lines(["Host: client.test", "Content-Length: 2"]);
    let answer = lines(["Date: Tue, 15 Nov 1994 08:12:31 GMT", "Content-Length: 2"]);
    let sent = format!("HTTP/1.1 200 OK\r\n{}\r\n\r\n{{}}", answer.join("\r\n"));
    let up = Upstream::start(move |x| {
        x.request();
        x.send(&sent);
    });
    let proxy = Proxy::start(&up);
    let sent = format!("POST / HTTP/1.1\r\n{}\r\n\r\n{{}}", request.join("\r\n"));
    let response = Client::connect(proxy.addr).ask(sent);
    assert_eq!(
        changed(&request, &up.requests()[0].head),
        named(&["requests", "both"])
    );
    assert_eq!(
        changed(&answer, &response.head),
        named(&["responses", "both"])
    );

    let up = Upstream::start(|x| {
        x.request();
        x.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n");
        x.send(DONE);
        x.fin();
    });
    let response = Client::connect(Proxy::start(&up).addr).ask(chat_request(""));
    assert!(response.body.ends_with_connection() && !response.head.chunked());
    assert_eq!(response.head.get("connection").as_deref(), Some("close"));
}

/// The names of fields that went, came, or have another value.
fn changed(sent: &[&str], got: &Head) -> BTreeSet<String> {
    let sent: BTreeSet<_> = sent.iter().map(|&line| line.to_owned()).collect();
    let got: BTreeSet<_> = got.fields().into_iter().collect();
    let names = sent.symmetric_difference(&got);
    let names = names.filter_map(|line| line.split(':').next());
    names
        .filter(|&name| name != "X-Mine")
        .map(str::to_owned)
        .collect()
}

/// The names of fields that the table has for these messages.
fn named(of: &[&str]) -> BTreeSet<String> {
    rows("What it changes", "of")
        .iter()
        .filter(|row| of.contains(&row[0].as_str()))
        .flat_map(|row| row[1..].iter().flat_map(|cell| code(cell)))
        .filter(|name| name.starts_with(|c: char| c.is_ascii_uppercase()))
        .collect()
}

/// A fenced block.
struct Block {
    mark: &'static str,
    language: &'static str,
    text: String,
}

fn blocks() -> Vec<Block> {
    let mut blocks = Vec::new();
    let (mut lines, mut mark) = (README.lines(), "");
    while let Some(line) = lines.next() {
        if let Some(language) = line.strip_prefix("```") {
            let text: Vec<_> = lines.by_ref().take_while(|line| *line != "```").collect();
            let text = text.join("\n");
            blocks.push(Block {
                mark: std::mem::take(&mut mark),
                language,
                text,
            });
        } else {
            let test = line.strip_prefix("<!-- test: ");
            mark = test
                .and_then(|mark| mark.strip_suffix(" -->"))
                .unwrap_or("");
        }
    }
    blocks
}

fn marked(mark: &str) -> Vec<Block> {
    let blocks = blocks().into_iter().filter(|block| block.mark == mark);
    let blocks: Vec<_> = blocks.collect();
    assert!(!blocks.is_empty(), "no block is marked '{mark}'");
    blocks
}

fn one(mark: &str) -> Block {
    let mut blocks = marked(mark);
    assert_eq!(blocks.len(), 1, "blocks marked '{mark}'");
    blocks.remove(0)
}

/// The cells of the table under a heading whose first column is called so.
fn rows(heading: &str, first: &str) -> Vec<Vec<String>> {
    let section = README
        .split("\n## ")
        .find(|section| section.starts_with(heading))
        .expect("the heading is there");
    section
        .lines()
        .skip_while(|line| !line.starts_with(&format!("| {first} |")))
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .map(|line| {
            let cells = line.trim_matches('|').split(" | ");
            cells.map(|cell| cell.trim().to_owned()).collect()
        })
        .collect()
}

/// What stands in backticks.
fn code(text: &str) -> Vec<String> {
    let parts = text.split('`').skip(1).step_by(2);
    parts.map(str::to_owned).collect()
}

/// Words as flags and variables are.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_')
}

/// The keys of a record, with the way to them. Evidence differs from verdict to verdict.
fn keys(value: &Value) -> BTreeSet<String> {
    fn collect(value: &Value, path: &str, keys: &mut BTreeSet<String>) {
        match value {
            Value::Object(fields) if !path.ends_with("evidence") => {
                for (key, value) in fields {
                    let path = format!("{path}/{key}");
                    collect(value, &path, keys);
                    keys.insert(path);
                }
            }
            Value::Array(items) => items
                .iter()
                .for_each(|item| collect(item, &format!("{path}/*"), keys)),
            _ => {}
        }
    }
    let mut keys = BTreeSet::new();
    collect(value, "", &mut keys);
    keys
}

/// A folder with `dripline` on the path, and in it the server and the proxy of the README.
struct Stage {
    dir: TempDir,
    server: String,
    addr: String,
    page: String,
    _server: Program,
    proxy: Program,
}

impl Stage {
    fn open() -> Stage {
        let dir = TempDir::new().expect("a temporary folder");
        let bin = dir.path().join("bin");
        fs::create_dir(&bin).unwrap();
        let binary = env!("CARGO_BIN_EXE_dripline");
        std::os::unix::fs::symlink(binary, bin.join("dripline")).unwrap();
        std::os::unix::fs::symlink(root().join("tests"), dir.path().join("tests")).unwrap();
        let commands = marked("stays up").remove(0).text;
        let [server, proxy] = &commands.lines().collect::<Vec<_>>()[..] else {
            panic!("a server and a proxy: {commands}")
        };
        let mut serving = Program::start(dir.path(), server);
        let server = serving.address();
        let mut proxy = Program::start(dir.path(), &proxy.replace(SERVER, &server));
        let stage = Stage {
            dir,
            addr: proxy.address(),
            page: proxy.page(),
            server,
            _server: serving,
            proxy,
        };
        let settings = stage.here(&one("settings").text);
        fs::write(stage.dir.path().join("dripline.toml"), settings).unwrap();
        stage
    }

    /// The README's text with the addresses of this stage.
    fn here(&self, text: &str) -> String {
        text.replace(SERVER, &self.server)
            .replace(PROXY, &self.addr)
            .replace(PAGE, &self.page)
    }

    fn start(&self, line: &str) -> Program {
        Program::start(self.dir.path(), &self.here(line))
    }

    /// Runs a script to its end and gives what it printed.
    fn run(&self, script: &str) -> String {
        for tool in ["curl", "jq"] {
            let is_there = || shell(self.dir.path(), &format!("command -v {tool}")).output();
            assert!(
                !script.contains(tool) || is_there().is_ok_and(|found| found.status.success()),
                "{tool} is missing, and a block of the README needs it: apt-get install {tool}"
            );
        }
        let script = self.here(script);
        let output = shell(self.dir.path(), &script).output().unwrap();
        assert!(output.status.success(), "{script}\n{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Waits for `n` records in the log.
    fn records(&self, n: usize) -> Vec<Value> {
        let deadline = now() + PATIENCE;
        loop {
            let log = read(&self.dir.path().join("dripline.jsonl"));
            let whole = log.rfind('\n').map_or("", |end| &log[..end]);
            let records: Vec<_> = whole.lines().map(serde_json::from_str).collect();
            if records.len() >= n {
                assert_eq!(records.len(), n, "{log}");
                return records.into_iter().map(|record| record.unwrap()).collect();
            }
            assert!(now() < deadline, "{n} records: {log}");
            pause(5);
        }
    }
}

/// A command that stays up. Killed when dropped.
struct Program {
    child: Child,
    output: PathBuf,
}

impl Program {
    /// Starts a line of the README, on a free port.
    fn start(dir: &Path, line: &str) -> Program {
        // `exec`, so that a signal reaches the program and not its shell
        let script = line.replacen("dripline ", "exec dripline ", 1) + " --listen 127.0.0.1:0";
        let output = tempfile::Builder::new().tempfile_in(dir).unwrap();
        let (_, output) = output.keep().unwrap();
        let file = File::create(&output).unwrap();
        let child = shell(dir, &script)
            .env("DRIPLINE_ADMIN", "127.0.0.1:0")
            .stderr(file.try_clone().unwrap())
            .stdout(file)
            .spawn()
            .unwrap();
        Program { child, output }
    }

    fn told(&self) -> String {
        read(&self.output)
    }

    /// Waits until it says where it listens.
    fn address(&mut self) -> String {
        let deadline = now() + PATIENCE;
        loop {
            let told = self.told();
            if let Some((_, after)) = told.split_once("http://")
                && let Some(end) = after.find(['/', '\n', ' '])
                && told.ends_with('\n')
            {
                return after[..end].to_owned();
            }
            let ended = self.child.try_wait().unwrap();
            assert!(ended.is_none() && now() < deadline, "{ended:?}: {told}");
            pause(2);
        }
    }

    /// Where a proxy that listens says its page is.
    fn page(&self) -> String {
        let deadline = now() + PATIENCE;
        loop {
            let told = self.told();
            if let Some((_, after)) = told.split_once("  live          http://")
                && let Some((page, _)) = after.split_once('\n')
            {
                return page.to_owned();
            }
            assert!(now() < deadline, "no page: {told}");
            pause(2);
        }
    }

    /// Asks it to end, which it must do well.
    fn stop(mut self) {
        let pid = self.child.id().to_string();
        Command::new("sh")
            .args(["-c", "kill -TERM $0", &pid])
            .status()
            .unwrap();
        let deadline = now() + PATIENCE;
        while self.child.try_wait().unwrap().is_none() {
            assert!(now() < deadline, "it does not end: {}", self.told());
            pause(5);
        }
        let status = self.child.wait().unwrap();
        assert!(status.success(), "{status}: {}", self.told());
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A shell in that folder, with `dripline` on its path and without settings from outside.
fn shell(dir: &Path, script: &str) -> Command {
    let mut command = Command::new("sh");
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("DRIPLINE_") {
            command.env_remove(name);
        }
    }
    let path = std::env::var("PATH").unwrap_or_default();
    command
        .args(["-euc", script])
        .current_dir(dir)
        .env("PATH", format!("{}/bin:{path}", dir.display()))
        .env("NO_PROXY", "127.0.0.1");
    command
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &Path) -> String {
    let bytes = fs::read(path).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Prints where the test harness does not catch it.
fn say(line: &str) {
    let _ = writeln!(stderr(), "{line}");
}
