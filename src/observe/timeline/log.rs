//! The first events of a stream one by one: what bursts are found in.

use crate::observe::stats::Us;

/// Events that are kept: 256 KiB at most. Longer streams are judged by their beginning.
const KEPT: usize = 16_384;

/// One event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Logged {
    /// Time since the event before it (0 for the first).
    pub gap: Us,
    /// Body bytes since the event before it. What one chunk brought counts for the events that it
    /// dispatched: they share their time, so a burst's sum is right.
    pub bytes: u32,
    /// Whether it carries output.
    pub is_token: bool,
}

/// Events in their order.
#[derive(Debug, Default)]
pub struct EventLog {
    events: Vec<Logged>,
    bytes: u64,
}

impl EventLog {
    /// Body bytes came; `after_event` if in a chunk that has dispatched an event already.
    pub fn on_bytes(&mut self, bytes: u64, after_event: bool) {
        if self.events.len() == KEPT {
            return;
        }
        match self.events.last_mut() {
            Some(last) if after_event => {
                last.bytes = last
                    .bytes
                    .saturating_add(u32::try_from(bytes).unwrap_or(u32::MAX));
            }
            _ => self.bytes += bytes,
        }
    }

    /// They dispatched an event, `gap` after the one before it.
    pub fn on_event(&mut self, gap: Option<Us>, is_token: bool) {
        if self.events.len() == KEPT {
            return;
        }
        let bytes = std::mem::take(&mut self.bytes);
        self.events.push(Logged {
            gap: gap.unwrap_or(0),
            bytes: u32::try_from(bytes).unwrap_or(u32::MAX),
            is_token,
        });
    }

    /// The events.
    pub fn events(&self) -> &[Logged] {
        &self.events
    }
}
