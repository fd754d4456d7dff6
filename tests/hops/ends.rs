//! Answers that are not whole on both sides.

use serde_json::Value;

use crate::line::Line;
use crate::relay::Hold;
use crate::support::{Client, chat_request, pause};
use crate::{GAP, TRACE, WORDS, number};

/// Some of the answer's bytes, by which it is not at its end.
const SOME: usize = 3_000;

/// The pair of a request whose client reads until it has so many bytes or there are no more, and leaves.
fn pair(hold: Hold, bytes: usize) -> Value {
    let line = Line::start(hold, &["--timeline"]);
    let mut client = Client::connect(line.outer.addr);
    client.send(chat_request(TRACE));
    let mut response = client.head("POST");
    client.read_until(&mut response, bytes);
    client.leave();
    // what the server would take to its end
    pause((GAP * WORDS) as u64 + 500);
    let mut pairs = line.stop().pairs();
    assert_eq!(pairs.len(), 1);
    let pair = pairs.remove(0);
    assert_ne!(pair["bytes_changed"], true, "{pair:#}");
    assert_eq!(pair["waits"]["aligned_by"], "bytes", "{pair:#}");
    pair
}

fn says(pair: &Value, part: &str) {
    let sentence = pair["sentence"].as_str().unwrap();
    assert!(sentence.contains(part), "no {part}: {pair:#}");
}

#[test]
fn a_hop_that_does_not_pass_a_cancel_on() {
    let pair = pair(Hold::Deaf, SOME);
    says(&pair, "let the server work on for");
    assert!(number(&pair, "/evidence/worked_on_ms") > GAP * WORDS / 4.0);
    assert!(
        pair["hint"]
            .as_str()
            .unwrap()
            .contains("when its client leaves")
    );
}

#[test]
fn a_hop_that_passes_a_cancel_on() {
    let pair = pair(Hold::None, SOME);
    says(&pair, "The app left after");
    assert_ne!(pair["verdict"], "changed_bytes", "{pair:#}");
    assert_eq!(pair["evidence"]["worked_on_ms"], Value::Null, "{pair:#}");
}

#[test]
fn a_hop_that_cuts() {
    let pair = pair(Hold::Cut(SOME), usize::MAX);
    assert_eq!(pair["verdict"], "cut", "{pair:#}");
    says(&pair, "The hop cut the answer after");
    let bytes = number(&pair, "/evidence/cut_after_bytes");
    assert!(bytes > 1_000.0 && bytes <= SOME as f64, "{pair:#}");
}
