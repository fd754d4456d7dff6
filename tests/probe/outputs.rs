use std::fs;
use std::process::Command;

use tempfile::TempDir;

use super::*;

#[test]
fn rows_appended_to_a_file_are_a_log() {
    let server = url(simulated(SCENARIO));
    let dir = TempDir::new().unwrap();
    let log = dir.path().join("probe.jsonl");
    let mut text = String::new();
    for label in ["before", "after"] {
        let output = probe(&[
            &server,
            "--model",
            "t",
            "--runs",
            "1",
            "--label",
            label,
            "--json",
            "--timeline",
        ]);
        text += &stdout(&output);
    }
    fs::write(&log, &text).unwrap();
    let report = Command::new(env!("CARGO_BIN_EXE_dripline"))
        .args(["report", "--list"])
        .arg(&log)
        .output()
        .unwrap();
    let listed = stdout(&report);
    assert_eq!(
        listed.lines().count(),
        5,
        "a header and four records: {listed}"
    );
    assert!(!listed.contains("could not be read"), "{listed}");

    let first: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    let keys: Vec<_> = text[1..]
        .split("\":")
        .take(11)
        .map(|part| part.rsplit('"').next().unwrap())
        .collect();
    assert_eq!(
        keys,
        [
            "ttft_s",
            "total_s",
            "chunks",
            "tps_after_first",
            "gap_p50_s",
            "gap_p99_s",
            "chars",
            "run",
            "cold",
            "side",
            "record"
        ]
    );
    assert_eq!(
        (&first["run"], &first["cold"]),
        (&Value::Null, &true.into())
    );
    // How many pieces there are is up to the network.
    let pieces = first["record"]["timeline"].as_array().unwrap();
    assert_eq!(
        Some(pieces.len() as u64),
        first["record"]["counts"]["chunks"].as_u64()
    );
}

#[test]
fn a_row_says_the_same_as_its_record() {
    let server = url(simulated(SCENARIO));
    for model in ["t", "whole_body"] {
        for row in rows(&[&server, "--model", model, "--runs", "1"]) {
            let record = &row["record"];
            let same = |seconds: &str, ms: &Value| {
                let difference = number(&row[seconds]) * 1000.0 - number(ms);
                assert!(difference.abs() < 1e-6, "{seconds}: {row}");
            };
            same("ttft_s", &record["ttft_ms"]);
            same("total_s", &record["at"]["end_ms"]);
            same("gap_p50_s", &record["gaps"]["token"]["p50_ms"]);
            same("gap_p99_s", &record["gaps"]["token"]["p99_ms"]);
            assert_eq!(row["chunks"], record["counts"]["token_events"]);
            assert_eq!(row["chars"], record["counts"]["chars"]);
            assert_eq!(record["timeline"], Value::Null);
            assert_eq!(
                row["tps_after_first"].is_null(),
                model == "whole_body",
                "{row}"
            );
        }
    }
}

#[test]
fn csv_has_the_warm_runs_and_says_what_it_leaves_out() {
    let server = url(simulated(SCENARIO));
    let output = probe(&[&server, "--model", "t", "--runs", "2", "--csv"]);
    let text = stdout(&output);
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines[0], "run,ttft_s,gap_p99_s,tps_after_first,chunks");
    assert_eq!(lines.len(), 3, "{text}");
    for (line, run) in lines[1..].iter().zip(["1", "2"]) {
        let cells: Vec<_> = line.split(',').collect();
        assert_eq!((cells.len(), cells[0], cells[4]), (5, run, "8"), "{line}");
        assert!(
            cells[1..4].iter().all(|cell| cell.parse::<f64>().is_ok()),
            "{line}"
        );
    }
    assert!(stderr(&output).contains("run warm-up is cold and not in the CSV"));
}

#[test]
fn thresholds_decide_the_exit_code_and_are_told() {
    let server = url(simulated(SCENARIO));
    let exit = |conditions: &[&str]| {
        let mut args = vec![server.as_str(), "--model", "t", "--runs", "2", "--json"];
        for condition in conditions {
            args.extend(["--fail-if", condition]);
        }
        let output = probe(&args);
        (output.status.code(), stderr(&output))
    };
    assert_eq!(exit(&[]).0, Some(0));
    assert_eq!(
        exit(&[
            "ttft_p95>20s",
            "gap_p99>20s",
            "stalls>0",
            "verdict=whole_body_burst"
        ])
        .0,
        Some(0)
    );
    for crossed in [
        "ttft_p95>2ms",
        "gap_p99>2ms",
        "stalls<1",
        "verdict!=whole_body_burst",
        "tps<1000",
    ] {
        let (code, told) = exit(&["ttft_p95>20s", crossed]);
        assert_eq!(code, Some(3), "{crossed}: {told}");
        assert!(
            told.contains(&format!("--fail-if '{crossed}' holds: it is ")),
            "{told}"
        );
        assert!(
            told.contains("--fail-if 'ttft_p95>20s' does not hold"),
            "{told}"
        );
    }
    let (code, told) = exit(&["verdict!=steadyy"]);
    assert!(
        code == Some(1) && told.contains("no verdict of that name"),
        "{told}"
    );
    assert_eq!(exit(&["ttft>2s"]).0, Some(2));
}

#[test]
fn a_junit_report_is_written_whatever_the_exit_code() {
    let server = url(simulated(SCENARIO));
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("probe.xml");
    let name = file.display().to_string();
    let args = [
        &server,
        "--model",
        "t",
        "--runs",
        "2",
        "--junit",
        &name,
        "--fail-if",
        "ttft_p50>1ms",
    ];
    assert_eq!(probe(&args).status.code(), Some(3));
    let report = fs::read_to_string(&file).unwrap();
    assert!(
        report.contains(r#"tests="4" errors="0" failures="1""#),
        "{report}"
    );
    assert!(
        report.contains(r#"<testcase classname="fail-if" name="ttft_p50&gt;1ms""#),
        "{report}"
    );

    let args = [
        &server,
        "--model",
        "error_in_200",
        "--runs",
        "1",
        "--junit",
        &name,
    ];
    assert_eq!(probe(&args).status.code(), Some(1));
    let report = fs::read_to_string(&file).unwrap();
    assert!(
        report.contains(r#"<error type="in_band_error""#),
        "{report}"
    );

    let nowhere = probe(&[
        &server,
        "--model",
        "t",
        "--runs",
        "1",
        "--junit",
        "/no/such/folder.xml",
    ]);
    assert_eq!(nowhere.status.code(), Some(1));
    assert!(stderr(&nowhere).contains("--junit /no/such/folder.xml: cannot be written"));
}
