//! The heart: what a stream's bytes and their times say. Pure: no IO, no clock, no pingora; bytes
//! and times are arguments, and nothing in here can fail the relay.
//!
//! ```text
//! bytes → framing → dialect → Timeline → Summary → Verdict → RequestRecord
//! ```
//!
//! In reading order:
//!
//! - [`observer`]: one request's observation, the only type that the relay talks to
//! - [`request`]: what the request's body asks for
//! - [`media`]: what kind of body a response has, by its label and its first bytes
//! - [`encoding`]: what undoes the encodings of a body
//! - [`framing`]: bytes to events
//! - [`dialect`]: what an event carries
//! - [`content`]: what all events together said
//! - [`timeline`]: when everything came and went
//! - [`stats`]: figures over gaps and bursts
//! - [`distribution`]: how all values of a request lie, as counts that can be added up
//! - [`bursts`]: runs of events that came at once
//! - [`summary`]: the timeline in figures
//! - [`outcome`]: how the request ended
//! - [`verdict`]: who held the stream back
//! - [`record`]: the result, and its versioned shape
//! - [`phases`]: what a request spent its time on, out of its record
//! - [`across`]: what only several records show
//! - [`drip`]: a tick for each chunk, for a picture of a stream that still runs

pub mod across;
pub mod bursts;
pub mod content;
pub mod dialect;
pub mod distribution;
pub mod drip;
pub mod encoding;
pub mod framing;
pub mod media;
pub mod observer;
pub mod outcome;
pub mod phases;
pub mod record;
pub mod request;
pub mod stats;
pub mod summary;
pub mod timeline;
pub mod verdict;
