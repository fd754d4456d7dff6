//! Content codings (RFC 9110 section 8.4.1), undone piece by piece on the observer's copy of a body.
//!
//! An event has arrived when its bytes have: what a piece makes visible is given out before `push`
//! returns, so an encoder's flush is an event's arrival. The libraries hold no output back, and
//! nothing is held here.
//!
//! A body is the upstream's word, so its cost is bounded: windows as HTTP bounds them, a fixed
//! buffer, and a budget of output that only input adds to. All of it runs on the relay's thread.

use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};
use flate2::{Decompress, FlushDecompress, Status};
use zstd::stream::raw::{DParameter, Operation};

/// Output is given out in slices of at most so many bytes.
const SLICE: usize = 16 * 1024;

/// Codings over one another. Two are rare, and each has a window of its own.
const LAYERS_LIMIT: usize = 3;

/// Output that any body may have, bytes: deflate makes 1 KiB of a byte, zstd and brotli far more,
/// so a short body of much repetition is honest.
const BUDGET: u64 = 4 * 1024 * 1024;

/// Output that a byte of input adds to it. JSON shrinks 3 to 20 times, and to a 100th where every
/// event looks alike; a body that goes on above this is made for its size. What is left over is
/// kept up to [`BUDGET`]: however long a body was honest, a piece of it stays cheap.
const BUDGET_PER_BYTE: u64 = 256;

/// Output of one piece, which is a read of at most 64 KiB: its events are read on the relay's
/// thread, and others wait for it.
const LARGEST_PIECE: u64 = 8 * 1024 * 1024;

/// Largest deflate window, as a power of two (RFC 1951 section 2).
const DEFLATE_WINDOW: u8 = 15;

/// Largest zstd window of HTTP, as a power of two: 8 MiB (RFC 9659 section 3).
const ZSTD_WINDOW: u32 = 23;

/// Undoes a body's content codings.
pub struct Decoding {
    /// In the order in which they are undone.
    layers: Vec<Layer>,
    /// Output that is left, over all layers.
    budget: u64,
    halt: Option<Halt>,
}

/// Why a body is not decoded any further.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Halt {
    /// It is not of its coding, or asks for a larger window than HTTP allows.
    Broken,
    /// It holds more than a body of its size honestly does.
    TooMuch,
}

impl Decoding {
    /// Undoes `content_encoding`: codings in the order in which they were applied. `None` where one
    /// is not known. Without any, bytes go through as they are.
    pub fn of(content_encoding: &str) -> Option<Decoding> {
        let names = content_encoding.split(',').map(str::trim);
        let layers = names
            .filter(|name| !name.is_empty() && !name.eq_ignore_ascii_case("identity"))
            .map(|name| Coding::of(name).map(Layer::new))
            .rev()
            .collect::<Option<Vec<Layer>>>()?;
        (layers.len() <= LAYERS_LIMIT).then_some(Decoding {
            layers,
            budget: BUDGET,
            halt: None,
        })
    }

    /// Decodes the next bytes: all that they make visible is given to `sink`. After a halt nothing
    /// is.
    pub fn push(&mut self, bytes: &[u8], mut sink: impl FnMut(&[u8])) -> Result<(), Halt> {
        if let Some(halt) = self.halt {
            return Err(halt);
        }
        if bytes.is_empty() {
            // The zstd library takes too many of these for a mistake.
            return Ok(());
        }
        self.budget = (bytes.len() as u64)
            .saturating_mul(BUDGET_PER_BYTE)
            .saturating_add(self.budget.min(BUDGET))
            .min(LARGEST_PIECE);
        let done = undo(&mut self.layers, &mut self.budget, bytes, &mut sink);
        self.halt = done.err();
        done
    }

    /// Whether the body, if it ends here, lacks the end of its coding. An empty body does not: the
    /// answer to a HEAD names a coding too.
    pub fn is_inside(&self) -> bool {
        self.layers.iter().any(|layer| layer.at == At::Inside)
    }
}

