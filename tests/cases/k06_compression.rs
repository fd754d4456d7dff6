//! Compressed event streams.
