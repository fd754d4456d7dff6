use std::io::Write;

use super::*;

const CODINGS: [&str; 4] = ["gzip", "deflate", "br", "zstd"];

/// Encodes each piece and flushes after it.
fn encoded(coding: &str, pieces: &[Vec<u8>]) -> Vec<Vec<u8>> {
    fn run<W: Write>(
        mut writer: W,
        pieces: &[Vec<u8>],
        take: impl Fn(&mut W) -> Vec<u8>,
    ) -> (Vec<Vec<u8>>, W) {
        let parts = pieces
            .iter()
            .map(|piece| {
                writer.write_all(piece).unwrap();
                writer.flush().unwrap();
                take(&mut writer)
            })
            .collect();
        (parts, writer)
    }
    let level = flate2::Compression::default();
    let (mut parts, end) = match coding {
        "gzip" => {
            let writer = flate2::write::GzEncoder::new(Vec::new(), level);
            let (parts, writer) = run(writer, pieces, |w| std::mem::take(w.get_mut()));
            (parts, writer.finish().unwrap())
        }
        "deflate" => {
            let writer = flate2::write::ZlibEncoder::new(Vec::new(), level);
            let (parts, writer) = run(writer, pieces, |w| std::mem::take(w.get_mut()));
            (parts, writer.finish().unwrap())
        }
        "bare deflate" => {
            let writer = flate2::write::DeflateEncoder::new(Vec::new(), level);
            let (parts, writer) = run(writer, pieces, |w| std::mem::take(w.get_mut()));
            (parts, writer.finish().unwrap())
        }
        "br" => {
            let writer = brotli::CompressorWriter::new(Vec::new(), 4096, 5, 20);
            let (parts, writer) = run(writer, pieces, |w| std::mem::take(w.get_mut()));
            (parts, writer.into_inner())
        }
        "zstd" => {
            let writer = zstd::stream::write::Encoder::new(Vec::new(), 3).unwrap();
            let (parts, writer) = run(writer, pieces, |w| std::mem::take(w.get_mut()));
            (parts, writer.finish().unwrap())
        }
        other => panic!("{other}"),
    };
    parts.push(end);
    parts
}

fn events(n: usize) -> Vec<Vec<u8>> {
    let word = |i: usize| format!("data: {{\"n\":{i},\"text\":\"{}\"}}\n\n", i * 7919 % 1000);
    (0..n).map(|i| word(i).into_bytes()).collect()
}

fn name(coding: &str) -> &str {
    coding.strip_prefix("bare ").unwrap_or(coding)
}

fn decoded(coding: &str, parts: &[&[u8]]) -> (Vec<u8>, Result<(), Halt>) {
    let mut decoding = Decoding::of(name(coding)).unwrap();
    let mut all: Vec<u8> = Vec::new();
    let result = parts
        .iter()
        .try_for_each(|part| decoding.push(part, |plain| all.extend_from_slice(plain)));
    (all, result)
}

#[test]
fn each_flush_is_seen_at_once() {
    let events = events(25);
    for coding in ["gzip", "deflate", "bare deflate", "br", "zstd"] {
        let parts = encoded(coding, &events);
        for step in [usize::MAX, 1, 3] {
            let mut decoding = Decoding::of(name(coding)).unwrap();
            let (mut all, mut wanted) = (Vec::<u8>::new(), Vec::<u8>::new());
            for (i, part) in parts.iter().enumerate() {
                for piece in part.chunks(step.min(part.len().max(1))) {
                    let sink = |plain: &[u8]| all.extend_from_slice(plain);
                    decoding.push(piece, sink).unwrap();
                }
                wanted.extend(events.get(i).into_iter().flatten());
                assert!(all == wanted, "{coding}: event {i} is not seen, by {step}");
            }
        }
    }
}

#[test]
fn any_cut_gives_the_same() {
    let events = events(12);
    let plain = events.concat();
    for coding in ["gzip", "deflate", "bare deflate", "br", "zstd"] {
        let bytes = encoded(coding, &events).concat();
        for cut in 0..=bytes.len() {
            let (a, b) = bytes.split_at(cut);
            assert_eq!(
                decoded(coding, &[a, b]),
                (plain.clone(), Ok(())),
                "{coding} at {cut}"
            );
        }
    }
}

#[test]
fn one_coding_upon_another_and_members_in_a_row() {
    let plain = events(9);
    let once = encoded("gzip", &plain).concat();
    let twice = encoded("br", std::slice::from_ref(&once)).concat();
    let mut decoding = Decoding::of("identity, GZIP ,br").unwrap();
    let mut all: Vec<u8> = Vec::new();
    decoding
        .push(&twice, |part| all.extend_from_slice(part))
        .unwrap();
    assert_eq!(all, plain.concat());
    for (coding, members) in [("gzip", once), ("zstd", encoded("zstd", &plain).concat())] {
        let two = [members.clone(), members].concat();
        assert_eq!(
            decoded(coding, &[&two]).0,
            plain.concat().repeat(2),
            "{coding}"
        );
    }
    assert!(Decoding::of("gzip, aws-chunked").is_none() && Decoding::of("compress").is_none());
    assert!(Decoding::of("gzip,gzip,gzip,gzip,gzip").is_none());
}

#[test]
fn large_output_comes_whole_and_in_small_parts() {
    let mut state = 1u32;
    let mut random = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8 % 16
    };
    let plain: Vec<u8> = (0..300_000).map(|_| random()).collect();
    for coding in CODINGS {
        let bytes = encoded(coding, std::slice::from_ref(&plain)).concat();
        let mut all: Vec<u8> = Vec::new();
        let sink = |part: &[u8]| {
            assert!(part.len() <= BUFFER);
            all.extend_from_slice(part);
        };
        Decoding::of(coding).unwrap().push(&bytes, sink).unwrap();
        assert!(all == plain, "{coding}");
    }
}

#[test]
fn a_bomb_is_stopped_while_it_goes_off() {
    let bomb = vec![vec![0; 64 << 20]];
    for coding in CODINGS {
        let bytes = encoded(coding, &bomb).concat();
        let mut given = 0;
        let result = Decoding::of(coding)
            .unwrap()
            .push(&bytes, |part| given += part.len() as u64);
        assert_eq!(result, Err(Halt::TooMuch), "{coding}");
        assert!(
            given <= FREE_OUTPUT + LARGEST_RATIO * bytes.len() as u64,
            "{coding}"
        );
    }
}

#[test]
fn what_is_not_of_its_coding_is_broken_and_nothing_panics() {
    let plain = events(5);
    for coding in CODINGS {
        let bytes = encoded(coding, &plain).concat();
        assert_eq!(
            decoded(coding, &[b"\xFE\xFFdata: x\n\n\n\n"]).1,
            Err(Halt::Broken),
            "{coding}"
        );
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x55;
            let mut decoding = Decoding::of(coding).unwrap();
            let first = decoding.push(&damaged, |_| {});
            assert!(first.is_ok() || decoding.push(b"more", |_| {}).is_err());
            let (cut, result) = decoded(coding, &[&bytes[..at]]);
            assert!(
                plain.concat().starts_with(&cut) && result.is_ok(),
                "{coding} at {at}"
            );
        }
    }
    let mut sum = encoded("gzip", &plain).concat();
    let at = sum.len() - 6;
    sum[at] ^= 1; // of the check sum
    assert_eq!(decoded("gzip", &[&sum]).1, Err(Halt::Broken));
}
