//! The summary for a person: what was read, a table, how each group ended, what was found, and the pictures.

use super::facts;
use super::figures::Figures;
use super::pictures;
use super::summary::Summary;
use super::table;
use super::tally::{By, Group, Tally};
use crate::observe::verdict::words::count;
use crate::sink::console::text::{grouped, shown};
use crate::tools::page::Page;
use crate::tools::plot::Look;

/// Groups that are shown; the rest is counted.
pub const SHOWN: usize = 20;

/// The summary as lines.
pub fn text(summary: &Summary, look: Look) -> String {
    let mut page = Page::new(look);
    let tally = &summary.tally;
    head(&mut page, summary);
    if tally.records == 0 {
        return page.text;
    }
    let groups = tally.sorted_groups();
    let (groups, more) = groups.split_at(groups.len().min(SHOWN));
    page.line("");
    table::write(&mut page, tally, groups);
    if !more.is_empty() {
        let records: u64 = more.iter().map(|&number| tally.groups[number].n).sum();
        page.wrapped(
            "",
            &format!(
                "{} more with {}: --where narrows it down, --json has all.",
                grouped(more.len() as u64),
                count(records, "record")
            ),
        );
    }
    page.line("");
    page.wrapped(
        "",
        "Of streams that came whole: time to first token, and the median stream's gap p50 and p99 between token events. \
         Cold ones (the first to an upstream, or the first after a pause) stand apart. stalled: streams with a stall.",
    );
    for &number in groups {
        about(&mut page, tally.by, &tally.groups[number]);
    }
    found(&mut page, tally);
    for picture in pictures::all(tally, groups, look) {
        page.text.push('\n');
        for line in picture {
            page.text += line.trim_end();
            page.text.push('\n');
        }
    }
    page.text
}

fn head(page: &mut Page, summary: &Summary) {
    let tally = &summary.tally;
    page.figure("records", &facts::records(summary));
    if let Some(started) = facts::started(tally) {
        page.figure("started", &started);
    }
    if tally.records > 0 {
        page.figure("measured", &facts::measured(tally));
    }
    if let Some(unread) = summary.unread.told() {
        page.figure("unread", &unread);
    }
}

/// How a group's requests ended, and how its streams came.
fn about(page: &mut Page, by: By, group: &Group) {
    let room = page.width() - by.name().len() - 1;
    page.heading(&format!("{} {}", by.name(), shown(&group.name, room)));
    page.figure("  ends", &facts::words(&group.ends));
    if by != By::Verdict && !group.verdicts.is_empty() {
        page.figure("  verdicts", &facts::words(&group.verdicts));
    }
}

fn found(page: &mut Page, tally: &Tally) {
    let sentences = tally.found.sentences();
    if sentences.is_empty() {
        return;
    }
    page.heading("found");
    for sentence in sentences {
        page.wrapped("  ", &sentence);
    }
}

/// The figures of a row of the table.
pub(super) fn figures(tally: &Tally, group: usize, cold: bool) -> Option<Figures> {
    let figures = Figures::of_group(tally, group, cold);
    (figures.n > 0 || !cold).then_some(figures)
}
