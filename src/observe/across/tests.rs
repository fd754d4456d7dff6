//! Records in a row, and what only the row tells.

use proptest::prelude::*;

use super::History;
use crate::observe::observer::{Cause, Observer, Options, RequestHead};
use crate::observe::record::{
    Api, CutKind, End, Finding, Origin, RequestRecord, Side, Timing, Verdict,
};

/// A warm chat stream that ended well.
fn record() -> RequestRecord {
    let head = RequestHead {
        method: "POST".into(),
        path: "/v1/chat/completions".into(),
        ..RequestHead::default()
    };
    let mut record =
        Observer::new(head, Options::default()).finish(Default::default(), Cause::Whole);
    record.request.model = Some("m".into());
    record.request.stream = Some(true);
    record.request.bytes = 1_000;
    record.upstream.attempts = 1;
    record.response.status = Some(200);
    record.response.origin = Some(Origin::Upstream);
    record.api = Some(Api::Chat);
    record.end = End::Complete;
    record.verdict = Some(Verdict {
        timing: Timing::Steady,
        side: None,
        confidence: 0.9,
        summary: "steady".into(),
        evidence: Default::default(),
        cut: None,
        findings: vec![],
    });
    record.at.sent_ms = Some(0.0);
    record.at.header_ms = Some(5.0);
    record.at.end_ms = Some(1_000.0);
    record.silence.before_end_ms = Some(1.0);
    record
}

fn ended(end: End, silence_ms: f64, age_ms: f64) -> RequestRecord {
    let mut record = record();
    record.end = end;
    record.silence.before_end_ms = Some(silence_ms);
    record.at.end_ms = Some(age_ms);
    record
}

fn cut(silence_ms: f64, age_ms: f64) -> RequestRecord {
    ended(End::Truncated, silence_ms, age_ms)
}

/// Shows all of them to one history, each of a minute of its own; the last as it is then.
fn last(records: impl IntoIterator<Item = RequestRecord>) -> RequestRecord {
    let mut history = History::new();
    let mut records = records.into_iter().enumerate().map(|(i, mut record)| {
        record.started_at = format!("2026-12-02T12:{i:02}:00Z");
        history.apply(&mut record);
        record
    });
    let first = records.next().expect("some records");
    records.fold(first, |_, record| record)
}

fn limit(record: &RequestRecord) -> Option<(CutKind, f64, Side)> {
    let cut = record.verdict.as_ref()?.cut.as_ref()?;
    Some((cut.kind, cut.after_ms, cut.side))
}

fn findings(record: &RequestRecord) -> &[Finding] {
    let verdict = record.verdict.as_ref();
    verdict.map_or(&[], |verdict| &verdict.findings)
}

fn codes(record: &RequestRecord) -> Vec<&str> {
    findings(record)
        .iter()
        .map(|finding| &*finding.code)
        .collect()
}

#[test]
fn constant_silence_is_an_idle_limit_whatever_its_number() {
    let cuts = [
        (47_000.0, 60_000.0),
        (47_100.0, 93_000.0),
        (47_300.0, 51_000.0),
    ];
    let cuts = cuts.map(|(silence, age)| cut(silence, age));
    let record = last(cuts.clone());
    assert_eq!(
        limit(&record),
        Some((CutKind::Idle, 47_100.0, Side::Upstream))
    );
    assert_eq!(codes(&record), ["idle_cut"]);
    assert_eq!(
        findings(&record)[0].sentence,
        "The last 3 cuts on the upstream side all came after 47.0 to 47.3 s of silence, at ages of 51.0 to 93.0 s: \
         an idle limit of 47.10 s."
    );
    let [a, b, _] = cuts;
    assert_eq!(limit(&last([a, b])), None, "two are too few");
}

#[test]
fn a_round_limit_is_called_by_its_number() {
    let ages = [61_000.0, 70_000.0, 99_000.0, 140_000.0];
    let record = last(ages.map(|age| cut(60_400.0, age)));
    assert_eq!(
        limit(&record),
        Some((CutKind::Idle, 60_000.0, Side::Upstream))
    );
}

