//! The summary, redrawn as records come.

use std::io::Write;
use std::time::{Duration, Instant};

use super::View;
use super::screen::{Screen, Size};
use crate::observe::record::RequestRecord;
use crate::observe::verdict::words::count;
use crate::relay::clock;
use crate::sink::console::text::grouped;
use crate::tools::logs::{BadLine, Followed, Unread};
use crate::tools::plot::Look;
use crate::tools::report::light::Light;
use crate::tools::report::stream::Stream;
use crate::tools::report::summary::Summary;
use crate::tools::report::tally::{By, Tally};
use crate::tools::report::{Options, print};

/// So many of the latest streams are kept, and at most twice as many.
pub const KEPT: usize = 250_000;
/// It is drawn at most so often.
const EVERY: Duration = Duration::from_secs(1);
/// To draw takes at most one part in so many of the time.
const SHARE: u32 = 10;

/// The page so far.
pub struct Page<'a, W: Write> {
    out: &'a mut W,
    screen: Option<Screen>,
    summary: Summary,
    /// Streams were forgotten.
    is_partial: bool,
    /// Something came since it was drawn.
    is_new: bool,
    /// The next time at which it may be drawn.
    next: Instant,
    size: Option<Size>,
    troubles: Vec<String>,
}

impl<'a, W: Write> Page<'a, W> {
    /// Nothing on it yet. What is left of it in the end goes to `out`.
    pub fn new(out: &'a mut W, by: By, options: &Options) -> Self {
        Page {
            out,
            screen: None,
            summary: Summary {
                tally: Tally::new(by, options.zone.clone()),
                logs: Vec::new(),
                choice: options.choice.clone(),
                read: 0,
                unread: Unread::default(),
            },
            is_partial: false,
            is_new: true,
            next: clock::now(),
            size: None,
            troubles: Vec::new(),
        }
    }

    fn text(&mut self, look: Look) -> String {
        self.summary.tally.finish();
        let mut text = print::text(&self.summary, look);
        if self.is_partial {
            text += &format!(
                "\nLatencies and maps are of the latest {} streams, all else is of all.\n",
                grouped(self.summary.tally.streams.len() as u64)
            );
        }
        text
    }

    /// What stands under the page.
    fn status(&self, hidden: usize) -> String {
        let mut parts = Vec::new();
        if let [first, others @ ..] = &self.troubles[..] {
            parts.push(first.clone());
            if !others.is_empty() {
                parts.push(format!("and {} more", others.len()));
            }
        }
        if hidden > 0 {
            parts.push(format!("{} below", count(hidden as u64, "line")));
        }
        parts.push("following; Ctrl-C ends and leaves the whole page".to_owned());
        parts.join("; ")
    }
}

/// Forgets the oldest streams once there are twice as many as are to be kept; whether it did.
fn forget(streams: &mut Vec<Stream>, kept: usize) -> bool {
    if streams.len() < 2 * kept {
        return false;
    }
    let surplus = streams.len() - kept;
    streams.select_nth_unstable_by_key(surplus, |stream| stream.started);
    streams.drain(..surplus);
    true
}

impl<W: Write> View for Page<'_, W> {
    type Read = Light;

    fn record(read: Light) -> RequestRecord {
        read.0
    }

    fn take(&mut self, record: RequestRecord, is_wanted: bool) -> anyhow::Result<()> {
        self.is_new = true;
        self.summary.read += 1;
        if is_wanted {
            self.summary.tally.take(&record);
            self.is_partial |= forget(&mut self.summary.tally.streams, KEPT);
        }
        Ok(())
    }

    fn take_bad(&mut self, line: BadLine) {
        self.is_new = true;
        self.summary.unread.push(line);
    }

    fn show(&mut self, followed: &Followed, _is_all: bool) -> anyhow::Result<()> {
        let size = Size::of_stdout();
        let (logs, troubles) = (followed.logs(), followed.troubles());
        if self.summary.logs.len() != logs.len() {
            self.summary.logs = logs.iter().cloned().collect();
            self.is_new = true;
        }
        if self.troubles != troubles {
            self.troubles = troubles.to_vec();
            self.is_new = true;
        }
        let begun = clock::now();
        if begun < self.next || !self.is_new && self.size == Some(size) {
            return Ok(());
        }
        (self.size, self.is_new) = (Some(size), false);
        let text = self.text(Look::of_stdout());
        let frame = size.frame(&text, &self.status(size.hidden(&text)));
        let screen = match &mut self.screen {
            Some(screen) => screen,
            none => none.insert(Screen::enter()?),
        };
        screen.draw(&frame)?;
        let ended = clock::now();
        self.next = ended + EVERY.max((ended - begun) * SHARE);
        Ok(())
    }

    fn rest(&mut self) {
        self.screen = None;
        self.is_new = true;
        // not before the process has stopped
        self.next = clock::now() + EVERY;
    }

    /// Leaves the whole page on the screen of before.
    fn end(&mut self) -> anyhow::Result<()> {
        self.screen = None;
        let text = self.text(Look::of_stdout());
        self.out.write_all(text.as_bytes())?;
        Ok(self.out.flush()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::record::Timing;

    #[test]
    fn the_latest_streams_are_kept() {
        let stream = |started: i64| Stream {
            started: Some(started),
            ttft: 0,
            gap_p50: None,
            gap_p99: None,
            per_token: None,
            end: 0,
            in_flight: 0,
            group: 0,
            cold: false,
            timing: Timing::Steady,
        };
        let mut streams: Vec<Stream> = (0..19).rev().map(stream).collect();
        assert!(!forget(&mut streams, 10) && streams.len() == 19);
        streams.push(stream(19));
        assert!(forget(&mut streams, 10));
        let mut kept: Vec<_> = streams.iter().filter_map(|stream| stream.started).collect();
        kept.sort_unstable();
        assert_eq!(kept, (10..20).collect::<Vec<_>>());
    }
}
