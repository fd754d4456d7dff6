//! Errors inside a 200.
