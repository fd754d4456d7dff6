//! dripline: a transparent timing reverse proxy for LLM servers.
//!
//! It passes every byte of every response through unchanged, stamps each piece as it arrives and
//! as it is flushed, and leaves one record per request. In reading order; each room imports only
//! from those before it (`tests/rooms.rs` checks that):
//!
//! - [`observe`]: the heart, pure: bytes and times in, a record out
//! - [`config`]: flags, environment and file become one typed configuration
//! - [`relay`]: the edge: sockets, pingora and the clock
//! - [`sink`]: where records go
//! - [`live`]: what a running proxy shows of itself
//! - [`cli`]: the command line
//! - [`tools`]: the commands

pub mod observe;

pub mod config;

pub mod relay;

pub mod sink;

pub mod live;

pub mod cli;

pub mod tools;
