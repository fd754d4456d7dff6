//! The framing of a JSON array: the oracle's items, for any bytes in any cuts, in bounded memory.

#![no_main]

use dripline_fuzz::framing::check;
use dripline_fuzz::observe::framing::{Decoder, JsonArrayDecoder};
use dripline_fuzz::oracle::json_array_oracle;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let decoder = |limit| Decoder::JsonArray(JsonArrayDecoder::new(limit));
    check(input, decoder, json_array_oracle);
});
