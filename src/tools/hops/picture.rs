//! The two drips of a request under each other, on one axis: what went into the hop, and what came out.

use super::align::Release;
use super::flow::Flow;
use super::pair::Compared;
use crate::observe::stats::{Us, in_ms};
use crate::tools::plot::{DRIP_LEGEND, Look, drip, drip_axis, readable};

/// Columns of the names before the drips.
const NAMES: usize = 16;
/// The narrowest drip that shows anything.
const NARROWEST: usize = 20;
/// Chunks that the list of waits has.
const LISTED: usize = 20;

/// The picture as lines, or a line that says why there is none.
pub fn lines(pair: &Compared<'_>, look: Look) -> Vec<String> {
    let (Some(inner), Some(outer)) = (&pair.flows.inner, &pair.flows.outer) else {
        return vec!["No picture: run both driplines with --timeline to have one.".to_owned()];
    };
    let [went_in, came_out] = [inner, outer].map(points);
    let end = went_in.iter().chain(&came_out).map(|(at, _)| *at).max();
    let width = usize::from(look.width).saturating_sub(NAMES).max(NARROWEST);
    let axis = end.unwrap_or(0);
    let starts = match &pair.aligned {
        Ok(aligned) if aligned.floor >= 0 => format!(
            "Each line counts from its own dripline's start; the outer one's is up to {} earlier.",
            readable(in_ms(aligned.floor as Us))
        ),
        _ => "Each line counts from its own dripline's start.".to_owned(),
    };
    vec![
        format!("into the hop    {}", drip(&went_in, axis, width)),
        format!("out of the hop  {}", drip(&came_out, axis, width)),
        format!("                {}", drip_axis(axis, width)),
        DRIP_LEGEND.to_owned(),
        starts,
    ]
}

/// The chunks that came out, each with the waits of its oldest and its newest byte.
pub fn waits(pair: &Compared<'_>) -> Vec<String> {
    let Ok(aligned) = &pair.aligned else {
        return Vec::new();
    };
    let mut lines = vec![format!(
        "{:>12}{:>9}{:>8}{:>13}{:>13}",
        "left at", "bytes", "events", "oldest wait", "newest wait"
    )];
    let row = |r: &Release| {
        let [at, oldest, newest] = [r.at, r.oldest, r.newest].map(|us| readable(in_ms(us)));
        format!(
            "{at:>12}{:>9}{:>8}{oldest:>13}{newest:>13}",
            r.bytes, r.events
        )
    };
    lines.extend(aligned.releases.iter().take(LISTED).map(row));
    if let Some(more @ 1..) = aligned.releases.len().checked_sub(LISTED) {
        lines.push(format!("and {more} more, which --json has"));
    }
    lines
}

fn points(flow: &Flow) -> Vec<(Us, u64)> {
    flow.pieces
        .iter()
        .map(|piece| (piece.at, piece.events))
        .collect()
}
