//! The framing of event streams agrees with others': here with the crate `sse-stream`, in
//! `tests/peers/differential.test.mjs` with the npm package `eventsource-parser`. Where they differ on purpose:
//!
//! | what | here | `sse-stream` | `eventsource-parser` |
//! |---|---|---|---|
//! | a last event without its blank line | is handed out at the end, and told | is dropped, as the standard wants | is dropped |
//! | a block without data | `Empty`, with its type | comes if it has a type, a valid id or a valid delay | is dropped |
//! | a comment | `Comment` | is dropped | comes with its text |
//! | `id` and `retry`, also an id with NUL in it | no part of a frame | come as values | come as values |
//! | bytes that are no UTF-8 | pass as they are | end the stream | are replaced |
//! | an event's type | is cut at 256 bytes | comes whole | comes whole |
//! | an event beyond the limit | `TooLarge` | comes (no limit) | comes (no limit by default) |
//! | a CR at the end of a read | ends its line | ends its line | ends it once more has come |
//!
//! All the rest must be equal: types and data of all events, in any line ends and any cuts.

mod support;

use std::convert::Infallible;

use dripline::observe::framing::{DEFAULT_EVENT_LIMIT, Frame, SseDecoder};
use futures_util::{FutureExt, StreamExt, stream};
use sse_stream::SseByteStream;
use support::Random;

const STREAMS: u64 = 5_000;

/// A block's type and data, where it has one of them.
type Block = (String, Option<String>);

#[test]
fn our_events_are_those_of_sse_stream() {
    let mut events = 0;
    for seed in 0..STREAMS {
        let mut random = Random(seed);
        let stream = generated(&mut random);
        let pieces = cut(&mut random, &stream);
        let found = ours(&pieces);
        assert_eq!(
            found,
            theirs(&pieces),
            "seed {seed}: {}",
            stream.escape_debug()
        );
        events += found.len();
    }
    assert!(events as u64 > 2 * STREAMS, "only {events} events");
}

fn ours(pieces: &[&[u8]]) -> Vec<Block> {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("lines of whole characters");
    let mut blocks = Vec::new();
    let mut decoder = SseDecoder::new(DEFAULT_EVENT_LIMIT);
    for piece in pieces {
        decoder.push(piece, |frame| match frame {
            Frame::Event { name, data } => blocks.push((text(name), Some(text(data)))),
            Frame::Empty { name } if !name.is_empty() => blocks.push((text(name), None)),
            Frame::Empty { .. } | Frame::Comment => {}
            Frame::TooLarge { .. } => panic!("no stream is so large"),
        });
    }
    blocks
}

fn theirs(pieces: &[&[u8]]) -> Vec<Block> {
    let pieces = stream::iter(pieces.iter().copied().map(Ok::<_, Infallible>));
    let blocks = SseByteStream::new(pieces).filter_map(async |block| {
        let block = block.expect("whole characters");
        let name = block.event.unwrap_or_default();
        (block.data.is_some() || !name.is_empty()).then_some((name, block.data))
    });
    blocks
        .collect()
        .now_or_never()
        .expect("all pieces are there")
}

/// A stream of lines that servers write, and of some that they should not.
fn generated(random: &mut Random) -> String {
    const FIELDS: [&str; 12] = [
        "data",
        "data",
        "data",
        "data",
        "event",
        "event",
        "id",
        "retry",
        "",
        "Data",
        "x",
        "\u{FEFF}data",
    ];
    const COLONS: [&str; 5] = [": ", ": ", ":", ":  ", ""];
    const VALUES: [&str; 14] = [
        "",
        "a",
        "message",
        "[DONE]",
        "{\"choices\":[{\"delta\":{\"content\":\"word \"}}]}",
        "caf\u{e9} \u{90A3}\u{1F30D}",
        "\u{2028}\u{85}\u{FEFF}",
        ": :",
        " two spaces ",
        "3000",
        "-1",
        "a\0b",
        "data: x",
        "\t",
    ];
    const ENDS: [&str; 3] = ["\n", "\r", "\r\n"];

    let mut pick = |from: &[&'static str]| from[random.below(from.len())];
    let usual = pick(&["\n", "\r\n", "\r", ""]);
    let mut stream = String::from(pick(&["", "", "\u{FEFF}", "\u{FEFF}\u{FEFF}"]));
    for _ in 0..pick(&["aaaaaaaaaaaa", "aaaaaa", "aaa"]).len() {
        for _ in 0..pick(&["", "a", "a", "aa", "aaa"]).len() {
            stream += pick(&FIELDS);
            stream += pick(&COLONS);
            stream += pick(&VALUES);
            stream += if usual.is_empty() { pick(&ENDS) } else { usual };
        }
        stream += if usual.is_empty() { pick(&ENDS) } else { usual };
    }
    if random.below(4) == 0 {
        stream.pop(); // the end is missing
    }
    stream
}

/// The stream whole, byte by byte, or cut anywhere, also within characters.
fn cut<'a>(random: &mut Random, stream: &'a str) -> Vec<&'a [u8]> {
    let mut rest = stream.as_bytes();
    let longest = [1, 3, 20, rest.len().max(1)][random.below(4)];
    let mut pieces = Vec::new();
    while !rest.is_empty() {
        let length = 1 + random.below(longest.min(rest.len()));
        let (piece, others) = rest.split_at(length);
        pieces.push(piece);
        rest = others;
    }
    pieces
}
