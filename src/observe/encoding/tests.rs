use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;

use flate2::{Compression, GzBuilder, write};
use proptest::prelude::*;

use super::*;

/// Every coding, and some over one another. `raw` is deflate without zlib's header.
const CODINGS: [&str; 9] = [
    "gzip",
    "X-Gzip",
    "deflate",
    "raw",
    "br",
    "zstd",
    "gzip, br",
    "zstd, identity, gzip",
    "br,raw , zstd",
];

/// What an encoder wrote since it was last asked.
#[derive(Clone, Default)]
struct Wire(Rc<RefCell<Vec<u8>>>);

impl Wire {
    fn take(&self) -> Vec<u8> {
        self.0.take()
    }
}

impl Write for Wire {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Ends the coding when it is dropped.
fn encoder(names: &str, wire: Wire) -> Box<dyn Write> {
    let level = Compression::default();
    let inner: Box<dyn Write> = Box::new(wire);
    names
        .rsplit(',')
        .fold(inner, |out, name| match name.trim() {
            "gzip" | "X-Gzip" => Box::new(write::GzEncoder::new(out, level)),
            "deflate" => Box::new(write::ZlibEncoder::new(out, level)),
            "raw" => Box::new(write::DeflateEncoder::new(out, level)),
            "br" => Box::new(brotli::CompressorWriter::new(out, 4096, 5, 22)),
            "zstd" => Box::new(zstd::Encoder::new(out, 3).unwrap().auto_finish()),
            _ => out,
        })
}

/// Each part, flushed; then the end of the coding.
fn pieces(names: &str, parts: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let wire = Wire::default();
    let mut encoder = encoder(names, wire.clone());
    let mut pieces: Vec<Vec<u8>> = parts
        .iter()
        .map(|part| {
            encoder.write_all(part).unwrap();
            encoder.flush().unwrap();
            wire.take()
        })
        .collect();
    drop(encoder);
    pieces.push(wire.take());
    pieces
}

fn encode(names: &str, body: &[u8]) -> Vec<u8> {
    pieces(names, &[body.to_vec()]).concat()
}

fn decoding(names: &str) -> Decoding {
    Decoding::of(&names.replace("raw", "deflate")).unwrap()
}

/// The text, how it stopped, and whether an end was missing.
fn decode<'a>(
    names: &str,
    parts: impl IntoIterator<Item = &'a [u8]>,
) -> (Vec<u8>, Result<(), Halt>, bool) {
    let (mut decoding, mut text) = (decoding(names), Vec::new());
    let done = parts.into_iter().try_for_each(|part| {
        decoding.push(part, |slice| {
            assert!(slice.len() <= SLICE);
            text.extend_from_slice(slice);
        })
    });
    (text, done, decoding.is_inside())
}

/// Whole and byte by byte, which must agree.
fn both(names: &str, body: &[u8]) -> (Vec<u8>, Result<(), Halt>, bool) {
    let whole = decode(names, [body]);
    assert_eq!(decode(names, body.chunks(1)), whole, "{names}");
    whole
}

fn events() -> Vec<Vec<u8>> {
    let event = |n: usize| {
        let word = ["Alpha", "beta ", "γ", "", "delta\\n"][n % 5].repeat(n % 3 + 1);
        format!(
            "data: {{\"id\":\"chat-{n}\",\"choices\":[{{\"delta\":{{\"content\":\"{word}\"}}}}]}}\n\n"
        )
    };
    (0..24).map(|n| event(n).into_bytes()).collect()
}

#[test]
fn every_flush_is_visible_at_once_wherever_it_is_cut() {
    for names in CODINGS {
        let events = events();
        let pieces = pieces(names, &events);
        for cut in 0..pieces.concat().len() {
            let (mut decoding, mut text) = (decoding(names), Vec::new());
            let (mut begin, mut told) = (0, 0);
            for (n, piece) in pieces.iter().enumerate() {
                let at = cut.saturating_sub(begin).min(piece.len());
                for part in [&piece[..at], &piece[at..]] {
                    decoding
                        .push(part, |slice| text.extend_from_slice(slice))
                        .unwrap();
                }
                begin += piece.len();
                told += events.get(n).map_or(0, Vec::len);
                assert_eq!(text.len(), told, "{names}, cut at {cut}, event {n}");
            }
            assert_eq!(text, events.concat(), "{names}, cut at {cut}");
            assert!(!decoding.is_inside(), "{names}");
        }
    }
}

