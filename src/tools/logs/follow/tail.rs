//! One file that grows.

use std::fs::File;
use std::io::Seek;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use anyhow::Context;

use super::Piece;
use super::known::Identity;
use crate::tools::logs::{Block, Blocks};

/// A file that is held open, and read as far as it goes.
pub struct Tail {
    /// Its name when it was found.
    name: Arc<str>,
    /// By what it is known when it is renamed.
    pub identity: Identity,
    /// Where it was last.
    pub path: PathBuf,
    file: Arc<File>,
    blocks: Blocks<Arc<File>>,
    /// The last look found it under one of the names.
    is_there: bool,
    /// Looks since it was last there, or a line came.
    quiet: u32,
}

impl Tail {
    /// Opens the file at `path`, to be read from its start.
    ///
    /// # Errors
    ///
    /// It cannot be opened; the sentence names it.
    pub fn open(path: &Path) -> anyhow::Result<Tail> {
        let failed = || format!("cannot read {}", path.display());
        let file = Arc::new(File::open(path).with_context(failed)?);
        let identity = Identity::of(&file.metadata().with_context(failed)?);
        Ok(Tail {
            name: path.display().to_string().into(),
            identity,
            blocks: Blocks::of(Arc::clone(&file)),
            file,
            path: path.to_owned(),
            is_there: true,
            quiet: 0,
        })
    }

    /// The next lines, `None` if there are none for now. If the file is shorter than what was read of it, it was truncated:
    /// it is read from its start.
    ///
    /// # Errors
    ///
    /// Reading failed; the sentence names the file.
    pub fn block(&mut self) -> anyhow::Result<Option<Block>> {
        let failed = || format!("cannot read {}", self.name);
        let at = (&*self.file).stream_position().with_context(failed)?;
        let length = self.file.metadata().with_context(failed)?.len();
        if length == at {
            return Ok(None);
        }
        if length < at {
            (&*self.file).rewind().with_context(failed)?;
            self.blocks = Blocks::of(Arc::clone(&self.file));
        }
        self.quiet = 0;
        self.blocks.read_whole().with_context(failed)
    }

    /// These lines of it.
    pub fn piece(&self, block: Block) -> Piece {
        Piece {
            name: Arc::clone(&self.name),
            lines: Ok(block),
        }
    }

    /// A look begins.
    pub fn look_for(&mut self) {
        self.is_there = false;
        self.quiet = self.quiet.saturating_add(1);
    }

    /// It is at `path`.
    pub fn is_at(&mut self, path: &Path) {
        path.clone_into(&mut self.path);
        (self.is_there, self.quiet) = (true, 0);
    }

    /// Whether it is to be left: it is nowhere, nothing more came for `patience` looks, and it was removed or its name has
    /// another file. While the name has none, or an empty one that `logrotate` made, the writer may go on with this one.
    pub fn is_left(&self, patience: u32) -> bool {
        let is_removed = || self.file.metadata().is_ok_and(|data| data.nlink() == 0);
        let is_followed = || self.path.metadata().is_ok_and(|data| data.len() > 0);
        !self.is_there && self.quiet >= patience && (is_removed() || is_followed())
    }

    /// Its bytes now.
    pub fn length(&self) -> u64 {
        self.file.metadata().map_or(0, |data| data.len())
    }

    /// When it was last written to, where that is known.
    pub fn changed(&self) -> Option<SystemTime> {
        self.file.metadata().and_then(|data| data.modified()).ok()
    }

    /// The line that waits for its end, if it is no longer to be waited for.
    pub fn rest(&mut self) -> Option<Piece> {
        let block = self.blocks.give_up()?;
        Some(self.piece(block))
    }
}
