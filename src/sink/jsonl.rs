//! JSON Lines: one record, one line, one `write(2)` onto a file opened for appending, so that
//! instances which share the file do not mix their lines.
//!
//! Nothing here is fatal. A full disk, a file that was moved or removed, a closed pipe: records are
//! lost, counted, and told of once when it begins and once when it is over. A line that a full disk
//! cut in the middle is ended by a line break before the next, so that it spoils no other; the same
//! goes for one that a crash left at the end of the file.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::observe::record::RequestRecord;

/// A log of records.
#[derive(Debug)]
pub struct Jsonl {
    file: File,
    /// Where `file` should be found; `None` for what has no path of its own.
    path: Option<PathBuf>,
    name: String,
    line: Vec<u8>,
    /// The file ends in the middle of a line.
    torn: bool,
    /// Records lost since the last that was written.
    lost: u64,
}

impl Jsonl {
    /// Appends to the file at `path`, made if it is not there.
    pub fn append_to(path: &Path) -> io::Result<Self> {
        let file = open(path)?;
        let torn = ends_in_a_line(path);
        Ok(Jsonl {
            path: Some(path.to_owned()),
            torn,
            ..Jsonl::onto(file, path.display().to_string())
        })
    }

    /// Writes to standard output.
    pub fn stdout() -> io::Result<Self> {
        Ok(Jsonl::onto(
            io::stdout().as_fd().try_clone_to_owned()?.into(),
            "standard output",
        ))
    }

    /// Writes to an open file, called `name` in messages.
    pub(super) fn onto(file: File, name: impl Into<String>) -> Self {
        Jsonl {
            file,
            path: None,
            name: name.into(),
            line: Vec::new(),
            torn: false,
            lost: 0,
        }
    }

    pub(super) fn name(&self) -> String {
        self.name.clone()
    }

    /// Appends one record; whether it got there.
    pub(super) fn write(&mut self, record: &RequestRecord) -> bool {
        match self.append(record) {
            Ok(()) if self.lost > 0 => {
                tracing::warn!(
                    "{} can be written again; {} records were lost",
                    self.name,
                    self.lost
                );
                self.lost = 0;
                true
            }
            Ok(()) => true,
            Err(error) => {
                if self.lost == 0 {
                    tracing::error!(
                        "{} cannot be written ({error}): records are lost until it can; requests are not affected",
                        self.name
                    );
                }
                self.lost += 1;
                false
            }
        }
    }

