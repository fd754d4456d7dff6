//! Uploads.
