//! Hops that flush by a timer.
