//! The TOML file: flat, its keys the long flags. A mistake is told with its line and key, never
//! with the line's text, which may hold what must not be printed.

use std::ops::Range;
use std::path::Path;

use clap::{Args, Command};

use super::error::ConfigError;
use super::settings::Settings;

/// Reads the layer of settings in the file at `path`.
pub(super) fn read(path: &Path) -> Result<Settings, ConfigError> {
    let text = std::fs::read_to_string(path).map_err(|cause| ConfigError::Unreadable {
        path: path.to_owned(),
        cause,
    })?;
    toml::from_str(&text).map_err(|error| {
        let span = error.span().unwrap_or(0..0);
        let message = error.message();
        let problem = if message.starts_with("unknown field") {
            unknown(
                text.get(span.clone())
                    .unwrap_or_default()
                    .trim_matches(['"', '\'']),
            )
        } else {
            message.to_owned()
        };
        ConfigError::File {
            path: path.to_owned(),
            line: line(&text, &span),
            key: key(&text, &span),
            problem,
        }
    })
}

fn line(text: &str, span: &Range<usize>) -> usize {
    1 + text[..span.start.min(text.len())].matches('\n').count()
}

/// The key of the line that `span` begins in: what stands before its `=`.
fn key(text: &str, span: &Range<usize>) -> Option<String> {
    let (key, _) = text.lines().nth(line(text, span) - 1)?.split_once('=')?;
    Some(key.trim().trim_matches(['"', '\'']).to_owned())
}

fn unknown(key: &str) -> String {
    let keys = keys();
    match closest(key, keys.iter().map(String::as_str)) {
        Some(close) => format!("there is no such setting; did you mean '{close}'?"),
        None => format!(
            "there is no such setting (and no tables); the keys are {}",
            keys.join(", ")
        ),
    }
}

/// Every key of the file, in the order of the help.
fn keys() -> Vec<String> {
    Settings::augment_args(Command::new(""))
        .get_arguments()
        .filter_map(|arg| arg.get_long())
        .filter(|long| *long != "config")
        .map(str::to_owned)
        .collect()
}

/// The name most like `wrong`, if one is alike at all.
pub(super) fn closest<'a>(wrong: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    /// Close enough for a slip of the fingers, too far for another word with the same letters.
    const ALIKE: f64 = 0.8;
    names
        .map(|name| (strsim::jaro(wrong, name), name))
        .filter(|(likeness, _)| *likeness > ALIKE)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("d.toml");
        std::fs::write(&path, text).unwrap();
        let error = read(&path).unwrap_err().to_string();
        error
            .strip_prefix(&format!("{}, ", path.display()))
            .unwrap()
            .to_owned()
    }

    #[test]
    fn a_mistyped_key_is_told_with_its_line_and_the_right_one() {
        let text = "# mine\n\nupstream = \"http://h\"\nlisen = \"127.0.0.1:0\"\n";
        assert_eq!(
            error(text),
            "line 4, key 'lisen': there is no such setting; did you mean 'listen'?"
        );
        assert!(error("pool_idle = \"4s\"").ends_with("did you mean 'pool-idle'?"));
        assert!(error("[server]\nhost = 1\n").contains(
            "line 1: there is no such setting (and no tables); the keys are upstream, listen"
        ));
    }

    #[test]
    fn a_wrong_value_is_told_with_its_line_key_and_fix() {
        assert_eq!(
            error("\ndrain = 30"),
            "line 2, key 'drain': '30' has no unit; write 30s for seconds or 30ms for milliseconds"
        );
        assert!(
            error("upstream = \"127.0.0.1:8000\"").starts_with(
                "line 1, key 'upstream': '127.0.0.1:8000' has no scheme; write http://"
            )
        );
        assert!(error("listen = 8080").contains("127.0.0.1:8080"));
        assert!(error("timeline = \"yes\"").contains("expected a boolean"));
    }

    #[test]
    fn broken_toml_is_told_with_its_line_but_not_its_text() {
        let error = error("listen = \"127.0.0.1:0\"\nlabel = \"sk-planted\n");
        assert!(error.starts_with("line 2, key 'label': "), "{error}");
        assert!(!error.contains("sk-planted"), "{error}");
    }

    #[test]
    fn the_file_cannot_name_another_file() {
        assert!(error("config = \"other.toml\"").contains("no such setting"));
    }
}
