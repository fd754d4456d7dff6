//! Lines of text that fit the terminal, counted in its columns: names from outside may be in any script.

use std::fmt::Write as _;

use crate::sink::console::text::columns;
use crate::tools::plot::Look;

/// Columns of the names of figures.
const NAMES: usize = 14;
/// The narrowest text.
const NARROWEST: usize = 40;
/// The widest that the eye follows.
const WIDEST: usize = 110;

/// Lines of text that fit the terminal.
#[derive(Debug)]
pub struct Page {
    /// What was written.
    pub text: String,
    width: usize,
    bold: anstyle::Style,
}

impl Page {
    /// An empty one.
    pub fn new(look: Look) -> Page {
        let bold = anstyle::Style::new().bold();
        Page {
            text: String::new(),
            width: usize::from(look.width).clamp(NARROWEST, WIDEST),
            bold: if look.color {
                bold
            } else {
                anstyle::Style::new()
            },
        }
    }

    /// Columns of a line.
    pub fn width(&self) -> usize {
        self.width
    }

    /// A line that stands out, with space above it.
    pub fn heading(&mut self, line: &str) {
        if !self.text.is_empty() {
            self.line("");
        }
        self.strong(line);
    }

    /// A line as it is.
    pub fn line(&mut self, line: &str) {
        self.text.push_str(plain(line).trim_end());
        self.text.push('\n');
    }

    /// A line that stands out.
    pub fn strong(&mut self, line: &str) {
        let bold = self.bold;
        // writing to a String cannot fail
        let _ = writeln!(self.text, "{bold}{}{bold:#}", plain(line));
    }

    /// A named figure; what does not fit goes on under itself.
    pub fn figure(&mut self, name: &str, text: &str) {
        let indent = " ".repeat(NAMES);
        self.flow(&format!("{name:<NAMES$}"), &indent, text);
    }

    /// Text in lines that fit. What fits in one is left as it is, spaces among it.
    pub fn wrapped(&mut self, indent: &str, text: &str) {
        self.flow(indent, indent, text);
    }

    fn flow(&mut self, first: &str, rest: &str, text: &str) {
        if columns(first) + columns(text) <= self.width {
            return self.line(&format!("{first}{text}"));
        }
        let mut line = first.to_owned();
        let mut is_empty = true;
        for word in text.split_whitespace() {
            if !is_empty && columns(&line) + 1 + columns(word) > self.width {
                self.line(&line);
                line = rest.to_owned();
                is_empty = true;
            }
            if !is_empty {
                line.push(' ');
            }
            line.push_str(word);
            is_empty = false;
        }
        self.line(&line);
    }
}

/// Without what would steer the terminal: sentences of a record come from a file.
fn plain(line: &str) -> String {
    line.replace(char::is_control, " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(width: u16) -> Page {
        Page::new(Look {
            width,
            ..Look::default()
        })
    }

    #[test]
    fn wide_characters_take_two_columns() {
        // with an indent of 2 it just fits; as characters it would also beside a name
        let text = "模型名字很长很长 另一個名字也很長 第三";
        assert_eq!((text.chars().count(), columns(text)), (20, 38));
        let mut whole = page(40);
        whole.wrapped("  ", text);
        assert_eq!(whole.text, format!("  {text}\n"));
        let mut folded = page(40);
        folded.figure("model", text);
        let lines: Vec<_> = folded.text.lines().collect();
        assert_eq!(
            lines,
            [
                "model         模型名字很长很长",
                "              另一個名字也很長 第三"
            ]
        );
        assert!(lines.iter().all(|line| columns(line) <= 40));
    }

    #[test]
    fn marks_that_join_take_no_column() {
        // e and a combining acute accent
        let word = "e\u{301}".repeat(38);
        let mut page = page(40);
        page.wrapped("  ", &word);
        assert_eq!(page.text, format!("  {word}\n"));
    }

    #[test]
    fn what_does_not_fit_goes_on_under_itself() {
        let mut page = page(40);
        page.figure("name", "some words that are too long for a line of 40");
        page.wrapped("  ", "a  b");
        assert_eq!(
            page.text,
            "name          some words that are too\n              long for a line of 40\n  a  b\n"
        );
    }

    #[test]
    fn nothing_steers_the_terminal() {
        let mut page = page(40);
        page.wrapped("", "a\u{1b}[2Jb\nc");
        page.strong("d\u{7}e");
        assert_eq!(page.text, "a [2Jb c\nd e\n");
    }
}