    fn append(&mut self, record: &RequestRecord) -> io::Result<()> {
        self.reopen_if_gone()?;
        self.line.clear();
        if self.torn {
            self.line.push(b'\n');
        }
        serde_json::to_writer(&mut self.line, record)?;
        self.line.push(b'\n');

        let mut rest = self.line.as_slice();
        while !rest.is_empty() {
            match self.file.write(rest) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(n) => {
                    rest = &rest[n..];
                    self.torn = !rest.is_empty();
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Follows a rotation: when the path no longer leads to the open file, what is there now is
    /// opened, or a new file made. One `stat` a record (about a microsecond) and no record goes
    /// into a file that nobody can find.
    fn reopen_if_gone(&mut self) -> io::Result<()> {
        let Some(path) = &self.path else {
            return Ok(());
        };
        let identity = |metadata: &Metadata| (metadata.dev(), metadata.ino());
        match path.metadata() {
            Ok(metadata) if identity(&metadata) == identity(&self.file.metadata()?) => {
                return Ok(());
            }
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        self.file = open(path)?;
        self.torn = ends_in_a_line(path);
        tracing::info!(
            "{} was moved or removed; going on in a new file of that name",
            self.name
        );
        Ok(())
    }
}

fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).create(true).open(path)
}

/// Whether a file's last byte is no line break. A file that cannot be read is taken to be whole.
fn ends_in_a_line(path: &Path) -> bool {
    let last = || -> io::Result<u8> {
        // Only a regular file has an end to look at; opening another kind could block.
        if !path.metadata()?.is_file() {
            return Ok(b'\n');
        }
        let mut file = File::open(path)?;
        if file.seek(SeekFrom::End(0))? == 0 {
            return Ok(b'\n');
        }
        file.seek(SeekFrom::End(-1))?;
        let mut byte = [0];
        file.read_exact(&mut byte)?;
        Ok(byte[0])
    };
    last().is_ok_and(|byte| byte != b'\n')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sink::sample::sample;

    fn with(id: &str) -> RequestRecord {
        RequestRecord {
            id: id.into(),
            ..sample()
        }
    }

    /// The ids of a log's whole lines; `!` for a line that is no record.
    fn ids(path: &Path) -> Vec<String> {
        let text = std::fs::read_to_string(path).unwrap();
        assert!(text.ends_with('\n'));
        let id = |line| {
            serde_json::from_str(line).map_or("!".to_owned(), |record: RequestRecord| record.id)
        };
        text.lines().map(id).collect()
    }

    #[test]
    fn a_line_is_the_record_and_reads_back_as_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log.jsonl");
        assert!(Jsonl::append_to(&path).unwrap().write(&sample()));
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.ends_with("}\n") && text.lines().count() == 1);
        assert_eq!(
            serde_json::from_str::<RequestRecord>(&text).unwrap(),
            sample()
        );
        assert!(
            text.starts_with(
                r#"{"schema":1,"id":"01JE2X3Y4Z","started_at":"2026-12-02T12:03:44.125Z","label":null,"instance":"edge-1","request":{"method":"POST","#
            ),
            "{text}"
        );
        assert!(
            text.contains(r#""ttft_ms":412.25,"ttft_after_request_ms":null,"#),
            "{text}"
        );
    }

    #[test]
    fn two_instances_share_a_file_line_by_line() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log.jsonl");
        std::thread::scope(|scope| {
            for name in ["a", "b"] {
                let mut log = Jsonl::append_to(&path).unwrap();
                scope.spawn(move || (0..300).for_each(|_| assert!(log.write(&with(name)))));
            }
        });
        let ids = ids(&path);
        assert_eq!(
            ["a", "b"].map(|name| ids.iter().filter(|id| *id == name).count()),
            [300, 300]
        );
    }

    #[test]
    fn a_moved_file_is_followed_by_a_new_one() {
        let dir = tempfile::tempdir().unwrap();
        let (path, old) = (dir.path().join("log.jsonl"), dir.path().join("log.1"));
        let mut log = Jsonl::append_to(&path).unwrap();
        log.write(&with("1"));
        std::fs::rename(&path, &old).unwrap();
        log.write(&with("2"));
        std::fs::remove_file(&path).unwrap();
        log.write(&with("3"));
        assert_eq!(
            (ids(&old), ids(&path)),
            (vec!["1".to_owned()], vec!["3".to_owned()])
        );
    }

    #[test]
    fn a_vanished_folder_loses_records_until_it_is_back() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("logs");
        let path = folder.join("log.jsonl");
        std::fs::create_dir(&folder).unwrap();
        let mut log = Jsonl::append_to(&path).unwrap();
        assert!(log.write(&with("1")));
        std::fs::remove_dir_all(&folder).unwrap();
        assert!(!log.write(&with("2")) && !log.write(&with("3")));
        assert_eq!(log.lost, 2);
        std::fs::create_dir(&folder).unwrap();
        assert!(log.write(&with("4")));
        assert_eq!((ids(&path), log.lost), (vec!["4".to_owned()], 0));
    }

    #[test]
    fn a_full_disk_is_no_panic_and_is_counted() {
        let Ok(mut log) = Jsonl::append_to(Path::new("/dev/full")) else {
            return; // only Linux has one
        };
        assert!(!log.write(&sample()) && !log.write(&sample()));
        assert_eq!(log.lost, 2);
    }

    #[test]
    fn a_torn_line_spoils_no_other() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log.jsonl");
        std::fs::write(&path, r#"{"schema":1,"id":"to"#).unwrap(); // as a crash leaves it
        let mut log = Jsonl::append_to(&path).unwrap();
        log.write(&with("1"));
        // As a disk leaves it that was full in the middle of a write.
        OpenOptions::new()
            .append(true)
            .open(&path)
            .unwrap()
            .write_all(b"{\"sch")
            .unwrap();
        log.torn = true;
        log.write(&with("2"));
        log.write(&with("3"));
        assert_eq!(ids(&path), ["!", "1", "!", "2", "3"]);
    }
}