#[test]
fn every_flush_is_visible_at_once_byte_by_byte() {
    for names in CODINGS {
        let events = events();
        let (mut decoding, mut text) = (decoding(names), Vec::new());
        let mut told: Vec<u8> = Vec::new();
        for (n, piece) in pieces(names, &events).iter().enumerate() {
            for byte in piece.chunks(1) {
                decoding
                    .push(byte, |slice| text.extend_from_slice(slice))
                    .unwrap();
            }
            told.extend(events.get(n).into_iter().flatten());
            assert_eq!(text, told, "{names}, event {n}");
        }
        assert!(!decoding.is_inside(), "{names}");
    }
}

#[test]
fn a_sync_flush_shows_its_event_before_its_marker() {
    // Between `00 00` and `FF FF`, and before both: the block is over, the marker says nothing.
    for names in ["gzip", "deflate", "raw"] {
        let piece = pieces(names, &events()).swap_remove(0);
        assert!(piece.ends_with(&[0, 0, 0xFF, 0xFF]), "{names}");
        for missing in [2, 4] {
            let (text, ..) = decode(names, [&piece[..piece.len() - missing]]);
            assert_eq!(text, events()[0], "{names}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn any_body_in_any_parts_in_any_pieces(
        names in prop::sample::select(&CODINGS[..]),
        // Of few letters, so that much of it repeats.
        parts in prop::collection::vec(
            prop_oneof![
                prop::collection::vec(any::<u8>(), 0..3000),
                prop::collection::vec(0u8..3, 0..60_000),
            ],
            0..6,
        ),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
        rest in "[a-z]{0,5}",
    ) {
        let pieces = pieces(names, &parts);
        let (mut decoding, mut text) = (decoding(names), Vec::new());
        let mut told: Vec<u8> = Vec::new();
        for (n, piece) in pieces.iter().enumerate() {
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(piece.len() + 1)).collect();
            cuts.extend([0, piece.len()]);
            cuts.sort_unstable();
            for cut in cuts.windows(2) {
                let part = &piece[cut[0]..cut[1]];
                prop_assert_eq!(decoding.push(part, |slice| text.extend_from_slice(slice)), Ok(()));
            }
            told.extend(parts.get(n).into_iter().flatten());
            prop_assert!(text == told, "{}, part {}", names, n);
        }
        prop_assert!(!decoding.is_inside());
        let body = [&pieces.concat(), rest.as_bytes()].concat();
        prop_assert!(decode(names, [&body[..]]) == (text, Ok(()), false));
    }

    #[test]
    fn nothing_panics(
        names in prop::sample::select(&CODINGS[..]),
        noise in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        piece in 1usize..200,
        random in prop::collection::vec(any::<u8>(), 0..40),
    ) {
        let mut body = encode(names, &events().concat());
        for (at, byte) in noise {
            let at = at.index(body.len());
            body[at] = byte;
        }
        body.extend(&random);
        for body in [&body, &random] {
            let mut decoding = decoding(names);
            let halts: Vec<Halt> = body
                .chunks(piece)
                .filter_map(|part| decoding.push(part, |_| ()).err())
                .collect();
            prop_assert!(halts.windows(2).all(|pair| pair[0] == pair[1]));
        }
    }
}

#[test]
fn codings_by_their_names() {
    for plain in ["", " ", "identity", "Identity, ,identity"] {
        assert_eq!(
            decode(plain, [&b"as it is"[..]]).0,
            b"as it is",
            "{plain:?}"
        );
    }
    for unknown in ["compress", "gzip;q=1", "gzip, exi", "gzip br", "dcb", "*"] {
        assert!(Decoding::of(unknown).is_none(), "{unknown:?}");
    }
    assert!(Decoding::of("GZIP,bR,ZStd").is_some());
    assert!(Decoding::of("gzip, gzip, gzip, gzip").is_none());
}

#[test]
fn a_body_that_ends_too_early() {
    for names in CODINGS {
        let body = encode(names, &events().concat());
        for cut in 1..body.len() {
            let (_, done, inside) = decode(names, [&body[..cut]]);
            assert_eq!((done, inside), (Ok(()), true), "{names}, cut at {cut}");
        }
        assert_eq!(decode(names, []), (Vec::new(), Ok(()), false), "{names}");
        let none = encode(names, b"");
        assert_eq!(both(names, &none), (Vec::new(), Ok(()), false), "{names}");
    }
}

#[test]
fn bombs_stop_within_their_budget() {
    let zeros = vec![0; 8 << 20];
    for names in CODINGS {
        let wire = Wire::default();
        let mut encoder = encoder(names, wire.clone());
        for _ in 0..8 {
            encoder.write_all(&zeros).unwrap();
        }
        drop(encoder);
        let body = wire.take();
        for piece in [body.len(), 100, 1] {
            let (mut decoding, mut given, mut taken) = (decoding(names), 0, 0);
            let done = body.chunks(piece).try_for_each(|part| {
                taken += part.len() as u64;
                decoding.push(part, |slice| given += slice.len() as u64)
            });
            assert_eq!(done, Err(Halt::TooMuch), "{names} by {piece}");
            assert!(given <= BUDGET + taken * BUDGET_PER_BYTE, "{names}");
            // Over one another the outer ones have their part of it.
            assert!(given + SLICE as u64 * 3 > BUDGET / 2, "{names}: {given}");
            assert_eq!(decoding.push(b"x", |_| panic!()), Err(Halt::TooMuch));
        }
    }
}

#[test]
fn a_long_honest_body_does_not_pay_for_a_bomb() {
    let mut state = 1u32;
    let mut noise = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    let honest: Vec<u8> = (0..1 << 20).map(|_| noise()).collect();
    for names in ["gzip", "deflate", "br", "zstd"] {
        let pieces = pieces(names, &[honest.clone(), vec![0; 64 << 20]]);
        let bomb = &pieces[1];
        let mut decoding = decoding(names);
        let mut given = 0;
        let mut push = |part: &[u8]| decoding.push(part, |slice| given += slice.len() as u64);
        assert_eq!(push(&pieces[0]), Ok(()), "{names}");
        assert_eq!(push(bomb), Err(Halt::TooMuch), "{names}");
        let most = honest.len() as u64 + BUDGET + bomb.len() as u64 * BUDGET_PER_BYTE;
        assert!(given <= most, "{names}: {given}");
    }
}

#[test]
fn empty_pieces_are_nothing() {
    for names in CODINGS {
        let (events, mut text) = (events(), Vec::new());
        let mut decoding = decoding(names);
        for piece in pieces(names, &events) {
            for _ in 0..50 {
                decoding.push(b"", |_| panic!()).unwrap();
            }
            decoding
                .push(&piece, |slice| text.extend_from_slice(slice))
                .unwrap();
        }
        assert_eq!(text, events.concat(), "{names}");
    }
}

#[test]
fn a_long_body_that_repeats_much_is_no_bomb() {
    let event = "data: {\"choices\":[{\"delta\":{\"content\":\"0\"}}]}\n\n";
    let parts = vec![event.repeat(100).into_bytes(); 1500];
    for names in ["gzip", "deflate", "br", "zstd"] {
        let pieces = pieces(names, &parts);
        let done = decode(names, pieces.iter().map(Vec::as_slice));
        assert!(done == (parts.concat(), Ok(()), false), "{names}");
    }
}

#[test]
fn gzip_headers_members_and_trailers() {
    let (text, level) = (events().concat(), Compression::fast());
    let mut named = GzBuilder::new()
        .filename("answer")
        .comment("of a server")
        .extra(b"ab\x04\x00wxyz".to_vec())
        .mtime(1)
        .write(Vec::new(), level);
    named.write_all(&text).unwrap();
    let named = named.finish().unwrap();
    assert_eq!(both("gzip", &named), (text.clone(), Ok(()), false));

    let plain = encode("gzip", b"next");
    let members = [&named[..], &encode("gzip", b""), &plain].concat();
    let twice = [&text[..], b"next"].concat();
    assert_eq!(both("gzip", &members), (twice.clone(), Ok(()), false));

    let cut = &members[..members.len() - 1];
    assert_eq!(both("gzip", cut), (twice, Ok(()), true));

    for garbage in [&b"\0\0\0"[..], b"\r\n", b"\x1E\x1F\x8B"] {
        let body = [&plain[..], garbage].concat();
        assert_eq!(both("gzip", &body), (b"next".to_vec(), Ok(()), false));
    }

    // Checksum and length; what came before is seen all the same.
    for place in 1..=8 {
        let mut wrong = plain.clone();
        let at = wrong.len() - place;
        wrong[at] ^= 1;
        let (text, done, _) = both("gzip", &wrong);
        assert_eq!((&text[..], done), (&b"next"[..], Err(Halt::Broken)));
    }
    // No gzip, and a gzip of an unknown method.
    for other in [&b"data: x\n\n"[..], b"\x1F\x8B\x07\0\0\0\0\0\0\0"] {
        let (text, done, _) = both("gzip", other);
        assert_eq!((&text[..], done), (&b""[..], Err(Halt::Broken)));
    }
}

#[test]
fn deflate_with_and_without_its_header() {
    let text = events().concat();
    for level in 0..=9 {
        let level = Compression::new(level);
        let mut zlib = write::ZlibEncoder::new(Vec::new(), level);
        zlib.write_all(&text).unwrap();
        let mut zlib = zlib.finish().unwrap();
        assert_eq!(both("deflate", &zlib), (text.clone(), Ok(()), false));
        *zlib.last_mut().unwrap() ^= 1;
        assert_eq!(both("deflate", &zlib).1, Err(Halt::Broken));

        let mut raw = write::DeflateEncoder::new(Vec::new(), level);
        raw.write_all(&text).unwrap();
        let raw = raw.finish().unwrap();
        assert_eq!(both("deflate", &raw), (text.clone(), Ok(()), false));
    }
    // Asks for a dictionary.
    let dictionary = b"\x78\xBB\0\0\0\x01\x01";
    assert_eq!(both("deflate", dictionary).1, Err(Halt::Broken));
    assert_eq!(both("deflate", b"data: x\n\n").1, Err(Halt::Broken));
}

#[test]
fn zstd_frames_and_windows() {
    let text = events().concat();
    let frame = |window: u32, checksum: bool| {
        let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
        encoder.window_log(window).unwrap();
        encoder.include_checksum(checksum).unwrap();
        encoder.write_all(&text).unwrap();
        encoder.finish().unwrap()
    };
    let whole = (text.clone(), Ok(()), false);
    assert_eq!(both("zstd", &frame(23, true)), whole);
    let too_wide = (Vec::new(), Err(Halt::Broken), true);
    assert_eq!(both("zstd", &frame(24, true)), too_wide);

    let mut wrong = frame(20, true);
    *wrong.last_mut().unwrap() ^= 1;
    // The library gives out nothing of a frame that it gets whole, unless all of it is right.
    for piece in [1, wrong.len()] {
        assert_eq!(decode("zstd", wrong.chunks(piece)).1, Err(Halt::Broken));
    }

    let skipped = b"\x5A\x2A\x4D\x18\x03\0\0\0xyz";
    let frames = [skipped, &frame(10, false)[..], skipped, &frame(20, true)].concat();
    assert_eq!(both("zstd", &frames), (text.repeat(2), Ok(()), false));
    assert_eq!(both("zstd", skipped), (Vec::new(), Ok(()), false));
    let garbage = [&frame(10, false)[..], b"\n"].concat();
    assert_eq!(both("zstd", &garbage), whole);

    // Formats from before the standard, and none at all.
    for other in [&b"\x27\xB5\x2F\xFD\0\0\0"[..], b"data: x\n\n"] {
        assert_eq!(both("zstd", other), (Vec::new(), Err(Halt::Broken), false));
    }
}

#[test]
fn brotli_windows() {
    let text = events().concat();
    let stream = |window: i32, large: bool| {
        let params = brotli::enc::BrotliEncoderParams {
            lgwin: window,
            large_window: large,
            quality: 5,
            ..Default::default()
        };
        let mut encoder = brotli::CompressorWriter::with_params(Vec::new(), 4096, &params);
        encoder.write_all(&text).unwrap();
        encoder.into_inner()
    };
    for window in 10..=24 {
        let body = stream(window, false);
        assert_eq!(both("br", &body), (text.clone(), Ok(()), false), "{window}");
    }
    let too_wide = (Vec::new(), Err(Halt::Broken), true);
    assert_eq!(both("br", &stream(26, true)), too_wide);
    let garbage = [&stream(22, false)[..], b"\n"].concat();
    assert_eq!(both("br", &garbage), (text, Ok(()), false));
}
