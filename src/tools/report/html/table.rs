//! A table. On a narrow screen each row becomes a card, in which each figure has its column's name above it.

use crate::observe::record::Timing;
use crate::tools::chart::marks;
use crate::tools::chart::xml::{Attr, Xml};

/// What stands in a cell.
#[derive(Debug, Clone)]
pub(super) enum Cell {
    /// Words.
    Text(String),
    /// A name from outside, of any length.
    Name(String),
    /// A figure, to the right.
    Figure(String),
    /// What is typed again, such as an id.
    Code(String),
    /// A verdict's mark and word.
    Verdict(Timing, String),
    /// A part of a whole, from 0 to 1, in the colour of a class, and its words.
    Share(f64, &'static str, String),
    /// Nothing: the column does not go with this row.
    Empty,
}

/// A row; the first cell is what it is of.
#[derive(Debug, Clone)]
pub(super) struct Row {
    /// Class of the row.
    pub class: &'static str,
    pub cells: Vec<Cell>,
}

impl Row {
    pub fn of(cells: Vec<Cell>) -> Row {
        Row { class: "", cells }
    }
}

/// Writes a table; `heads` are the names of its columns.
pub(super) fn write(xml: &mut Xml, heads: &[&'static str], rows: &[Row]) {
    // where rows become cards, browsers would forget what is a table
    xml.element("table", &[("role", &"table")], |xml| {
        let figures: Vec<bool> = (0..heads.len())
            .map(|column| {
                let mut cells = rows.iter().filter_map(|row| row.cells.get(column));
                cells.any(|cell| matches!(cell, Cell::Figure(_)))
            })
            .collect();
        xml.element("thead", &[("role", &"rowgroup")], |xml| {
            xml.element("tr", &[("role", &"row")], |xml| {
                for (head, is_figure) in heads.iter().zip(figures) {
                    let class = if is_figure { "figure" } else { "" };
                    let attrs: [Attr<'_>; 3] = [
                        ("role", &"columnheader"),
                        ("scope", &"col"),
                        ("class", &class),
                    ];
                    xml.words("th", &attrs, head);
                }
            });
        });
        xml.element("tbody", &[("role", &"rowgroup")], |xml| {
            for row in rows {
                self::row(xml, heads, row);
            }
        });
    });
}

fn row(xml: &mut Xml, heads: &[&'static str], row: &Row) {
    xml.element("tr", &[("role", &"row"), ("class", &row.class)], |xml| {
        for (column, (head, cell)) in heads.iter().zip(&row.cells).enumerate() {
            let class = match cell {
                Cell::Figure(_) => "figure",
                Cell::Name(_) => "name",
                Cell::Empty => "empty",
                Cell::Text(_) | Cell::Code(_) | Cell::Verdict(..) | Cell::Share(..) => "",
            };
            if column == 0 {
                let attrs: [Attr<'_>; 2] = [("role", &"rowheader"), ("scope", &"row")];
                xml.element("th", &attrs, |xml| self::cell(xml, cell));
                continue;
            }
            let attrs: [Attr<'_>; 3] = [("role", &"cell"), ("class", &class), ("data-head", head)];
            xml.element("td", &attrs, |xml| self::cell(xml, cell));
        }
    });
}

fn cell(xml: &mut Xml, cell: &Cell) {
    match cell {
        Cell::Text(text) | Cell::Name(text) | Cell::Figure(text) => xml.text(text),
        Cell::Code(text) => xml.inline("code", &[], text),
        Cell::Verdict(timing, text) => {
            super::key_mark(xml, &marks::key(*timing));
            xml.text(text);
        }
        Cell::Share(part, hue, text) => {
            let attrs: [Attr<'_>; 4] = [
                ("class", &"share"),
                ("viewBox", &"0 0 100 8"),
                ("preserveAspectRatio", &"none"),
                ("aria-hidden", &"true"),
            ];
            // what is there at all is seen
            let width = (part * 100.0).round().max(1.0);
            xml.element("svg", &attrs, |xml| {
                xml.empty("rect", &[("class", hue), ("width", &width), ("height", &8)]);
            });
            xml.inline("span", &[], text);
        }
        Cell::Empty => {}
    }
}
