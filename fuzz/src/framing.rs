//! What holds for every decoder, whatever comes and however it is cut.

use crate::cuts::Cuts;
use crate::memory::live;
use crate::observe::framing::Decoder;
use crate::oracle::{Found, Owned, own};

/// Most that a decoder may hold beyond its limit: an event's type, in a vector that grew.
const BESIDE: usize = 512;

/// Pieces after which the oracle is asked; it starts over each time.
const ASKED: usize = 32;

/// Checks one decoder, made for a limit, against its oracle.
pub fn check(
    input: &[u8],
    decoder: impl Fn(usize) -> Decoder,
    oracle: impl Fn(&[u8], usize) -> Found,
) {
    let Some(cuts) = Cuts::of(input) else { return };
    let (stream, limit) = (cuts.stream, cuts.limit());
    let expected = oracle(stream, limit);
    let expected = (expected.clone().all(), expected.cut);
    let decode = |pieces: &mut dyn Iterator<Item = &[u8]>| decode(decoder(limit), pieces);
    assert_eq!(decode(&mut [stream].into_iter()), expected, "whole");
    assert_eq!(decode(&mut stream.chunks(1)), expected, "byte by byte");
    assert_eq!(decode(&mut cuts.pieces()), expected, "in pieces");
    each_frame_comes_with_its_last_byte(decoder(limit), &cuts, oracle);
    memory_is_bounded(|| decoder(limit), &cuts);
}

/// All frames, and whether the last one was cut off by the end.
fn decode(mut decoder: Decoder, pieces: &mut dyn Iterator<Item = &[u8]>) -> (Vec<Owned>, bool) {
    let mut frames = Vec::new();
    for piece in pieces {
        decoder.push(piece, |frame| frames.push(own(frame)));
    }
    let unterminated = decoder.finish(|frame| frames.push(own(frame)));
    (frames, unterminated)
}

fn each_frame_comes_with_its_last_byte(
    mut decoder: Decoder,
    cuts: &Cuts<'_>,
    oracle: impl Fn(&[u8], usize) -> Found,
) {
    let (mut frames, mut fed) = (Vec::new(), 0);
    for piece in cuts.pieces().take(ASKED) {
        decoder.push(piece, |frame| frames.push(own(frame)));
        fed += piece.len();
        let expected = oracle(&cuts.stream[..fed], cuts.limit());
        assert_eq!(frames, expected.frames, "after {fed} bytes");
    }
}

fn memory_is_bounded(decoder: impl Fn() -> Decoder, cuts: &Cuts<'_>) {
    let before = live();
    let mut decoder = decoder();
    for piece in cuts.pieces() {
        decoder.push(piece, |_| {});
        let held = live() - before;
        assert!(held <= cuts.limit() + BESIDE, "{held} bytes are held");
    }
    decoder.finish(|_| {});
}
