//! Engines that stop for a while.
