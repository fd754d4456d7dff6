//! `dripline hops` end to end: simulated server, dripline, a relay that holds in its own way, dripline, client; and then
//! the binary over both logs.

mod support;

/// Answers that are not whole on both sides.
#[path = "hops/ends.rs"]
mod ends;
/// Server, driplines and hop in a line, and their logs.
#[path = "hops/line.rs"]
mod line;
/// What stands between the two.
#[path = "hops/relay.rs"]
mod relay;

use std::process::Command;
use std::thread;

use line::Line;
use relay::Hold;
use serde_json::Value;
use tempfile::TempDir;

/// Joins the two records of a request.
const TRACE: &str = "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n";
/// Between two events, ms.
const GAP: f64 = 25.0;
/// Events with a word.
const WORDS: f64 = 60.0;
/// A busy machine holds things back by itself; so often it gets the chance not to.
const TRIES: usize = 4;

/// The pair of one request through such a relay, once it has this verdict.
fn pair(hold: Hold, more: &[&str], verdict: &str) -> Value {
    let mut pair = Value::Null;
    for _ in 0..TRIES {
        let line = Line::start(hold, more);
        line.ask(TRACE);
        let mut pairs = line.stop().pairs();
        assert_eq!(pairs.len(), 1);
        pair = pairs.remove(0);
        assert_eq!(pair["joined_by"], "trace_id");
        assert_eq!(pair["bytes_changed"], false);
        assert_eq!(pair["events"]["inner"], pair["events"]["outer"]);
        if pair["verdict"] == verdict {
            return pair;
        }
    }
    panic!("not {verdict}: {pair:#}");
}

fn with_timelines(hold: Hold, verdict: &str) -> Value {
    let pair = pair(hold, &["--timeline"], verdict);
    assert_eq!(pair["waits"]["aligned_by"], "bytes");
    pair
}

fn number(pair: &Value, pointer: &str) -> f64 {
    pair.pointer(pointer)
        .and_then(Value::as_f64)
        .unwrap_or_else(|| panic!("no {pointer}: {pair:#}"))
}

/// Asserts that a figure is `expected`, give or take a fifth and some ms of a busy machine.
fn near(pair: &Value, pointer: &str, expected: f64) {
    let value = number(pair, pointer);
    let off = (value - expected).abs();
    assert!(
        off <= expected / 5.0 + 30.0,
        "{pointer}: {value}, not {expected}: {pair:#}"
    );
}

#[test]
fn a_hop_that_passes_everything_on() {
    let pair = with_timelines(Hold::None, "passed");
    near(&pair, "/ttft_added_ms", 0.0);
    near(&pair, "/gaps/outer/p50_ms", GAP);
}

#[test]
fn a_hop_that_gathers_the_whole_answer() {
    let pair = with_timelines(Hold::Whole, "held_whole_body");
    near(&pair, "/ttft_added_ms", GAP * WORDS);
    near(&pair, "/end_added_ms", 0.0);
    assert!(number(&pair, "/chunks/outer") * 10.0 < number(&pair, "/chunks/inner"));
    assert!(number(&pair, "/gaps/outer/p50_ms") < 1.0);
}

#[test]
fn a_hop_that_lets_go_of_blocks() {
    let pair = with_timelines(Hold::Block(2048), "held_blocks");
    // the framing of chunks is in the block and not in the body
    let block = number(&pair, "/evidence/burst_bytes");
    assert!((1800.0..=2048.0).contains(&block), "{pair:#}");
    assert!(number(&pair, "/events_per_chunk/outer") > 4.0);
    assert!(
        pair["hint"]
            .as_str()
            .unwrap()
            .contains("proxy_buffering off")
    );
}

#[test]
fn a_hop_that_lets_go_by_a_timer() {
    let pair = with_timelines(Hold::Tick(230), "held_ticks");
    near(&pair, "/evidence/burst_period_ms", 230.0);
    let longest = number(&pair, "/evidence/wait_max_ms");
    assert!((150.0..330.0).contains(&longest), "{pair:#}");
}

#[test]
fn a_hop_that_is_one_event_behind() {
    let pair = with_timelines(Hold::OneBehind, "one_behind");
    near(&pair, "/evidence/wait_p50_ms", GAP);
    assert!(number(&pair, "/ttft_added_ms") > GAP / 2.0);
    assert!(number(&pair, "/end_added_ms") < GAP / 2.0 + 30.0);
}

#[test]
fn a_hop_that_is_late_by_the_same_time() {
    let pair = with_timelines(Hold::Delay(150), "constant_delay");
    near(&pair, "/ttft_added_ms", 150.0);
    near(&pair, "/waits/floor_ms", 150.0);
    near(&pair, "/gaps/outer/p50_ms", GAP);
}

#[test]
fn a_hop_that_holds_the_header() {
    let pair = with_timelines(Hold::Header, "held_header");
    near(&pair, "/header_added_ms", 120.0);
    near(&pair, "/ttft_added_ms", 0.0);
}

#[test]
fn without_timelines_the_figures_say_less() {
    let pair = pair(Hold::Whole, &[], "held_whole_body");
    assert_eq!(pair["waits"], Value::Null);
    assert!(pair["no_waits"].as_str().unwrap().contains("no timeline"));
    assert!(number(&pair, "/confidence") < 0.7);
}

#[test]
fn requests_are_joined_without_a_trace_and_told_in_words() {
    let line = Line::start(Hold::Block(2048), &["--timeline"]);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| line.ask(""));
        }
    });
    let logs = line.stop();
    for pair in logs.pairs() {
        assert_eq!(pair["joined_by"], "answer_id");
    }
    let mut log = std::fs::read_to_string(logs.path("outer.jsonl")).unwrap();
    log.insert_str(0, "half a li\n");
    std::fs::write(logs.path("outer.jsonl"), &log).unwrap();

    let output = logs.hops(&[]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && output.stderr.is_empty());
    for part in [
        "3 requests: 3 by answer's id",
        "outer.jsonl, line 1: is not JSON",
        "into the hop ",
        "out of the hop ",
        "held_blocks",
        "started_at is not used",
    ] {
        assert!(text.contains(part), "no {part}: {text}");
    }
    assert!(!text.contains('\x1b'), "colours in a pipe: {text}");

    let id = logs.pairs()[1]["inner"]["id"].as_str().unwrap().to_owned();
    let one = String::from_utf8(logs.hops(&["--id", &id]).stdout).unwrap();
    assert!(one.contains("oldest wait") && one.contains(&id), "{one}");
}

#[test]
fn exit_codes_say_whether_it_worked() {
    let dir = TempDir::new().unwrap();
    std::fs::write(dir.path().join("empty.jsonl"), "").unwrap();
    let hops = |args: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_dripline"))
            .arg("hops")
            .args(args)
            .current_dir(dir.path())
            .output()
            .unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        (output.status.code(), said)
    };
    let (code, said) = hops(&["missing.jsonl", "empty.jsonl"]);
    assert!(code == Some(1) && said.contains("missing.jsonl"), "{said}");
    let (code, said) = hops(&["empty.jsonl", "empty.jsonl"]);
    assert!(code == Some(1) && said.contains("has no record"), "{said}");
    assert_eq!(hops(&["empty.jsonl"]).0, Some(2));
    assert_eq!(hops(&["-", "-"]).0, Some(2));
}
