//! Connections that are used again.
