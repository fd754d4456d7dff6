//! One coding each: gzip and deflate (zlib's), br (RFC 7932), zstd (RFC 8878).

use brotli::enc::StandardAlloc;
use brotli::{BrotliDecompressStream, BrotliResult, BrotliState};
use flate2::{Decompress, FlushDecompress, Status};
use zstd::stream::raw::{DParameter, Decoder, InBuffer, Operation, OutBuffer};

/// The largest window of zlib, as a power of two.
const ZLIB_WINDOW: u8 = 15;

/// The largest window that HTTP allows for zstd (RFC 9659 section 3): 8 MiB, as a power of two.
const ZSTD_WINDOW: u32 = 23;

/// What one step did.
pub struct Step {
    /// Bytes of the input that it took.
    pub read: usize,
    /// Bytes that it wrote.
    pub wrote: usize,
}

/// A coding at work.
pub enum Coding {
    /// Members one after another, each with its header and check sum.
    Gzip {
        inflate: Decompress,
        ended: bool,
    },
    /// zlib's format as the RFC wants it, or the bare format that some servers send: the first byte
    /// tells.
    Deflate(Option<Decompress>),
    Brotli(Box<BrotliState<StandardAlloc, StandardAlloc, StandardAlloc>>),
    Zstd(Box<Decoder<'static>>),
    /// After its end: more bytes mean nothing.
    Ended,
}

impl Coding {
    /// By its name in `Content-Encoding`.
    pub fn of(name: &str) -> Option<Coding> {
        match name.to_ascii_lowercase().as_str() {
            "gzip" | "x-gzip" => Some(Coding::Gzip {
                inflate: Decompress::new_gzip(ZLIB_WINDOW),
                ended: false,
            }),
            "deflate" => Some(Coding::Deflate(None)),
            "br" => {
                // Strict: without the large windows that no browser takes.
                let alloc = StandardAlloc::default;
                let state = BrotliState::new_strict(alloc(), alloc(), alloc());
                Some(Coding::Brotli(Box::new(state)))
            }
            "zstd" => {
                let mut decoder = Decoder::new().ok()?;
                let window = DParameter::WindowLogMax(ZSTD_WINDOW);
                decoder.set_parameter(window).ok()?;
                Some(Coding::Zstd(Box::new(decoder)))
            }
            _ => None,
        }
    }

    /// Decodes as much as fits into `output`; `None` when the input is not of this coding.
    pub fn step(&mut self, input: &[u8], output: &mut [u8]) -> Option<Step> {
        match self {
            Coding::Gzip { inflate, ended } => {
                if *ended && !input.is_empty() {
                    if input[0] != 0x1F {
                        *self = Coding::Ended; // padding, as some write it
                        return self.step(input, output);
                    }
                    *inflate = Decompress::new_gzip(ZLIB_WINDOW);
                    *ended = false;
                }
                let (step, is_end) = inflate_step(inflate, input, output)?;
                *ended |= is_end;
                Some(step)
            }
            Coding::Deflate(inflate) => {
                let first = input.first();
                if inflate.is_none() {
                    let Some(&first) = first else {
                        return Some(Step { read: 0, wrote: 0 });
                    };
                    // The method of zlib's header is 8, its window at most 7; a bare block that
                    // begins so would be a stored one of an impossible kind or a rare fixed one.
                    let has_header = first & 0x8F == 0x08;
                    *inflate = Some(Decompress::new(has_header));
                }
                let (step, is_end) = inflate_step(inflate.as_mut()?, input, output)?;
                if is_end {
                    *self = Coding::Ended;
                }
                Some(step)
            }
            Coding::Brotli(state) => {
                let (mut left, mut read) = (input.len(), 0);
                let (mut room, mut wrote, mut total) = (output.len(), 0, 0);
                let result = BrotliDecompressStream(
                    &mut left, &mut read, input, &mut room, &mut wrote, output, &mut total, state,
                );
                match result {
                    BrotliResult::ResultFailure => return None,
                    BrotliResult::ResultSuccess => *self = Coding::Ended,
                    BrotliResult::NeedsMoreInput | BrotliResult::NeedsMoreOutput => {}
                }
                Some(Step { read, wrote })
            }
            Coding::Zstd(decoder) => {
                let (mut input, mut output) = (InBuffer::around(input), OutBuffer::around(output));
                decoder.run(&mut input, &mut output).ok()?;
                let (read, wrote) = (input.pos(), output.pos());
                Some(Step { read, wrote })
            }
            Coding::Ended => Some(Step {
                read: input.len(),
                wrote: 0,
            }),
        }
    }
}

fn inflate_step(inflate: &mut Decompress, input: &[u8], output: &mut [u8]) -> Option<(Step, bool)> {
    let before = (inflate.total_in(), inflate.total_out());
    let status = inflate
        .decompress(input, output, FlushDecompress::Sync)
        .ok()?;
    let step = Step {
        read: usize::try_from(inflate.total_in() - before.0).ok()?,
        wrote: usize::try_from(inflate.total_out() - before.1).ok()?,
    };
    Some((step, status == Status::StreamEnd))
}
