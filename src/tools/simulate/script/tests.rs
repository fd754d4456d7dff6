use std::io::Read;

use super::*;

const ASKED: fn() -> Asked = || Asked {
    api: Api::Chat,
    wire: Wire::Events,
    model: "m".to_owned(),
    stream: true,
    http11: true,
    keep_alive: true,
    accepts: Coding::ALL.to_vec(),
    body: 40,
};

fn script(toml: &str) -> Script {
    script_for(toml, &ASKED())
}

fn script_for(toml: &str, asked: &Asked) -> Script {
    Script::of(&Scenario::from_toml("t", toml).unwrap(), asked, 1, 0)
}

/// Time in milliseconds and text of each move, the head taken off the first.
fn moves(script: &Script) -> Vec<(u128, String)> {
    let text = |step: &Move| {
        let text = String::from_utf8_lossy(&step.bytes).into_owned();
        let body = text
            .find("\r\n\r\n")
            .filter(|_| text.starts_with("HTTP/"))
            .map_or(0, |end| end + 4);
        (step.at.as_millis(), text[body..].to_owned())
    };
    script.moves.iter().map(text).collect()
}

fn head(script: &Script) -> String {
    let first = String::from_utf8_lossy(&script.moves[0].bytes).into_owned();
    first[..first.find("\r\n\r\n").unwrap() + 2].to_owned()
}

fn text(millis: u128, text: &str) -> (u128, String) {
    (millis, text.to_owned())
}

#[test]
fn times_add_up_and_the_pause_follows_each_write() {
    let script = script(
        "framing = 'length'\nsteps = [{ wait = '7ms' }, { write = { text = 'a' }, times = 2, every = '5ms' }, \
         { each = [{ text = 'b' }, [{ text = 'c' }, { text = 'd' }]] }, { wait = '3ms' }]",
    );
    assert_eq!(
        moves(&script),
        [text(7, "a"), text(12, "a"), text(17, "b"), text(17, "cd")]
    );
    assert_eq!(script.end, Duration::from_millis(20));
    assert_eq!(script.after, After::KeepAlive);
    assert!(head(&script).contains("Content-Length: 5\r\n"));
}

#[test]
fn chunked_coding_wraps_each_write_and_ends_the_body() {
    let script = script(
        "steps = [{ head = true }, { wait = '4ms' }, { write = { text = '0123456789abcdef' } }]",
    );
    assert_eq!(
        moves(&script),
        [
            text(0, ""),
            text(4, "10\r\n0123456789abcdef\r\n"),
            text(4, "0\r\n\r\n")
        ]
    );
}

#[test]
fn a_cut_body_is_not_ended_and_its_length_still_promises_all() {
    let script = script(
        "framing = 'length'\nsteps = [{ write = { text = 'abcdef' }, cut = 2 }, { end = 'close' }]",
    );
    assert_eq!(moves(&script), [text(0, "ab")]);
    assert_eq!(script.after, After::Close);
    assert!(
        head(&script).contains("Content-Length: 6\r\n")
            && head(&script).contains("Connection: close\r\n")
    );
}

#[test]
fn split_cuts_from_either_end_and_ignores_what_is_no_border() {
    let script = script(
        "framing = 'length'\nsteps = [{ write = { text = 'abcdef' }, split = [-1, 2, 2, 0, 99], every = '5ms' }]",
    );
    assert_eq!(
        moves(&script),
        [text(0, "ab"), text(5, "cde"), text(10, "f")]
    );
}

#[test]
fn held_bytes_pass_in_full_blocks_at_the_tick_or_at_the_end() {
    let held = |hold: &str| {
        let steps =
            "steps = [{ wait = '1ms' }, { write = { text = 'abcde' }, times = 4, every = '10ms' }]";
        moves(&script(&format!(
            "framing = 'close'\nhold = {{ {hold} }}\n{steps}"
        )))
    };
    assert_eq!(
        held("bytes = 4"),
        [
            text(1, "abcd"),
            text(11, "eabc"),
            text(21, "deab"),
            text(31, "cdeabcde")
        ]
    );
    assert_eq!(
        held("every = '15ms'"),
        [text(15, "abcdeabcde"), text(30, "abcde"), text(41, "abcde")]
    );
    assert_eq!(held("until = 'end'"), [text(41, "abcdeabcdeabcdeabcde")]);
}

