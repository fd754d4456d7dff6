//! Simulated hops over simulated streams.
//!
//! - [`streams`]: the streams, the hops and the records that both driplines would leave
//! - `words`: each hop must get its own word, with timelines and (as far as that can be) without
//! - `ends`: answers that are not whole on both sides
//! - `hostile`: logs are files, so any number may stand in them
//! - `printed`: the text, the JSON and the errors

mod ends;
mod hostile;
mod printed;
mod streams;
mod words;
