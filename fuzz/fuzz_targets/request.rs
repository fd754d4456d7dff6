//! The scan of a request's body: what a JSON parser finds where the body is a JSON object, the same in any cuts, in bounded
//! memory.

#![no_main]

use dripline_fuzz::cuts::Cuts;
use dripline_fuzz::memory::live;
use dripline_fuzz::observe::request::{RequestFacts, RequestScan};
use dripline_fuzz::oracle::{BOM, facts_oracle};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

/// Bytes of a model's name that are kept.
const KEPT: usize = 256;

/// Most that a scan may hold: a model's name, a key and a value, in vectors that grew.
const HELD: usize = 3 * 2 * KEPT;

fuzz_target!(|input: &[u8]| {
    let Some(cuts) = Cuts::of(input) else { return };
    let found = scan(&mut [cuts.stream].into_iter());
    assert_eq!(scan(&mut cuts.stream.chunks(1)), found, "byte by byte");
    assert_eq!(scan(&mut cuts.pieces()), found, "in pieces");
    if let Some(model) = &found.model {
        assert!(model.len() <= KEPT && !model.contains(char::is_control));
    }

    let body = cuts.stream.strip_prefix(BOM).unwrap_or(cuts.stream);
    if let Ok(value @ Value::Object(_)) = serde_json::from_slice(body) {
        let expected = facts_oracle(&value);
        assert_eq!(found.stream, expected.stream);
        assert_eq!(found.has_tools, expected.has_tools);
        match (&found.model, &expected.model) {
            // A long name is cut, and perhaps in an escape of six bytes for one.
            (Some(found), Some(whole)) if whole.len() * 6 > KEPT => {
                assert!(whole.starts_with(found.as_str()), "{found:?} of {whole:?}");
            }
            (found, expected) => assert_eq!(found, expected),
        }
    }
});

fn scan(pieces: &mut dyn Iterator<Item = &[u8]>) -> RequestFacts {
    let before = live();
    let mut scan = RequestScan::new();
    for piece in pieces {
        scan.push(piece);
        let held = live() - before;
        assert!(held <= HELD, "{held} bytes are held");
    }
    scan.facts()
}
