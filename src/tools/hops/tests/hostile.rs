//! Logs are files, so any number may stand in them.

use super::streams::*;
use crate::observe::record::Row;
use crate::tools::hops::picture;
use crate::tools::plot::Look;

#[test]
fn numbers_of_a_damaged_log_do_no_harm() {
    let chunks = stream(30, 20_000, 250, 0.0);
    for at in 0..4 {
        let mut records = both("a", &chunks, passing, true);
        for record in &mut records {
            let rows = record.timeline.as_mut().unwrap();
            match at {
                0 => rows[3] = Row(u64::MAX, None, u64::MAX, u64::MAX, 0),
                1 => rows.reverse(),
                2 => rows.truncate(1),
                _ => rows.clear(),
            }
        }
        let pair = compared(&records);
        assert!(!picture::lines(&pair, Look::default()).is_empty());
    }
}
