//! What happens to a body on its way out, each a function over timed writes: a compressor, a hop that holds back, and
//! HTTP framing.

use std::io::Write as _;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::Move;
use super::steps::Body;
use crate::tools::simulate::scenario::{End, Framing, Gzip, Hold};

/// Runs the writes through a compressor that is flushed after each, or never before the end. A body that is not ended
/// lacks the compressor's end too.
pub(super) fn compress(body: &mut Body, gzip: Gzip, end: End) {
    const INFALLIBLE: &str = "a Vec takes every byte";
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    for write in &mut body.writes {
        encoder.write_all(&write.bytes).expect(INFALLIBLE);
        if gzip == Gzip::Flush {
            encoder.flush().expect(INFALLIBLE);
        }
        write.bytes = std::mem::take(encoder.get_mut());
    }
    if end == End::Whole {
        let bytes = encoder.finish().expect(INFALLIBLE);
        body.writes.push(Move {
            at: body.end,
            bytes,
        });
    }
    body.writes.retain(|write| !write.bytes.is_empty());
}

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

/// Chunked coding, the head before the first byte, and the end.
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
    moves
}
