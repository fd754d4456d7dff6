//! `dripline report --follow`: the binary beside a log that grows and is rotated, into a pipe and on a terminal.

mod support;

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};
use support::{PATIENCE, now, pause};
use tempfile::TempDir;

/// A whole record of a real request.
const RECORDS: &str = include_str!("haproxy/after.jsonl");

/// A line of the log: a record with this id.
fn line(id: &str) -> String {
    let mut record: Value =
        serde_json::from_str(RECORDS.lines().next().unwrap()).expect("it is a record");
    record["id"] = json!(id);
    format!("{record}\n")
}

/// A log in a folder of its own.
struct Log {
    dir: TempDir,
}

impl Log {
    fn new() -> Log {
        let dir = TempDir::new().expect("a temporary folder");
        Log { dir }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn append(&self, text: &str) {
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(self.path("log"));
        file.and_then(|mut file| file.write_all(text.as_bytes()))
            .expect("the log can be written");
    }

    fn rotate(&self) {
        fs::rename(self.path("log"), self.path("log.1")).expect("it is there");
    }
}

/// A running command whose output is read as it comes. Killed when dropped.
struct Running {
    child: Child,
    printed: Arc<Mutex<Vec<u8>>>,
    said: PathBuf,
}

impl Running {
    fn start(mut command: Command, log: &Log) -> Running {
        let said = log.path("stderr");
        let mut child = command
            .env("TZ", "UTC")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(File::create(&said).expect("a temporary file"))
            .spawn()
            .expect("it runs");
        let printed = Arc::<Mutex<Vec<u8>>>::default();
        let mut output = child.stdout.take().expect("it is piped");
        let all = Arc::clone(&printed);
        thread::spawn(move || {
            let mut piece = [0; 4096];
            while let Ok(n @ 1..) = output.read(&mut piece) {
                all.lock().unwrap().extend(&piece[..n]);
            }
        });
        Running {
            child,
            printed,
            said,
        }
    }

    /// `dripline report LOG --follow` and more.
    fn report(log: &Log, more: &[&str]) -> Running {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dripline"));
        command
            .arg("report")
            .arg(log.path("log"))
            .arg("--follow")
            .args(more);
        Running::start(command, log)
    }

    fn printed(&self) -> String {
        String::from_utf8_lossy(&self.printed.lock().unwrap()).into_owned()
    }

    /// What it printed, once that is as it is to be.
    fn once(&self, what: &str, is_so: impl Fn(&str) -> bool) -> String {
        let deadline = now() + PATIENCE;
        loop {
            let printed = self.printed();
            if is_so(&printed) {
                return printed;
            }
            assert!(
                now() < deadline,
                "{what}: {printed}\n{}",
                fs::read_to_string(&self.said).unwrap()
            );
            pause(10);
        }
    }

    /// Waits until the ids of its rows are these.
    fn once_ids(&self, ids: &[&str]) {
        let is_so = |printed: &str| {
            let rows = printed.lines().skip(1);
            let found = rows.map(|row| row.split([',', ' ']).next().unwrap_or_default());
            found.eq(ids.iter().copied())
        };
        self.once(&format!("{ids:?}"), is_so);
    }

    /// Waits for its end, which is to be a good one.
    fn once_ended(mut self) {
        let deadline = now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().expect("it is our child") {
                assert!(status.success(), "{status}");
                return;
            }
            assert!(now() < deadline, "it does not end");
            pause(10);
        }
    }