#[test]
fn constant_age_is_a_total_limit_and_corrects_what_one_record_looked_like() {
    let silences = [12_000.0, 900.0, 4_000.0, 30_100.0];
    let mut cuts = silences.map(|silence| cut(silence, 77_000.0));
    // 30 s of silence look like an idle limit.
    let verdict = cuts[3].verdict.as_mut().unwrap();
    verdict.cut = Some(crate::observe::record::Cut {
        kind: CutKind::Idle,
        after_ms: 30_000.0,
        side: Side::Upstream,
    });
    verdict.findings.push(Finding {
        code: "idle_cut".into(),
        side: Side::Upstream,
        at_ms: None,
        sentence: String::new(),
        hint: String::new(),
    });
    let record = last(cuts);
    assert_eq!(
        limit(&record),
        Some((CutKind::Total, 77_000.0, Side::Upstream))
    );
    assert_eq!(codes(&record), ["total_cut"]);
}

#[test]
fn a_total_limit_on_streams_that_flow() {
    let record = last([80.0, 20.0, 41.0].map(|silence| cut(silence, 33_300.0)));
    assert_eq!(
        limit(&record),
        Some((CutKind::Total, 33_300.0, Side::Upstream))
    );
}

#[test]
fn where_both_are_constant_the_kind_cannot_be_told() {
    let record = last([0.0, 10.0, 40.0].map(|off| cut(47_000.0 + off, 47_100.0 + off)));
    assert_eq!(limit(&record), None);
    assert_eq!(codes(&record), ["constant_cut"]);
}

#[test]
fn the_sides_are_apart() {
    let gone = |silence, age| ended(End::ClientGone, silence, age);
    let mixed = [
        cut(47_000.0, 60_000.0),
        gone(47_000.0, 70_000.0),
        cut(47_000.0, 80_000.0),
    ];
    assert_eq!(limit(&last(mixed.clone())), None);
    let more = [gone(47_000.0, 99_000.0), gone(47_200.0, 61_000.0)];
    let record = last(mixed.into_iter().chain(more));
    assert_eq!(
        limit(&record),
        Some((CutKind::Idle, 47_000.0, Side::Downstream))
    );
    let sentence = &findings(&record)[0].sentence;
    assert!(sentence.contains("on the client's side"), "{sentence}");
}

#[test]
fn a_limit_that_others_outlived_is_none() {
    let mut survivor = record();
    survivor.at.end_ms = Some(200_000.0);
    survivor.gaps.chunk.max_ms = Some(80_000.0);
    let cuts = [60_000.0, 93_000.0, 51_000.0].map(|age| cut(47_000.0, age));
    let [a, b, c] = cuts.clone();
    assert_eq!(
        limit(&last([a.clone(), b.clone(), survivor.clone(), c.clone()])),
        None
    );
    assert!(
        limit(&last([survivor, a, b, c])).is_some(),
        "before the first cut it says nothing"
    );
    // A client's own limit is not that of others.
    let gone = [60_000.0, 93_000.0, 51_000.0].map(|age| ended(End::ClientGone, 9_000.0, age));
    assert!(limit(&last(gone)).is_some());
}

#[test]
fn one_event_that_cuts_everything_is_no_limit() {
    // Stopped for 47 s and then killed: streams of any age; and streams of one age.
    for apart in [9, 0] {
        let mut history = History::new();
        for i in 0..6 {
            let mut record = cut(47_000.0, 50_000.0 + 1_000.0 * f64::from(apart * i));
            record.started_at = format!("2026-12-02T12:10:{:02}Z", 59 - apart * i);
            assert_eq!(history.look(&record), Default::default(), "{i}");
        }
    }
}

#[test]
fn cuts_at_any_time_have_nothing_in_common() {
    let silences = [900.0, 4_000.0, 17_000.0, 600.0, 33_000.0, 8_000.0, 2_100.0];
    let cuts = silences.iter().enumerate();
    let record = last(cuts.map(|(i, silence)| cut(*silence, 40_000.0 + 9_000.0 * i as f64)));
    assert_eq!((limit(&record), codes(&record)), (None, vec![]));
    // Clients that leave while tokens flow: the silence is the gap between tokens.
    let gone = (1..20).map(|i| ended(End::ClientGone, 20.0, 3_000.0 * f64::from(i)));
    assert_eq!(limit(&last(gone)), None);
}

#[test]
fn users_who_leave_at_any_time_hardly_ever_look_like_a_limit() {
    let mut state = 7u64;
    let mut any = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let histories = (0..2_000).filter(|_| {
        let mut history = History::new();
        (0..12).any(|i| {
            let silence = 1_000.0 * 60f64.powf(any());
            let mut record = ended(
                End::ClientGone,
                silence,
                silence + 1_000.0 * 60f64.powf(any()),
            );
            record.started_at = format!("2026-12-02T12:{i:02}:00Z");
            history.look(&record) != Default::default()
        })
    });
    let n = histories.count();
    assert!(n <= 12, "{n} of 2,000");
}

