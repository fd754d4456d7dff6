//! Logs that grow, as `tail -F` reads them: by their names, whatever is rotated under them.
//!
//! - A file that is renamed is read to its end, and the new one of its name from its start. The writer may be behind: what
//!   it still appends to the old one is read too, for as long as something comes.
//! - One that becomes shorter was truncated, and is read from its start.
//! - One that is not there yet is waited for, and a pattern finds new ones.
//! - A line without its end is waited for. It is given as it is once its file is left for the next.
//!
//! Nothing is read twice: a file under another name is known by its identity, and a copy, which `logrotate` leaves where it
//! truncates, by its first line, which has an id of its own. Packed files are read once, at the start; one that appears
//! later is what was read before it was packed.
//!
//! What is kept does not grow: an open file for each that may grow, the [`MOST`] that changed last; a name for each file
//! that is there; and of the last 4,096 files a number each.

mod known;
mod once;
mod tail;

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail};

use super::blocks::Block;
use super::names::unfolded;
use super::order::oldest_first;
use super::source::Source;
use super::unread::BadLine;
use known::{Identity, Known};
use once::Once;
use tail::Tail;

/// Files that are held open. A process may hold 256 on macOS, 1,024 on Linux.
pub const MOST: usize = 200;
/// A file that was moved away, and whose name has a new one, is left after so many looks without a line.
const PATIENCE: u32 = 5;

/// What has come of a log.
#[derive(Debug)]
pub struct Piece {
    /// The file's name.
    pub name: Arc<str>,
    /// Its lines, or what is wrong where they should be.
    pub lines: Result<Block, BadLine>,
}

/// Logs that are followed.
pub struct Followed {
    names: Vec<PathBuf>,
    /// Files that are read once, before all others.
    once: Once,
    /// Files that may grow, oldest first.
    tails: Vec<Tail>,
    known: Known,
    logs: BTreeSet<String>,
    troubles: Vec<String>,
}

impl Followed {
    /// Follows the files that `names` are, or patterns for such. What is there now is read first, the oldest before the
    /// others.
    ///
    /// # Errors
    ///
    /// One is no file that can be followed or read; the sentence says what to do.
    pub fn of(names: Vec<PathBuf>) -> anyhow::Result<Followed> {
        let mut followed = Followed {
            names,
            once: Once::default(),
            tails: Vec::new(),
            known: Known::default(),
            logs: BTreeSet::new(),
            troubles: Vec::new(),
        };
        followed.begin()?;
        followed.look();
        Ok(followed)
    }

    fn begin(&mut self) -> anyhow::Result<()> {
        let (mut files, mut plain) = (Vec::new(), Vec::new());
        let mut there = HashSet::new();
        for path in oldest_first(self.files()) {
            let Ok(data) = path.metadata() else {
                continue; // is told by the first look
            };
            if !data.is_file() {
                bail!(
                    "{} is no file that can be followed; name the log of `dripline proxy --log FILE`",
                    path.display()
                );
            }
            if !there.insert(Identity::of(&data)) {
                continue; // one file under two names
            }
            if !Source::open(&path, &Arc::default())?.packed {
                plain.push((data.modified().ok(), files.len()));
            }
            files.push((path, data));
        }
        plain.sort_by_key(|&(changed, _)| Reverse(changed));
        plain.truncate(MOST);
        let newest: HashSet<usize> = plain.into_iter().map(|(_, place)| place).collect();
        for (place, (path, data)) in files.into_iter().enumerate() {
            if newest.contains(&place) {
                self.open(&path)?;
            } else {
                self.logs.insert(path.display().to_string());
                self.known.leave(Identity::of(&data), data.len());
                self.once.files.push_back((path, Identity::of(&data)));
            }
        }
        Ok(())
    }

    fn open(&mut self, path: &Path) -> anyhow::Result<()> {
        self.tails.push(Tail::open(path)?);
        self.logs.insert(path.display().to_string());
        Ok(())
    }

