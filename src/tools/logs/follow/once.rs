//! Files that are read to their end, once.

use std::collections::VecDeque;
use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::bail;

use super::Piece;
use super::known::Identity;
use crate::tools::logs::{Block, Blocks, Source, broken};

/// Files one after the other.
#[derive(Default)]
pub struct Once {
    /// Those that are not begun.
    pub files: VecDeque<(PathBuf, Identity)>,
    reading: Option<Reading>,
}

/// The one that is being read.
struct Reading {
    name: Arc<str>,
    packed: bool,
    blocks: Blocks<Box<dyn Read + Send>>,
}

impl Once {
    /// The next lines, `None` once all files are read.
    ///
    /// # Errors
    ///
    /// A file cannot be opened or read, or another has its name by now; the sentence names it.
    pub fn piece(&mut self) -> anyhow::Result<Option<Piece>> {
        loop {
            if let Some(reading) = &mut self.reading {
                if let Some(piece) = reading.piece()? {
                    return Ok(Some(piece));
                }
                self.reading = None;
            }
            let Some((path, identity)) = self.files.pop_front() else {
                return Ok(None);
            };
            let source = Source::open(&path, &Arc::default())?;
            if Identity::of(&path.metadata()?) != identity {
                bail!(
                    "{} was rotated before it was read; start again",
                    path.display()
                );
            }
            self.reading = Some(Reading {
                name: source.name.as_str().into(),
                packed: source.packed,
                blocks: Blocks::of(source.reader),
            });
        }
    }
}

impl Reading {
    fn piece(&mut self) -> anyhow::Result<Option<Piece>> {
        let lines: Option<Result<Block, _>> = match self.blocks.read_block() {
            Ok(block) => block.map(Ok),
            // told once: the end comes after it
            Err(error) => {
                Some(broken(&self.name, self.packed, self.blocks.lines(), error).map(Err)?)
            }
        };
        let name = &self.name;
        Ok(lines.map(|lines| Piece {
            name: Arc::clone(name),
            lines,
        }))
    }
}
