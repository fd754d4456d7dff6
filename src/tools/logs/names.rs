//! Which files are meant: names as they are, and patterns that no shell has unfolded.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

/// What makes a name a pattern, where no file is called so.
const WILD: [char; 3] = ['*', '?', '['];

/// The files that `names` mean, in that order, each once; `-` is standard input. A pattern stands for what fits it, in
/// the order of the names.
///
/// # Errors
///
/// A pattern that is none, or that nothing fits.
pub fn unfolded(names: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for name in names {
        match name.to_str() {
            Some(pattern) if pattern.contains(WILD) && !name.exists() => {
                files.extend(fitting(pattern)?);
            }
            _ => files.push(name.clone()),
        }
    }
    let mut known = HashSet::new();
    // what cannot be found is told when it is opened
    files.retain(|file| known.insert(fs::canonicalize(file).unwrap_or_else(|_| file.clone())));
    Ok(files)
}

fn fitting(pattern: &str) -> anyhow::Result<Vec<PathBuf>> {
    let paths = glob::glob(pattern)
        .with_context(|| format!("{pattern:?} is no pattern; write * for any part of a name"))?;
    let is_no_folder = |path: &PathBuf| !Path::is_dir(path);
    let files: Vec<PathBuf> = paths.flatten().filter(is_no_folder).collect();
    if files.is_empty() {
        bail!(
            "no file fits {pattern:?}; name a log that `dripline proxy --log FILE` wrote, or - for standard input"
        );
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_unfolded_and_no_file_is_meant_twice() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["a.jsonl", "a.jsonl.1", "b.jsonl", "odd[1].jsonl"] {
            fs::write(dir.path().join(name), "").unwrap();
        }
        fs::create_dir(dir.path().join("a.jsonl.d")).unwrap();
        let files = |names: &[&str]| {
            let names: Vec<_> = names.iter().map(|name| dir.path().join(name)).collect();
            let name = |path: PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
            unfolded(&names).map(|files| files.into_iter().map(name).collect::<Vec<_>>())
        };
        assert_eq!(files(&["a*"]).unwrap(), ["a.jsonl", "a.jsonl.1"]);
        assert_eq!(files(&["b.jsonl", "*.jsonl"]).unwrap().len(), 3);
        assert_eq!(files(&["odd[1].jsonl"]).unwrap(), ["odd[1].jsonl"]);
        assert_eq!(files(&["no.jsonl"]).unwrap(), ["no.jsonl"]);
        let none = files(&["x*"]).unwrap_err().to_string();
        assert!(none.contains("x*") && none.contains("--log FILE"), "{none}");
        assert!(
            files(&["a**b"])
                .unwrap_err()
                .to_string()
                .contains("no pattern")
        );
        assert_eq!(
            unfolded(&["-".into(), "-".into()]).unwrap(),
            [PathBuf::from("-")]
        );
    }
}
