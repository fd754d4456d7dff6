//! Line ends.
