//! A log in blocks of whole lines, each with the number of its first line, so that blocks can be read side by side.

use std::io::{self, Read};

use memchr::{memchr, memchr_iter, memrchr};

/// Bytes that are read for a block; it ends with the last line that is whole.
const SIZE: u64 = 1 << 20;
/// Longest line that is looked into. A record with the longest timeline has some 5 MB.
pub const LONGEST: usize = 64 << 20;

/// Lines that stand together.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Block {
    /// The lines with their ends.
    pub text: Vec<u8>,
    /// The number of the first, from 1.
    pub first: u64,
    /// It was one line, longer than [`LONGEST`], and is left out.
    pub too_long: bool,
}

impl Block {
    /// Each line that is not blank, with its number, and whether it has an end.
    pub fn lines(&self) -> impl Iterator<Item = (u64, &[u8], bool)> {
        let mut rest = self.text.as_slice();
        let lines = std::iter::from_fn(move || {
            let (line, ended) = match memchr(b'\n', rest) {
                Some(end) => (&rest[..end], true),
                None if rest.is_empty() => return None,
                None => (rest, false),
            };
            rest = &rest[(line.len() + usize::from(ended))..];
            Some((line.trim_ascii(), ended))
        });
        (self.first..)
            .zip(lines)
            .map(|(number, (line, ended))| (number, line, ended))
            .filter(|(_, line, _)| !line.is_empty())
    }
}

/// A log that is being read.
pub struct Blocks<R> {
    reader: R,
    /// The beginning of a line whose end has not been read.
    rest: Vec<u8>,
    /// Lines so far.
    lines: u64,
    /// What stopped the reading; told after the lines before it.
    failed: Option<io::Error>,
    ended: bool,
}

impl<R: Read> Blocks<R> {
    /// Reads from `reader`.
    pub fn of(reader: R) -> Self {
        Blocks {
            reader,
            rest: Vec::new(),
            lines: 0,
            failed: None,
            ended: false,
        }
    }

    /// Lines that were given so far.
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// The next block, `None` at the end.
    ///
    /// # Errors
    ///
    /// Reading failed; all lines before that were given.
    pub fn read_block(&mut self) -> io::Result<Option<Block>> {
        let mut text = std::mem::take(&mut self.rest);
        loop {
            self.read(&mut text);
            if let Some(end) = memrchr(b'\n', &text) {
                self.rest = text.split_off(end + 1);
                return Ok(Some(self.block(text)));
            }
            if self.ended {
                // the last line, without an end
                let last = (!text.is_empty()).then(|| self.block(text));
                return match (last, self.failed.take()) {
                    (None, Some(error)) => Err(error),
                    (last, failed) => {
                        self.failed = failed;
                        Ok(last)
                    }
                };
            }
            if text.len() >= LONGEST {
                return Ok(Some(self.left_out()));
            }
        }
    }

    /// The next block of lines that have their ends, of a log that grows; `None` if there is none yet. A line without one
    /// waits for it.
    ///
    /// # Errors
    ///
    /// Reading failed.
    pub fn read_whole(&mut self) -> io::Result<Option<Block>> {
        self.ended = false;
        let mut text = std::mem::take(&mut self.rest);
        loop {
            self.read(&mut text);
            if let Some(end) = memrchr(b'\n', &text) {
                self.rest = text.split_off(end + 1);
                return Ok(Some(self.block(text)));
            }
            if text.len() >= LONGEST {
                return Ok(Some(self.left_out()));
            }
            if self.ended {
                self.rest = text;
                return self.failed.take().map_or(Ok(None), Err);
            }
        }
    }

    /// The line that waits for its end, if it is no longer to be waited for.
    pub fn give_up(&mut self) -> Option<Block> {
        let text = std::mem::take(&mut self.rest);
        (!text.is_empty()).then(|| self.block(text))
    }

    /// Reads one block's worth, less at the end.
    fn read(&mut self, text: &mut Vec<u8>) {
        if self.ended {
            return;
        }
        let before = text.len();
        // room for the rest of a line that a block ends within
        text.reserve(SIZE as usize);
        match (&mut self.reader).take(SIZE).read_to_end(text) {
            Ok(_) => self.ended = text.len() - before < SIZE as usize,
            Err(error) => (self.ended, self.failed) = (true, Some(error)),
        }
    }

    fn block(&mut self, text: Vec<u8>) -> Block {
        let first = self.lines + 1;
        let unended = u64::from(!text.ends_with(b"\n"));
        self.lines += memchr_iter(b'\n', &text).count() as u64 + unended;
        Block {
            text,
            first,
            too_long: false,
        }
    }

    /// Skips what is left of a line that is too long.
    fn left_out(&mut self) -> Block {
        let mut text = Vec::new();
        while !self.ended {
            text.clear();
            self.read(&mut text);
            if let Some(end) = memchr(b'\n', &text) {
                self.rest = text.split_off(end + 1);
                break;
            }
        }
        self.lines += 1;
        Block {
            text: Vec::new(),
            first: self.lines,
            too_long: true,
        }
    }
}

#[cfg(test)]
mod tests;
