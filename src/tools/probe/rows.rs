//! Rows for other programs: JSON Lines and CSV.

use serde::Serialize;

use super::run::{Run, seconds};
use crate::observe::record::RequestRecord;

/// The columns of [`csv`].
pub(super) const CSV_HEADER: &str = "run,ttft_s,gap_p99_s,tps_after_first,chunks";

/// One run as an object. The first seven keys are what probes of this kind have always had; `record` makes a
/// file of such lines a log.
#[derive(Serialize)]
struct Row<'a> {
    ttft_s: Option<f64>,
    total_s: Option<f64>,
    chunks: Option<u64>,
    tps_after_first: Option<f64>,
    gap_p50_s: Option<f64>,
    gap_p99_s: Option<f64>,
    chars: Option<u64>,
    /// `null` for a warm-up.
    run: Option<u64>,
    cold: bool,
    side: &'static str,
    record: &'a RequestRecord,
}

/// The run as a line of JSON, without the line's end.
pub(super) fn json(run: &Run) -> serde_json::Result<String> {
    let record = &run.record;
    serde_json::to_string(&Row {
        ttft_s: seconds(record.ttft_ms),
        total_s: seconds(record.at.end_ms),
        chunks: record.counts.token_events,
        tps_after_first: run.tps_after_first(),
        gap_p50_s: seconds(record.gaps.token.p50_ms),
        gap_p99_s: seconds(record.gaps.token.p99_ms),
        chars: record.counts.chars,
        run: run.number,
        cold: run.is_cold(),
        side: run.side.name(),
        record,
    })
}

/// The run as a line of CSV, without the line's end. What was not measured is an empty cell.
pub(super) fn csv(run: &Run) -> String {
    let cell = |value: Option<String>| value.unwrap_or_default();
    let number = |value: Option<f64>| cell(value.map(|value| value.to_string()));
    [
        cell(run.number.map(|number| number.to_string())),
        number(seconds(run.record.ttft_ms)),
        number(seconds(run.record.gaps.token.p99_ms)),
        number(run.tps_after_first()),
        cell(run.record.counts.token_events.map(|n| n.to_string())),
    ]
    .join(",")
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::super::run::sample;
    use super::*;

    #[test]
    fn a_line_of_json_is_a_row_and_a_record() {
        let line = json(&sample(Some(2), 80.89)).unwrap();
        let (row, record) = line.split_once(r#""record":"#).unwrap();
        assert_snapshot!(row, @r#"{"ttft_s":0.08089,"total_s":1.881663,"chunks":40,"tps_after_first":21.91,"gap_p50_s":0.020004,"gap_p99_s":1.020064,"chars":203,"run":2,"cold":false,"side":"direct","#);
        let record: RequestRecord =
            serde_json::from_str(record.strip_suffix('}').unwrap()).unwrap();
        assert_eq!(record, sample(Some(2), 80.89).record);
    }

    #[test]
    fn a_line_of_csv_has_the_columns_of_its_header() {
        let mut run = sample(Some(2), 80.89);
        assert_snapshot!(csv(&run), @"2,0.08089,1.020064,21.91,40");
        run.record.ttft_ms = None;
        run.record.counts.token_events = None;
        assert_snapshot!(csv(&run), @"2,,1.020064,,");
        assert_eq!(
            csv(&run).matches(',').count(),
            CSV_HEADER.matches(',').count()
        );
    }

    #[test]
    fn a_warm_up_has_no_number_and_is_cold() {
        let line = json(&sample(None, 80.89)).unwrap();
        assert!(line.contains(r#""run":null,"cold":true"#), "{line}");
    }
}
