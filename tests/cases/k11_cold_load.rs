//! A model that is loaded first.
