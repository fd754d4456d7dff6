//! Any split of any stream gives the same frames as a naive oracle that looks at the whole input,
//! and gives each of them at the byte that completes it.

mod oracle;

use dripline::observe::framing::{Decoder, NdJsonDecoder, SseDecoder};
use dripline::observe::request::RequestScan;
use oracle::{BOM, Found, facts_oracle, json_lines_oracle, own, sse_oracle};
use proptest::prelude::*;
use proptest::sample::select;

/// Decodes the parts one after the other. After each, what came so far must be what the `oracle`
/// finds in so much of the stream; at the end, the frame that was cut off must come too.
fn check(
    mut decoder: Decoder,
    parts: &[&[u8]],
    oracle: impl Fn(&[u8]) -> Found,
) -> Result<(), TestCaseError> {
    let (mut frames, mut fed) = (Vec::new(), Vec::new());
    for part in parts {
        decoder.push(part, |frame| frames.push(own(frame)));
        fed.extend_from_slice(part);
        prop_assert_eq!(&frames, &oracle(&fed).frames, "after {} bytes", fed.len());
    }
    let unterminated = decoder.finish(|frame| frames.push(own(frame)));
    let expected = oracle(&fed);
    prop_assert_eq!(unterminated, expected.cut);
    prop_assert_eq!(frames, expected.all(), "at the end");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn sse_frames_equal_the_oracles(stream in stream(), at in places(), limit in limit()) {
        for parts in splits(&stream, &at) {
            let decoder = Decoder::Sse(SseDecoder::new(limit));
            check(decoder, &parts, |stream| sse_oracle(stream, limit))?;
        }
    }

    #[test]
    fn json_lines_equal_the_oracles(stream in stream(), at in places(), limit in limit()) {
        for parts in splits(&stream, &at) {
            let decoder = Decoder::NdJson(NdJsonDecoder::new(limit));
            check(decoder, &parts, |stream| json_lines_oracle(stream, limit))?;
        }
    }

    #[test]
    fn the_request_scan_agrees_with_a_json_parser(body in body(), at in places()) {
        let facts = facts_oracle(&serde_json::from_str(&body).unwrap());
        for parts in splits(body.as_bytes(), &at) {
            let mut scan = RequestScan::new();
            parts.iter().for_each(|part| scan.push(part));
            prop_assert_eq!(&scan.facts(), &facts);
        }
    }

    #[test]
    fn no_bytes_are_too_odd_for_the_request_scan(body in stream(), at in places()) {
        let mut found = splits(&body, &at).into_iter().map(|parts| {
            let mut scan = RequestScan::new();
            scan.push(b"{\"model\":\"");
            parts.iter().for_each(|part| scan.push(part));
            scan.push(b"\",\"stream\":true}");
            scan.facts()
        });
        let whole = found.next();
        prop_assert!(found.all(|facts| Some(facts) == whole));
    }
}

/// The bytes whole, one by one, and cut at the given places.
fn splits<'a>(bytes: &'a [u8], at: &[usize]) -> [Vec<&'a [u8]>; 3] {
    let mut places: Vec<usize> = at.iter().map(|place| place % (bytes.len() + 1)).collect();
    places.sort_unstable();
    places.push(bytes.len());
    let mut from = 0;
    let cut = places
        .into_iter()
        .map(|to| &bytes[std::mem::replace(&mut from, to)..to]);
    [vec![bytes], bytes.chunks(1).collect(), cut.collect()]
}

fn places() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(any::<usize>(), 0..8)
}

/// Limits that some events exceed but no cut byte order mark does, and one that none does.
fn limit() -> impl Strategy<Value = usize> {
    prop_oneof![3usize..60, Just(1 << 20)]
}

/// Streams as servers write them, and a soup of their parts.
fn stream() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![blocks(), soup()]
}

