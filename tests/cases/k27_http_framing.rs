//! HTTP framing.
