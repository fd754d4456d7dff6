//! The framing of event streams: the oracle's frames, for any bytes in any cuts, in bounded memory.

#![no_main]

use dripline_fuzz::framing::check;
use dripline_fuzz::observe::framing::{Decoder, SseDecoder};
use dripline_fuzz::oracle::sse_oracle;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    check(
        input,
        |limit| Decoder::Sse(SseDecoder::new(limit)),
        sse_oracle,
    );
});
