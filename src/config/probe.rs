//! What `dripline probe` is told: where to, and what to send.
//!
//! - [`ProbeUrl`], [`ProbeApi`]: a URL as people have it, made into a server and a path
//! - [`Http`]: the version of HTTP to speak
//! - [`Field`]: a header field, whose value is never shown

mod field;
mod url;

pub use field::Field;
pub use url::{ProbeApi, ProbeUrl, is_private};

/// The version of HTTP that a probe speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Http {
    /// HTTP/1.1 (RFC 9112), which most SDKs speak.
    #[default]
    #[value(name = "1.1")]
    One,
    /// HTTP/2 (RFC 9113): agreed on in the TLS handshake, or over http taken for granted.
    #[value(name = "2")]
    Two,
}
