//! Streams as real servers send them, in scripted times, and what the record must say of them.
//! Each is observed whole and byte by byte; the two records must be equal (see `support`).

mod bodies;
mod cuts;
mod dialects;
mod drafts;
mod ends;
mod golden;
mod grammar;
mod healthy;
mod hops;
mod hostile;
mod phases;
mod real_hops;
mod rhythm;
mod support;
mod timing;
mod tokens;
mod waits;
