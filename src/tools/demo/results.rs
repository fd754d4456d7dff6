//! What the demo's records say together: a row per scenario, the gaps, and each request as a point.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::ensure;
use comfy_table::{
    Cell, CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, Table, TableStyle,
};
use serde::Serialize;

use crate::observe::record::{RequestRecord, token_gaps};
use crate::tools::plot::{Gaps, Group, Histogram, Look, Scatter, readable};

/// From this width on, the table also says on which side of the proxy the cause is.
const WIDE: u16 = 96;
/// Below this width the table goes without the columns [`SPARED`].
const NARROW: u16 = 80;
/// Gap p50 and end, which plots and lines above show too.
const SPARED: [usize; 2] = [3, 5];
/// What follows each column, beside the one space that follows all: all verdicts of the demo fit into 80 columns.
const GUTTERS: [u16; 7] = [0, 1, 1, 1, 1, 0, 0];
/// Stands for what was not measured.
const NONE: &str = "–";
/// How to read the scatter.
const READING: [&str; 2] = [
    "Right: a long wait for the first token. High: a hole in the middle.",
    "At the bottom: no gaps, the answer came in one piece.",
];

/// The records of each scenario, in the scenarios' order.
pub(super) struct Results<'a> {
    acts: Vec<(&'a str, Vec<&'a RequestRecord>)>,
}

impl<'a> Results<'a> {
    /// Sorts `records` by the model that was asked for.
    pub fn of(scenarios: &'a [String], records: &'a [Arc<RequestRecord>]) -> Self {
        let of = |scenario: &str| {
            records
                .iter()
                .map(|record| &**record)
                .filter(|record| record.request.model.as_deref() == Some(scenario))
                .collect()
        };
        Results {
            acts: scenarios
                .iter()
                .map(|scenario| (scenario.as_str(), of(scenario)))
                .collect(),
        }
    }

    /// Whether each request left its record.
    ///
    /// # Errors
    ///
    /// A sentence that names the first scenario with another number of records than `each`.
    pub fn check(&self, each: usize) -> anyhow::Result<()> {
        for (scenario, records) in &self.acts {
            ensure!(
                records.len() == each,
                "{each} requests to the scenario {scenario} left {} records; each should leave one",
                records.len()
            );
        }
        Ok(())
    }

    /// Table and plots, no wider than `look` if that is 60 columns or more.
    pub fn lines(&self, look: Look) -> Vec<String> {
        let mut lines: Vec<String> = self
            .table(look.width)
            .lines()
            .map(|line| line.trim_end().to_owned())
            .collect();
        lines.push("Times are the median request's; gaps are between token events.".to_owned());
        lines.push(String::new());
        let gaps = self.gaps();
        let title = "Gaps between token events";
        lines.extend(
            Histogram {
                title,
                groups: &gaps,
            }
            .lines(look),
        );
        lines.push(String::new());
        let points = self.points();
        let title = "Each request: time to first token against gap p99";
        lines.extend(
            Scatter {
                title,
                groups: &points,
            }
            .lines(look),
        );
        lines.push(String::new());
        lines.extend(READING.map(str::to_owned));
        lines
    }

    fn table(&self, width: u16) -> Table {
        let rule = LineStyle::none().fill('─').junction('─');
        let mut table = Table::new();
        table
            .load_style(TableStyle::new().header_separator(rule))
            .set_content_arrangement(ContentArrangement::Dynamic)
            .set_width(width)
            .set_delimiter('_')
            .set_header([
                "scenario", "n", "TTFT", "gap p50", "gap p99", "end", "verdict",
            ]);
        for (scenario, records) in &self.acts {
            let time = |of: fn(&RequestRecord) -> Option<f64>| {
                let ms = median(records.iter().filter_map(|record| of(record)).collect());
                Cell::new(ms.map_or(NONE.to_owned(), readable)).set_alignment(CellAlignment::Right)
            };
            table.add_row([
                Cell::new(scenario),
                Cell::new(records.len()).set_alignment(CellAlignment::Right),
                time(|record| record.ttft_ms),
                time(|record| record.gaps.token.p50_ms),
                time(|record| record.gaps.token.p99_ms),
                Cell::new(words(records.iter().map(|record| word(&record.end)))),
                Cell::new(words(
                    records.iter().map(|record| verdict(record, width >= WIDE)),
                )),
            ]);
        }
        for column in table.column_iter_mut() {
            column.set_padding((0, GUTTERS[column.index]));
            if width < NARROW && SPARED.contains(&column.index) {
                column.set_constraint(ColumnConstraint::Hidden);
            }
        }
        table
    }

    /// Each scenario's gaps.
    fn gaps(&self) -> Vec<(String, Gaps)> {
        let of = |records: &[&RequestRecord]| {
            records
                .iter()
                .flat_map(|record| token_gaps(record.timeline.as_deref().unwrap_or_default()))
                .collect()
        };
        self.acts
            .iter()
            .map(|(scenario, records)| ((*scenario).to_owned(), of(records)))
            .collect()
    }

    /// Each scenario's requests.
    fn points(&self) -> Vec<Group> {
        let of = |scenario: &str, records: &[&RequestRecord]| {
            let points: Vec<_> = records
                .iter()
                .filter_map(|record| record.ttft_ms.zip(record.gaps.token.p99_ms))
                .collect();
            Group {
                name: scenario.to_owned(),
                without: records.len() - points.len(),
                points,
            }
        };
        self.acts
            .iter()
            .map(|(scenario, records)| of(scenario, records))
            .collect()
    }
}

/// The value of the middle request; of two, the greater.
fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// The word that a record has for an enum's value.
fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => NONE.to_owned(),
    }
}

fn verdict(record: &RequestRecord, with_side: bool) -> String {
    let Some(verdict) = &record.verdict else {
        return NONE.to_owned();
    };
    match verdict.side {
        Some(side) if with_side => format!("{} ({})", word(&verdict.timing), word(&side)),
        _ => word(&verdict.timing),
    }
}

/// Different words, a line each, the most frequent first: requests of one scenario mostly agree.
fn words(words: impl Iterator<Item = String>) -> String {
    let mut counts = BTreeMap::new();
    for word in words {
        *counts.entry(word).or_insert(0) += 1;
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    counts
        .into_iter()
        .map(|(word, _)| word)
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_record_is_told_with_its_scenario() {
        let scenarios = ["steady".to_owned()];
        let results = Results::of(&scenarios, &[]);
        assert_eq!(
            results.check(3).unwrap_err().to_string(),
            "3 requests to the scenario steady left 0 records; each should leave one"
        );
        assert!(results.check(0).is_ok());
    }

    #[test]
    fn the_median_is_one_of_the_values() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(vec![1.0, 2.0]), Some(2.0));
        assert_eq!(median(vec![]), None);
    }

    #[test]
    fn words_that_differ_are_all_said_the_usual_one_first() {
        let say = |list: &[&str]| words(list.iter().map(|&word| word.to_owned()));
        assert_eq!(say(&["steady", "steady"]), "steady");
        assert_eq!(say(&["irregular", "steady", "steady"]), "steady\nirregular");
    }
}