#[test]
fn gzip_is_flushed_after_each_write_or_never() {
    let zipped = |gzip: &str, asked: &Asked| {
        let steps = "steps = [{ write = { text = 'some words ' }, times = 3, every = '10ms' }]";
        script_for(
            &format!("framing = 'close'\ngzip = '{gzip}'\n{steps}"),
            asked,
        )
    };
    let body = |script: &Script| {
        let all: Vec<u8> = script
            .moves
            .iter()
            .flat_map(|step| step.bytes.clone())
            .collect();
        let start = all.windows(4).position(|four| four == b"\r\n\r\n").unwrap() + 4;
        let mut text = String::new();
        flate2::read::GzDecoder::new(&all[start..])
            .read_to_string(&mut text)
            .unwrap();
        text
    };
    let flushed = zipped("flush", &ASKED());
    assert_eq!(
        flushed
            .moves
            .iter()
            .map(|step| step.at.as_millis())
            .collect::<Vec<_>>(),
        [0, 10, 20, 30]
    );
    assert_eq!(body(&flushed), "some words some words some words ");
    assert!(head(&flushed).contains("Content-Encoding: gzip\r\n"));

    let unflushed = zipped("no-flush", &ASKED());
    let (last, before) = unflushed.moves.split_last().unwrap();
    let early: usize = before.iter().map(|step| step.bytes.len()).sum();
    assert_eq!(last.at.as_millis(), 30);
    assert_eq!(
        early,
        head(&unflushed).len() + 2 + 10,
        "only the ten bytes of the gzip head come early"
    );
    assert_eq!(body(&unflushed), body(&flushed));

    let refused = zipped(
        "flush",
        &Asked {
            accepts: vec![Coding::Br],
            ..ASKED()
        },
    );
    assert!(!head(&refused).contains("gzip"));
}

#[test]
fn each_coding_gives_the_text_back_and_flushed_ones_each_write_at_its_time() {
    let steps = "steps = [{ write = { text = 'some words ' }, times = 30, every = '10ms' }]";
    for coding in Coding::ALL {
        let zipped = |flush: &str| {
            let name = coding.name();
            let script = script(&format!("framing = 'close'\n{name} = '{flush}'\n{steps}"));
            let moves: Vec<u128> = script
                .moves
                .iter()
                .map(|step| step.at.as_millis())
                .collect();
            let all: Vec<u8> = script.moves.iter().flat_map(|m| m.bytes.clone()).collect();
            let start = all.windows(4).position(|four| four == b"\r\n\r\n").unwrap() + 4;
            let body = &all[start..];
            let mut text = String::new();
            let mut reader: Box<dyn Read> = match coding {
                Coding::Gzip => Box::new(flate2::read::GzDecoder::new(body)),
                Coding::Deflate => Box::new(flate2::read::ZlibDecoder::new(body)),
                Coding::Br => Box::new(brotli::Decompressor::new(body, 4096)),
                Coding::Zstd => Box::new(zstd::stream::read::Decoder::new(body).unwrap()),
            };
            reader.read_to_string(&mut text).unwrap();
            assert_eq!(text, "some words ".repeat(30), "{coding:?} {flush}");
            moves
        };
        let flushed = zipped("flush");
        assert!(
            flushed.len() >= 30
                && flushed[..30]
                    .iter()
                    .eq((0..300).step_by(10).collect::<Vec<_>>().iter()),
            "{coding:?} {flushed:?}"
        );
        let unflushed = zipped("no-flush");
        assert!(
            unflushed.len() <= 3 && unflushed.last() == Some(&300),
            "{coding:?} {unflushed:?}"
        );
    }
}

#[test]
fn writes_are_padded_and_cut_into_equal_parts() {
    let script = script(
        "framing = 'length'\nsteps = [{ write = { text = \"abc\\n\\n\" }, pad = 8, split = 3, every = '5ms' }]",
    );
    assert_eq!(
        moves(&script),
        [text(0, "abc"), text(5, "   "), text(10, "\n\n")]
    );
}

