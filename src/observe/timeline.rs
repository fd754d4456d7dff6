//! When everything came and went. Times are arguments, and only ever grow: an arrival stamp that
//! would step back is moved up to the one before it.
//!
//! Three series that must not be mixed up: chunks (socket reads), events (dispatches), token
//! events. A chunk is one socket read whatever number of HTTP chunks it held; an event counts when
//! the byte arrived that dispatches it.

mod backlog;
mod crowd;
mod hold;
mod log;
mod silence;
mod stalls;

use super::content::Event;
use super::record::{Row, Stamps};
use super::stats::{Series, Us};
pub use backlog::Backlog;
pub use crowd::Crowds;
pub use hold::Hold;
pub use log::{EventLog, Logged};
pub use silence::Silence;
pub use stalls::{LEAST_STALL, Pause, Pauses};

/// Rows of an asked-for timeline that are kept.
pub const ROW_LIMIT: usize = 100_000;

/// Points in time of one request.
#[derive(Debug, Clone, Copy, Default)]
pub struct Points {
    /// Last byte of the request body in.
    pub request_end: Option<Us>,
    /// Last byte of the request written.
    pub sent: Option<Us>,
    /// Final response header in.
    pub header: Option<Us>,
    /// First byte of the body.
    pub first_byte: Option<Us>,
    /// First event.
    pub first_event: Option<Us>,
    /// First token event.
    pub first_token: Option<Us>,
    /// First token event with reasoning.
    pub first_reasoning: Option<Us>,
    /// First token event with an answer.
    pub first_answer: Option<Us>,
    /// First token event with a tool call.
    pub first_tool: Option<Us>,
    /// Last token event.
    pub last_token: Option<Us>,
    /// First end marker.
    pub done: Option<Us>,
    /// The end.
    pub end: Option<Us>,
}

/// What happened when, in bounded memory.
#[derive(Debug, Default)]
pub struct Timeline {
    /// Single points.
    pub at: Points,
    /// Socket reads with body bytes.
    pub chunks: Series,
    /// Events.
    pub events: Series,
    /// Token events.
    pub tokens: Series,
    /// The events one by one, as far as they are kept.
    pub log: EventLog,
    /// The longest pauses between token events.
    pub pauses: Pauses,
    /// Times without a byte.
    pub silence: Silence,
    /// The proxy's own delay.
    pub hold: Hold,
    /// What the client's kernel has not acknowledged.
    pub backlog: Backlog,
    /// One row per chunk, if asked for.
    pub rows: Option<Vec<Row>>,
    /// Whether there were more chunks than rows.
    pub rows_cut: bool,
    /// How many chunks.
    pub n_chunks: u64,
    /// Chunks with a token event.
    pub n_token_chunks: u64,
    /// How many events.
    pub n_events: u64,
    /// How many token events.
    pub n_tokens: u64,
    /// Body bytes.
    pub bytes: u64,
    /// Most events in a chunk.
    pub most_events: u64,
    /// Chunks by their events.
    pub crowds: Crowds,
    /// Events that came in more than one chunk.
    pub split_events: u64,
    chunk: Chunk,
    stamps: [bool; 2],
    now: Us,
}

/// The chunk being read.
#[derive(Debug, Default)]
struct Chunk {
    events: u64,
    tokens: u64,
    /// It began in the middle of an event.
    continues: bool,
}

impl Timeline {
    /// An empty timeline that keeps rows if `rows` is true.
    pub fn new(rows: bool) -> Self {
        Timeline {
            rows: rows.then(Vec::new),
            ..Timeline::default()
        }
    }

    /// When something last came from the upstream; 0 before that.
    pub fn last_arrival(&self) -> Us {
        self.now
    }

    /// The last byte of the request's body came.
    pub fn on_request_end(&mut self, at: Us) {
        self.at.request_end = Some(at);
    }

    /// The upstream's socket has taken what was written so far; the last call stands.
    pub fn on_sent(&mut self, at: Us) {
        self.at.sent = Some(at);
        self.silence.on_sent(at);
    }

