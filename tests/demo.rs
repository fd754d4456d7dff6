//! `dripline demo` as a newcomer runs it: ends by itself, quickly, with every record and both plots.

use std::process::Command;
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
}
