//! Streams cut by a timer.
