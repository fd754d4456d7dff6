//! `--fail-if` on two runs, and how the program ends.

use super::*;

fn checked(text: &str, before: &[RequestRecord], after: &[RequestRecord]) -> (Held, String) {
    let condition = text.parse().unwrap();
    let Checked { held, found, .. } =
        limits::check(&condition, &side("b", before), &side("a", after), 1);
    (held, found)
}

fn held_of(text: &str, before: &[RequestRecord], after: &[RequestRecord]) -> Held {
    checked(text, before, after).0
}

#[test]
fn changes_hold_where_they_are_large_and_no_chance() {
    let (before, after) = (run_of(100, 80.0, 25.0), held(100));
    for text in [
        "ttft_p50>+10%",
        "ttft_p95>+50ms",
        "gap_p99>+20ms",
        "gap_p50>+100%",
        "gap_p99_p95>=+20ms",
        "ttfa_p50>+10%",
        "total_p50>+10%",
    ] {
        assert_eq!(held_of(text, &before, &after), Held::Holds, "{text}");
        assert_eq!(held_of(text, &after, &before), Held::DoesNot, "{text}");
        assert_eq!(held_of(text, &before, &before), Held::DoesNot, "{text}");
    }
    assert_eq!(held_of("ttft_p50<-50%", &after, &before), Held::Holds);
    assert_eq!(held_of("tps<-10%", &before, &after), Held::DoesNot);
    assert_eq!(
        checked("gap_p99>+20ms", &before, &after).1,
        "holds: it was 30.9 ms and is 259 ms, +228 ms"
    );
}

#[test]
fn what_may_be_chance_is_no_regression() {
    let before = run_of(12, 80.0, 25.0);
    let mut after = before.clone();
    // a shift within the spread of the run
    for record in &mut after {
        record.ttft_ms = record.ttft_ms.map(|ms| ms * 1.03);
    }
    let (held, found) = checked("ttft_p50>+1%", &before, &after);
    assert_eq!(held, Held::DoesNot, "{found}");
    assert!(
        found.contains("that may be chance: the 95% CI is −"),
        "{found}"
    );
}

#[test]
fn too_few_are_neither_kept_nor_crossed() {
    let (before, after) = (run_of(5, 80.0, 25.0), run_of(5, 88.0, 25.0));
    let (held, found) = checked("ttft_p50>+5%", &before, &after);
    assert_eq!(held, Held::Unknown);
    assert!(
        found.contains("5 and 5 are too few to tell it from chance, 7 each are enough"),
        "{found}"
    );
    // what has not even grown so much needs no more of them
    assert_eq!(held_of("ttft_p50>+50%", &before, &after), Held::DoesNot);
    // and runs that do not mix differ though there is no interval
    assert_eq!(
        held_of("ttft_p50>+5%", &before, &run_of(5, 200.0, 25.0)),
        Held::Holds
    );
}

#[test]
fn shares_change_by_points() {
    let (before, after) = (run_of(100, 80.0, 25.0), held(100));
    assert_eq!(
        held_of("errors>+1pp", &before, &after),
        Held::DoesNot,
        "2 of 101"
    );
    let mut failing = after.clone();
    failing[20..50]
        .iter_mut()
        .for_each(|r| r.end = End::HttpError);
    assert_eq!(held_of("errors>+10pp", &before, &failing), Held::Holds);
    assert_eq!(held_of("errors>+50pp", &before, &failing), Held::DoesNot);
    assert_eq!(held_of("stalled>+5pp", &before, &after), Held::DoesNot);
}

#[test]
fn bounds_are_of_the_run_after_as_in_a_probe() {
    let (before, after) = (run_of(40, 80.0, 25.0), held(40));
    for (text, holds) in [
        ("ttft_p95>200ms", true),
        ("ttft_p95>1s", false),
        ("ttft_max>280ms", true),
        ("gap_p99>265ms", true),
        ("gap_p99_p50>265ms", false),
        ("stalls>0", true),
        ("stalls>1", false),
        ("errors>1%", true),
        ("stalled>50%", false),
        ("tps<37", true),
        ("verdict!=tick_burst", true),
        ("verdict=steady", false),
    ] {
        let held = if holds { Held::Holds } else { Held::DoesNot };
        assert_eq!(held_of(text, &before, &after), held, "{text}");
    }
}

