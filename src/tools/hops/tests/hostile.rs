//! Logs are files, so any number may stand in them.

use proptest::prelude::*;

use super::printed::{in_folder, printed};
use super::streams::*;
use crate::observe::record::{RequestRecord, Row};
use crate::tools::hops::Options;

/// A number of a damaged log: small, as it should be, or anything.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![
        0..4_u64,
        0..3_000_000_u64,
        Just(1 << 63),
        Just(u64::MAX),
        any::<u64>()
    ]
}

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let row = (
        number(),
        proptest::option::of(number()),
        number(),
        number(),
        number(),
    );
    let row =
        row.prop_map(|(at, taken, bytes, events, tokens)| Row(at, taken, bytes, events, tokens));
    prop_oneof![
        proptest::collection::vec(row, 0..60),
        // a good timeline with some bad rows in it, and sometimes the wrong way round
        (
            proptest::collection::vec((0..60_usize, number(), number()), 0..4),
            any::<bool>()
        )
            .prop_map(|(bad, reversed)| {
                let mut rows = good();
                for (i, at, many) in bad {
                    rows[i] = Row(at, Some(at), many, many, many);
                }
                if reversed {
                    rows.reverse();
                }
                rows
            })
    ]
}

fn good() -> Vec<Row> {
    let chunks = stream(60, 20_000, 250, 0.2);
    let row = |chunk: &Chunk| Row(chunk.0, Some(chunk.0), chunk.1, chunk.2, chunk.2);
    chunks.iter().map(row).collect()
}

/// Both records of a request with these timelines.
fn records(inner: Vec<Row>, outer: Vec<Row>, counts: [u64; 2], same: bool) -> [RequestRecord; 2] {
    let mut records = both("a", &stream(60, 20_000, 250, 0.2), passing, true);
    records[0].timeline = Some(inner);
    records[1].timeline = Some(outer);
    if !same {
        records[1].response.body_hash = Some("other".to_owned());
    }
    for (record, count) in records.iter_mut().zip(counts) {
        record.counts.bytes = count;
        record.counts.events = Some(count);
    }
    records
}

/// All that is printed of them, as text and as JSON.
fn all_of(records: &[RequestRecord; 2]) -> String {
    let (dir, options) = in_folder(std::slice::from_ref(records));
    let json = Options {
        json: true,
        ..options.clone()
    };
    let full = Options {
        id: Some(records[1].id.clone()),
        ..options
    };
    printed(&json, &dir) + &printed(&full, &dir)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn numbers_of_a_damaged_log_do_no_harm(
        (inner, outer) in (rows(), rows()),
        counts in [number(), number()],
        same in any::<bool>(),
    ) {
        let text = all_of(&records(inner, outer, counts, same));
        prop_assert!(text.contains("into the hop"));
    }
}

#[test]
fn the_longest_damaged_timeline_is_read_to_its_end() {
    let mut random = Random(3);
    let mut any = || (random.from(0.0, 1.0) * u64::MAX as f64) as u64;
    let mut rows = || -> Vec<Row> {
        let row = |_| Row(any(), Some(any()), any(), any(), any());
        (0..100_000).map(row).collect()
    };
    let records = records(rows(), rows(), [1, 1], true);
    assert!(all_of(&records).contains("damaged"));
}

#[test]
fn a_timeline_that_is_not_in_order_is_told() {
    let mut late = good();
    late[40].0 = 1 << 63;
    let mut swapped = good();
    swapped.swap(10, 20);
    for bad in [late, swapped] {
        let text = all_of(&records(good(), bad, [1, 1], true));
        for part in [
            r#""timelines_in_order":{"inner":true,"outer":false}"#,
            "the outer timeline is not in order",
        ] {
            assert!(text.contains(part), "no {part}: {text}");
        }
    }
    let text = all_of(&records(good(), good(), [1, 1], true));
    assert!(!text.contains("damaged"), "{text}");
}