#[test]
fn a_limit_on_the_wait_for_an_answer_gets_the_stream_a_verdict() {
    let waits = [0.0, 100.0, 900.0].map(|after| {
        let mut record = cut(33_000.0, 33_000.0 + after * 10.0);
        record.response.status = None;
        record.verdict = None;
        record
    });
    let record = last(waits.clone());
    assert_eq!(
        limit(&record),
        Some((CutKind::Idle, 33_000.0, Side::Upstream))
    );
    assert_eq!(record.verdict.unwrap().timing, Timing::Unmeasurable);
    let plain = waits.map(|mut record| {
        record.request.stream = Some(false);
        record
    });
    assert_eq!(last(plain).verdict, None, "no stream, no verdict");
}

/// A request of this size whose header took so long, and its first token so much longer.
fn waiting(bytes: u64, header_ms: f64, token_ms: f64) -> RequestRecord {
    let mut record = record();
    record.request.bytes = bytes;
    record.upstream.connect_ms = Some(0.3);
    record.at.header_ms = Some(header_ms);
    record.at.first_byte_ms = Some(header_ms);
    record.at.first_token_ms = Some(header_ms + token_ms);
    record.ttft_ms = record.at.first_token_ms;
    record
}

const SIZES: [u64; 10] = [
    400, 9_000, 700, 2_500, 1_100, 30_000, 460, 5_000, 800, 3_000,
];

#[test]
fn a_constant_beside_work_that_differs_is_added_to_each() {
    let held = |added: f64| SIZES.map(|bytes| waiting(bytes, added, 50.0 + bytes as f64 / 50.0));
    for (added, word) in [
        (41.0, "delayed ACK"),
        (201.0, "http-no-delay"),
        (93.0, "authentication"),
    ] {
        let record = last(held(added));
        assert_eq!(codes(&record), ["constant_latency"], "{added}");
        assert!(findings(&record)[0].hint.contains(word), "{added}");
        assert_eq!(record.verdict.unwrap().timing, Timing::Steady);
    }
    let mut slowest_last = held(41.0);
    slowest_last[9] = waiting(3_000, 43.0, 110.0);
    assert_eq!(codes(&last(slowest_last.clone())), ["constant_latency"]);
    slowest_last[9] = waiting(3_000, 95.0, 110.0);
    assert_eq!(codes(&last(slowest_last)), [""; 0], "it waited for more");
    let few = held(41.0).into_iter().take(7);
    assert_eq!(codes(&last(few)), [""; 0], "too few");
}

#[test]
fn what_may_be_the_server_s_own_work_is_not_accused() {
    let none = |what: &str, records: Vec<RequestRecord>| {
        assert_eq!(codes(&last(records)), [""; 0], "{what}");
    };
    none(
        "at once",
        SIZES.map(|bytes| waiting(bytes, 1.5, 400.0)).into(),
    );
    none(
        "one prompt over and over",
        [0; 20].map(|_| waiting(900, 41.0, 0.2)).into(),
    );
    none(
        "the same, header first",
        [0; 20].map(|_| waiting(900, 41.0, 70.0)).into(),
    );
    let sizes = [400, 500, 900, 1_600].repeat(4);
    none(
        "one pass of the model",
        sizes
            .iter()
            .map(|&bytes| waiting(bytes, 41.0, 0.1))
            .collect(),
    );
    let prefill = SIZES.map(|bytes| waiting(bytes, 30.0 + bytes as f64 / 50.0, 0.2));
    none("prefill", prefill.into());
    let far = SIZES.map(|bytes| {
        let mut record = waiting(bytes, 93.0, 400.0);
        record.upstream.connect_ms = Some(91.0);
        record
    });
    none("a long way", far.into());
    let unknown = SIZES.map(|bytes| {
        let mut record = waiting(bytes, 93.0, 400.0);
        record.upstream.connect_ms = None;
        record
    });
    none("a way of unknown length", unknown.into());
}

#[test]
fn the_first_byte_after_the_header_may_be_what_waits() {
    let record = last(SIZES.map(|bytes| {
        let mut record = waiting(bytes, 20.0 + bytes as f64 / 40.0, 300.0);
        record.at.first_byte_ms = record.at.header_ms.map(|header| header + 40.5);
        record
    }));
    assert_eq!(codes(&record), ["constant_latency"]);
    assert!(
        findings(&record)[0]
            .sentence
            .contains("first byte after the header")
    );
}

