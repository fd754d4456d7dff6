//! What can be wrong with the settings, each told with a fix.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Settings that nothing can be started with.
#[derive(Debug)]
pub enum ConfigError {
    /// No layer names an upstream.
    NoUpstream,
    /// The upstream is the address that dripline itself listens on.
    Loop(SocketAddr),
    /// Anyone on the network could read the admin side.
    AdminUnguarded(SocketAddr),
    /// The file of `--config` cannot be read.
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        cause: std::io::Error,
    },
    /// A line of that file is wrong.
    File {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The key, where the line has one.
        key: Option<String>,
        /// What is wrong, and what to write instead.
        problem: String,
    },
    /// The file of `--upstream-ca` is of no use.
    UpstreamCa {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConfigError::NoUpstream => f.write_str(
                "no upstream is set: name the server that requests go to, for example\n\n  \
                 dripline proxy --upstream http://127.0.0.1:8000\n\n\
                 (or set DRIPLINE_UPSTREAM, or upstream in the file of --config)",
            ),
            ConfigError::Loop(listen) => write!(
                f,
                "--upstream is the address dripline listens on itself ({listen}), so requests would go in circles; \
                 give the server's own port to --upstream, or another one to --listen"
            ),
            ConfigError::AdminUnguarded(addr) => write!(
                f,
                "--admin {addr}: others can reach this address, and would see each request's path, model and timing; ask \
                 for a token with --admin-token (or DRIPLINE_ADMIN_TOKEN), or say with --admin-open that all may see it"
            ),
            ConfigError::Unreadable { path, cause } => write!(
                f,
                "{}: cannot be read ({cause}); check the path after --config (or in DRIPLINE_CONFIG)",
                path.display()
            ),
            ConfigError::File {
                path,
                line,
                key: Some(key),
                problem,
            } => {
                write!(f, "{}, line {line}, key '{key}': {problem}", path.display())
            }
            ConfigError::File {
                path,
                line,
                key: None,
                problem,
            } => {
                write!(f, "{}, line {line}: {problem}", path.display())
            }
            ConfigError::UpstreamCa { path, problem } => write!(
                f,
                "--upstream-ca {}: {problem}; give a PEM file that holds the CA's certificates \
                 (-----BEGIN CERTIFICATE-----) and nothing else",
                path.display()
            ),
        }
    }
}

impl std::error::Error for ConfigError {}
