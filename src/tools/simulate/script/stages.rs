//! What happens to a body on its way out, each a function over timed writes: a hop that holds back, and HTTP framing.

use std::time::Duration;

use super::steps::Body;
use super::{Move, reason};
use crate::tools::simulate::scenario::{End, Framing, Hold};

/// Passes the writes on as a buffering hop would; the rest leaves at the end.
pub(super) fn hold_back(body: &mut Body, hold: Hold) {
    let mut held = Vec::new();
    let mut passed: Vec<Move> = Vec::new();
    for write in std::mem::take(&mut body.writes) {
        match hold {
            Hold::Bytes(block) => {
                held.extend_from_slice(&write.bytes);
                let full = held.len() - held.len() % block;
                if full > 0 {
                    passed.push(Move {
                        at: write.at,
                        bytes: held.drain(..full).collect(),
                    });
                }
            }
            Hold::Every(period) => {
                let ticks = write.at.as_nanos().div_ceil(period.as_nanos());
                // at most a period later than a duration that was given in text, so it fits
                let at = Duration::from_nanos(
                    u64::try_from(ticks * period.as_nanos()).unwrap_or(u64::MAX),
                )
                .min(body.end);
                match passed.last_mut() {
                    Some(last) if last.at == at => last.bytes.extend_from_slice(&write.bytes),
                    _ => passed.push(Move {
                        at,
                        bytes: write.bytes,
                    }),
                }
            }
            Hold::End => held.extend_from_slice(&write.bytes),
        }
    }
    if !held.is_empty() {
        passed.push(Move {
            at: body.end,
            bytes: held,
        });
    }
    body.writes = passed;
}

/// Chunked coding, the heads before the first byte, and the end.
pub(super) fn frame(body: Body, head: Vec<u8>, framing: Framing, end: End) -> Vec<Move> {
    let mut moves = body.writes;
    if framing == Framing::Chunked {
        for write in &mut moves {
            let mut chunk = format!("{:x}\r\n", write.bytes.len()).into_bytes();
            chunk.append(&mut write.bytes);
            chunk.extend_from_slice(b"\r\n");
            write.bytes = chunk;
        }
        if end == End::Whole {
            moves.push(Move {
                at: body.end,
                bytes: b"0\r\n\r\n".to_vec(),
            });
        }
    }
    match (body.head, moves.first_mut()) {
        (Some(at), _) => moves.insert(0, Move { at, bytes: head }),
        (None, Some(first)) => drop(first.bytes.splice(..0, head)),
        (None, None) => moves.push(Move {
            at: body.end,
            bytes: head,
        }),
    }
    let interim = |&(at, status): &(Duration, u16)| Move {
        at,
        bytes: format!("HTTP/1.1 {status} {}\r\n\r\n", reason(status)).into_bytes(),
    };
    moves.splice(..0, body.interim.iter().map(interim));
    moves
}
