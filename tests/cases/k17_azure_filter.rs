//! Content filter results.