    /// Something other than a final header or body came from the upstream.
    pub fn on_upstream_byte(&mut self, at: Us) {
        self.arrive(at);
    }

    /// The final response header came.
    pub fn on_header(&mut self, at: Us) {
        let at = self.arrive(at);
        self.at.header = Some(at);
        // A write's return may be seen after its answer: the request was there before that.
        self.at.sent = self.at.sent.map(|sent| sent.min(at));
    }

    /// The body has ended or was cut. What is still on its way to the client is not the upstream's.
    pub fn on_end(&mut self, at: Us) {
        self.at.end.get_or_insert(at.max(self.now));
    }

    /// A piece of `length` bytes of the body came: `new` if with a socket read of its own, `inside`
    /// if an event had begun before it and not ended.
    pub fn on_piece(&mut self, at: Us, by_kernel: bool, new: bool, inside: bool, length: u64) {
        let at = self.arrive(at);
        self.at.first_byte.get_or_insert(at);
        self.stamps[usize::from(by_kernel)] = true;
        self.bytes += length;
        if new || self.n_chunks == 0 {
            self.n_chunks += 1;
            self.chunks.push(at);
            self.hold.on_chunk(self.n_chunks, at);
            self.chunk = Chunk {
                continues: inside,
                ..Chunk::default()
            };
            self.add_row(at);
        }
        if let Some(row) = self.row() {
            row.2 += length;
        }
        self.log.on_bytes(length, self.chunk.events > 0);
    }

    /// The latest piece dispatched an event.
    pub fn on_event(&mut self, event: Event) {
        let at = self.now;
        self.n_events += 1;
        self.crowds.on_event(self.chunk.events);
        self.chunk.events += 1;
        self.at.first_event.get_or_insert(at);
        self.log.on_event(self.events.push(at), event.is_token());
        self.split_events += u64::from(self.chunk.events == 1 && self.chunk.continues);
        self.most_events = self.most_events.max(self.chunk.events);
        if let Some(row) = self.row() {
            row.3 += 1;
        }
        if event.done {
            self.at.done.get_or_insert(at);
        }
        if event.is_token() {
            self.on_token(at, event);
        }
    }

    fn on_token(&mut self, at: Us, event: Event) {
        if let Some(gap) = self.tokens.push(at) {
            self.pauses.take(Pause {
                at,
                gap,
                after_token: self.n_tokens,
                event: self.n_events - 1,
            });
        }
        self.n_tokens += 1;
        self.n_token_chunks += u64::from(self.chunk.tokens == 0);
        self.chunk.tokens += 1;
        self.at.first_token.get_or_insert(at);
        self.at.last_token = Some(at);
        for (is_there, first) in [
            (event.reasoning, &mut self.at.first_reasoning),
            (event.answer, &mut self.at.first_answer),
            (event.tool, &mut self.at.first_tool),
        ] {
            if is_there {
                first.get_or_insert(at);
            }
        }
        if let Some(row) = self.row() {
            row.4 += 1;
        }
    }

    /// The client's socket has taken the first `chunks` chunks.
    pub fn on_flushed(&mut self, chunks: u64, at: Us) {
        let first = self.hold.on_flushed(chunks, at);
        let Some(rows) = &mut self.rows else { return };
        let from = (first as usize).min(rows.len());
        let to = (chunks as usize).min(rows.len());
        for row in rows.get_mut(from..to).unwrap_or_default() {
            row.1 = Some(at.max(row.0));
        }
    }

    /// All is over; this is the end of the body too, unless that was told before.
    pub fn finish(&mut self, at: Us) {
        let at = at.max(self.now);
        self.hold.finish(at);
        self.silence.finish(*self.at.end.get_or_insert(at));
        if self.at.request_end.is_none() {
            self.at.sent = None; // its last byte never was
        }
    }

