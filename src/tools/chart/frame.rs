//! The field that marks, bars and cells stand in, its lines and its axes.

use super::axis::Axis;
use super::xml::{Attr, Xml};
use super::{HEIGHT, WIDTH, units};

/// Units around the field: a label beside it, the name of the upright axis above, labels and the other name below. They
/// hold the larger letters too that a phone gets.
const LEFT: f64 = 84.0;
const TOP: f64 = 24.0;
const RIGHT: f64 = WIDTH as f64 - 12.0;
const BOTTOM: f64 = HEIGHT as f64 - 48.0;
/// Units across and up the field.
pub(super) const ACROSS: f64 = RIGHT - LEFT;
pub(super) const UP: f64 = BOTTOM - TOP;
/// Units of a letter on a phone.
const LETTER: f64 = 9.3;

/// A part of the way across, as a place of the picture.
pub(super) fn x(share: f64) -> f64 {
    LEFT + share * ACROSS
}

/// A part of the way up.
pub(super) fn y(share: f64) -> f64 {
    BOTTOM - share * UP
}

/// An axis and its name.
pub(super) type Named<'a> = (&'a Axis, &'a str);

/// Draws all that is behind the data.
pub(super) fn draw(xml: &mut Xml, up: Named<'_>, across: Named<'_>) {
    let (mut lines, mut ticks) = (String::new(), String::new());
    for tick in &up.0.ticks {
        let at = units(y(tick.share));
        match tick.label {
            Some(_) => lines += &format!("M{} {at}H{}", units(LEFT), units(RIGHT)),
            None => ticks += &format!("M{} {at}h3", units(LEFT)),
        }
    }
    xml.empty("path", &[("class", &"grid"), ("d", &lines)]);
    let mut lines = format!("M{} {}H{}{ticks}", units(LEFT), units(BOTTOM), units(RIGHT));
    for tick in &across.0.ticks {
        let length = if tick.label.is_some() { 6 } else { 3 };
        lines += &format!("M{} {}v{length}", units(x(tick.share)), units(BOTTOM));
    }
    xml.empty("path", &[("class", &"axis"), ("d", &lines)]);
    text(xml, "name start", (0.0, 12.0), up.1);
    text(xml, "name", (RIGHT, f64::from(HEIGHT) - 6.0), across.1);
    for (share, label) in labels(up.0) {
        text(xml, "up", (LEFT - 8.0, y(share) + 4.0), label);
    }
    for (share, label) in labels(across.0) {
        // a label in the middle under its tick, if it stays in the picture so
        let half = label.chars().count() as f64 * LETTER / 2.0;
        let (class, at) = match x(share) {
            at if at + half > f64::from(WIDTH) => ("name", f64::from(WIDTH)),
            at => ("across", at),
        };
        text(xml, class, (at, BOTTOM + 20.0), label);
    }
}

fn labels(axis: &Axis) -> impl Iterator<Item = (f64, &str)> {
    let labelled = |tick: &'_ super::axis::Tick| tick.label.is_some();
    let ticks = axis.ticks.iter().filter(move |tick| labelled(tick));
    ticks.map(|tick| (tick.share, tick.label.as_deref().unwrap_or_default()))
}

/// Text at a place.
pub(super) fn text(xml: &mut Xml, class: &str, (x, y): (f64, f64), words: &str) {
    let (x, y) = (units(x), units(y));
    let attrs: [Attr<'_>; 3] = [("class", &class), ("x", &x), ("y", &y)];
    xml.words("text", &attrs, words);
}
