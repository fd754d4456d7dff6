//! Buffers that pass full blocks on.
