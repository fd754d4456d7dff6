//! The framing of JSON lines: the oracle's frames, for any bytes in any cuts, in bounded memory.

#![no_main]

use dripline_fuzz::framing::check;
use dripline_fuzz::observe::framing::{Decoder, NdJsonDecoder};
use dripline_fuzz::oracle::json_lines_oracle;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    check(
        input,
        |limit| Decoder::NdJson(NdJsonDecoder::new(limit)),
        json_lines_oracle,
    );
});
