//! What `dripline probe` is told: where to, what to send, and what is not good enough.
//!
//! - [`ProbeUrl`], [`ProbeApi`]: a URL as people have it, made into a server and a path
//! - [`Field`]: a header field, whose value is never shown
//! - [`Threshold`]: a condition under which a probe has failed

mod field;
mod threshold;
mod url;

pub use field::Field;
pub use threshold::{Comparison, Figure, Of, Quantity, Threshold};
pub use url::{ProbeApi, ProbeUrl, is_private};
