//! Limits that cut a stream, told by silence and age.

use super::support::*;
use crate::observe::observer::Cause;
use crate::observe::record::{CutKind, End, Flag, RequestRecord, Side, Timing};

fn cut(record: &RequestRecord) -> Option<(CutKind, f64, Side)> {
    let cut = record.verdict.as_ref()?.cut.as_ref()?;
    Some((cut.kind, cut.after_ms, cut.side))
}

#[test]
fn an_idle_limit_counts_from_the_last_byte_of_any_kind() {
    let silent = chat().header(1_000.0).cut(61_000.0, Cause::UpstreamFin);
    assert_eq!(
        (silent.end, silent.silence.before_end_ms),
        (End::Truncated, Some(60_000.0))
    );
    assert_eq!(
        cut(&silent),
        Some((CutKind::Idle, 60_000.0, Side::Upstream))
    );
    assert_eq!(timing(&silent), Timing::Unmeasurable);

    let comments = chat()
        .at(100.0, role())
        .every(4_100.0, 4_000.0, 3, |_| comment("ping"));
    let record = comments.cut(22_100.0, Cause::UpstreamFin);
    assert_eq!(
        cut(&record),
        Some((CutKind::Idle, 10_000.0, Side::Upstream))
    );
    assert!(
        record
            .verdict
            .unwrap()
            .findings
            .iter()
            .any(|finding| finding.code == "idle_cut")
    );
}

#[test]
fn an_idle_limit_strikes_wherever_the_bytes_ended() {
    let role = chat().at(100.0, role()).cut(10_100.0, Cause::UpstreamFin);
    assert_eq!(cut(&role), Some((CutKind::Idle, 10_000.0, Side::Upstream)));
    assert!(!role.flags.contains(&Flag::UnterminatedLastEvent));

    // in the middle of an event, and so of an HTTP chunk
    for cause in [Cause::UpstreamFin, Cause::UpstreamReset] {
        let part = chat()
            .every(100.0, 100.0, 20, |_| word())
            .at(2_100.0, &word()[..16])
            .cut(302_100.0, cause);
        assert_eq!(
            cut(&part),
            Some((CutKind::Idle, 300_000.0, Side::Upstream)),
            "{cause:?}"
        );
        assert!(part.flags.contains(&Flag::UnterminatedLastEvent));
        assert_eq!(part.counts.token_events, Some(20));
    }
}

#[test]
fn a_client_s_own_limit_is_its_own() {
    let record = chat().header(5.0).cut(300_005.0, Cause::ClientGone);
    assert_eq!(
        cut(&record),
        Some((CutKind::Idle, 300_000.0, Side::Downstream))
    );
    let findings = record.verdict.unwrap().findings;
    let idle = findings.iter().find(|finding| finding.code == "idle_cut");
    assert!(idle.unwrap().hint.contains("client-side idle limit"));
    let record = chat().silent().cut(300_000.0, Cause::ClientGone);
    assert_eq!(
        cut(&record),
        Some((CutKind::Idle, 300_000.0, Side::Downstream))
    );
    assert_eq!(timing(&record), Timing::Unmeasurable);
}

#[test]
fn a_total_limit_strikes_while_bytes_flow() {
    for tokens in [148, 149, 150] {
        let record = chat()
            .every(100.0, 100.0, tokens, |_| word())
            .cut(15_020.0, Cause::UpstreamFin);
        assert_eq!(
            cut(&record),
            Some((CutKind::Total, 15_000.0, Side::Upstream)),
            "{tokens}"
        );
        assert_eq!(timing(&record), Timing::Steady);
    }
}

#[test]
fn no_limit_where_there_was_an_end_or_no_round_number() {
    let whole = chat()
        .every(100.0, 100.0, 149, |_| word())
        .at(15_000.0, done())
        .end(15_000.0);
    assert_eq!(cut(&whole), None);
    let odd = chat()
        .every(100.0, 100.0, 120, |_| word())
        .cut(12_300.0, Cause::UpstreamFin);
    assert_eq!(cut(&odd), None);
    let error = chat().silent().typed_error().cut(100_000.0, Cause::Whole);
    assert_eq!((error.end, error.verdict), (End::HttpError, None));
}

impl Script {
    /// A gateway's page after its time was over.
    fn typed_error(mut self) -> Self {
        self.response = chat()
            .typed(Some("text/html"))
            .reply(|head| head.status = 524)
            .response;
        self
    }
}