/// Fields, comments and blank lines in line ends of every kind; the end may be missing.
fn blocks() -> impl Strategy<Value = Vec<u8>> {
    let field = select(vec![
        "data", "data", "data", "event", "id", "retry", "Data", "x", "",
    ]);
    let colon = select(vec![":", ": ", ":  ", ""]);
    let value = prop_oneof![
        2 => "[a-z:\u{2028}\u{85} ]{0,12}".prop_map(String::into_bytes),
        1 => select(vec!["[DONE]", "{\"a\":1}", "\u{FEFF}", "\u{90A3}"]).prop_map(|v| v.into()),
        1 => prop::collection::vec(any::<u8>(), 0..6),
    ];
    let end = || select(vec!["\n", "\r", "\r\n"]);
    let line = (field, colon, value, end()).prop_map(|(field, colon, value, end)| {
        [field.as_bytes(), colon.as_bytes(), &value, end.as_bytes()].concat()
    });
    let block = (prop::collection::vec(line, 0..5), end());
    let block = block.prop_map(|(lines, end)| [&lines.concat(), end.as_bytes()].concat());
    let mark = select(vec![BOM, &BOM[..2], &BOM[..1], b""]);
    let stream = (mark, prop::collection::vec(block, 0..6), 0usize..12);
    stream.prop_map(|(mark, blocks, missing)| {
        let mut stream = [mark, &blocks.concat()].concat();
        stream.truncate(stream.len() - missing.saturating_sub(4).min(stream.len()));
        stream
    })
}

fn soup() -> impl Strategy<Value = Vec<u8>> {
    let parts = vec![
        "\n",
        "\r",
        "\r\n",
        "\n\n",
        "\r\n\r\n",
        "\r\r",
        ":",
        " ",
        "data",
        "data:",
        "data: ",
        "event: x",
        "event",
        "id: 7",
        ": ping",
        "\u{FEFF}",
        "{\"a\":1}",
        "\\",
        "\"",
        "data: \u{90A3}\n\n",
    ];
    let piece = prop_oneof![
        8 => select(parts).prop_map(|text| text.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..12),
        1 => "[a-z]{0,40}".prop_map(String::into_bytes),
    ];
    prop::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
}

/// The text of a JSON object: nested things, escapes, keys given twice, white space.
fn body() -> impl Strategy<Value = String> {
    let text = "[a-z\"\\\\/\u{0}-\u{20}\u{e9}\u{1F30D}]{0,12}";
    let leaf = prop_oneof![
        select(vec![
            "null",
            "true",
            "false",
            "-1.5e3",
            "0",
            r#""true""#,
            r#""a\\\"b\u002F\ud83c\udf0d""#
        ])
        .prop_map(str::to_owned),
        text.prop_map(|text| serde_json::to_string(&text).unwrap()),
    ];
    let value = leaf.prop_recursive(3, 12, 4, |inner| {
        let items = (prop::collection::vec(inner.clone(), 0..4), space());
        prop_oneof![
            items.prop_map(|(items, space)| {
                format!(
                    "[{space}{}{space}]",
                    items.join(&format!("{space},{space}"))
                )
            }),
            (prop::collection::vec((key(), inner), 0..4), space())
                .prop_map(|(fields, space)| object(fields, space)),
        ]
    });
    (prop::collection::vec((key(), value), 0..8), space())
        .prop_map(|(fields, space)| format!("{space}{}{space}", object(fields, space)))
}

/// A key's raw text.
fn key() -> impl Strategy<Value = &'static str> {
    select(vec![
        "model",
        "stream",
        "tools",
        "functions",
        "mod\\u0065l",
        "\\u0074ools",
        "messages",
        "mod\\\"el",
        "model\\\\",
        "",
    ])
}

fn space() -> impl Strategy<Value = &'static str> {
    select(vec!["", " ", "\n\t", "\r\n"])
}

fn object(fields: Vec<(&str, String)>, space: &str) -> String {
    let field = |(key, value)| format!("{space}\"{key}\"{space}:{space}{value}{space}");
    let fields: Vec<String> = fields.into_iter().map(field).collect();
    format!("{{{}}}", fields.join(","))
}