    fn signal(&self, name: &str) {
        let kill = format!("kill -{name} {}", self.child.id());
        let sent = Command::new("sh").args(["-c", &kill]).status();
        assert!(sent.is_ok_and(|status| status.success()), "{kill}");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn rows_come_as_the_log_grows_and_is_rotated() {
    for form in ["--csv", "--list"] {
        let log = Log::new();
        let running = Running::report(&log, &[form, "--where", "end=complete"]);
        running.once("the head", |printed| printed.starts_with("id"));
        log.append(&line("A1"));
        running.once_ids(&["A1"]);
        let next = line("A2");
        log.append(&next[..next.len() / 2]);
        pause(500);
        running.once_ids(&["A1"]);
        log.append(&next[next.len() / 2..]);
        running.once_ids(&["A1", "A2"]);
        let failed = line("A3").replace(r#""end":"complete""#, r#""end":"truncated""#);
        log.append(&(failed + &line("A4")));
        log.rotate();
        log.append(&line("B1"));
        running.once_ids(&["A1", "A2", "A4", "B1"]);
        fs::write(log.path("log"), "").expect("it can be truncated");
        pause(500);
        log.append(&line("C1"));
        running.once_ids(&["A1", "A2", "A4", "B1", "C1"]);
        let said = fs::read_to_string(&running.said).unwrap();
        assert_eq!(said.lines().count(), 1, "{said}");
        assert!(
            said.ends_with("log is not there: waiting for it\n"),
            "{said}"
        );
        running.signal("INT");
        running.once_ended();
    }
}

#[test]
fn it_ends_when_nobody_reads_it_though_nothing_comes() {
    let log = Log::new();
    log.append(&line("A1"));
    let mut child = Command::new(env!("CARGO_BIN_EXE_dripline"))
        .arg("report")
        .arg(log.path("log"))
        .args(["--follow", "--csv"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("it runs");
    let mut output = child.stdout.take().expect("it is piped");
    let mut byte = [0];
    output.read_exact(&mut byte).expect("the head comes");
    pause(300);
    assert!(child.try_wait().unwrap().is_none());
    drop(output);
    let deadline = now() + PATIENCE;
    while child.try_wait().unwrap().is_none() {
        assert!(now() < deadline, "it does not end");
        pause(10);
    }
    assert!(child.wait().unwrap().success());
}

/// The page on a terminal that `script` provides (util-linux), 70 columns by 12 rows.
#[test]
fn the_summary_is_redrawn_in_place_and_the_screen_is_given_back() {
    let has_script = Command::new("script").arg("--version").output();
    if !has_script
        .is_ok_and(|version| String::from_utf8_lossy(&version.stdout).contains("util-linux"))
    {
        return eprintln!("NOT run: there is no `script` of util-linux here");
    }
    let log = Log::new();
    log.append(&line("A1"));
    let binary = Path::new(env!("CARGO_BIN_EXE_dripline")).display();
    let report = format!(
        "stty rows 12 cols 70; exec '{binary}' report '{}' --follow",
        log.path("log").display()
    );
    let mut command = Command::new("script");
    command.args(["-qec", &report, "/dev/null"]);
    // without colour it is drawn all the same
    command
        .env("SHELL", "/bin/sh")
        .env("TERM", "xterm")
        .env("NO_COLOR", "1");
    let mut running = Running::start(command, &log);
    running.once("a page", |printed| {
        printed.contains("records       1 in 1 log")
    });
    log.append(&line("A2"));
    let printed = running.once("the next page", |printed| {
        printed.contains("records       2 in 1 log") && printed.contains("\x1b[J")
    });
    let (before, frames) = printed.split_once("\x1b[?1049h").expect("another screen");
    assert!(before.trim().is_empty(), "{before:?}");
    for frame in frames.split("\x1b[H").skip(1) {
        assert!(frame.lines().count() <= 12, "it scrolls: {frame}");
    }
    // Ctrl-Z, as it is typed; here no shell could let it go on, so it does not stop
    let mut keys = running.child.stdin.take().expect("it is piped");
    keys.write_all(&[26]).expect("it reads");
    running.once("the screen given back and taken again", |printed| {
        let after = printed.split_once("\x1b[?1049l");
        after.is_some_and(|(_, after)| after.contains("\x1b[?1049h"))
    });
    // Ctrl-C
    keys.write_all(&[3]).expect("it reads");
    let left = |printed: &str| {
        let after = printed.rsplit_once("\x1b[?1049l")?.1;
        Some(after.contains("records       2 in 1 log") && after.contains("(TTFT)"))
    };
    let printed = running.once("the whole page", |printed| left(printed) == Some(true));
    for (taken, given) in [("\x1b[?1049h", "\x1b[?1049l"), ("\x1b[?25l", "\x1b[?25h")] {
        assert_eq!(printed.matches(taken).count(), 2);
        assert_eq!(printed.matches(given).count(), 2);
    }
    running.once_ended();
}
