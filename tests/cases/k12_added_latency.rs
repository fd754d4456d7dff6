//! A constant addition to every request.
