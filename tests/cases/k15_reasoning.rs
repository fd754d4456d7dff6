//! Channels of reasoning.