fn token_after(ttft_ms: f64, cold: bool) -> RequestRecord {
    let mut record = record();
    record.ttft_ms = Some(ttft_ms);
    record.load.cold = cold;
    record.load.idle_before_ms = cold.then_some(301_000.0);
    record
}

#[test]
fn a_cold_start_against_warm_ones() {
    let warm = [400.0, 410.0, 390.0, 430.0].map(|ttft| token_after(ttft, false));
    let with = |ttft| last(warm.clone().into_iter().chain([token_after(ttft, true)]));
    let record = with(8_200.0);
    assert_eq!(codes(&record), ["cold_start"]);
    assert_eq!(
        findings(&record)[0].sentence,
        "First request after 5 min idle: first token after 8.20 s; warm ones take 410 ms at the median (4 requests)."
    );
    assert_eq!(codes(&with(700.0)), [""; 0], "not so much longer");
    let two = warm
        .clone()
        .into_iter()
        .take(2)
        .chain([token_after(8_200.0, true)]);
    assert_eq!(codes(&last(two)), [""; 0], "too few");
    let mut other = token_after(8_200.0, true);
    other.request.model = Some("another".into());
    assert_eq!(
        codes(&last(warm.clone().into_iter().chain([other]))),
        [""; 0]
    );
    let mut large = token_after(8_200.0, true);
    large.request.bytes = 100_000;
    assert_eq!(codes(&last(warm.into_iter().chain([large]))), [""; 0]);
}

#[test]
fn the_same_twice_changes_nothing() {
    let records = [60_000.0, 93_000.0, 51_000.0].map(|age| cut(47_000.0, age));
    let (mut first, mut second) = (History::new(), History::new());
    for (i, mut record) in records.into_iter().enumerate() {
        record.started_at = format!("2026-12-02T12:{i:02}:00Z");
        first.apply(&mut record);
        let told = record.clone();
        second.apply(&mut record);
        assert_eq!(record, told);
        assert_eq!(limit(&record).is_some(), i == 2);
    }
}

fn any_record() -> impl Strategy<Value = RequestRecord> {
    let ms = || {
        prop_oneof![
            Just(None),
            (0.0..90_000.0f64).prop_map(Some),
            Just(Some(47_000.0)),
            Just(Some(41.0)),
            Just(Some(-1.0)),
            Just(Some(f64::NAN)),
            Just(Some(f64::INFINITY)),
            Just(Some(1e300)),
        ]
    };
    let ends = prop::sample::select(vec![
        End::Complete,
        End::Truncated,
        End::UpstreamReset,
        End::ClientGone,
        End::HttpError,
    ]);
    let times = prop::array::uniform8(ms());
    (times, ends, any::<(bool, bool)>(), any::<u64>()).prop_map(
        |(times, end, (cold, judged), bytes)| {
            let mut record = record();
            let [sent, header, byte, token, at_end, silence, connect, gap] = times;
            record.at.sent_ms = sent;
            record.at.header_ms = header;
            record.at.first_byte_ms = byte;
            record.at.first_token_ms = token;
            record.ttft_ms = token;
            record.at.end_ms = at_end;
            record.silence.before_end_ms = silence;
            record.upstream.connect_ms = connect;
            record.gaps.chunk.max_ms = gap;
            record.load.idle_before_ms = gap;
            record.server_says.load_ms = gap;
            record.load.cold = cold;
            record.end = end;
            record.request.bytes = bytes;
            if !judged {
                record.verdict = None;
            }
            record
        },
    )
}

/// More than any window holds, of every kind.
fn flood() -> Vec<RequestRecord> {
    let warm = (0..70).map(|i| waiting(500 + i, 3.0 + i as f64, 7.0));
    let cuts = (0..40).map(|i| cut(600.0 + 700.0 * f64::from(i), 9_000.0 * f64::from(i)));
    let gone = (0..40).map(|i| {
        ended(
            End::ClientGone,
            600.0 * f64::from(i),
            9_000.0 * f64::from(i),
        )
    });
    cuts.chain(gone).chain(warm).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn whatever_comes_nothing_panics_and_what_is_past_the_windows_is_forgotten(
        before in prop::collection::vec(any_record(), 0..80),
        after in prop::collection::vec(any_record(), 1..30),
    ) {
        let (mut long, mut fresh) = (History::new(), History::new());
        for mut record in before {
            long.apply(&mut record);
        }
        for record in flood() {
            long.look(&record);
            fresh.look(&record);
        }
        for record in after {
            prop_assert_eq!(long.look(&record), fresh.look(&record));
        }
    }
}
