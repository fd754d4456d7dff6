//! The scatter: a mark for each request, never an average.
//!
//! Marks of one look that fall on the same half unit, which is half a pixel or so, are one mark: nobody could tell them
//! apart. Where there are very many, that grid grows until they are few enough, up to four units, less than a mark. A mark stands
//! where a request is, so a million requests stay a small file and no lonely point is lost.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::Chart;
use super::frame::{self, ACROSS, Named, UP, x, y};
use super::marks::{self, Look};
use super::xml::{Attr, Xml};
use crate::observe::record::Timing;
use crate::sink::console::text::grouped;

/// Marks of a picture, beyond which the grid grows.
const MOST: usize = 8_000;
/// What the grid grows to, in halves of a unit.
const GRIDS: [u16; 3] = [2, 4, 8];
/// So many have a title each, which a pointer finds.
const TITLED: usize = 500;
/// How large marks are where there are more.
const SMALL: f64 = 0.6;

/// A request.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mark {
    /// Across and up, as the axes have it.
    pub at: (f64, f64),
    /// How its stream came.
    pub timing: Timing,
    /// Whether it was cold.
    pub cold: bool,
}

/// The picture.
pub struct Scatter<'a> {
    /// What it shows, such as `TTFT over time`.
    pub title: &'a str,
    /// The upright axis and its name.
    pub up: Named<'a>,
    /// The other.
    pub across: Named<'a>,
    /// What a pointer is told of the mark that came so manieth.
    pub about: &'a dyn Fn(usize) -> String,
}

/// Where a mark stands, in halves of a unit, and how it looks.
type Place = (u16, u16, Timing, bool);

/// What stands there: the first, in what order it came, and how many there are.
#[derive(Debug, Clone, Copy)]
struct Seen {
    place: (u16, u16),
    first: usize,
    n: u64,
}

