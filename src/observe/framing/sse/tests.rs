use super::*;

/// Frames as text: `name|data`, `#` for a comment, `-name` for an empty block, `!bytes`.
fn frames(parts: &[&[u8]], limit: usize) -> (Vec<String>, bool) {
    let mut found = Vec::new();
    let mut decoder = SseDecoder::new(limit);
    let mut sink = |frame: Frame<'_>| {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        found.push(match frame {
            Frame::Event { name, data } => format!("{}|{}", text(name), text(data)),
            Frame::Comment => "#".to_owned(),
            Frame::Empty { name } => format!("-{}", text(name)),
            Frame::TooLarge { bytes } => format!("!{bytes}"),
        });
    };
    parts.iter().for_each(|part| decoder.push(part, &mut sink));
    let unterminated = decoder.finish(&mut sink);
    (found, unterminated)
}

/// The stream whole and byte by byte, which must agree.
fn both(stream: &str, limit: usize) -> (Vec<String>, bool) {
    let whole = frames(&[stream.as_bytes()], limit);
    let bytes: Vec<&[u8]> = stream.as_bytes().chunks(1).collect();
    assert_eq!(frames(&bytes, limit), whole, "{stream:?}");
    whole
}

fn events(stream: &str) -> Vec<String> {
    both(stream, 1000).0
}

#[test]
fn line_ends_of_every_kind_and_mixture() {
    for end in ["\n", "\r", "\r\n"] {
        let stream = "data: a§§data: b§event: x§§: c§§".replace('§', end);
        assert_eq!(events(&stream), ["|a", "x|b", "#"], "{end:?}");
    }
    assert_eq!(events("data: a\r\n\rdata: b\n\r\n"), ["|a", "|b"]);
}

#[test]
fn the_examples_of_the_standard() {
    assert_eq!(
        events("data: YHOO\ndata: +2\ndata: 10\n\n"),
        ["|YHOO\n+2\n10"]
    );
    assert_eq!(
        events(
            ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n"
        ),
        ["#", "|first event", "|second event", "| third event"]
    );
    assert_eq!(
        both("data\n\ndata\ndata\n\ndata:", 1000),
        (vec!["|".into(), "|\n".into(), "|".into()], true)
    );
    assert_eq!(events("data:test\n\ndata: test\n\n"), ["|test", "|test"]);
}

#[test]
fn only_the_first_byte_order_mark_is_skipped() {
    assert_eq!(
        events("\u{FEFF}data: a\n\n\u{FEFF}data: b\n\n"),
        ["|a", "-"]
    );
    assert_eq!(frames(&[b"\xEF\xBB", b"\xBFdata: a\n\n"], 99).0, ["|a"]);
    assert_eq!(frames(&[b"\xEF\xBB", b"data: a\n\n"], 99).0, ["-"]);
}

#[test]
fn only_cr_and_lf_end_lines_and_characters_may_be_cut() {
    // U+2028, U+2029 and U+0085 end lines by the rules of Unicode, not of event streams.
    let text = "a\u{2028}b\u{2029}c\u{85}d\u{90A3}";
    assert_eq!(events(&format!("data: {text}\n\n")), [format!("|{text}")]);
}

#[test]
fn a_carriage_return_dispatches_at_once() {
    let mut decoder = SseDecoder::new(99);
    let mut count = 0;
    decoder.push(b"data: a\r\n\r", |_| count += 1);
    assert_eq!(count, 1);
    decoder.push(b"\n", |_| count += 1);
    assert_eq!(count, 1);
}

#[test]
fn blocks_without_data_dispatch_nothing() {
    assert_eq!(
        events("event: ping\n\n\n\nid: 3\nretry: 5\n\nDATA: x\n\n"),
        ["-ping", "-", "-"]
    );
}

#[test]
fn an_unterminated_event_is_handed_out_and_told() {
    for stream in ["data: [DONE]", "data: [DONE]\n", "data: [DONE]\r\n"] {
        assert_eq!(
            both(stream, 99),
            (vec!["|[DONE]".to_owned()], true),
            "{stream:?}"
        );
    }
    for stream in ["", "\n", ": ping", "data: a\n\n: p", "data: a\n\nda"] {
        assert!(!both(stream, 99).1, "{stream:?}");
    }
}

#[test]
fn what_is_too_large_is_skipped_and_counted_however_it_is_cut() {
    let long = "x".repeat(50);
    let stream =
        format!("data: a\n\ndata: {long}\n:c\ndata: b\n\n: {long}\n\nevent: {long}\n\ndata: d\n\n");
    assert_eq!(events(&stream).len(), 6);
    assert_eq!(
        both(&stream, 40),
        (
            ["|a", "#", "!63", "#", "!57", "|d"]
                .map(String::from)
                .to_vec(),
            false
        )
    );
    let two = "data: aaaaaaaaaa\ndata: bbbbbbbbbb\n\n";
    assert_eq!(both(two, 32).0, ["|aaaaaaaaaa\nbbbbbbbbbb"]);
    assert_eq!(both(two, 31).0, ["!32"]);
}

#[test]
fn memory_stays_within_the_limit_and_is_given_back() {
    let limit = 100_000;
    let held = |decoder: &SseDecoder| decoder.block.held.capacity() + decoder.block.name.capacity();
    let feed = |stream: &[u8], part: usize| {
        let mut decoder = SseDecoder::new(limit);
        let (mut most, mut found) = (0, 0);
        for bytes in stream.chunks(part) {
            decoder.push(bytes, |_| found += 1);
            most = most.max(held(&decoder));
        }
        (most, found, held(&decoder))
    };
    let spare = super::super::SPARE + 2 * NAME_LIMIT;
    let one = format!("data: {}\n\n", "x".repeat(limit - 6));
    let lines = format!("data: {}\n", "x".repeat(993)).repeat(limit / 999) + "\n";
    let named = format!("event: {}\ndata: x\n\n", "x".repeat(limit - 14));
    for stream in [&one, &lines, &named] {
        for part in [1000, 16 * 1024, 64 * 1024, stream.len()] {
            let (most, found, after) = feed(stream.as_bytes(), part);
            assert_eq!(found, 1);
            assert!(
                most <= limit + 2 * NAME_LIMIT && after <= spare,
                "{most} {after}"
            );
        }
    }
    let (most, found, after) = feed(&b"data: an endless line ".repeat(20_000), 1000);
    assert!(found == 0 && most <= limit && after <= spare);
}

#[test]
fn long_types_are_cut() {
    let stream = format!("event: {}\ndata: x\n\n", "n".repeat(300));
    assert_eq!(events(&stream), [format!("{}|x", "n".repeat(NAME_LIMIT))]);
}
