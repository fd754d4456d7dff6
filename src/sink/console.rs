//! One aligned line per request, to read while it happens.
//!
//! Colour only where it can be seen (a terminal, no `NO_COLOR`): anstream takes it out elsewhere.

mod line;
pub mod text;

use std::io::{self, Write as _};

use jiff::tz::TimeZone;
use terminal_size::{Width, terminal_size_of};

use crate::observe::record::RequestRecord;

pub use line::{header, line};

/// Which stream lines go to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output {
    /// Standard output.
    Stdout,
    /// Standard error: when the log has standard output.
    Stderr,
}

/// Lines for a person.
#[derive(Debug)]
pub struct Console {
    output: Output,
    zone: TimeZone,
    /// The columns have been named.
    begun: bool,
    failed: bool,
}

impl Console {
    /// The first record comes with a line that names the columns. Times of day are local.
    pub fn new(output: Output) -> Self {
        Console {
            output,
            zone: TimeZone::system(),
            begun: false,
            failed: false,
        }
    }

    /// Prints one record; whether it got there.
    pub(super) fn write(&mut self, record: &RequestRecord) -> bool {
        // Asked each time: a window can be drawn wider.
        let width = width(self.output);
        if !self.begun {
            self.begun = self.print(&header(width));
        }
        self.print(&line(record, &self.zone, width))
    }

    fn print(&mut self, line: &str) -> bool {
        let result = match self.output {
            Output::Stdout => writeln!(anstream::stdout().lock(), "{line}"),
            Output::Stderr => writeln!(anstream::stderr().lock(), "{line}"),
        };
        self.told(result)
    }

    fn told(&mut self, result: io::Result<()>) -> bool {
        if let Err(error) = &result
            && !self.failed
        {
            tracing::warn!(
                "lines for the terminal cannot be written ({error}); requests and log are not affected"
            );
        }
        self.failed = result.is_err();
        !self.failed
    }
}

/// The columns of the terminal that lines go to; `None` where it is none.
pub fn width(output: Output) -> Option<usize> {
    let size = match output {
        Output::Stdout => terminal_size_of(io::stdout()),
        Output::Stderr => terminal_size_of(io::stderr()),
    };
    size.map(|(Width(columns), _)| columns.into())
}
