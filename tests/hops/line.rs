//! Server, driplines and hop in a line, and the logs that they leave.

use std::future::pending;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Command, Output};

use dripline::tools::simulate::Scenario;
use serde_json::Value;
use tempfile::TempDir;

use crate::relay::{Hold, relay};
use crate::support::*;

const SCENARIO: &str = r#"
steps = [
    { head = true },
    { wait = "120ms" },
    { write = "role" },
    { write = "word", times = 60, every = "25ms" },
    { each = ["finish", "usage", "done"] },
]
"#;

/// Server, inner dripline, relay, outer dripline.
pub struct Line {
    inner: Proxy,
    pub outer: Proxy,
    dir: TempDir,
}

impl Line {
    pub fn start(hold: Hold, more: &[&str]) -> Line {
        let dir = TempDir::new().unwrap();
        let log = |name: &str| dir.path().join(name).display().to_string();
        let proxy = |to: SocketAddr, name: &str| {
            let log = log(&format!("{name}.jsonl"));
            let args = [&["--log", &log, "--instance", name], more].concat();
            Proxy::with(&format!("http://{to}"), &args)
        };
        let inner = proxy(server(), "inner");
        let outer = proxy(relay(inner.addr, hold), "outer");
        Line { inner, outer, dir }
    }

    /// One stream to its end.
    pub fn ask(&self, fields: &str) {
        let response = Client::connect(self.outer.addr).ask(chat_request(fields));
        assert_eq!(response.end, Some(End::Whole), "{}", response.text());
    }

    /// Ends both, so that their logs are written.
    pub fn stop(self) -> Logs {
        for proxy in [self.outer, self.inner] {
            assert!(proxy.stop().status.success());
        }
        Logs { dir: self.dir }
    }
}

/// What both left.
pub struct Logs {
    dir: TempDir,
}

impl Logs {
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn hops(&self, args: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_dripline"))
            .arg("hops")
            .args(["inner.jsonl", "outer.jsonl"])
            .args(args)
            .current_dir(self.dir.path())
            .output()
            .unwrap()
    }

    pub fn pairs(&self) -> Vec<Value> {
        let output = self.hops(&["--json"]);
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}

fn server() -> SocketAddr {
    let scenario = Scenario::from_toml("t", SCENARIO).unwrap();
    simulated::play(vec![scenario], |simulator| simulator, pending())
}
