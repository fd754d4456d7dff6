//! What changed, in plain sentences: the two figures that people compare runs for always, the others where they differ.

use super::estimate::Differs;
use super::figures::{Figure, Figures};
use super::side::Side;
use super::unit::relative;
use crate::observe::verdict::words::count;
use crate::sink::console::text::grouped;
use crate::sink::console::text::word;

/// Always told.
const ALWAYS: [&str; 2] = ["ttft_p50", "gap_p99_p50"];
/// Told where there is no warm stream.
const COLD: [&str; 2] = ["cold_ttft_p50", "cold_gap_p99_p50"];

/// The sentences, one thing each.
pub fn sentences(figures: &Figures, before: &Side, after: &Side) -> Vec<String> {
    let mut told: Vec<String> = Vec::new();
    for (side, when) in [(before, "before"), (after, "after")] {
        if side.streams(false).next().is_none() {
            told.push(no_warm(side, when));
        }
    }
    let is_always = |figure: &&Figure| ALWAYS.contains(&figure.key.as_str());
    if told.is_empty() {
        told.extend(figures.all.iter().filter(is_always).map(sentence));
    } else {
        // then the cold ones are all there is
        let cold = COLD.into_iter().filter_map(|key| figures.get(key));
        let cold = cold.filter(|cold| cold.estimate.is_measured());
        told.extend(cold.map(sentence));
    }
    let others = || figures.all.iter().filter(|figure| !is_always(figure));
    for (differs, how) in [
        (Differs::Clear, "Clear too"),
        (Differs::Perhaps, "Perhaps too"),
    ] {
        let those = others().filter(|figure| figure.differs == differs);
        let those: Vec<String> = those.map(short).collect();
        if !those.is_empty() {
            told.push(format!("{how}: {}.", those.join(", ")));
        }
    }
    told
}

/// `total p50 −110 ms`.
fn short(figure: &Figure) -> String {
    let difference = figure.estimate.difference().unwrap_or(0.0);
    format!("{} {}", figure.name, figure.unit.signed(difference))
}

fn no_warm(side: &Side, when: &str) -> String {
    let mut ends = side.ends.clone();
    ends.sort_by_key(|(end, n)| (std::cmp::Reverse(*n), word(end)));
    let ends: Vec<String> = ends
        .iter()
        .map(|(end, n)| format!("{} {n}", word(end)))
        .collect();
    let cold = match side.streams(true).count() as u64 {
        0 => String::new(),
        1 => ". The whole stream is a cold one".to_owned(),
        n => format!(". The {n} whole streams are cold ones"),
    };
    format!(
        "No warm stream came whole {when}: {}, {}{cold}.",
        count(side.records, "request"),
        ends.join(", ")
    )
}

/// What became of a figure, and how sure that is.
fn sentence(figure: &Figure) -> String {
    let estimate = &figure.estimate;
    let [n, m] = estimate.n.map(grouped);
    let name = name(figure);
    let unit = figure.unit;
    let (was, is) = (unit.value(estimate.before), unit.value(estimate.after));
    let interval = figure.interval.map_or(String::new(), |ends| {
        format!("95% CI {}", unit.interval(ends))
    });
    match figure.differs {
        Differs::Clear => format!("{name} {}.", went(figure)),
        Differs::Perhaps if figure.interval.is_some() => format!(
            "{name} perhaps {}: by itself it would be a difference, among so many figures it may be chance.",
            went(figure)
        ),
        Differs::No => format!(
            "{name}: no difference that {n} and {m} streams could show ({was} before, {is} after, {interval})."
        ),
        Differs::Perhaps | Differs::TooFew => {
            let needed = estimate.needed().unwrap_or(0);
            let few = format!(
                "{name} was {was} and is {is}; {n} and {m} streams are too few for an interval, {needed} each are enough"
            );
            match estimate.apart {
                Some(chance) if !estimate.n.contains(&1) => format!(
                    "{few}. All of one run lie beyond all of the other, which chance does one time in {:.0}.",
                    1.0 / chance
                ),
                _ => format!("{few}."),
            }
        }
        Differs::Unknown => {
            let when = match (estimate.before, estimate.after) {
                (None, None) => "in neither run",
                (None, _) => "in the run after alone",
                _ => "in the run before alone",
            };
            format!("{name} was measured {when}.")
        }
    }
}

/// `fell from 1.21 s to 180 ms (−85 %, 95% CI −1.1 s to −900 ms)`.
fn went(figure: &Figure) -> String {
    let (estimate, unit) = (&figure.estimate, figure.unit);
    let way = match estimate.difference() {
        Some(..0.0) => "fell",
        _ => "rose",
    };
    let by = relative(estimate);
    let interval = figure
        .interval
        .map(|ends| format!("95% CI {}", unit.interval(ends)));
    let apart = estimate.apart.filter(|_| interval.is_none());
    let apart = apart.map(|chance| {
        format!(
            "all of one run beyond all of the other, by chance one time in {:.0}",
            1.0 / chance
        )
    });
    let told: Vec<String> = by.into_iter().chain(interval).chain(apart).collect();
    format!(
        "{way} from {} to {} ({})",
        unit.value(estimate.before),
        unit.value(estimate.after),
        told.join(", ")
    )
}

/// What a figure is called within a sentence.
fn name(figure: &Figure) -> &str {
    match figure.key.as_str() {
        "gap_p99_p50" => "Gap p99 of the median stream",
        "cold_ttft_p50" => "TTFT p50 of cold streams",
        "cold_gap_p99_p50" => "Gap p99 of the median cold stream",
        _ => &figure.name,
    }
}
