//! Events of many bytes.
