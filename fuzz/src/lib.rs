//! What the fuzz targets share. Each target is one file in `fuzz_targets/` that says what must hold, its seeds are in
//! `corpus/`.
//!
//! - [`observe`]: the room under test, the product's own files
//! - [`oracle`]: naive oracles, those of the property tests
//! - [`cuts`]: an input's stream and how it is cut
//! - [`framing`]: what holds for every decoder
//! - [`exchange`]: a program of what the relay tells an observer
//! - [`memory`]: how much of the heap is in use

// The oracle calls the product by its name.
extern crate self as dripline;

#[path = "../../src"]
mod product {
    pub mod observe;
}
pub use product::observe;
#[path = "../../tests/oracle/mod.rs"]
pub mod oracle;

pub mod cuts;
pub mod exchange;
pub mod framing;
pub mod memory;
