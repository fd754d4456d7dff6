//! Undoes the content codings of a body, piece by piece (RFC 9110 section 8.4): what an encoder has
//! flushed is seen in the same piece. Only the observer's copy is decoded; the body passes as it is.
//!
//! A small body can say that it is a large one. So output is given out through one small buffer, it
//! is capped as it is produced, and windows are limited to what HTTP allows.

mod codings;

use codings::{Coding, Step};

/// Output that any body may have, bytes: a long answer is smaller.
const FREE_OUTPUT: u64 = 8 * 1024 * 1024;

/// Output beyond that per byte of input. Event streams with one flush an event come to about 10,
/// whole ones to less than 100.
const LARGEST_RATIO: u64 = 256;

/// Output that is handed on at once, bytes.
const BUFFER: usize = 16 * 1024;

/// Codings one upon another that are undone.
const MOST_CODINGS: usize = 4;

/// Why decoding stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Halt {
    /// The body is not of its coding, or damaged.
    Broken,
    /// It holds more than one of its size honestly does.
    TooMuch,
}

/// Undoes the codings of one body.
pub struct Decoding {
    /// The one that was applied last comes first.
    codings: Vec<Coding>,
    taken: u64,
    given: u64,
    halt: Option<Halt>,
}

impl Decoding {
    /// For a `Content-Encoding`, such as `gzip` or `gzip, br`; `None` when one of its codings is
    /// not known here.
    pub fn of(content_encoding: &str) -> Option<Decoding> {
        let names = content_encoding.split(',').map(str::trim).rev();
        let names = names.filter(|name| !name.is_empty() && !name.eq_ignore_ascii_case("identity"));
        let codings: Vec<Coding> = names.map(Coding::of).collect::<Option<_>>()?;
        (codings.len() <= MOST_CODINGS).then_some(Decoding {
            codings,
            taken: 0,
            given: 0,
            halt: None,
        })
    }

    /// Decodes the next bytes; all that they make visible has gone to `sink` when this returns.
    pub fn push(&mut self, bytes: &[u8], mut sink: impl FnMut(&[u8])) -> Result<(), Halt> {
        if let Some(halt) = self.halt {
            return Err(halt);
        }
        self.taken += bytes.len() as u64;
        let mut room = (FREE_OUTPUT + LARGEST_RATIO * self.taken).saturating_sub(self.given);
        let before = room;
        let result = run(&mut self.codings, bytes, &mut room, &mut sink);
        self.given += before - room;
        self.halt = result.err();
        result
    }

    /// Whether the body was found to be not of its coding.
    pub fn is_broken(&self) -> bool {
        self.halt == Some(Halt::Broken)
    }
}

/// Runs `bytes` through the first coding, and what comes of it through the others.
fn run(
    codings: &mut [Coding],
    mut bytes: &[u8],
    room: &mut u64,
    sink: &mut dyn FnMut(&[u8]),
) -> Result<(), Halt> {
    let Some((coding, others)) = codings.split_first_mut() else {
        sink(bytes);
        return Ok(());
    };
    let mut buffer = [0; BUFFER];
    loop {
        let Step { read, wrote } = coding.step(bytes, &mut buffer).ok_or(Halt::Broken)?;
        bytes = &bytes[read..];
        *room = room.checked_sub(wrote as u64).ok_or(Halt::TooMuch)?;
        if wrote > 0 {
            run(others, &buffer[..wrote], room, sink)?;
        }
        // A buffer that was not filled shows that nothing more is ready.
        if wrote < BUFFER && (bytes.is_empty() || read == 0) {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests;
