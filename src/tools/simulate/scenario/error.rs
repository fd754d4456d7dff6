//! What is wrong with a scenario, told so that it can be mended: file, line, key, mistake, and what to write instead.

use std::fmt;
use std::io;

/// A scenario that cannot be used.
#[derive(Debug)]
pub struct ScenarioError {
    /// The file, or the name of a scenario given as text.
    file: String,
    /// Line, from 1.
    line: Option<usize>,
    /// The path of keys to the mistake, such as `steps[2].wait` (steps count from 1).
    key: String,
    problem: String,
    /// What to write instead.
    fix: String,
    io: Option<io::ErrorKind>,
}

impl ScenarioError {
    /// A mistake at one place of the text.
    pub(super) fn at(
        file: &str,
        line: Option<usize>,
        key: &str,
        problem: String,
        fix: String,
    ) -> Self {
        Self {
            file: file.to_owned(),
            line,
            key: key.to_owned(),
            problem,
            fix,
            io: None,
        }
    }

    pub(super) fn unreadable(file: &str, error: &io::Error) -> Self {
        let problem = format!("cannot be read: {error}");
        Self {
            io: Some(error.kind()),
            ..Self::at(
                file,
                None,
                "",
                problem,
                "give the path of a TOML file".to_owned(),
            )
        }
    }

    pub(super) fn unknown(name: &str, ready: &str) -> Self {
        let problem = "is neither a ready scenario nor a file".to_owned();
        let fix = format!("use one of {ready}, or the path of a TOML file");
        Self {
            io: Some(io::ErrorKind::NotFound),
            ..Self::at(&format!("'{name}'"), None, "", problem, fix)
        }
    }

    /// Whether the file could not be read, for this reason.
    pub(super) fn is(&self, kind: io::ErrorKind) -> bool {
        self.io == Some(kind)
    }
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        match (self.line, self.key.as_str()) {
            (None, "") => write!(f, " {}", self.problem)?,
            (Some(_), "") => write!(f, ": {}", self.problem)?,
            (_, key) => write!(f, ": {key} {}", self.problem)?,
        }
        write!(f, "; {}", self.fix)
    }
}

impl std::error::Error for ScenarioError {}
