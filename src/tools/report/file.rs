//! A file that is written whole or not at all, and never in the place of something else.
//!
//! It is written beside its place and then renamed to it, so that nobody opens half of one, and what was there stays where
//! the new one fails. What is no plain file (a pipe, a terminal) is written to as it is.

use std::fs::{self, File};
use std::io::{self, BufWriter, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use tempfile::{Builder, NamedTempFile};

/// A kind of file.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    /// What it is called.
    pub name: &'static str,
    /// The bytes that every one of dripline's begins with.
    pub magic: &'static [u8],
}

/// A file that is being made. Dropping it before it is finished leaves no trace.
#[derive(Debug)]
pub struct Output(To);

#[derive(Debug)]
enum To {
    /// A draft beside its place, and that place.
    Plain(BufWriter<NamedTempFile>, PathBuf),
    /// A pipe, a device.
    Other(BufWriter<File>),
}

impl Output {
    /// Begins the file at `path`. What is there already gives way if it is of that kind; a log whose name was typed in the
    /// wrong place does not.
    ///
    /// # Errors
    ///
    /// Nothing can be written there; the sentence names the file and what to do.
    pub fn begin(path: &Path, kind: Kind) -> anyhow::Result<Output> {
        let name = path.display();
        let failed = || format!("cannot write {name}");
        let old = match path.metadata() {
            Ok(metadata) => Some(metadata),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(error).with_context(failed),
        };
        let Some(old) = old else {
            let place = path.to_owned();
            return Ok(Output(To::Plain(BufWriter::new(draft(path, path)?), place)));
        };
        if old.is_dir() {
            bail!("cannot write {name}: it is a folder; name a file in it");
        }
        if !old.is_file() {
            let device = fs::OpenOptions::new().write(true).open(path);
            return Ok(Output(To::Other(BufWriter::new(
                device.with_context(failed)?,
            ))));
        }
        if old.len() > 0 && !begins(path, kind.magic).with_context(failed)? {
            bail!(
                "{name} is there and is no {}, so it stays; name another file to write, or remove it",
                kind.name
            );
        }
        // where a link leads, the link stays
        let place = path.canonicalize().with_context(failed)?;
        let draft = draft(path, &place)?;
        let kept = draft.as_file().set_permissions(old.permissions());
        kept.with_context(failed)?;
        Ok(Output(To::Plain(BufWriter::new(draft), place)))
    }

    /// It is whole.
    ///
    /// # Errors
    ///
    /// The rest cannot be written, or the file not be named; what was there before still is.
    pub fn finish(self) -> io::Result<()> {
        match self.0 {
            To::Plain(draft, place) => {
                let draft = draft.into_inner()?;
                // a full disk may show only now
                draft.as_file().sync_all()?;
                draft.persist(place)?;
                Ok(())
            }
            To::Other(mut device) => device.flush(),
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.0 {
            To::Plain(draft, _) => draft.write(bytes),
            To::Other(device) => device.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.0 {
            To::Plain(draft, _) => draft.flush(),
            To::Other(device) => device.flush(),
        }
    }
}

/// An empty file in the folder of `place`, which goes away unless it is kept.
fn draft(path: &Path, place: &Path) -> anyhow::Result<NamedTempFile> {
    let folder = match place.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let mut builder = Builder::new();
    builder.prefix(".dripline-").suffix(".tmp");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // as any new file: the user's mask decides
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder).with_context(|| {
        format!(
            "cannot write {}: is there a folder {}, and may you write to it?",
            path.display(),
            folder.display()
        )
    })
}

fn begins(path: &Path, magic: &[u8]) -> io::Result<bool> {
    let mut start = Vec::new();
    File::open(path)?
        .take(magic.len() as u64)
        .read_to_end(&mut start)?;
    Ok(start == magic)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIND: Kind = Kind {
        name: "thing",
        magic: b"MAGIC",
    };

    fn write(path: &Path, text: &str) {
        let mut output = Output::begin(path, KIND).unwrap();
        output.write_all(text.as_bytes()).unwrap();
        output.finish().unwrap();
    }

    #[test]
    fn a_file_is_there_once_it_is_whole_and_nothing_stays_beside_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.bin");
        let mut whole = Output::begin(&path, KIND).unwrap();
        whole.write_all(b"MAGIC one").unwrap();
        assert!(!path.exists());
        whole.finish().unwrap();
        let mut given_up = Output::begin(&path, KIND).unwrap();
        given_up.write_all(b"MAGIC two").unwrap();
        given_up.flush().unwrap();
        drop(given_up);
        assert_eq!(fs::read(&path).unwrap(), b"MAGIC one");
        write(&path, "MAGIC 2");
        assert_eq!(fs::read(&path).unwrap(), b"MAGIC 2");
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 1);
    }

    #[test]
    fn what_is_something_else_stays() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.jsonl");
        fs::write(&path, "{\"schema\":1}\n").unwrap();
        let told = format!("{:#}", Output::begin(&path, KIND).unwrap_err());
        assert!(
            told.contains("is no thing") && told.contains("remove it"),
            "{told}"
        );
        assert_eq!(fs::read(&path).unwrap(), b"{\"schema\":1}\n");
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 1);
        let device = Output::begin(Path::new("/dev/null"), KIND).unwrap();
        device.finish().unwrap();
    }

    #[test]
    fn a_place_that_takes_nothing_is_named_before_any_work() {
        let dir = tempfile::tempdir().unwrap();
        let error = |path: &Path| format!("{:#}", Output::begin(path, KIND).unwrap_err());
        let missing = dir.path().join("no/report.html");
        assert!(error(&missing).contains("report.html: is there a folder"));
        assert!(error(dir.path()).contains("it is a folder; name a file in it"));
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 0);
    }

    #[cfg(unix)]
    #[test]
    fn links_stay_links_and_new_files_are_as_others() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let (file, link, other) = (
            dir.path().join("file"),
            dir.path().join("link"),
            dir.path().join("other"),
        );
        fs::write(&file, "MAGIC before").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write(&link, "MAGIC after");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&file).unwrap(), "MAGIC after");
        write(&other, "MAGIC new");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
        fs::write(dir.path().join("usual"), "").unwrap();
        assert_eq!(mode(&other), mode(&dir.path().join("usual")));
        fs::set_permissions(&other, fs::Permissions::from_mode(0o600)).unwrap();
        write(&other, "MAGIC newer");
        assert_eq!(mode(&other) & 0o777, 0o600, "what was private stays so");
    }
}
