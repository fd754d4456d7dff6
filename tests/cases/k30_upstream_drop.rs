//! Upstreams that drop the connection.
