//! The event stream's grammar.
