//! `dripline demo` as a newcomer runs it: ends by itself, quickly, with every record and both plots.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::Instant;

#[test]
#[allow(clippy::disallowed_methods)] // the test's own clock
fn the_demo_shows_every_request_and_ends_with_exit_0() {
    let start = Instant::now();
    let output = Command::new(env!("CARGO_BIN_EXE_dripline"))
        .arg("demo")
        .output()
        .expect("the demo runs");
    let text = String::from_utf8(output.stdout).expect("plain text");
    assert!(
        output.status.success(),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(
        start.elapsed().as_secs() < 20,
        "it took {:?}",
        start.elapsed()
    );

    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].contains("SIMULATED"), "{text}");
    assert_eq!(
        lines.iter().filter(|line| line.contains("  200  ")).count(),
        33,
        "{text}"
    );
    for verdict in [
        "steady",
        "whole_body_burst",
        "stall_no_catch_up",
        "late_first_token",
        "block_burst",
        "tick_burst",
    ] {
        assert!(text.contains(verdict), "no {verdict}:\n{text}");
    }
    assert!(
        text.contains("Gaps between token events") && text.contains("time to first token (TTFT)"),
        "{text}"
    );
    assert!(!text.contains('\x1b'), "colours in a pipe:\n{text}");
    assert!(text.contains("see it live: http://127.0.0.1:"), "{text}");
}

#[test]
fn kept_up_it_has_a_page_until_it_is_asked_to_end() {
    let mut demo = Command::new(env!("CARGO_BIN_EXE_dripline"))
        .args(["demo", "--keep"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("the demo runs");
    let lines = BufReader::new(demo.stdout.take().unwrap()).lines();
    let mut lines = lines.map_while(Result::ok);
    let told = lines.find_map(|line| {
        let (_, rest) = line.split_once("see it live at http://")?;
        Some(rest.split(',').next()?.to_owned())
    });
    let page = told.expect("the address, once the plots are there");
    let get = |path: &str| {
        let mut socket = TcpStream::connect(&page).unwrap();
        let head = format!("GET {path} HTTP/1.1\r\nHost: {page}\r\nConnection: close\r\n\r\n");
        socket.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        socket.read_to_string(&mut answer).unwrap();
        answer
    };
    assert!(get("/").contains("<title>dripline</title>"));
    assert!(get("/api/about").contains(r#""latest":33"#));

    let pid = demo.id().to_string();
    let asked = Command::new("kill").args(["-TERM", &pid]).status();
    assert!(asked.unwrap().success());
    // what it still prints must have a reader
    assert_eq!(lines.filter(|line| line.contains("panic")).count(), 0);
    assert!(demo.wait().unwrap().success());
}
