//! The proxy's binary as a process of its own.

use std::env;
use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use super::{PATIENCE, Upstream, now, pause};

const ANNOUNCEMENT: &str = "listening on";

/// A running `dripline proxy`. Killed when dropped; `stop` ends it in order.
pub struct Proxy {
    /// Where it listens.
    pub addr: SocketAddr,
    child: Child,
    dir: TempDir,
}

/// What a proxy left behind.
#[derive(Debug)]
pub struct Stopped {
    /// How the process ended.
    pub status: ExitStatus,
    /// Its records.
    pub records: Vec<Value>,
    /// The log file.
    pub log: String,
    /// What it printed.
    pub stdout: String,
    /// What it said beside.
    pub stderr: String,
}

impl Proxy {
    /// A proxy in front of `upstream` that records every request.
    pub fn start(upstream: &Upstream) -> Proxy {
        Proxy::with(&upstream.url(), &[])
    }

    /// A proxy in front of that URL, with more arguments. A `--log` of its own is not read here.
    pub fn with(url: &str, args: &[&str]) -> Proxy {
        Proxy::launch(url, args, |_| {})
    }

    /// The same, with the last word on how the process is started. Its standard output stays here.
    pub fn launch(url: &str, args: &[&str], dress: impl FnOnce(&mut Command)) -> Proxy {
        let dir = TempDir::new().expect("a temporary folder");
        let log = dir.path().join("log.jsonl").display().to_string();
        let default = |flag, value| {
            [flag, value]
                .into_iter()
                .filter(move |_| !args.contains(&flag))
        };
        let out = |name| File::create(dir.path().join(name)).expect("a temporary file");
        let mut command = Command::new(binary());
        command
            .args(["proxy", "--listen", "127.0.0.1:0", "--upstream", url])
            .args(default("--record", "all"))
            .args(default("--log", &log))
            .args(default("--admin", "127.0.0.1:0"))
            .args(args)
            .stdout(out("stdout"))
            .stderr(out("stderr"));
        dress(&mut command);
        let child = command.spawn().expect("the binary runs");
        let mut proxy = Proxy {
            addr: ([127, 0, 0, 1], 0).into(),
            child,
            dir,
        };
        proxy.addr = proxy.announced(ANNOUNCEMENT);
        proxy
    }

    /// The address of its admin side.
    pub fn admin(&mut self) -> SocketAddr {
        self.announced("  live ")
    }

    /// The address that stands behind `what` in what it says at first.
    fn announced(&mut self, what: &str) -> SocketAddr {
        let deadline = now() + PATIENCE;
        loop {
            let told = self.told();
            let addr = told.split_once(what).and_then(|(_, after)| {
                let addr = after.trim_start().strip_prefix("http://")?;
                // What ends the address shows that it is all there.
                let end = addr.find(|c: char| !c.is_ascii_digit() && c != '.' && c != ':')?;
                addr[..end].parse().ok()
            });
            if let Some(addr) = addr {
                return addr;
            }
            let ended = self.child.try_wait().expect("it is our child");
            assert!(
                ended.is_none() && now() < deadline,
                "the proxy does not listen: {told}"
            );
            pause(2);
        }
    }

    /// Waits for `n` records; more are an error. (Those that come later show in [`Stopped`].)
    pub fn records(&self, n: usize) -> Vec<Value> {
        let records = self.records_within(n, PATIENCE);
        assert_eq!(records.len(), n, "records: {records:#?}\n{}", self.told());
        records
    }

    /// Waits for one record.
    pub fn record(&self) -> Value {
        self.records(1).remove(0)
    }

    /// The records, as soon as there are `n` or the time is over.
    pub fn records_within(&self, n: usize, time: Duration) -> Vec<Value> {
        let deadline = now() + time;
        loop {
            let records = parse(&read(&self.dir.path().join("log.jsonl")));
            if records.len() >= n || now() >= deadline {
                return records;
            }
            pause(5);
        }
    }

    /// What it printed and said so far.
    pub fn told(&self) -> String {
        read(&self.dir.path().join("stdout")) + &read(&self.dir.path().join("stderr"))
    }

    /// Its memory in KiB as Linux calls it: `VmRSS` now, `VmHWM` at most so far. `None` on other systems.
    pub fn memory(&self, name: &str) -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = status.lines().find(|line| line.starts_with(name))?;
        line.split_ascii_whitespace().nth(1)?.parse().ok()
    }

    /// How many descriptors the process has open, where the system tells.
    pub fn descriptors(&self) -> Option<usize> {
        let open = fs::read_dir(format!("/proc/{}/fd", self.child.id()));
        Some(open.ok()?.count())
    }

    /// Sends it a signal.
    pub fn signal(&self, name: &str) {
        let pid = self.child.id();
        let sent = Command::new("sh")
            .args(["-c", &format!("kill -{name} {pid}")])
            .status();
        assert!(
            sent.is_ok_and(|status| status.success()),
            "kill -{name} {pid}"
        );
    }

    /// Asks it to end, and once it has heard that, to end at once. (Signals that come together are one.)
    pub fn insist(&self) {
        self.signal("TERM");
        let deadline = now() + PATIENCE;
        while !self.told().contains("stopping") {
            assert!(now() < deadline, "it does not hear: {}", self.told());
            pause(2);
        }
        self.signal("TERM");
    }

    /// Whether the process still runs.
    pub fn runs(&mut self) -> bool {
        self.child.try_wait().expect("it is our child").is_none()
    }

    /// SIGTERM, and what is left when it has ended.
    pub fn stop(self) -> Stopped {
        self.signal("TERM");
        self.ended()
    }

    /// Waits for its end after a signal.
    pub fn ended(mut self) -> Stopped {
        let deadline = now() + 2 * PATIENCE;
        while self.runs() {
            assert!(now() < deadline, "the proxy does not end: {}", self.told());
            pause(5);
        }
        let status = self.child.wait().expect("it has ended");
        let file = |name| read(&self.dir.path().join(name));
        let log = file("log.jsonl");
        let records = parse(&log);
        Stopped {
            status,
            records,
            log,
            stdout: file("stdout"),
            stderr: file("stderr"),
        }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// `DRIPLINE_BIN` lets the tests run against another build than the one beside them.
fn binary() -> PathBuf {
    let beside = option_env!("CARGO_BIN_EXE_dripline").map(PathBuf::from);
    env::var_os("DRIPLINE_BIN")
        .map(PathBuf::from)
        .or(beside)
        .expect("cargo builds the binary")
}

fn read(path: &Path) -> String {
    fs::read(path)
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .unwrap_or_default()
}

/// The whole lines of a log.
fn parse(log: &str) -> Vec<Value> {
    let whole = log.rfind('\n').map_or("", |end| &log[..end]);
    whole
        .lines()
        .map(|line| serde_json::from_str(line).expect("a record is JSON"))
        .collect()
}
