//! Healthy streams: nothing may be flagged.

use std::collections::HashSet;
use std::thread;
use std::time::{Duration, Instant};

use super::rig::{Ask, Case, Run};

/// Where a machine is later than this there was no healthy stream.
const LATE: Duration = Duration::from_millis(12);

/// Neither the server was late nor the way to the client.
fn in_time(run: &Run) -> bool {
    let mut took = run.answer.writes.iter().map(|(at, bytes)| {
        let had = run.response.had(*bytes).expect("all of it came");
        had.saturating_duration_since(*at)
    });
    run.answer.late < LATE && took.all(|took| took < LATE)
}

/// The row is of this answer alone.
fn is_of_its_own(run: &Run) {
    run.end("complete").is("/flags", serde_json::json!([]));
    run.is("/counts/token_events", 60).is("/counts/events", 64);
    run.is("/counts/bytes", run.answer.body.len());
    run.is("/tokens/completion", 60);
    let id = run.at("/response/id").as_str().unwrap_or_default();
    assert!(id.starts_with("chatcmpl-"), "{:#}", run.record);
    assert!(
        run.response.text().contains(&format!("\"id\":\"{id}\"")),
        "the row of another answer: {id}"
    );
    run.near("/ttft_ms", 60.0);
    run.between("/gaps/token/p50_ms", 15.0, 40.0);
}

/// What the server's own clock says of the first token and of the gaps.
fn agrees_with_the_server(run: &Run) {
    let first =
        run.answer.writes.iter().find(|(_, had)| {
            run.answer.body[..*had].ends_with(b" \"},\"finish_reason\":null}]}\n\n")
        });
    let (at, _) = first.expect("a word");
    // the clock starts between the client's first byte and the server's last
    let since = |start: Instant| (*at - start).as_secs_f64() * 1000.0;
    let (least, most) = (since(run.answer.asked), since(run.start));
    run.between("/ttft_ms", least - 1.0, most + 25.0);
    run.between("/hold/p50_us", 0.0, 5_000.0);
}

#[test]
fn a72_a_healthy_stream_is_steady_and_rows_do_not_mix() {
    let case = Case::of("A72");
    let mut client = case.client();
    let mut ids = HashSet::new();
    let (mut asked, mut healthy) = (0, 0);
    while healthy < 3 {
        let run = case.run_on(&mut client, Ask::chat());
        is_of_its_own(&run);
        run.is("/upstream/reused", asked > 0);
        assert!(ids.insert(run.at("/response/id").to_string()));
        asked += 1;
        if in_time(&run) || asked > 8 {
            healthy += 1;
            agrees_with_the_server(&run);
            run.verdict("steady", "");
            run.is("/stalls", serde_json::json!([]));
        }
    }
}

#[test]
fn a72_fifty_healthy_streams_at_once_are_steady() {
    let case = Case::of("A72");
    let runs: Vec<Run> = thread::scope(|scope| {
        let ask = |_| scope.spawn(|| case.run(Ask::chat()));
        let asking: Vec<_> = (0..50).map(ask).collect();
        let finish = |asked: thread::ScopedJoinHandle<Run>| asked.join().expect("it is served");
        asking.into_iter().map(finish).collect()
    });
    let mut ids = HashSet::new();
    let mut healthy = 0;
    for run in &runs {
        is_of_its_own(run);
        assert!(ids.insert(run.at("/response/id").to_string()));
        if in_time(run) {
            run.verdict("steady", "");
            healthy += 1;
        }
    }
    println!("{healthy} of {} came in time", runs.len());
}
