//! Pictures as SVG, drawn from the data, for pages and documents.
//!
//! - [`Histogram`]: how often gaps of which length came, one among a million in sight
//! - [`Scatter`]: each request a mark, its shape and colour telling the verdict
//! - [`Heatmap`]: durations over time, darker where there are more
//! - [`sheet`]: several of them as one file
//! - [`axis`]: durations on a logarithmic scale, times of day, counts
//! - [`marks`]: a shape and a colour for each verdict
//! - [`xml`]: markup that is well-formed by construction
//! - `frame`: the field that they draw into, with its axes
//!
//! A picture is 520 units wide, so that two stand side by side on a desk and one is readable on a phone. It has no script
//! and names nothing outside of itself; its looks, light, dark and in print, are [`STYLE`]. That style has plain classes
//! and no variables: programs that draw or convert SVG mostly know no more of CSS.
//!
//! Why no library draws them: `plotters`, the usual one, writes each mark with its colour as an element of its own, which
//! leaves no place for a title of a mark, for looks by medium or for one path of thousands of marks.

pub mod axis;
mod frame;
mod heatmap;
mod histogram;
pub mod marks;
mod scatter;
pub mod sheet;
pub mod xml;

pub use axis::Axis;
pub use heatmap::Heatmap;
pub use histogram::Histogram;
pub use scatter::{Mark, Scatter};

use xml::Xml;

/// The looks of all pictures.
pub const STYLE: &str = include_str!("chart/chart.css");

/// Units across a picture.
pub const WIDTH: u32 = 520;
/// Units from its top to its bottom.
pub const HEIGHT: u32 = 312;

/// A picture.
#[derive(Debug)]
pub struct Chart {
    /// What it shows, in a sentence, for those who do not see it.
    pub label: String,
    /// What its marks and shades mean.
    pub keys: Vec<Key>,
    /// What is inside of its `svg` element.
    body: Xml,
}

/// What a mark or a shade means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// Class of what is drawn.
    pub class: String,
    /// Outline around 0, 0, at most 12 units across.
    pub path: String,
    /// What it means.
    pub words: String,
}

impl Key {
    /// Draws the mark at a place.
    pub fn draw(&self, xml: &mut Xml, (x, y): (f64, f64)) {
        let at = format!("translate({} {})", units(x), units(y));
        let attrs: [xml::Attr<'_>; 3] = [
            ("class", &self.class),
            ("transform", &at),
            ("d", &self.path),
        ];
        xml.empty("path", &attrs);
    }
}

impl Chart {
    /// Writes it as an `svg` element, as wide as its place.
    pub fn write(self, xml: &mut Xml) {
        let size = format!("0 0 {WIDTH} {HEIGHT}");
        let attrs: [xml::Attr<'_>; 4] = [
            ("class", &"chart"),
            ("viewBox", &size),
            ("role", &"img"),
            ("aria-label", &self.label),
        ];
        xml.element("svg", &attrs, |xml| xml.append(self.body));
    }

    /// Writes it as a group of another `svg` element, its upper left corner there.
    fn write_at(self, xml: &mut Xml, (x, y): (f64, f64)) {
        let at = format!("translate({} {})", units(x), units(y));
        let attrs: [xml::Attr<'_>; 4] = [
            ("class", &"chart"),
            ("transform", &at),
            ("role", &"img"),
            ("aria-label", &self.label),
        ];
        xml.element("g", &attrs, |xml| xml.append(self.body));
    }
}

/// A length to the tenth of a unit, as short as it can be written.
fn units(length: f64) -> String {
    // adding 0 makes 0 of -0
    ((length * 10.0).round() / 10.0 + 0.0).to_string()
}
