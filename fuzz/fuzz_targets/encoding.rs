//! The content codings. What an encoder flushed is seen with its last byte, however it is cut; what is none of its coding
//! ends the decoding without a panic, and gives no more than it may.

#![no_main]

use std::io::Write;

use dripline_fuzz::cuts::Cuts;
use dripline_fuzz::observe::encoding::{Decoding, Halt};
use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use libfuzzer_sys::fuzz_target;

/// Output that any body may have, and beyond that for each byte of it.
const FREE: usize = 8 * 1024 * 1024;
const RATIO: usize = 256;

const CODINGS: [&str; 6] = ["gzip", "deflate", "br", "zstd", "gzip, br", "zstd, deflate"];

// A byte for the coding, then a stream and its cuts: the body itself, or what is to be encoded.
fuzz_target!(|input: &[u8]| {
    let Some((&coding, input)) = input.split_first() else {
        return;
    };
    let Some(cuts) = Cuts::of(input) else { return };
    match coding {
        b'a'..=b'f' => damaged(CODINGS[usize::from(coding - b'a')], &cuts),
        other => sound(other, &cuts),
    }
});

fn damaged(coding: &str, cuts: &Cuts<'_>) {
    let whole = decode(coding, &mut [cuts.stream].into_iter());
    let pieces = decode(coding, &mut cuts.pieces());
    for (plain, _) in [&whole, &pieces] {
        assert!(plain.len() <= FREE + RATIO * cuts.stream.len());
    }
    match (&whole, &pieces) {
        // How much a body may hold grows with what of it came.
        ((_, Err(Halt::TooMuch)), _) | (_, (_, Err(Halt::TooMuch))) => {}
        ((whole, Ok(())), (pieces, result)) => {
            assert_eq!((whole, &Ok(())), (pieces, result));
        }
        // Of the step with the damage in it, nothing is given.
        ((whole, broken), (pieces, result)) => {
            assert_eq!(broken, result);
            let both = whole.len().min(pieces.len());
            assert!(whole[..both] == pieces[..both]);
        }
    }
}

fn sound(coding: u8, cuts: &Cuts<'_>) {
    let (coding, parts) = match coding % 5 {
        0 => (
            "gzip",
            encode(GzEncoder::new(Vec::new(), Compression::fast()), cuts),
        ),
        1 => (
            "deflate",
            encode(ZlibEncoder::new(Vec::new(), Compression::fast()), cuts),
        ),
        2 => (
            "deflate",
            encode(DeflateEncoder::new(Vec::new(), Compression::fast()), cuts),
        ),
        3 => (
            "br",
            encode(brotli::CompressorWriter::new(Vec::new(), 4096, 1, 16), cuts),
        ),
        _ => (
            "zstd",
            encode(zstd::Encoder::new(Vec::new(), 1).unwrap(), cuts),
        ),
    };
    let mut decoding = Decoding::of(coding).unwrap();
    let (mut plain, mut fed) = (Vec::new(), 0);
    for (piece, part) in cuts.pieces().zip(&parts) {
        let result = decoding.push(part, |bytes| plain.extend_from_slice(bytes));
        fed += piece.len();
        assert_eq!(result, Ok(()));
        assert!(plain == cuts.stream[..fed], "{coding}: not with the flush");
    }
    let encoded = parts.concat();
    let expected = (cuts.stream.to_vec(), Ok(()));
    assert_eq!(decode(coding, &mut [&encoded[..]].into_iter()), expected);
    assert_eq!(decode(coding, &mut encoded.chunks(1)), expected);
}

/// All output, and how it ended.
fn decode(coding: &str, pieces: &mut dyn Iterator<Item = &[u8]>) -> (Vec<u8>, Result<(), Halt>) {
    let mut decoding = Decoding::of(coding).unwrap();
    let mut plain: Vec<u8> = Vec::new();
    for piece in pieces {
        let result = decoding.push(piece, |bytes| plain.extend_from_slice(bytes));
        if result.is_err() {
            return (plain, result);
        }
    }
    (plain, Ok(()))
}

/// An encoder whose output can be taken.
trait Encoder: Write {
    fn output(&mut self) -> &mut Vec<u8>;
}

impl Encoder for GzEncoder<Vec<u8>> {
    fn output(&mut self) -> &mut Vec<u8> {
        self.get_mut()
    }
}

impl Encoder for ZlibEncoder<Vec<u8>> {
    fn output(&mut self) -> &mut Vec<u8> {
        self.get_mut()
    }
}

impl Encoder for DeflateEncoder<Vec<u8>> {
    fn output(&mut self) -> &mut Vec<u8> {
        self.get_mut()
    }
}

impl Encoder for brotli::CompressorWriter<Vec<u8>> {
    fn output(&mut self) -> &mut Vec<u8> {
        self.get_mut()
    }
}

impl Encoder for zstd::Encoder<'_, Vec<u8>> {
    fn output(&mut self) -> &mut Vec<u8> {
        self.get_mut()
    }
}

/// Encodes each piece of the stream, with a flush after it.
fn encode(mut encoder: impl Encoder, cuts: &Cuts<'_>) -> Vec<Vec<u8>> {
    let part = |piece: &[u8]| {
        encoder.write_all(piece).unwrap();
        encoder.flush().unwrap();
        std::mem::take(encoder.output())
    };
    cuts.pieces().map(part).collect()
}
