//! A terminal's other screen: what is drawn there is gone with it, and the lines of before are as they were.
//!
//! The sequences are xterm's, which terminals have in common: <https://invisible-island.net/xterm/ctlseqs/ctlseqs.html>

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::panic;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use terminal_size::{Height, Width, terminal_size_of};

use crate::sink::console::text::columns;

/// To the other screen, the cursor out of sight, lines that are too long cut.
const ENTER: &str = "\x1b[?1049h\x1b[?25l\x1b[?7l";
/// And back.
const LEAVE: &str = "\x1b[?7h\x1b[?25h\x1b[?1049l";
/// To the upper left corner.
const HOME: &str = "\x1b[H";
/// The rest of the line, or of the screen, is empty.
const CLEAR_LINE: &str = "\x1b[K";
const CLEAR_BELOW: &str = "\x1b[J";

/// Whether the terminal has one.
pub fn is_able() -> bool {
    std::env::var_os("TERM").is_none_or(|name| name != "dumb")
}

/// The other screen is on.
static IS_ON: AtomicBool = AtomicBool::new(false);

/// The other screen until the drop, whatever the reason for that is.
#[derive(Debug)]
pub struct Screen(());

impl Screen {
    /// Goes there.
    ///
    /// # Errors
    ///
    /// The terminal is gone.
    pub fn enter() -> io::Result<Screen> {
        static HOOK: Once = Once::new();
        HOOK.call_once(|| {
            // what a panic says is to be seen afterwards
            let before = panic::take_hook();
            panic::set_hook(Box::new(move |panic| {
                leave();
                before(panic);
            }));
        });
        IS_ON.store(true, Ordering::SeqCst);
        let mut screen = Screen(());
        screen.draw(ENTER)?;
        Ok(screen)
    }

    /// Writes it there, as it is: without colour there is a screen too.
    ///
    /// # Errors
    ///
    /// The terminal is gone.
    pub fn draw(&mut self, frame: &str) -> io::Result<()> {
        let mut out = io::stdout().lock();
        out.write_all(frame.as_bytes())?;
        out.flush()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        leave();
    }
}

fn leave() {
    if !IS_ON.swap(false, Ordering::SeqCst) {
        return;
    }
    // not by way of anything that the one who panicked may hold
    if let Ok(stdout) = io::stdout().as_fd().try_clone_to_owned() {
        let _ = File::from(stdout).write_all(LEAVE.as_bytes());
    }
}

/// Columns and rows of a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    columns: usize,
    rows: usize,
}

impl Size {
    /// Of the one that standard output is.
    pub fn of_stdout() -> Size {
        let size = terminal_size_of(io::stdout());
        let (Width(columns), Height(rows)) = size.unwrap_or((Width(80), Height(24)));
        Size {
            columns: columns.into(),
            rows: rows.into(),
        }
    }

    /// Lines of a page that have no room on it; one row is for the status.
    pub fn hidden(self, text: &str) -> usize {
        (text.lines().count() + 1).saturating_sub(self.rows)
    }

    /// What draws the beginning of a page, and its status under it, over what was there. Nothing scrolls.
    pub fn frame(self, text: &str, status: &str) -> String {
        let mut frame = HOME.to_owned();
        for line in text.lines().take(self.rows.saturating_sub(1)) {
            frame += line;
            frame += CLEAR_LINE;
            frame += "\r\n";
        }
        let mut rest = self.columns;
        let fits = |c: &char| {
            let width = columns(c.encode_utf8(&mut [0; 4]));
            let is_room = width <= rest;
            rest = rest.saturating_sub(width);
            is_room
        };
        // names of files may hold anything
        let shown = status.chars().filter(|c| !c.is_control());
        frame.extend(shown.take_while(fits));
        frame += CLEAR_LINE;
        frame += CLEAR_BELOW;
        // where an Enter that is typed moves nothing
        frame += HOME;
        frame
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_cut_to_the_screen_and_nothing_scrolls() {
        let size = Size {
            columns: 10,
            rows: 3,
        };
        let text = "one\ntwo\nthree\nfour\n";
        assert_eq!(size.hidden(text), 2);
        assert_eq!(
            size.frame(text, "a\x1bb 模模模模"),
            "\x1b[Hone\x1b[K\r\ntwo\x1b[K\r\nab 模模模\x1b[K\x1b[J\x1b[H"
        );
        assert_eq!(size.hidden("one\ntwo\n"), 0);
        assert_eq!(
            size.frame("one\n", ""),
            "\x1b[Hone\x1b[K\r\n\x1b[K\x1b[J\x1b[H"
        );
    }
}
