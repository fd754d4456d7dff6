//! What `dripline probe` is told: where to, and what to send.
//!
//! - [`ProbeUrl`], [`ProbeApi`]: a URL as people have it, made into a server and a path
//! - [`Field`]: a header field, whose value is never shown

mod field;
mod url;

pub use field::Field;
pub use url::{ProbeApi, ProbeUrl, is_private};