#[test]
fn interim_heads_go_before_the_head() {
    let script =
        script("steps = [{ interim = 103 }, { wait = '5ms' }, { write = { text = 'a' } }]");
    assert_eq!(script.moves[0].bytes, b"HTTP/1.1 103 Early Hints\r\n\r\n");
    assert_eq!(
        (
            script.moves[0].at.as_millis(),
            script.moves[1].at.as_millis()
        ),
        (0, 5)
    );
}

#[test]
fn an_error_status_is_told_in_plain_json() {
    let script =
        script("status = 429\nframing = 'length'\nsteps = [{ write = { error = 'busy' } }]");
    assert!(head(&script).contains("Content-Type: application/json\r\n"));
    let json: serde_json::Value = serde_json::from_str(&moves(&script)[0].1).unwrap();
    assert_eq!(json["error"]["code"], 429);
    assert_eq!(json["error"]["type"], "rate_limit_error");
}

#[test]
fn the_scenario_s_fields_replace_remove_and_add() {
    let script = script(
        "status = 503\nheaders = ['content-type: a/b', 'CACHE-CONTROL:', 'Retry-After: 7']\nsteps = []",
    );
    let head = head(&script);
    assert!(
        head.starts_with("HTTP/1.1 503 Service Unavailable\r\nServer: dripline-simulate\r\n"),
        "{head}"
    );
    assert!(
        head.ends_with("content-type: a/b\r\nRetry-After: 7\r\n"),
        "{head}"
    );
    assert!(
        !head.contains("Cache") && !head.contains("CACHE") && !head.contains("event-stream"),
        "{head}"
    );
}

#[test]
fn an_http10_answer_and_an_http10_client_get_no_chunks() {
    let answer = script("framing = 'http10'\nsteps = [{ write = { text = 'a' } }]");
    assert!(
        head(&answer).starts_with("HTTP/1.0 200 OK\r\n") && !head(&answer).contains("Connection")
    );
    assert_eq!(
        (moves(&answer), answer.after),
        (vec![text(0, "a")], After::Close)
    );

    let asked = Asked {
        http11: false,
        keep_alive: false,
        ..ASKED()
    };
    let old = script_for("steps = [{ write = { text = 'a' } }]", &asked);
    assert_eq!((moves(&old), old.after), (vec![text(0, "a")], After::Close));
}

#[test]
fn without_stream_the_answer_is_one_object_at_the_end() {
    let asked = Asked {
        stream: false,
        ..ASKED()
    };
    let whole = script_for(
        "gzip = 'flush'\nsteps = [{ write = 'word', times = 2, every = '5ms' }, { end = 'close' }]",
        &asked,
    );
    assert_eq!(
        (
            whole.moves.len(),
            whole.moves[0].at.as_millis(),
            whole.after
        ),
        (1, 10, After::KeepAlive)
    );
    let json: serde_json::Value = serde_json::from_str(&moves(&whole)[0].1).unwrap();
    assert_eq!(json["choices"][0]["message"]["content"], "Each word ");

    let failed = script_for(
        "status = 429\nframing = 'length'\nsteps = [{ write = { text = 'busy' } }]",
        &asked,
    );
    assert_eq!(
        moves(&failed),
        [text(0, "busy")],
        "an error status is answered as scripted"
    );
}

#[test]
fn ranges_are_drawn_within_their_bounds_and_the_same_for_the_same_number() {
    let scenario = Scenario::from_toml(
        "t",
        "steps = [{ write = 'word', times = 200, every = '10ms..30ms' }]",
    )
    .unwrap();
    let times = |number| {
        Script::of(&scenario, &ASKED(), number, 0)
            .moves
            .iter()
            .map(|step| step.at)
            .collect::<Vec<_>>()
    };
    let gaps: Vec<u128> = times(1)
        .windows(2)
        .map(|pair| (pair[1] - pair[0]).as_micros())
        .collect();
    assert!(
        gaps.iter().all(|gap| (10_000..=30_000).contains(gap)),
        "{gaps:?}"
    );
    assert!(gaps.iter().any(|&gap| gap < 15_000) && gaps.iter().any(|&gap| gap > 25_000));
    assert_eq!(times(1), times(1));
    assert_ne!(times(1), times(2));
}