    /// Where the arrival times came from.
    pub fn stamps(&self) -> Option<Stamps> {
        match self.stamps {
            [false, false] => None,
            [true, false] => Some(Stamps::Read),
            [false, true] => Some(Stamps::Kernel),
            [true, true] => Some(Stamps::Mixed),
        }
    }

    fn arrive(&mut self, at: Us) -> Us {
        self.now = self.now.max(at);
        self.silence.on_byte(self.now);
        self.now
    }

    fn add_row(&mut self, at: Us) {
        let Some(rows) = &mut self.rows else { return };
        if rows.len() < ROW_LIMIT {
            rows.push(Row(at, None, 0, 0, 0));
        } else {
            self.rows_cut = true;
        }
    }

    /// The row of the chunk being read, if it is kept.
    fn row(&mut self) -> Option<&mut Row> {
        if self.rows_cut {
            None
        } else {
            self.rows.as_mut()?.last_mut()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: Event = Event {
        answer: true,
        reasoning: false,
        tool: false,
        done: false,
    };

    #[test]
    fn a_chunk_is_a_read_and_an_event_counts_where_it_ends() {
        let mut timeline = Timeline::new(true);
        timeline.on_piece(10, false, true, false, 2);
        timeline.on_piece(15, true, true, true, 7);
        timeline.on_event(TOKEN);
        timeline.on_piece(15, true, false, false, 9);
        timeline.on_event(TOKEN);
        timeline.on_flushed(2, 40);
        timeline.finish(50);
        assert_eq!(
            (timeline.n_chunks, timeline.bytes, timeline.n_tokens),
            (2, 18, 2)
        );
        assert_eq!(
            (
                timeline.split_events,
                timeline.crowds.of_many(),
                timeline.most_events
            ),
            (1, 1, 2)
        );
        assert_eq!(
            (timeline.at.first_byte, timeline.at.first_event),
            (Some(10), Some(15))
        );
        assert_eq!(
            timeline.rows.as_deref(),
            Some(&[Row(10, Some(40), 2, 0, 0), Row(15, Some(40), 16, 2, 2)][..])
        );
        assert_eq!(timeline.stamps(), Some(Stamps::Mixed));
    }

    #[test]
    fn time_never_steps_back() {
        let mut timeline = Timeline::new(false);
        timeline.on_header(100);
        timeline.on_piece(90, true, true, false, 1);
        timeline.finish(50);
        assert_eq!(
            (timeline.at.first_byte, timeline.at.end),
            (Some(100), Some(100))
        );
    }

    #[test]
    fn the_body_ends_when_it_came_not_when_the_client_has_it() {
        let mut timeline = Timeline::new(false);
        timeline.on_request_end(0);
        timeline.on_sent(10);
        timeline.on_piece(100, true, true, false, 1);
        timeline.on_end(120);
        timeline.on_flushed(1, 5_000);
        timeline.finish(5_000);
        assert_eq!(
            (timeline.at.end, timeline.silence.before_end),
            (Some(120), Some(20))
        );
    }

    #[test]
    fn a_request_that_was_not_sent_whole_has_no_mark_and_none_comes_after_its_answer() {
        let mut cut = Timeline::new(false);
        cut.on_sent(10);
        cut.finish(50);
        assert_eq!(cut.at.sent, None);
        let mut whole = Timeline::new(false);
        whole.on_request_end(0);
        whole.on_sent(30);
        whole.on_header(20);
        whole.finish(50);
        assert_eq!(whole.at.sent, Some(20));
    }

    #[test]
    fn rows_past_the_limit_are_counted_as_cut() {
        let mut timeline = Timeline::new(true);
        for at in 0..ROW_LIMIT as u64 + 1 {
            timeline.on_piece(at, true, true, false, 1);
        }
        let rows = timeline.rows.as_ref().unwrap();
        assert_eq!(
            (rows.len(), rows[ROW_LIMIT - 1].2, timeline.rows_cut),
            (ROW_LIMIT, 1, true)
        );
    }
}