    /// Names of the logs that were read so far; what was rotated has the name under which it was found.
    pub fn logs(&self) -> &BTreeSet<String> {
        &self.logs
    }

    /// What stood in the way when the names were last looked at, and is tried again.
    pub fn troubles(&self) -> &[String] {
        &self.troubles
    }

    /// The next lines, `None` if there are none for now.
    ///
    /// # Errors
    ///
    /// Reading failed; the sentence names the file.
    pub fn piece(&mut self) -> anyhow::Result<Option<Piece>> {
        let piece = match self.once.piece()? {
            None => self.grown()?,
            piece => piece,
        };
        if let Some(Piece {
            lines: Ok(block), ..
        }) = &piece
            && block.first == 1
            && let Some((_, line, _)) = block.lines().next()
        {
            self.known.add_line(line);
        }
        Ok(piece)
    }

    fn grown(&mut self) -> anyhow::Result<Option<Piece>> {
        for tail in &mut self.tails {
            if let Some(block) = tail.block()? {
                return Ok(Some(tail.piece(block)));
            }
        }
        Ok(None)
    }

    /// Looks at the names again: what was moved, and what is new.
    pub fn look(&mut self) {
        self.tails.iter_mut().for_each(Tail::look_for);
        let mut there = HashSet::new();
        let mut troubles = Vec::new();
        for path in self.files() {
            if let Err(error) = self.look_at(&path, &mut there) {
                troubles.push(format!("{error:#}"));
            }
        }
        self.known.forget_but(&there);
        self.troubles = troubles;
    }

    fn look_at(&mut self, path: &Path, there: &mut HashSet<Identity>) -> anyhow::Result<()> {
        let name = path.display();
        let data = match path.metadata() {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                // what was moved away is followed until its name has another
                if self.tails.iter().any(|tail| tail.path == path) {
                    return Ok(());
                }
                bail!("{name} is not there: waiting for it");
            }
            data => data.with_context(|| format!("cannot read {name}"))?,
        };
        let identity = Identity::of(&data);
        if let Some(tail) = self.tails.iter_mut().find(|tail| tail.identity == identity) {
            tail.is_at(path);
            return Ok(());
        }
        there.insert(identity.clone());
        if let Some(length) = self.known.left_at(&identity) {
            if data.len() > length {
                bail!("{name} grows and is not followed: it is one of more than {MOST} logs");
            }
            return Ok(());
        }
        if !data.is_file() {
            return Ok(());
        }
        let source = Source::open(path, &Arc::default())?;
        if source.packed {
            self.known.leave(identity, u64::MAX);
            return Ok(());
        }
        match known::first_line(source.reader)? {
            None => {} // it has no line yet to tell it by
            Some(first) if self.known.has_line(&first) => self.known.leave(identity, u64::MAX),
            Some(_) => self.open(path)?,
        }
        Ok(())
    }

    /// Leaves files whose names have others now, and gives their last lines, which have no end. To be asked for when there
    /// are no pieces.
    pub fn left(&mut self) -> Vec<Piece> {
        let mut left: Vec<Tail> = self
            .tails
            .extract_if(.., |tail| tail.is_left(PATIENCE))
            .collect();
        while self.tails.len() > MOST {
            let changed = |&place: &usize| self.tails[place].changed();
            // the first is as good as any where none is known
            let oldest = (0..self.tails.len()).min_by_key(changed).unwrap_or(0);
            let tail = self.tails.remove(oldest);
            self.known.leave(tail.identity.clone(), tail.length());
            left.push(tail);
        }
        left.iter_mut().filter_map(Tail::rest).collect()
    }

    /// The files that the names are now; names that lead nowhere stay as they are.
    fn files(&self) -> Vec<PathBuf> {
        let files = |name: &PathBuf| {
            let files = unfolded(std::slice::from_ref(name));
            files.unwrap_or_else(|_| vec![name.clone()])
        };
        self.names.iter().flat_map(files).collect()
    }
}

#[cfg(test)]
mod tests;
