//! Events longer than most readers' limits.

use super::rig::{Ask, Case, Run, played, run};

/// What the proxy's memory may grow by, KiB: far less than the events that pass.
const LITTLE: u64 = 12 * 1024;

#[test]
fn a49_a_long_line_is_one_event_and_arrives_with_its_last_byte() {
    let run = run("A49");
    run.near("/at/first_event_ms", 20.0).near("/ttft_ms", 140.0);
    let (last, _) = part(&run, 200_000);
    run.between("/ttft_ms", last - 5.0, f64::INFINITY);
    run.is("/counts/token_events", 21).is("/counts/events", 25);
    run.is("/counts/parse_errors", 0);
    run.flag("event_too_large", false);
    run.between("/counts/chars", 200_000.0 + 20.0, 202_000.0);
    run.between("/coalescing/events_split_over_chunks", 1.0, 1.0);
    run.verdict("steady", "").end("complete");
}

#[test]
fn a49_past_the_observers_limit_the_event_is_skipped_and_the_next_is_read() {
    let run = run("A49-larger");
    run.flag("event_too_large", true).end("complete");
    run.near("/ttft_ms", 20.0);
    // the words on both sides, and not the event between them
    run.is("/counts/token_events", 20);
    run.is("/counts/parse_errors", 0);
    run.near("/gaps/token/p50_ms", 25.0);
    // bytes came all the time, so nothing stalled
    assert!(
        !run.findings().iter().any(|code| code.contains("stall")),
        "{:#}",
        run.record
    );
    let (last, first) = part(&run, 1_500_000);
    run.between("/gaps/event/max_ms", (last - first) * 0.7, f64::INFINITY);
    nobody_buffered(&run);
}

#[test]
fn a50_an_image_in_one_line_is_bulk_and_no_block() {
    let [run] = played(|| [Case::of("A50").run(Ask::to("/v1/responses"))]);
    run.is("/api", "responses").end("complete");
    run.flag("event_too_large", true);
    run.null("/ttft_ms").is("/ttft_null", "unparsable");
    run.near("/at/first_byte_ms", 20.0);
    let (last, first) = part(&run, 3_000_000);
    run.between("/at/first_event_ms", last - 5.0, f64::INFINITY);
    let took = run.number("/at/first_event_ms") - run.number("/at/first_byte_ms");
    assert!(
        (took - (last - first)).abs() < 100.0,
        "{took} ms, and it took {first} to {last}"
    );
    run.between("/gaps/chunk/p50_ms", 2.0, 20.0);
    nobody_buffered(&run);
}

#[test]
fn a50_the_observer_keeps_no_part_of_what_it_does_not_read() {
    let case = Case::with(&["A50-huge", "A72"], &[]);
    case.run(Ask::chat().of("A72"));
    let before = case.proxy.memory("VmHWM");
    let run = case.run(Ask::to("/v1/responses").of("A50-huge"));
    run.flag("event_too_large", true).end("complete");
    run.is("/counts/token_events", 15);
    run.near("/gaps/token/p50_ms", 20.0);
    run.between("/ttft_ms", 1000.0, f64::INFINITY);
    run.is("/counts/bytes", run.answer.body.len());
    nobody_buffered(&run);
    let after = case.proxy.memory("VmHWM");
    if let (Some(before), Some(after)) = (before, after) {
        assert!(after < before + LITTLE, "grew from {before} to {after} KiB");
    }
}

/// When the server began to write the last part of its first event of at least so many bytes and the first, ms after
/// the request.
fn part(run: &Run, bytes: usize) -> (f64, f64) {
    let since = |at: std::time::Instant| (at - run.answer.asked).as_secs_f64() * 1000.0;
    let mut begun = 0.0;
    let mut start = 0;
    for pair in run.answer.writes.windows(2) {
        let had = pair[0].1;
        if run.answer.body[..had].ends_with(b"\n\n") {
            (start, begun) = (had, since(pair[1].0));
        }
        if pair[1].1 - start >= bytes && run.answer.body[..pair[1].1].ends_with(b"\n\n") {
            return (since(pair[1].0), begun);
        }
    }
    // the first event of all
    let first = run.answer.writes[0];
    let whole = |(_, had): &&(std::time::Instant, usize)| {
        *had >= bytes && run.answer.body[..*had].ends_with(b"\n\n")
    };
    let last = run.answer.writes.iter().find(whole);
    (since(last.expect("a large event").0), since(first.0))
}

/// Equal parts without pauses between them are no sign of a buffer.
fn nobody_buffered(run: &Run) {
    let verdict = run.at("/verdict").to_string();
    for code in ["block_burst", "tick_burst", "count_burst", "whole_body"] {
        assert!(!verdict.contains(code), "{code}: {:#}", run.record);
    }
}
