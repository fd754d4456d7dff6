//! The steps of a scenario gone through: the body of the answer as timed writes.

use std::time::Duration;

use super::Move;
use crate::tools::simulate::draw::Draw;
use crate::tools::simulate::events::Speaker;
use crate::tools::simulate::scenario::{Pause, Split, Step, Write};

/// The body before framing.
pub(super) struct Body {
    pub writes: Vec<Move>,
    /// When the head leaves, if not with the first write.
    pub head: Option<Duration>,
    /// Interim heads: when, and their status.
    pub interim: Vec<(Duration, u16)>,
    pub end: Duration,
    /// Bytes that `cut` took away; a `Content-Length` still promises them.
    pub lost: usize,
}

impl Body {
    /// What a `Content-Length` says.
    pub fn length(&self) -> usize {
        self.lost
            + self
                .writes
                .iter()
                .map(|write| write.bytes.len())
                .sum::<usize>()
    }
}

/// Goes through the steps. `seed` draws the ranges.
pub(super) fn play(steps: &[Step], speaker: &mut Speaker, seed: u64) -> Body {
    let draw = &mut Draw::new(seed);
    let mut body = Body {
        writes: Vec::new(),
        head: None,
        interim: Vec::new(),
        end: Duration::ZERO,
        lost: 0,
    };
    for step in steps {
        match step {
            Step::Wait(pause) => body.end += drawn(*pause, draw),
            Step::Head => body.head = Some(body.end),
            Step::Interim(status) => body.interim.push((body.end, *status)),
            Step::Write(write) => {
                for _ in 0..write.times {
                    for pieces in &write.writes {
                        let mut bytes = Vec::new();
                        pieces
                            .iter()
                            .for_each(|piece| speaker.say(piece, body.end, &mut bytes));
                        send(&mut body, write, bytes, draw);
                    }
                }
            }
        }
    }
    body
}

/// One write of a step: padded, cut, split, and the pause after each part.
fn send(body: &mut Body, write: &Write, mut bytes: Vec<u8>, draw: &mut Draw) {
    if let Some(length) = write.pad {
        pad(&mut bytes, length);
    }
    if let Some(cut) = write.cut {
        body.lost += bytes.len().saturating_sub(cut);
        bytes.truncate(cut);
    }
    let mut from = 0;
    for to in borders(&write.split, bytes.len()) {
        if from < to {
            body.writes.push(Move {
                at: body.end,
                bytes: bytes[from..to].to_vec(),
            });
        }
        body.end += drawn(write.every, draw);
        from = to;
    }
}

/// Fills up with spaces before the last line ends, where JSON may have them.
fn pad(bytes: &mut Vec<u8>, length: usize) {
    let text = bytes.trim_ascii_end().len();
    let missing = length.saturating_sub(bytes.len());
    bytes.splice(text..text, std::iter::repeat_n(b' ', missing));
}

/// Where the parts of a write of that length end.
fn borders(split: &Split, length: usize) -> Vec<usize> {
    let from_end = |&offset: &i64| match usize::try_from(offset) {
        Ok(offset) => offset,
        Err(_) => {
            length.saturating_sub(usize::try_from(offset.unsigned_abs()).unwrap_or(usize::MAX))
        }
    };
    let mut borders: Vec<usize> = match split {
        Split::At(offsets) => offsets.iter().map(from_end).collect(),
        Split::Each(size) => (*size..length).step_by(*size).collect(),
    };
    borders.retain(|&at| 0 < at && at < length);
    borders.sort_unstable();
    borders.dedup();
    borders.push(length);
    borders
}

fn drawn(pause: Pause, draw: &mut Draw) -> Duration {
    draw.time(pause.min, pause.max)
}
