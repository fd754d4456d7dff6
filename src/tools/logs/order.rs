//! In which order logs are read: what only several records show rests on the records before, so the oldest comes first.
//!
//! Names do not tell: `a.jsonl.2.gz` is older than `a.jsonl.1`, and `a-2026-12-03.jsonl` younger than `a-2026-12-02.jsonl`.
//! The first record of each file does.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use serde::Deserialize;

use super::blocks::LONGEST;
use super::line::{Versioned, parse};
use super::source::Source;

/// What the order rests on.
#[derive(Deserialize)]
struct Start {
    schema: u32,
    started_at: String,
}

impl Versioned for Start {
    fn schema(&self) -> u32 {
        self.schema
    }
}

/// The same files by the start of their first record, oldest first. Those of which none is known (standard input, pipes,
/// files without a record) stay in their places, and so do those that begin at one time among each other.
pub fn oldest_first(files: Vec<PathBuf>) -> Vec<PathBuf> {
    let starts: Vec<_> = files.iter().map(|file| first_start(file)).collect();
    let known = |place: &usize| starts[*place].is_some();
    let places: Vec<usize> = (0..files.len()).filter(known).collect();
    let mut sorted = places.clone();
    sorted.sort_by_key(|&place| starts[place]);
    let mut ordered = files.clone();
    for (to, from) in places.into_iter().zip(sorted) {
        ordered[to].clone_from(&files[from]);
    }
    ordered
}

/// When the first record of a file started. What cannot be read is told by whoever reads it.
pub(super) fn first_start(file: &Path) -> Option<Timestamp> {
    // looking into a pipe would take away what it is asked for
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let source = Source::open(file, &Arc::default()).ok()?;
    let mut lines = BufReader::new(source.reader.take(LONGEST as u64));
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line).ok()? > 0 {
        let start: Option<Start> = parse(line.trim_ascii()).ok();
        if let Some(at) = start.and_then(|start| start.started_at.parse().ok()) {
            return Some(at);
        }
        line.clear();
    }
    None
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::tools::logs::sample;

    /// A line of a record that started in that minute.
    fn line(minute: u32) -> String {
        let mut record = sample();
        record.started_at = format!("2026-12-02T05:{minute:02}:00.5Z");
        serde_json::to_string(&record).unwrap() + "\n"
    }

    #[test]
    fn the_oldest_is_read_first_whatever_the_names() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: Vec<u8>| fs::write(dir.path().join(name), text).unwrap();
        write("a.jsonl", (line(40) + &line(10)).into_bytes());
        let damaged = format!("{}\n# not one\n{}", &line(1)[..300], line(30));
        write("a.jsonl.1", damaged.into_bytes());
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut gzip, (line(20) + &line(50)).as_bytes()).unwrap();
        write("a.jsonl.2.gz", gzip.finish().unwrap());
        let zstd = zstd::encode_all(line(10).as_bytes(), 1).unwrap();
        write("a.jsonl.10.zst", zstd);
        write("empty", Vec::new());
        write(
            "twin",
            format!(r#"{{"run":1,"record":{}}}"#, line(30).trim()).into_bytes(),
        );
        let ordered = |names: &[&str]| {
            let path = |name: &&str| match *name {
                "-" => PathBuf::from("-"),
                name => dir.path().join(name),
            };
            let name = |path: PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
            let files = oldest_first(names.iter().map(path).collect());
            files.into_iter().map(name).collect::<Vec<_>>()
        };
        assert_eq!(
            ordered(&["a.jsonl", "a.jsonl.1", "a.jsonl.10.zst", "a.jsonl.2.gz"]),
            ["a.jsonl.10.zst", "a.jsonl.2.gz", "a.jsonl.1", "a.jsonl"]
        );
        assert_eq!(
            ordered(&["a.jsonl", "-", "empty", "a.jsonl.1", "no such"]),
            ["a.jsonl.1", "-", "empty", "a.jsonl", "no such"]
        );
        assert_eq!(
            ordered(&["twin", "a.jsonl.1"]),
            ["twin", "a.jsonl.1"],
            "equal ones stay as they were named"
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_is_not_looked_into() {
        let (reader, mut writer) = std::io::pipe().unwrap();
        std::io::Write::write_all(&mut writer, line(1).as_bytes()).unwrap();
        drop(writer);
        let path = format!("/dev/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&reader));
        if Path::new(&path).exists() {
            assert_eq!(first_start(Path::new(&path)), None);
            let mut reader = reader;
            let mut text = String::new();
            reader.read_to_string(&mut text).unwrap();
            assert_eq!(text, line(1));
        }
    }
}
