//! A file that is made: under another name until it is whole, and never in the place of something else.

use std::fs::{self, File};
use std::io::{self, BufWriter, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

/// A file that is being made.
pub struct Output {
    writer: BufWriter<File>,
    /// Its name until it is whole, and the one that it gets then; `None` for a device or a pipe.
    unfinished: Option<(PathBuf, PathBuf)>,
}

impl Output {
    /// Begins the file at `path`. What is there already gives way if it is of the same kind: it begins with `magic`. A log
    /// whose name was typed in the wrong place does not.
    ///
    /// # Errors
    ///
    /// A sentence that names the file and what to do.
    pub fn begin(path: &Path, kind: &str, magic: &[u8]) -> anyhow::Result<Output> {
        let name = path.display();
        let failed = || format!("cannot write {name}");
        let old = match path.metadata() {
            Ok(metadata) => Some(metadata),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(error).with_context(failed),
        };
        if path.is_dir() {
            bail!("{name} is a folder; name the file to write");
        }
        if old.as_ref().is_some_and(|old| !old.is_file()) {
            let device = fs::OpenOptions::new().write(true).open(path);
            return Ok(Output {
                writer: BufWriter::new(device.with_context(failed)?),
                unfinished: None,
            });
        }
        if old.as_ref().is_some_and(|old| old.len() > 0)
            && !begins(path, magic).with_context(failed)?
        {
            bail!(
                "{name} is there and is no {kind}, so it stays; name another file to write, or remove it"
            );
        }
        // where a link leads, the link stays
        let whole = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let mut unfinished = whole.clone().into_os_string();
        unfinished.push(".part");
        let unfinished = PathBuf::from(unfinished);
        let file = File::create(&unfinished).with_context(failed)?;
        if let Some(old) = old {
            file.set_permissions(old.permissions())
                .with_context(failed)?;
        }
        Ok(Output {
            writer: BufWriter::new(file),
            unfinished: Some((unfinished, whole)),
        })
    }

    /// It is whole.
    ///
    /// # Errors
    ///
    /// The rest cannot be written, or the file not be named.
    pub fn finish(mut self) -> io::Result<()> {
        self.writer.flush()?;
        match self.unfinished.take() {
            Some((unfinished, whole)) => fs::rename(unfinished, whole),
            None => Ok(()),
        }
    }
}

fn begins(path: &Path, magic: &[u8]) -> io::Result<bool> {
    let mut start = Vec::new();
    File::open(path)?
        .take(magic.len() as u64)
        .read_to_end(&mut start)?;
    Ok(start == magic)
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

impl Drop for Output {
    /// What is not whole is of no use to anyone.
    fn drop(&mut self) {
        if let Some((unfinished, _)) = &self.unfinished {
            let _ = fs::remove_file(unfinished);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_there_once_it_is_whole() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.bin");
        let names = || fs::read_dir(dir.path()).unwrap().count();
        let begin = || Output::begin(&path, "thing", b"MAGIC").unwrap();
        let mut whole = begin();
        whole.write_all(b"MAGIC one").unwrap();
        assert!(!path.exists());
        whole.finish().unwrap();
        let mut given_up = begin();
        given_up.write_all(b"MAGIC two").unwrap();
        drop(given_up);
        assert_eq!(fs::read(&path).unwrap(), b"MAGIC one");
        assert_eq!(names(), 1);
        let mut second = begin();
        second.write_all(b"MAGIC 2").unwrap();
        second.finish().unwrap();
        assert_eq!(
            (fs::read(&path).unwrap(), names()),
            (b"MAGIC 2".to_vec(), 1)
        );
    }

    #[test]
    fn what_is_something_else_stays() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.jsonl");
        fs::write(&path, "{\"schema\":1}\n").unwrap();
        let error = |path: &Path| {
            let error = Output::begin(path, "Parquet file", b"PAR1").err().unwrap();
            format!("{error:#}")
        };
        let told = error(&path);
        assert!(
            told.contains("is no Parquet file") && told.contains("remove it"),
            "{told}"
        );
        assert_eq!(fs::read(&path).unwrap(), b"{\"schema\":1}\n");
        assert!(error(dir.path()).contains("is a folder"));
        assert!(error(&dir.path().join("no/such")).contains("no/such"));
        let device = Output::begin(Path::new("/dev/null"), "Parquet file", b"PAR1").unwrap();
        device.finish().unwrap();
    }
}
