//! Lines of text that fit the terminal.

use std::collections::HashSet;
use std::fmt::Write as _;

use crate::tools::plot::Look;

/// Columns of the names of figures.
const NAMES: usize = 14;
/// The narrowest text.
const NARROWEST: usize = 40;
/// The widest that the eye follows.
const WIDEST: usize = 110;

/// Lines of text that fit the terminal.
pub struct Page {
    /// What was written.
    pub text: String,
    width: usize,
    bold: anstyle::Style,
    /// Hints that were given: many requests have the same.
    pub hints: HashSet<String>,
}

impl Page {
    /// An empty one.
    pub fn new(look: Look) -> Page {
        let bold = anstyle::Style::new().bold();
        Page {
            text: String::new(),
            hints: HashSet::new(),
            width: usize::from(look.width).clamp(NARROWEST, WIDEST),
            bold: if look.color {
                bold
            } else {
                anstyle::Style::new()
            },
        }
    }

    /// A line as it is.
    pub fn line(&mut self, line: &str) {
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    /// A line that stands out.
    pub fn strong(&mut self, line: &str) {
        let bold = self.bold;
        // writing to a String cannot fail
        let _ = writeln!(self.text, "{bold}{line}{bold:#}");
    }

    /// A named figure; what does not fit goes on under itself.
    pub fn figure(&mut self, name: &str, text: &str) {
        let indent = " ".repeat(NAMES);
        self.flow(&format!("{name:<NAMES$}"), &indent, text);
    }

    /// Text in lines that fit.
    pub fn wrapped(&mut self, indent: &str, text: &str) {
        self.flow(indent, indent, text);
    }

    fn flow(&mut self, first: &str, rest: &str, text: &str) {
        if first.chars().count() + text.chars().count() <= self.width {
            return self.line(&format!("{first}{text}"));
        }
        let mut line = first.to_owned();
        let mut is_empty = true;
        for part in text.split(' ') {
            if !is_empty && line.chars().count() + 1 + part.chars().count() > self.width {
                self.line(&line);
                line = rest.to_owned();
                is_empty = true;
            }
            if !is_empty {
                line.push(' ');
            }
            line.push_str(part);
            is_empty = false;
        }
        self.line(&line);
    }
}
