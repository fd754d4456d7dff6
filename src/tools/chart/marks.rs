//! A shape and a colour for each verdict, so that they are told apart without the other: in print, and by those who see
//! colours otherwise. A filled mark is a warm stream, a hollow one a cold.
//!
//! Verdicts of one kind share a colour. All outlines are within 10 by 10 units around 0, 0.

use super::Key;
use crate::observe::record::Timing;
use crate::sink::console::text::word;

/// How streams with one verdict are drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Look {
    /// Class of the colour, which [`STYLE`](super::STYLE) has.
    pub hue: &'static str,
    /// The rest of a path after its first point, and where that is.
    outline: (&'static str, (f64, f64)),
}

impl Look {
    /// The look of a verdict.
    pub fn of(timing: Timing) -> Look {
        let (hue, outline, x, y) = match timing {
            // a disc: nothing sticks out
            Timing::Steady => (
                "steady",
                "a3.7 3.7 0 1 0 7.4 0a3.7 3.7 0 1 0-7.4 0z",
                -3.7,
                0.0,
            ),
            // a star
            Timing::Irregular => (
                "irregular",
                "l1.5 3.5 3.5 1.5-3.5 1.5-1.5 3.5-1.5-3.5-3.5-1.5 3.5-1.5z",
                0.0,
                -5.0,
            ),
            // an upright bar: all at one moment
            Timing::WholeBodyBurst => ("lumps", "h4v10h-4z", -2.0, -5.0),
            // a block
            Timing::BlockBurst => ("lumps", "h7v7h-7z", -3.5, -3.5),
            // an hourglass: a timer
            Timing::TickBurst => ("lumps", "h9l-9 10h9z", -4.5, -5.0),
            // a plus: a count
            Timing::CountBurst => (
                "lumps",
                "h3v3.5h3.5v3h-3.5v3.5h-3v-3.5h-3.5v-3h3.5z",
                -1.5,
                -5.0,
            ),
            // a diamond
            Timing::TransportCoalesced => ("lumps", "l5 5-5 5-5-5z", 0.0, -5.0),
            // a bow tie
            Timing::ProducerBatched => ("lumps", "v9l10-9v9z", -5.0, -4.5),
            // a triangle up, and one down
            Timing::StallNoCatchUp => ("stall", "l5 8.6h-10z", 0.0, -5.0),
            Timing::StallWithCatchUp => ("stall", "h10l-5 8.6z", -5.0, -3.6),
            // a gate, a triangle to the right, one to the left: late at the beginning, in the middle, at the end
            Timing::LateHeader => ("late", "h2.6v10h-2.6zm5 0h2.6v10h-2.6z", -3.8, -5.0),
            Timing::LateFirstToken => ("late", "l8.6 5-8.6 5z", -3.6, -5.0),
            Timing::LateTail => ("late", "v10l-8.6-5z", 3.6, -5.0),
            // a cross: the client did not take it
            Timing::DownstreamBackpressure => (
                "client",
                "l2-2 2.5 2.5 2.5-2.5 2 2-2.5 2.5 2.5 2.5-2 2-2.5-2.5-2.5 2.5-2-2 2.5-2.5z",
                -4.5,
                -2.5,
            ),
            // a dash, as for what was not measured
            Timing::Unmeasurable => ("unmeasurable", "h10v3.2h-10z", -5.0, -1.6),
        };
        Look {
            hue,
            outline: (outline, (x, y)),
        }
    }

    /// The class of its marks.
    pub fn class(&self, cold: bool) -> String {
        match cold {
            true => format!("mark cold {}", self.hue),
            false => format!("mark {}", self.hue),
        }
    }

    /// Its path around a place.
    pub fn path(&self, (x, y): (f64, f64)) -> String {
        let (outline, (dx, dy)) = self.outline;
        format!(
            "M{} {}{outline}",
            super::units(x + dx),
            super::units(y + dy)
        )
    }
}

/// What the mark of a verdict means.
pub fn key(timing: Timing) -> Key {
    let look = Look::of(timing);
    Key {
        class: look.class(false),
        path: look.path((0.0, 0.0)),
        words: word(&timing),
    }
}

/// What a hollow mark means.
pub fn cold_key() -> Key {
    Key {
        class: Look::of(Timing::Steady).class(true),
        path: Look::of(Timing::Steady).path((0.0, 0.0)),
        words: "hollow: cold".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// The corners of an outline around 0, 0. Of an arc, the end.
    fn corners(path: &str) -> Vec<(f64, f64)> {
        let (mut at, mut start, mut corners) = ((0.0, 0.0), (0.0, 0.0), Vec::new());
        let spaced: String = path
            .chars()
            .map(|c| match c {
                'a'..='z' | 'M' => format!("\n{c} "),
                '-' => " -".to_owned(),
                c => c.to_string(),
            })
            .collect();
        for line in spaced.lines().filter(|line| !line.is_empty()) {
            let numbers: Vec<f64> = line[1..]
                .split_whitespace()
                .map(|number| number.parse().unwrap())
                .collect();
            let pairs: Vec<(f64, f64)> = match &line[..1] {
                "M" => vec![(numbers[0] - at.0, numbers[1] - at.1)],
                "h" => vec![(numbers[0], 0.0)],
                "v" => vec![(0.0, numbers[0])],
                "a" => vec![(numbers[5], numbers[6])],
                "z" => vec![(start.0 - at.0, start.1 - at.1)],
                _ => numbers.chunks(2).map(|pair| (pair[0], pair[1])).collect(),
            };
            for (dx, dy) in pairs {
                at = (at.0 + dx, at.1 + dy);
                corners.push(at);
            }
            if matches!(&line[..1], "M" | "m") {
                start = at;
            }
        }
        corners
    }

    #[test]
    fn each_verdict_has_a_shape_of_its_own_within_its_box() {
        let paths: Vec<_> = Timing::ALL
            .map(|timing| Look::of(timing).path((0.0, 0.0)))
            .into();
        assert_eq!(
            paths.iter().collect::<HashSet<_>>().len(),
            Timing::ALL.len()
        );
        for (path, timing) in paths.iter().zip(Timing::ALL) {
            let corners = corners(path);
            assert!(corners.len() > 2, "{timing:?}: {path}");
            for (x, y) in corners {
                assert!(
                    x.abs() < 5.01 && y.abs() < 5.01,
                    "{timing:?} ({x}, {y}): {path}"
                );
            }
        }
    }

    #[test]
    fn every_colour_is_in_both_styles() {
        let style = crate::tools::chart::STYLE;
        for timing in Timing::ALL {
            let rule = format!("\n.{} {{ color: ", Look::of(timing).hue);
            assert_eq!(style.matches(&rule).count(), 2, "{timing:?}");
        }
    }
}
