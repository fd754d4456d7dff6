//! Several pictures as one SVG file.

use super::xml::{Attr, Xml};
use super::{Chart, HEIGHT, STYLE, WIDTH, frame, units};
use crate::sink::console::text::columns;

/// A picture with its words.
#[derive(Debug)]
pub struct Panel {
    /// What it shows.
    pub title: String,
    /// How to read it; or why there is nothing to draw.
    pub about: String,
    /// The picture.
    pub chart: Option<Chart>,
}

/// Units around all, and between pictures.
const MARGIN: f64 = 28.0;
const BETWEEN: f64 = 36.0;
/// Units from line to line.
const LINE: f64 = 17.0;
/// Units of a letter, at most on average.
const LETTER: f64 = 6.4;
/// Units before the words of a key.
const KEY: f64 = 18.0;

/// The file: a title, lines about what was read, and the pictures, two in a row.
pub fn text(title: &str, lines: &[String], panels: Vec<Panel>) -> String {
    let width = 2.0 * (f64::from(WIDTH) + MARGIN) + BETWEEN;
    let mut body = Xml::default();
    frame::text(&mut body, "sheet-title", (MARGIN, MARGIN + 16.0), title);
    let mut top = MARGIN + 24.0;
    for line in lines
        .iter()
        .flat_map(|line| wrapped(line, width - 2.0 * MARGIN))
    {
        top += LINE;
        frame::text(&mut body, "start", (MARGIN, top), &line);
    }
    top += BETWEEN;
    let mut panels = panels.into_iter();
    while let Some(left) = panels.next() {
        let right = panels.next();
        // pictures of one row begin at one height
        let both = [Some(&left), right.as_ref()].into_iter().flatten();
        let drawn = both.filter(|panel| panel.chart.is_some());
        let lines = drawn.map(|panel| wrapped(&panel.about, f64::from(WIDTH)).len());
        let words = 14.0 + LINE * lines.max().unwrap_or(0) as f64;
        let bottom = panel(&mut body, left, (MARGIN, top), words);
        let right = right.map(|right| {
            let at = (MARGIN + f64::from(WIDTH) + BETWEEN, top);
            panel(&mut body, right, at, words)
        });
        top = bottom.max(right.unwrap_or(0.0)) + BETWEEN;
    }
    let height = units(top);
    let size = format!("0 0 {} {height}", units(width));
    let attrs: [Attr<'_>; 5] = [
        ("xmlns", &"http://www.w3.org/2000/svg"),
        ("class", &"sheet"),
        ("viewBox", &size),
        ("width", &units(width)),
        ("height", &height),
    ];
    let mut xml = Xml::new("<?xml version=\"1.0\" encoding=\"UTF-8\"?>");
    xml.element("svg", &attrs, |xml| {
        xml.words("title", &[], title);
        xml.element("style", &[], |xml| xml.verbatim(STYLE));
        let paper: [Attr<'_>; 3] = [("class", &"paper"), ("width", &"100%"), ("height", &"100%")];
        xml.empty("rect", &paper);
        xml.append(body);
    });
    xml.into_text()
}

/// Writes a picture and its words, for which there are so many units, and gives where they end.
fn panel(xml: &mut Xml, panel: Panel, (left, top): (f64, f64), words: f64) -> f64 {
    let mut bottom = top + 14.0;
    frame::text(xml, "chart-title", (left, bottom), &panel.title);
    for line in wrapped(&panel.about, f64::from(WIDTH)) {
        bottom += LINE;
        frame::text(xml, "about", (left, bottom), &line);
    }
    let Some(chart) = panel.chart else {
        return bottom;
    };
    let keys = chart.keys.clone();
    bottom = top + words + 14.0;
    chart.write_at(xml, (left, bottom));
    bottom += f64::from(HEIGHT);
    let (mut x, mut row) = (left, bottom + LINE);
    for key in &keys {
        let wide = KEY + columns(&key.words) as f64 * LETTER + 14.0;
        if x > left && x + wide > left + f64::from(WIDTH) {
            (x, row) = (left, row + LINE);
        }
        key.draw(xml, (x + 6.0, row - 4.0));
        frame::text(xml, "start", (x + KEY, row), &key.words);
        x += wide;
    }
    if keys.is_empty() { bottom } else { row }
}

/// Text in lines of so many units, at most.
fn wrapped(text: &str, width: f64) -> Vec<String> {
    let most = (width / LETTER) as usize;
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if columns(line) + 1 + columns(word) <= most => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_fold_and_pictures_stand_in_rows() {
        let panel = |about: &str| Panel {
            title: "Nothing".to_owned(),
            about: about.to_owned(),
            chart: None,
        };
        let lines = ["log: <a>.jsonl".to_owned()];
        let panels = vec![panel(&"why ".repeat(40)), panel("b"), panel("c")];
        let text = super::text("A sheet", &lines, panels);
        let svg = roxmltree::Document::parse(&text).unwrap();
        let texts = svg
            .descendants()
            .filter(|node| node.has_tag_name(("http://www.w3.org/2000/svg", "text")));
        let words: Vec<_> = texts
            .map(|text| text.text().unwrap_or_default().len())
            .collect();
        assert_eq!(words, [7, 14, 7, 79, 79, 7, 1, 7, 1], "{text}");
    }

    #[test]
    fn a_word_that_fits_no_line_has_one_of_its_own() {
        assert_eq!(
            wrapped("a bb ccc dddddddd e", 4.0 * LETTER),
            ["a bb", "ccc", "dddddddd", "e"]
        );
        assert!(wrapped("", 100.0).is_empty());
    }
}
