//! The compressors of HTTP: gzip, deflate (which is zlib's format there), br and zstd (RFC 9110 section 8.4.1, RFC 7932,
//! RFC 8878).

use std::io;
use std::mem::take;

use super::Move;
use super::steps::Body;
use crate::tools::simulate::scenario::{Coding, Compression, End};

/// What every layer that compresses on the fly does: cheap and fast.
const BROTLI_QUALITY: u32 = 5;
const BROTLI_WINDOW: u32 = 22;
/// brotli's own default for what it takes in one go.
const BROTLI_BUFFER: usize = 4096;

const INFALLIBLE: &str = "a Vec takes every byte";

/// Runs the writes through a compressor that is flushed after each, or never before the end. A body that is not ended
/// lacks the compressor's end too.
pub(super) fn compress(body: &mut Body, compression: Compression, end: End) {
    let mut encoder = Encoder::new(compression.coding);
    for write in &mut body.writes {
        write.bytes = encoder
            .take(&write.bytes, compression.flush)
            .expect(INFALLIBLE);
    }
    if end == End::Whole {
        body.writes.push(Move {
            at: body.end,
            bytes: encoder.finish().expect(INFALLIBLE),
        });
    }
    body.writes.retain(|write| !write.bytes.is_empty());
}

enum Encoder {
    Gzip(flate2::write::GzEncoder<Vec<u8>>),
    Deflate(flate2::write::ZlibEncoder<Vec<u8>>),
    Br(Box<brotli::CompressorWriter<Vec<u8>>>),
    Zstd(zstd::stream::write::Encoder<'static, Vec<u8>>),
}

impl Encoder {
    fn new(coding: Coding) -> Self {
        let (out, level) = (Vec::new(), flate2::Compression::default());
        match coding {
            Coding::Gzip => Self::Gzip(flate2::write::GzEncoder::new(out, level)),
            Coding::Deflate => Self::Deflate(flate2::write::ZlibEncoder::new(out, level)),
            Coding::Br => Self::Br(Box::new(brotli::CompressorWriter::new(
                out,
                BROTLI_BUFFER,
                BROTLI_QUALITY,
                BROTLI_WINDOW,
            ))),
            Coding::Zstd => {
                let level = zstd::DEFAULT_COMPRESSION_LEVEL;
                let encoder = zstd::stream::write::Encoder::new(out, level);
                Self::Zstd(encoder.expect("the default level is one"))
            }
        }
    }

    /// Takes `bytes` in and gives what comes out for now.
    fn take(&mut self, bytes: &[u8], flush: bool) -> io::Result<Vec<u8>> {
        match self {
            Self::Gzip(encoder) => run(encoder, bytes, flush).map(|()| take(encoder.get_mut())),
            Self::Deflate(encoder) => run(encoder, bytes, flush).map(|()| take(encoder.get_mut())),
            Self::Br(encoder) => run(encoder, bytes, flush).map(|()| take(encoder.get_mut())),
            Self::Zstd(encoder) => run(encoder, bytes, flush).map(|()| take(encoder.get_mut())),
        }
    }

    fn finish(self) -> io::Result<Vec<u8>> {
        match self {
            Self::Gzip(encoder) => encoder.finish(),
            Self::Deflate(encoder) => encoder.finish(),
            Self::Br(encoder) => Ok(encoder.into_inner()),
            Self::Zstd(encoder) => encoder.finish(),
        }
    }
}

fn run(encoder: &mut impl io::Write, bytes: &[u8], flush: bool) -> io::Result<()> {
    encoder.write_all(bytes)?;
    if flush { encoder.flush() } else { Ok(()) }
}
