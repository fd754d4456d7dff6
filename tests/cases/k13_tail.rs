//! A long time between the last token and the end.
