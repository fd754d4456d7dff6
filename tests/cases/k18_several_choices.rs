//! Several choices in one stream.
