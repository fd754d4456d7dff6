//! Heads that wait for the first byte of the body.
