//! The page and the sheet of pictures.

use proptest::prelude::*;

use super::*;
use crate::observe::record::{Finding, Side, Timing};
use crate::tools::logs::{BadLine, Unread, sample};
use crate::tools::report::tally::Tally;

/// A summary of records that stand in no file.
fn summary(records: &[RequestRecord], by: By) -> Summary {
    let mut tally = Tally::new(by, TimeZone::UTC);
    records.iter().for_each(|record| tally.take(record));
    tally.finish();
    Summary {
        tally,
        logs: vec!["dripline.jsonl".to_owned()],
        choice: Choice::default(),
        read: records.len() as u64,
        unread: Unread::default(),
    }
}

/// One of which not all was read, and not all that was read was wanted.
fn chosen() -> Summary {
    let mut summary = summary(&records(), By::Model);
    summary.read += 7;
    summary.choice = Choice {
        since: "2026-12-02T05:00:00Z".parse().ok(),
        until: None,
        wanted: vec!["path!=/v1/<b>*".parse().unwrap()],
    };
    summary.unread.push(BadLine {
        file: "dripline.jsonl".to_owned(),
        line: 47,
        problem: "is no JSON".to_owned(),
        is_unended: false,
    });
    summary
}

/// The markup as XML, which it must be.
fn parsed(markup: &str) -> roxmltree::Document<'_> {
    let options = roxmltree::ParsingOptions {
        allow_dtd: true,
        ..Default::default()
    };
    roxmltree::Document::parse_with_options(markup, options)
        .unwrap_or_else(|error| panic!("{error}\n{markup}"))
}

/// How many elements have the class.
fn with_class(markup: &str, class: &str) -> usize {
    let has = |node: &roxmltree::Node| {
        let classes = node.attribute("class").unwrap_or_default();
        classes.split(' ').any(|one| one == class)
    };
    parsed(markup).descendants().filter(has).count()
}

#[test]
fn a_page() {
    let page = html::text(&chosen());
    // the style sheets stand in files of their own
    let (head, rest) = page.split_once("<style>").unwrap();
    let (_, rest) = rest.split_once("</style>").unwrap();
    insta::assert_snapshot!(format!("{head}<style>…</style>{rest}"));
}

#[test]
fn a_sheet_of_pictures() {
    let sheet = svg::text(&chosen());
    let (head, rest) = sheet.split_once("<style>").unwrap();
    let (_, rest) = rest.split_once("</style>").unwrap();
    insta::assert_snapshot!(format!("{head}<style>…</style>{rest}"));
}

#[test]
fn each_measured_stream_is_a_mark_of_each_scatter() {
    let page = html::text(&chosen());
    let streams = 43;
    // streams at one half pixel are one mark, and its words say so
    let more: usize = page
        .split("(and ")
        .skip(1)
        .map(|rest| rest.split(' ').next().unwrap().parse::<usize>().unwrap())
        .sum();
    let of_mark = |node: &roxmltree::Node| {
        let inside = node.first_element_child();
        let class = inside.and_then(|inside| inside.attribute("class"));
        node.attribute("class") == Some("key") && class.unwrap_or_default().starts_with("mark")
    };
    let keys = parsed(&page).descendants().filter(of_mark).count();
    assert_eq!(with_class(&page, "mark") + more - keys, 3 * streams);
    assert_eq!(with_class(&page, "bar"), 2, "the stall is a bar of its own");
    // of three scatters the mark and the key, and of the table
    assert_eq!(with_class(&page, "stall"), 3 + 3 + 1 + 1 + 1);
}

#[test]
fn a_page_names_nothing_outside_of_itself() {
    let page = html::text(&chosen());
    assert!(page.contains("content=\"default-src 'none'; style-src 'unsafe-inline'"));
    for outside in [
        "http:", "https:", "//", "url(", "@import", "<script", "src=", "href=",
    ] {
        let found = page
            .find(outside)
            .map(|at| &page[at..(at + 60).min(page.len())]);
        assert_eq!(found, None, "{outside}");
    }
}

#[test]
fn a_page_of_nothing_says_so() {
    let empty = summary(&[], By::Model);
    let page = html::text(&empty);
    assert!(page.contains("There is nothing to show"), "{page}");
    assert_eq!(with_class(&page, "chart"), 0);
    let sheet = svg::text(&empty);
    assert_eq!(with_class(&sheet, "chart"), 0);
    assert!(sheet.contains("There is no time to show"), "{sheet}");
}

#[test]
fn more_groups_than_are_shown_are_counted() {
    let many: Vec<_> = (0..50)
        .map(|i| stream(i, &format!("model-{i}"), 100.0))
        .collect();
    let page = html::text(&summary(&many, By::Model));
    assert_eq!(page.matches("30 more with 30 records").count(), 2);
    assert_eq!(
        page.matches(">model-").count(),
        2 * print::SHOWN + worst::MOST
    );
}

#[test]
fn pages_are_written_whole_and_a_line_tells_of_each() {
    let dir = write(&records());
    let (html, svg) = (dir.path().join("r.html"), dir.path().join("r.svg"));
    let form = |html: Option<&PathBuf>, svg: Option<&PathBuf>| Form::Pages {
        by: By::Model,
        html: html.cloned(),
        svg: svg.cloned(),
    };
    let told = printed(&dir, &options(&dir, form(Some(&html), Some(&svg)), 80));
    let size = |path: &PathBuf| fs::metadata(path).unwrap().len() as f64 / 1024.0;
    assert_eq!(
        told,
        format!(
            "r.html: 46 records, {:.1} KiB\nr.svg: 46 records, {:.1} KiB\n",
            size(&html),
            size(&svg)
        )
    );
    let standard = PathBuf::from("-");
    let (mut out, mut notes) = (Vec::new(), Vec::new());
    let both = options(&dir, form(Some(&standard), Some(&svg)), 80);
    run(&both, &mut out, &mut notes).unwrap();
    assert_eq!(out, fs::read(&html).unwrap(), "a log gives one page");
    assert!(
        String::from_utf8(notes)
            .unwrap()
            .contains("r.svg: 46 records")
    );
}