impl Scatter<'_> {
    /// Draws the marks; none without any.
    pub fn draw(&self, marks: impl Iterator<Item = Mark>) -> Option<Chart> {
        let seen = thinned(marks.map(|mark| (self.place(mark.at), mark.timing, mark.cold)));
        let looks = by_look(&seen);
        if looks.is_empty() {
            return None;
        }
        let mut xml = Xml::default();
        frame::draw(&mut xml, self.up, self.across);
        for (timing, cold, places) in &looks {
            self.write(
                &mut xml,
                Look::of(*timing),
                *cold,
                places,
                seen.len() <= TITLED,
            );
        }
        let mut keys: Vec<_> = Vec::new();
        for (timing, ..) in looks.iter() {
            let key = marks::key(*timing);
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        if looks.iter().any(|(_, cold, _)| *cold) {
            keys.push(marks::cold_key());
        }
        let n: u64 = seen.values().map(|one| one.n).sum();
        let streams = if n == 1 { "stream" } else { "streams" };
        Some(Chart {
            label: format!("{}: {} {streams}", self.title, grouped(n)),
            keys,
            body: xml,
        })
    }

    fn place(&self, at: (f64, f64)) -> (u16, u16) {
        let halves = |share: f64, length: f64| (share * length * 2.0).round() as u16;
        (
            halves(self.across.0.share(at.0), ACROSS),
            halves(self.up.0.share(at.1), UP),
        )
    }

    /// Writes the marks of one look: each with a title, or all as one path.
    fn write(&self, xml: &mut Xml, look: Look, cold: bool, places: &[Seen], titled: bool) {
        let class = look.class(cold);
        // a cloud of small marks keeps its holes
        let scale = if titled { 1.0 } else { SMALL };
        let path = |seen: &Seen| {
            let share = |halves: u16, length: f64| f64::from(halves) / 2.0 / length;
            let at = (x(share(seen.place.0, ACROSS)), y(share(seen.place.1, UP)));
            look.path((at.0 / scale, at.1 / scale))
        };
        if !titled {
            let all: String = places.iter().map(path).collect();
            let scale = format!("scale({SMALL})");
            let attrs: [Attr<'_>; 3] = [("class", &class), ("transform", &scale), ("d", &all)];
            return xml.empty("path", &attrs);
        }
        for seen in places {
            let path = path(seen);
            xml.element("path", &[("class", &class), ("d", &path)], |xml| {
                let more = match seen.n {
                    1 => String::new(),
                    n => format!(" (and {} more here)", grouped(n - 1)),
                };
                xml.words("title", &[], &format!("{}{more}", (self.about)(seen.first)));
            });
        }
    }
}

/// One of all that fall on the same place, few enough to be drawn. Never many more are held than are drawn.
fn thinned(marks: impl Iterator<Item = ((u16, u16), Timing, bool)>) -> HashMap<Place, Seen> {
    let mut seen = HashMap::new();
    let (mut cell, mut grids) = (1, GRIDS.into_iter());
    for (first, (place, timing, cold)) in marks.enumerate() {
        let at = (place.0 / cell, place.1 / cell, timing, cold);
        put(&mut seen, at, Seen { place, first, n: 1 });
        while seen.len() > MOST
            && let Some(next) = grids.next()
        {
            cell = next;
            seen = coarser(seen, cell);
        }
    }
    seen
}

fn put(seen: &mut HashMap<Place, Seen>, at: Place, one: Seen) {
    match seen.entry(at) {
        Entry::Vacant(entry) => {
            entry.insert(one);
        }
        Entry::Occupied(mut entry) => {
            let n = entry.get().n + one.n;
            // the first of them, whatever the order in which they are put
            if one.first < entry.get().first {
                entry.insert(one);
            }
            entry.get_mut().n = n;
        }
    }
}

/// The same on a grid of so many halves of a unit.
fn coarser(seen: HashMap<Place, Seen>, cell: u16) -> HashMap<Place, Seen> {
    let mut fewer = HashMap::new();
    for ((_, _, timing, cold), one) in seen {
        let at = (one.place.0 / cell, one.place.1 / cell, timing, cold);
        put(&mut fewer, at, one);
    }
    fewer
}

/// By verdict, the most frequent first, so that the rare ones lie on top; of each the warm ones first.
fn by_look(seen: &HashMap<Place, Seen>) -> Vec<(Timing, bool, Vec<Seen>)> {
    let mut looks: Vec<(Timing, bool, Vec<Seen>)> = Vec::new();
    let mut totals: HashMap<Timing, u64> = HashMap::new();
    for (&(_, _, timing, cold), one) in seen {
        *totals.entry(timing).or_default() += one.n;
        match looks
            .iter_mut()
            .find(|look| (look.0, look.1) == (timing, cold))
        {
            Some(look) => look.2.push(*one),
            None => looks.push((timing, cold, vec![*one])),
        }
    }
    looks.sort_by_key(|(timing, cold, _)| {
        let total = totals.get(timing).copied().unwrap_or(0);
        (std::cmp::Reverse(total), *timing as u8, *cold)
    });
    for (_, _, places) in &mut looks {
        places.sort_by_key(|one| (one.place, one.first));
    }
    looks
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;
    use crate::tools::chart::Axis;

    fn drawn(marks: &[Mark]) -> String {
        let (across, up) = (
            Axis::numbers(4),
            Axis::durations([10.0, 1000.0].into_iter(), 0.1),
        );
        let scatter = Scatter {
            title: "TTFT by load",
            up: (&up.unwrap(), "TTFT"),
            across: (&across, "open"),
            about: &|nth| format!("request {nth}"),
        };
        let chart = scatter.draw(marks.iter().copied()).unwrap();
        let mut xml = Xml::default();
        chart.write(&mut xml);
        xml.into_text()
    }

    fn mark(load: f64, ttft: f64, timing: Timing, cold: bool) -> Mark {
        let at = (load, ttft);
        Mark { at, timing, cold }
    }

    #[test]
    fn each_request_is_a_mark_with_its_words() {
        insta::assert_snapshot!(drawn(&[
            mark(0.0, 80.0, Timing::Steady, true),
            mark(1.0, 90.0, Timing::Steady, false),
            mark(1.0, 90.0, Timing::Steady, false),
            mark(4.0, 900.0, Timing::StallNoCatchUp, false),
        ]));
    }

    #[test]
    fn many_marks_are_one_path_of_each_look_and_the_lonely_one_is_among_them() {
        let mut marks: Vec<_> = (0..200_000u32)
            .map(|i| {
                mark(
                    f64::from(i % 5),
                    10.0 + f64::from(i % 970),
                    Timing::Steady,
                    false,
                )
            })
            .collect();
        marks.push(mark(4.0, 999.0, Timing::LateTail, true));
        let text = drawn(&marks);
        assert!(
            !text.contains("<title>") && text.len() < 100_000,
            "{}",
            text.len()
        );
        assert_eq!(text.matches("class=\"mark").count(), 2);
        assert!(text.contains("class=\"mark cold late\""), "a lone cold one");
    }

    fn places() -> impl Strategy<Value = Vec<((u16, u16), Timing, bool)>> {
        let timing = prop_oneof![Just(Timing::Steady), Just(Timing::Irregular)];
        let place = (0..850u16, 0..480u16);
        let mark = (place, timing, any::<bool>());
        prop_oneof![
            prop::collection::vec(mark.clone(), 0..300),
            prop::collection::vec(mark, 9000..20_000),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn no_point_is_lost_and_none_is_made_up(points in places()) {
            let seen = thinned(points.iter().copied());
            let all: HashSet<_> = points.iter().copied().collect();
            if all.len() <= MOST {
                prop_assert_eq!(seen.len(), all.len());
            }
            for (&(_, _, timing, cold), one) in &seen {
                prop_assert_eq!(points[one.first], (one.place, timing, cold));
            }
            let n: u64 = seen.values().map(|one| one.n).sum();
            prop_assert_eq!(n, points.len() as u64);
            // whoever looks where a request is finds a mark of its look that covers the place
            let covered: HashSet<_> = seen
                .iter()
                .map(|(&(_, _, timing, cold), one)| (one.place.0 / 8, one.place.1 / 8, timing, cold))
                .collect();
            for (place, timing, cold) in all {
                prop_assert!(covered.contains(&(place.0 / 8, place.1 / 8, timing, cold)), "{:?}", place);
            }
        }
    }
}