fn undo(
    layers: &mut [Layer],
    budget: &mut u64,
    bytes: &[u8],
    sink: &mut dyn FnMut(&[u8]),
) -> Result<(), Halt> {
    let Some((layer, inner)) = layers.split_first_mut() else {
        sink(bytes);
        return Ok(());
    };
    layer.push(bytes, |slice| {
        let left = budget.checked_sub(slice.len() as u64);
        *budget = left.ok_or(Halt::TooMuch)?;
        undo(inner, budget, slice, sink)
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Coding {
    Gzip,
    Deflate,
    Brotli,
    Zstd,
}

impl Coding {
    /// By its registered name, in any case.
    fn of(name: &str) -> Option<Coding> {
        match name.to_ascii_lowercase().as_str() {
            "gzip" | "x-gzip" => Some(Coding::Gzip),
            "deflate" => Some(Coding::Deflate),
            "br" => Some(Coding::Brotli),
            "zstd" => Some(Coding::Zstd),
            _ => None,
        }
    }

    /// Whether another member or frame, which may follow an end, begins so.
    fn goes_on(self, first: u8) -> bool {
        match self {
            Coding::Gzip => first == 0x1F,
            Coding::Zstd => is_zstd(first),
            Coding::Deflate | Coding::Brotli => false,
        }
    }

    /// A decoder of what begins with `first`.
    fn decoder(self, first: u8) -> Result<Decoder, Halt> {
        Ok(match self {
            Coding::Gzip => Decoder::Deflate(Decompress::new_gzip(DEFLATE_WINDOW)),
            // RFC 9110 means zlib; some servers send bare deflate. A zlib header begins with the
            // number of its method, 8, which no deflate stream does: that would be a stored block
            // whose padding is not zero.
            Coding::Deflate => Decoder::Deflate(Decompress::new(first & 0x0F == 8)),
            Coding::Brotli => {
                let alloc = StandardAlloc::default();
                // Strict: no large windows.
                Decoder::Brotli(Box::new(BrotliState::new_strict(alloc, alloc, alloc)))
            }
            // The library may also know the formats that were there before the standard.
            Coding::Zstd if !is_zstd(first) => return Err(Halt::Broken),
            Coding::Zstd => {
                let decoder = zstd::stream::raw::Decoder::new();
                let mut decoder = decoder.map_err(|_| Halt::Broken)?;
                decoder
                    .set_parameter(DParameter::WindowLogMax(ZSTD_WINDOW))
                    .map_err(|_| Halt::Broken)?;
                Decoder::Zstd(decoder)
            }
        })
    }
}

/// A zstd frame or a skippable one (RFC 8878 section 3.1), by its first byte.
fn is_zstd(first: u8) -> bool {
    matches!(first, 0x28 | 0x50..=0x5F)
}

/// One coding of the body.
struct Layer {
    coding: Coding,
    at: At,
    /// From the first byte on.
    decoder: Option<Decoder>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    Start,
    Inside,
    /// Another member or frame may follow.
    End,
    /// What follows the end is of no coding. Clients leave it out, so it is left out here.
    Rest,
}

impl Layer {
    fn new(coding: Coding) -> Self {
        Layer {
            coding,
            at: At::Start,
            decoder: None,
        }
    }

    fn push(
        &mut self,
        mut bytes: &[u8],
        mut give: impl FnMut(&[u8]) -> Result<(), Halt>,
    ) -> Result<(), Halt> {
        let mut slice = [0; SLICE];
        while let Some(decoder) = self.enter(bytes)? {
            let step = decoder.step(bytes, &mut slice);
            bytes = bytes.get(step.read..).unwrap_or_default();
            if step.written > 0 {
                give(&slice[..step.written])?;
            }
            match step.then {
                Then::Broken => return Err(Halt::Broken),
                Then::Ended => self.at = At::End,
                Then::More if step.written == SLICE => {}
                Then::More if bytes.is_empty() => break,
                // It could go on and does not: never in a loop.
                Then::More if step.read + step.written == 0 => return Err(Halt::Broken),
                Then::More => {}
            }
        }
        Ok(())
    }

    /// The decoder that `bytes` go to, if any do.
    fn enter(&mut self, bytes: &[u8]) -> Result<Option<&mut Decoder>, Halt> {
        match (self.at, bytes.first()) {
            (At::Inside, _) => {}
            (At::Rest, _) | (_, None) => return Ok(None),
            (At::End, Some(&first)) if !self.coding.goes_on(first) => {
                self.at = At::Rest;
                return Ok(None);
            }
            // A zstd decoder goes on with the next frame by itself.
            (At::End, _) if self.coding == Coding::Zstd => self.at = At::Inside,
            (At::Start | At::End, Some(&first)) => {
                self.decoder = Some(self.coding.decoder(first)?);
                self.at = At::Inside;
            }
        }
        Ok(self.decoder.as_mut())
    }
}

enum Decoder {
    Deflate(Decompress),
    Brotli(Box<BrotliState<StandardAlloc, StandardAlloc, StandardAlloc>>),
    Zstd(zstd::stream::raw::Decoder<'static>),
}

struct Step {
    read: usize,
    written: usize,
    then: Then,
}

enum Then {
    /// Input is used up or output is full.
    More,
    /// The member or frame is over, and its checksum is right.
    Ended,
    Broken,
}

impl Decoder {
    /// Decodes until `input` is used up, `output` is full, or the end came.
    fn step(&mut self, input: &[u8], output: &mut [u8]) -> Step {
        match self {
            Decoder::Deflate(inflate) => {
                let (read, written) = (inflate.total_in(), inflate.total_out());
                let status = inflate.decompress(input, output, FlushDecompress::None);
                Step {
                    read: (inflate.total_in() - read) as usize,
                    written: (inflate.total_out() - written) as usize,
                    then: match status {
                        Ok(Status::StreamEnd) => Then::Ended,
                        Ok(Status::Ok | Status::BufError) => Then::More,
                        Err(_) => Then::Broken,
                    },
                }
            }
            Decoder::Brotli(state) => {
                let (mut read, mut written, mut total) = (0, 0, 0);
                let result = BrotliDecompressStream(
                    &mut { input.len() },
                    &mut read,
                    input,
                    &mut { output.len() },
                    &mut written,
                    output,
                    &mut total,
                    state,
                );
                Step {
                    read,
                    written,
                    then: match result {
                        BrotliResult::ResultSuccess => Then::Ended,
                        BrotliResult::ResultFailure => Then::Broken,
                        BrotliResult::NeedsMoreInput | BrotliResult::NeedsMoreOutput => Then::More,
                    },
                }
            }
            Decoder::Zstd(zstd) => match zstd.run_on_buffers(input, output) {
                Ok(status) => Step {
                    read: status.bytes_read,
                    written: status.bytes_written,
                    then: match status.remaining {
                        0 => Then::Ended,
                        _ => Then::More,
                    },
                },
                Err(_) => Step {
                    read: 0,
                    written: 0,
                    then: Then::Broken,
                },
            },
        }
    }
}

#[cfg(test)]
mod tests;