#[test]
fn what_was_not_measured_is_neither() {
    let mut failed = run_of(9, 80.0, 25.0);
    for record in &mut failed {
        record.end = End::HttpError;
        record.verdict = None;
    }
    let before = run_of(9, 80.0, 25.0);
    for text in [
        "ttft_p95<1h",
        "tps<1000",
        "stalls<1",
        "stalled<50%",
        "verdict!=steady",
        "ttft_p50>+1%",
        "tps<-1%",
        "stalled>+1pp",
    ] {
        let (held, found) = checked(text, &before, &failed);
        assert_eq!(held, Held::Unknown, "{text}: {found}");
    }
    assert_eq!(held_of("errors>50%", &before, &failed), Held::Holds);
}

#[test]
fn a_part_of_nothing_cannot_be_told() {
    let mut burst = run_of(9, 80.0, 25.0);
    burst
        .iter_mut()
        .for_each(|r| r.gaps.token.p99_ms = Some(0.0));
    let (held, found) = checked("gap_p99>+10%", &burst, &run_of(9, 80.0, 25.0));
    assert_eq!(held, Held::Unknown, "{found}");
    assert_eq!(
        held_of("gap_p99>+10ms", &burst, &run_of(9, 80.0, 25.0)),
        Held::Holds
    );
}

#[test]
fn the_end_says_whether_one_holds_or_could_not_be_told() {
    let dir = tempfile::tempdir().unwrap();
    let before = write(&dir, "b.jsonl", &run_of(20, 80.0, 25.0));
    let after = write(&dir, "a.jsonl", &held(20));
    let ended = |conditions: &[&str]| {
        let mut asked = typed(before.clone(), after.clone());
        let conditions = conditions.iter().map(|text| text.parse().unwrap());
        asked.fail_if = conditions.collect();
        let (ended, _, notes) = ran(asked);
        (ended.map_err(|error| error.to_string()), notes)
    };
    assert_eq!(ended(&[]), (Ok(Ended::Well), String::new()));
    let (well, notes) = ended(&["tps<-50%", "errors>+40pp"]);
    assert_eq!(well, Ok(Ended::Well));
    assert!(
        notes.starts_with("--fail-if 'tps<-50%' does not hold: it was "),
        "{notes}"
    );
    assert_eq!(notes.lines().count(), 2);
    assert_eq!(ended(&["ttft_p50>+1%"]).0, Ok(Ended::Crossed));
    let slower = write(&dir, "c.jsonl", &run_of(20, 95.0, 25.0));
    let ended = |conditions: &[&str]| {
        let mut asked = typed(before.clone(), slower.clone());
        let conditions = conditions.iter().map(|text| text.parse().unwrap());
        asked.fail_if = conditions.collect();
        ran(asked).0.map_err(|error| error.to_string())
    };
    // of 20 streams there is no interval of a p95
    assert_eq!(
        ended(&["total_p95>+1%", "verdict!=steady"]).unwrap_err(),
        "1 of 2 conditions could not be told, so this says neither yes nor no"
    );
    // what holds goes first
    let both = ended(&["total_p95>+1%", "verdict=steady"]);
    assert_eq!(both, Ok(Ended::Crossed));
}

#[test]
fn what_is_typed_wrongly_is_told_with_its_flag() {
    let error = |change: fn(&mut cli::Compare)| {
        let mut asked = typed("b".into(), "a".into());
        change(&mut asked);
        Options::of(asked, Look::default()).unwrap_err()
    };
    let told = error(|asked| asked.wanted = vec!["a=b".to_owned()]);
    assert!(told.starts_with("--where: there is no key 'a'"), "{told}");
    let told = error(|asked| asked.wanted_after = vec!["a=b".to_owned()]);
    assert!(told.starts_with("--where-after: there is no key"), "{told}");
    let told = error(|asked| asked.fail_if = vec!["verdict=staedy".parse().unwrap()]);
    assert!(told.starts_with("--fail-if 'verdict=staedy'"), "{told}");
}
