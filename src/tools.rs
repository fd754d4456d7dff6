//! The commands, each with its own edge to the terminal.
//!
//! - [`proxy`]: the relay and the sinks, wired together
//! - [`simulate`]: the simulated server, which is also the tests' upstream
//! - [`demo`]: both, some requests, and the plots
//! - [`probe`]: a server asked a few times, each run a row
//! - [`report`]: what a log says
//! - [`logs`]: logs read back
//! - [`compare`]: two logs of two runs, before and after
//! - [`hops`]: two logs of the same requests, and what stands between
//! - [`page`]: text for a terminal
//! - [`plot`]: pictures for a terminal
//! - [`chart`]: pictures as SVG, for pages and documents
//! - [`signals`]: Ctrl-C and SIGTERM
//! - [`systemd`]: a socket that is kept over restarts, and how the service is

pub mod chart;
pub mod compare;
pub mod demo;
pub mod hops;
pub mod logs;
pub mod page;
pub mod plot;
pub mod probe;
pub mod proxy;
pub mod report;
pub mod signals;
pub mod simulate;
pub mod systemd;