#[test]
fn a_page_that_cannot_be_written_is_told_before_a_log_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let mut options = options(
        &dir,
        Form::Pages {
            by: By::Model,
            html: Some(dir.path().join("no/r.html")),
            svg: None,
        },
        80,
    );
    options.logs = vec!["no-such-log.jsonl".into()];
    let (mut out, mut notes) = (Vec::new(), Vec::new());
    let error = run(&options, &mut out, &mut notes).unwrap_err();
    assert!(
        format!("{error:#}").contains("r.html: is there a folder"),
        "{error:#}"
    );
}

#[test]
fn a_log_that_was_named_in_the_wrong_place_stays() {
    let dir = write(&records());
    let log = dir.path().join("a.jsonl");
    let before = fs::read(&log).unwrap();
    let pages = |html, svg| Form::Pages {
        by: By::Model,
        html,
        svg,
    };
    for form in [
        pages(Some(log.clone()), None),
        pages(None, Some(log.clone())),
        Form::Parquet(log.clone()),
        Form::Trace(log.clone()),
    ] {
        let (mut out, mut notes) = (Vec::new(), Vec::new());
        let error = run(&options(&dir, form, 80), &mut out, &mut notes).unwrap_err();
        assert!(format!("{error:#}").contains("so it stays"), "{error:#}");
        assert_eq!(fs::read(&log).unwrap(), before);
    }
}

#[test]
fn what_is_written_twice_gives_way_to_the_newer() {
    let dir = write(&records());
    let path = dir.path().join("r");
    for form in [
        Form::Pages {
            by: By::Model,
            html: Some(path.clone()),
            svg: None,
        },
        Form::Pages {
            by: By::Model,
            html: None,
            svg: Some(path.clone()),
        },
        Form::Parquet(path.clone()),
        Form::Trace(path.clone()),
    ] {
        let _ = fs::remove_file(&path);
        for _ in 0..2 {
            printed(&dir, &options(&dir, form.clone(), 80));
        }
    }
}

/// Any text, most of it such as breaks markup.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[<>&\"'/!\\-\\]\\[ab\u{0}\u{1b}\u{fffe}\u{202e}]{0,24}",
        Just("</style><script>alert(1)</script>".to_owned()),
        Just("]]>--><!--".to_owned()),
    ]
}

fn number() -> impl Strategy<Value = Option<f64>> {
    prop_oneof![
        Just(None),
        any::<f64>()
            .prop_filter("JSON has no others", |n| n.is_finite())
            .prop_map(Some),
        (0.0..100_000.0).prop_map(Some),
        (0.0..0.3).prop_map(Some),
    ]
}

prop_compose! {
    fn record()(
        (id, model, label, path, sentence) in (text(), prop::option::of(text()), text(), text(), text()),
        started in prop_oneof![text(), (0u32..24, 0u32..60).prop_map(|(h, m)| format!("2026-12-02T{h:02}:{m:02}:03Z")),
            Just("-009999-01-02T01:59:59Z".to_owned()), Just("9999-12-30T22:00:00Z".to_owned())],
        (ttft, gap, longest, end) in (number(), number(), number(), number()),
        (in_flight, cold, n) in (prop_oneof![any::<u64>(), 0u64..9], any::<bool>(), any::<u64>()),
        (kind, whole, rows) in (0usize..15, prop::bool::weighted(0.8), prop::option::of((any::<u64>(), any::<u64>()))),
    ) -> RequestRecord {
        let mut record = sample();
        (record.id, record.started_at, record.label) = (id, started, Some(label));
        (record.request.model, record.request.path) = (model, Some(path));
        (record.ttft_ms, record.at.end_ms) = (ttft, end);
        (record.gaps.token.p50_ms, record.gaps.token.p99_ms, record.gaps.token.max_ms) = (gap, gap, longest);
        record.gaps.token.n = n;
        (record.load.in_flight, record.load.cold) = (in_flight, cold);
        record.end = if whole { End::Complete } else { End::ALL[kind] };
        let verdict = record.verdict.as_mut().unwrap();
        verdict.timing = Timing::ALL[kind];
        verdict.findings = vec![Finding {
            code: "constant_latency".into(),
            side: Side::Unknown,
            at_ms: None,
            sentence,
            hint: String::new(),
        }];
        record.timeline = rows.map(|(at, events)| vec![Row(at, None, 1, events, events.min(50)), Row(at / 2, None, 1, 1, 1)]);
        record
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn any_log_gives_well_formed_markup(records in prop::collection::vec(record(), 0..12), kind in 0usize..6) {
        let by = [By::Model, By::Path, By::Upstream, By::Verdict, By::Hour, By::Label][kind];
        let summary = summary(&records, by);
        for markup in [html::text(&summary), svg::text(&summary)] {
            let read = parsed(&markup);
            let has = |name: &str| read.descendants().any(|node| node.tag_name().name() == name);
            prop_assert!(!has("script") && !has("b"));
            prop_assert!(!markup.contains("NaN") && !markup.contains("inf\""), "{}", markup);
        }
    }
}
