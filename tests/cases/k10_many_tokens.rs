//! Several tokens in one event, cumulative texts.
