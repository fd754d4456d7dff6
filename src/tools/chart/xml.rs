//! Markup that is well-formed by construction: what is opened is closed, and no text or value can be markup.
//!
//! Names of models, paths and labels come from clients and may hold anything. Here they can only become text. The same
//! writer serves SVG and HTML: a page that is XML as well can be checked by any parser.

use std::fmt::Display;

/// An attribute: its name, and what stands in it.
pub type Attr<'a> = (&'static str, &'a dyn Display);

/// What has been written so far.
#[derive(Debug, Default)]
pub struct Xml {
    text: String,
}

impl Xml {
    /// Markup that begins with `declaration`, such as `<!DOCTYPE html>`.
    pub fn new(declaration: &'static str) -> Xml {
        Xml {
            text: format!("{declaration}\n"),
        }
    }

    /// An element with others in it.
    pub fn element(
        &mut self,
        name: &'static str,
        attrs: &[Attr<'_>],
        inside: impl FnOnce(&mut Xml),
    ) {
        self.tag(name, attrs, ">\n");
        inside(self);
        self.close(name, "\n");
    }

    /// An element with nothing in it, of SVG, or one that HTML knows as empty.
    pub fn empty(&mut self, name: &'static str, attrs: &[Attr<'_>]) {
        self.tag(name, attrs, "/>\n");
    }

    /// An element that holds text, on a line of its own.
    pub fn words(&mut self, name: &'static str, attrs: &[Attr<'_>], text: &str) {
        self.inline(name, attrs, text);
        self.text.push('\n');
    }

    /// The same within a line.
    pub fn inline(&mut self, name: &'static str, attrs: &[Attr<'_>], text: &str) {
        self.tag(name, attrs, ">");
        self.text(text);
        self.close(name, "");
    }

    /// Text, from wherever it comes.
    pub fn text(&mut self, text: &str) {
        text.chars().for_each(|c| push_escaped(&mut self.text, c));
    }

    /// Markup or a style sheet that is part of the program.
    pub fn verbatim(&mut self, text: &'static str) {
        self.text.push_str(text);
    }

    /// Markup that was written apart.
    pub fn append(&mut self, other: Xml) {
        self.text.push_str(&other.text);
    }

    /// All of it.
    pub fn into_text(self) -> String {
        self.text
    }

    fn tag(&mut self, name: &'static str, attrs: &[Attr<'_>], end: &str) {
        self.text.push('<');
        self.text.push_str(name);
        for (name, value) in attrs {
            self.text.push(' ');
            self.text.push_str(name);
            self.text.push_str("=\"");
            self.text(&value.to_string());
            self.text.push('"');
        }
        self.text.push_str(end);
    }

    fn close(&mut self, name: &'static str, end: &str) {
        self.text.push_str("</");
        self.text.push_str(name);
        self.text.push('>');
        self.text.push_str(end);
    }
}

/// XML has no way at all to write some characters, escaped or not: <https://www.w3.org/TR/xml/#charsets>.
fn push_escaped(text: &mut String, c: char) {
    match c {
        '<' => text.push_str("&lt;"),
        '>' => text.push_str("&gt;"),
        '&' => text.push_str("&amp;"),
        '"' => text.push_str("&quot;"),
        '\t' | '\n' => text.push(c),
        '\u{fffe}' | '\u{ffff}' => text.push('\u{fffd}'),
        c if c.is_control() => text.push('\u{fffd}'),
        c => text.push(c),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn elements_nest_and_texts_are_escaped() {
        let mut xml = Xml::default();
        xml.element("g", &[("id", &1), ("class", &"a \"b\"")], |xml| {
            xml.empty("path", &[]);
            xml.words("text", &[("x", &1.5)], "<script> & \u{1b}[2J");
            xml.inline("b", &[], "one");
            xml.text(", two");
        });
        assert_eq!(
            xml.into_text(),
            "<g id=\"1\" class=\"a &quot;b&quot;\">\n<path/>\n\
             <text x=\"1.5\">&lt;script&gt; &amp; \u{fffd}[2J</text>\n<b>one</b>, two</g>\n"
        );
    }

    proptest! {
        #[test]
        fn a_parser_reads_what_was_written(text in any::<String>(), value in any::<String>()) {
            let mut xml = Xml::new("<!DOCTYPE html>");
            xml.element("p", &[("title", &value)], |xml| xml.text(&text));
            let markup = xml.into_text();
            let options = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
            let read = roxmltree::Document::parse_with_options(&markup, options).unwrap();
            let plain = |text: &str| -> String {
                let kept = |c: char| c == '\n' || c == '\t' || !(c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}'));
                text.chars().map(|c| if kept(c) { c } else { '\u{fffd}' }).collect()
            };
            prop_assert_eq!(read.root_element().text().unwrap_or_default(), format!("\n{}", plain(&text)));
            // a parser makes spaces of white space in a value
            let spaced = plain(&value).replace(['\n', '\t'], " ");
            prop_assert_eq!(read.root_element().attribute("title").unwrap(), spaced);
        }
    }
}
