//! A file that is written whole or not at all.
//!
//! It is written beside its place and then renamed to it, so that nobody opens half a page, and a page of before stays where
//! the new one fails. What is no plain file (a pipe, a terminal) is written to as it is.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use tempfile::{Builder, NamedTempFile};

/// A place to write to.
#[derive(Debug)]
pub struct Target {
    /// As it was given.
    path: PathBuf,
    /// A link's other end.
    real: PathBuf,
}

impl Target {
    /// The place at `path`, which is looked at before any work is done for it.
    ///
    /// # Errors
    ///
    /// Nothing can be written there; the sentence names the file and what to do.
    pub fn of(path: &Path) -> anyhow::Result<Target> {
        let target = Target {
            path: path.to_owned(),
            real: fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()),
        };
        if target.real.is_dir() {
            bail!(
                "cannot write {}: it is a folder; name a file in it",
                path.display()
            );
        }
        if target.is_plain() {
            target.draft()?;
        }
        Ok(target)
    }

    /// Writes all of it.
    ///
    /// # Errors
    ///
    /// It cannot be written; what was there before still is.
    pub fn write(&self, text: &str) -> anyhow::Result<()> {
        let failed = || format!("cannot write {}", self.path.display());
        if !self.is_plain() {
            return fs::write(&self.real, text).with_context(failed);
        }
        let mut draft = self.draft()?;
        if let Ok(before) = fs::metadata(&self.real) {
            let kept = draft.as_file().set_permissions(before.permissions());
            kept.with_context(failed)?;
        }
        draft.write_all(text.as_bytes()).with_context(failed)?;
        // a full disk may show only now
        draft.as_file().sync_all().with_context(failed)?;
        draft.persist(&self.real).with_context(failed)?;
        Ok(())
    }

    /// Nothing is there yet, or a file that may be replaced.
    fn is_plain(&self) -> bool {
        fs::metadata(&self.real).map_or(true, |data| data.is_file())
    }

    /// An empty file in the same folder, which goes away unless it is kept.
    fn draft(&self) -> anyhow::Result<NamedTempFile> {
        let folder = match self.real.parent() {
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
                self.path.display(),
                folder.display()
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_as_a_whole_and_nothing_stays_beside_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("report.html");
        for text in ["one", "two"] {
            Target::of(&path).unwrap().write(text).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 1);
    }

    #[test]
    fn a_place_that_takes_nothing_is_named_before_any_work() {
        let dir = tempfile::tempdir().unwrap();
        let error = |path: &Path| format!("{:#}", Target::of(path).unwrap_err());
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
        fs::write(&file, "before").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        Target::of(&link).unwrap().write("after").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&file).unwrap(), "after");
        Target::of(&other).unwrap().write("new").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
        fs::write(dir.path().join("usual"), "").unwrap();
        assert_eq!(mode(&other), mode(&dir.path().join("usual")));
        fs::set_permissions(&other, fs::Permissions::from_mode(0o600)).unwrap();
        Target::of(&other).unwrap().write("newer").unwrap();
        assert_eq!(mode(&other) & 0o777, 0o600, "what was private stays so");
    }
}
