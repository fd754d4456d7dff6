//! Files read back by the library's own reader, which shares no code with the writer but the format. The real DuckDB
//! reads them in `tests/peers/test_duckdb.py`.

use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::record::{Field, Row};
use ::parquet::schema::printer::print_schema;
use bytes::Bytes;

use super::*;
use crate::observe::record::RequestRecord;
use crate::tools::logs::sample;

fn written(records: &[RequestRecord]) -> SerializedFileReader<Bytes> {
    let mut rows = Rows::new(Vec::new()).unwrap();
    for record in records {
        rows.push(record).unwrap();
    }
    SerializedFileReader::new(Bytes::from(rows.finish().unwrap())).unwrap()
}

fn cells(row: &Row) -> Vec<Field> {
    row.get_column_iter()
        .map(|(_, field)| field.clone())
        .collect()
}

#[test]
fn the_schema() {
    let file = written(&[]);
    let mut text = Vec::new();
    print_schema(&mut text, file.metadata().file_metadata().schema());
    insta::assert_snapshot!(String::from_utf8(text).unwrap());
    assert_eq!(file.metadata().num_row_groups(), 0);
}

#[test]
fn what_was_not_measured_is_null_and_names_are_as_they_are() {
    let mut odd = sample();
    odd.request.model = Some("=cmd|'x\u{0}\u{1b}[2J模".to_owned());
    odd.label = Some(String::new());
    odd.started_at = "yesterday".to_owned();
    (odd.ttft_ms, odd.verdict) = (None, None);
    odd.counts.bytes = u64::MAX;
    let file = written(&[sample(), odd]);
    let rows: Vec<Row> = file
        .get_row_iter(None)
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let place = |name| {
        COLUMNS
            .iter()
            .position(|column| column.name == name)
            .unwrap()
    };
    let cell = |row: usize, name| cells(&rows[row])[place(name)].clone();
    assert_eq!(
        cell(0, "started_at"),
        Field::TimestampMicros(1_796_191_023_174_978)
    );
    assert_eq!(cell(0, "ttft_ms"), Field::Double(80.89));
    assert_eq!(cell(0, "status"), Field::Long(200));
    assert_eq!(cell(0, "cold"), Field::Bool(true));
    assert_eq!(
        cell(0, "verdict"),
        Field::Str("stall_no_catch_up".to_owned())
    );
    for name in ["label", "ttft_null", "cut_after_ms"] {
        assert_eq!(cell(0, name), Field::Null, "{name}");
    }
    assert_eq!(
        cell(1, "model"),
        Field::Str("=cmd|'x\u{0}\u{1b}[2J模".to_owned())
    );
    assert_eq!(
        cell(1, "label"),
        Field::Str(String::new()),
        "empty is not missing"
    );
    for name in ["started_at", "ttft_ms", "verdict", "confidence", "bytes"] {
        assert_eq!(cell(1, name), Field::Null, "{name}");
    }
}

#[test]
fn groups_are_bounded_by_rows_and_by_text() {
    let mut record = sample();
    let many = vec![record.clone(); ROWS + 1];
    let groups = |file: &SerializedFileReader<Bytes>| {
        let groups = file.metadata().row_groups();
        groups
            .iter()
            .map(|group| group.num_rows())
            .collect::<Vec<_>>()
    };
    assert_eq!(groups(&written(&many)), [ROWS as i64, 1]);
    record.request.model = Some("m".repeat(TEXT / 2));
    let file = written(&vec![record; 5]);
    assert_eq!(groups(&file), [2, 2, 1]);
    assert_eq!(file.get_row_iter(None).unwrap().count(), 5);
}
