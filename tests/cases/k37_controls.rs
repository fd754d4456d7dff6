//! Healthy streams, which must not be flagged.
