//! Files that were read, known again under any name.

use std::collections::{HashMap, HashSet, VecDeque};
use std::fs::Metadata;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::fs::MetadataExt;
use std::time::SystemTime;

use crate::tools::logs::LONGEST;

/// First lines that are remembered.
const LINES: usize = 4096;

/// What a file keeps when it is renamed, and no other has: systems use the numbers of removed files again.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Identity {
    device: u64,
    number: u64,
    born: Option<SystemTime>,
}

impl Identity {
    /// Of the file that this is about.
    pub fn of(data: &Metadata) -> Identity {
        Identity {
            device: data.dev(),
            number: data.ino(),
            // where the system does not tell, the numbers must do
            born: data.created().ok(),
        }
    }
}

/// What is known of files.
#[derive(Debug, Default)]
pub struct Known {
    /// Those that are not to be read, or not again, and how long they were then.
    left: HashMap<Identity, u64>,
    /// Hashes of first lines, the latest last.
    lines: VecDeque<u64>,
    hasher: RandomState,
}

impl Known {
    /// The file, so many bytes long, is not to be read any more.
    pub fn leave(&mut self, identity: Identity, length: u64) {
        self.left.insert(identity, length);
    }

    /// How long it was if that was said of it.
    pub fn left_at(&self, identity: &Identity) -> Option<u64> {
        self.left.get(identity).copied()
    }

    /// Forgets all files but these, which are still there.
    pub fn forget_but(&mut self, there: &HashSet<Identity>) {
        self.left.retain(|identity, _| there.contains(identity));
    }

    /// A file with this first line is being read.
    pub fn add_line(&mut self, line: &[u8]) {
        let hash = self.hasher.hash_one(line);
        if !self.lines.contains(&hash) {
            self.lines.push_back(hash);
        }
        if self.lines.len() > LINES {
            self.lines.pop_front();
        }
    }

    /// Whether one with this first line was.
    pub fn has_line(&self, line: &[u8]) -> bool {
        self.lines.contains(&self.hasher.hash_one(line))
    }
}

/// The first line that is not blank, without space around it; `None` if it has no end yet.
///
/// # Errors
///
/// Reading failed.
pub fn first_line(reader: impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut lines = BufReader::new(reader.take(LONGEST as u64));
    let mut line = Vec::new();
    loop {
        line.clear();
        let n = lines.read_until(b'\n', &mut line)?;
        let is_whole = line.ends_with(b"\n") || n == LONGEST;
        let text = line.trim_ascii();
        match (is_whole, text.is_empty()) {
            (false, _) => return Ok(None),
            (true, false) => return Ok(Some(text.to_vec())),
            (true, true) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_line_is_one_that_has_its_end() {
        let first = |text: &str| first_line(text.as_bytes()).unwrap();
        assert_eq!(first("\n  a b \r\nc\n"), Some(b"a b".to_vec()));
        for text in ["", "\n", "a", "\n\n{"] {
            assert_eq!(first(text), None, "{text:?}");
        }
    }

    #[test]
    fn so_many_lines_are_remembered() {
        let mut known = Known::default();
        for i in 0..LINES + 1 {
            known.add_line(i.to_string().as_bytes());
        }
        known.add_line(b"7");
        assert_eq!(known.lines.len(), LINES);
        assert!(!known.has_line(b"0") && known.has_line(b"1") && known.has_line(b"4096"));
    }
}
