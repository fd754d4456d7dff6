//! Keep-alives.
