//! The steps of a scenario gone through: the body of the answer as timed writes.

use std::time::Duration;

use super::Move;
use crate::tools::simulate::events::Speaker;
use crate::tools::simulate::scenario::{Pause, Step, Write};

/// The body before framing.
pub(super) struct Body {
    pub writes: Vec<Move>,
    /// When the head leaves, if not with the first write.
    pub head: Option<Duration>,
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
    let draw = &mut Draw(seed);
    let mut body = Body {
        writes: Vec::new(),
        head: None,
        end: Duration::ZERO,
        lost: 0,
    };
    for step in steps {
        match step {
            Step::Wait(pause) => body.end += draw.time(*pause),
            Step::Head => body.head = Some(body.end),
            Step::Write(write) => {
                for _ in 0..write.times {
                    for pieces in &write.writes {
                        let mut bytes = Vec::new();
                        pieces
                            .iter()
                            .for_each(|piece| speaker.say(piece, &mut bytes));
                        send(&mut body, write, bytes, draw);
                    }
                }
            }
        }
    }
    body
}

/// One write of a step: cut, split, and the pause after each part.
fn send(body: &mut Body, write: &Write, mut bytes: Vec<u8>, draw: &mut Draw) {
    if let Some(cut) = write.cut {
        body.lost += bytes.len().saturating_sub(cut);
        bytes.truncate(cut);
    }
    let from_end = |&offset: &i64| match usize::try_from(offset) {
        Ok(offset) => offset,
        Err(_) => bytes
            .len()
            .saturating_sub(usize::try_from(offset.unsigned_abs()).unwrap_or(usize::MAX)),
    };
    let mut borders: Vec<usize> = write
        .split
        .iter()
        .map(from_end)
        .filter(|&at| 0 < at && at < bytes.len())
        .collect();
    borders.sort_unstable();
    borders.dedup();
    borders.push(bytes.len());
    let mut from = 0;
    for to in borders {
        if from < to {
            body.writes.push(Move {
                at: body.end,
                bytes: bytes[from..to].to_vec(),
            });
        }
        body.end += draw.time(write.every);
        from = to;
    }
}

/// Numbers that look random and are the same each time: splitmix64 (Steele, Lea, Flood, "Fast splittable pseudorandom
/// number generators", OOPSLA 2014).
struct Draw(u64);

impl Draw {
    fn time(&mut self, pause: Pause) -> Duration {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        let share = ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64;
        pause.min + (pause.max - pause.min).mul_f64(share)
    }
}
