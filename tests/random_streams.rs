//! Random bodies in random framings, cut at random places, through the real proxy over a few kept-alive
//! connections: byte for byte the same, and counted and hashed right.

mod support;

use std::env;
use std::sync::Arc;
use std::thread;

use support::*;
use xxhash_rust::xxh3::xxh3_128;

/// One random exchange, the same for the same seed.
struct Plan {
    seed: u64,
    upload: Vec<u8>,
    answer: Vec<u8>,
    /// The response on the wire, in the pieces in which it is written.
    wire: Vec<Vec<u8>>,
    closes: bool,
}

impl Plan {
    fn of(seed: u64) -> Plan {
        let random = &mut Random(seed);
        let upload = random_bytes(random);
        let answer = random_bytes(random);
        let framing = random.below(10);
        let mime = [
            "text/event-stream",
            "application/x-ndjson",
            "application/json",
            "audio/mpeg",
        ][random.below(4)];
        let mut wire = format!("HTTP/1.1 200 OK\r\nContent-Type: {mime}\r\n").into_bytes();
        match framing {
            0 => wire.extend([b"Connection: close\r\n\r\n", &answer[..]].concat()),
            1..=3 => wire.extend(
                [
                    format!("Content-Length: {}\r\n\r\n", answer.len()).as_bytes(),
                    &answer,
                ]
                .concat(),
            ),
            _ => {
                wire.extend(b"Transfer-Encoding: chunked\r\n\r\n");
                for piece in pieces(random, &answer) {
                    wire.extend(chunk(piece));
                }
                wire.extend(LAST.as_bytes());
            }
        }
        let wire = pieces(random, &wire).map(<[u8]>::to_vec).collect();
        Plan {
            seed,
            upload,
            answer,
            wire,
            closes: framing == 0,
        }
    }

    fn request(&self) -> Vec<u8> {
        let path = format!("/random/{}", self.seed);
        match self.seed % 4 {
            0 => {
                let mut bytes = format!(
                    "POST {path} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                )
                .into_bytes();
                for piece in pieces(&mut Random(self.seed), &self.upload) {
                    bytes.extend(chunk(piece));
                }
                [bytes, LAST.into()].concat()
            }
            _ => post(&path, "", &self.upload),
        }
    }

    fn serve(x: &mut Exchange) {
        let line = x.head().start_line();
        let seed = line
            .split(['/', ' '])
            .nth(3)
            .and_then(|seed| seed.parse().ok());
        let plan = Plan::of(seed.expect("the path passes unchanged"));
        if x.request() != plan.upload {
            x.send("HTTP/1.1 500 The upload differs\r\nContent-Length: 0\r\n\r\n");
            return;
        }
        for piece in &plan.wire {
            x.send(piece);
        }
        if plan.closes {
            x.fin();
        }
    }
}

/// Bytes that an observer of streams may stumble over.
fn random_bytes(random: &mut Random) -> Vec<u8> {
    let mut bytes = vec![];
    let fragments = match random.below(100) {
        0 => 3000,
        n => n / 3,
    };
    for _ in 0..fragments {
        match random.below(16) {
            0 => bytes.extend(b"\r"),
            1 => bytes.extend(b"\r\n"),
            2 => bytes.extend(b"\n"),
            3 | 4 => bytes.extend(b"\n\n"),
            5 => bytes.extend(b"data: "),
            6 => bytes.extend(b"data:{\"choices\":["),
            7 => bytes.extend(b": ping"),
            8 => bytes.extend("\u{feff}".as_bytes()),
            9 => bytes.extend(b"0\r\n\r\n"),
            10 => bytes.extend(b"event: error\ndata: [DONE]"),
            11 => bytes.extend(b"{\"done\":true,\"model\":\"m\",\"stream\":true}"),
            12 => bytes.extend("\u{1f30d}".as_bytes()),
            13 => bytes.extend(event("word").bytes()),
            _ => {
                let n = random.below(60);
                bytes.extend(random.bytes(n));
            }
        }
    }
    bytes
}

/// `bytes` cut into a few pieces, none of them empty.
fn pieces<'a>(random: &mut Random, bytes: &'a [u8]) -> impl Iterator<Item = &'a [u8]> + use<'a> {
    let mut cuts: Vec<usize> = (0..random.below(6))
        .map(|_| random.below(bytes.len() + 1))
        .collect();
    cuts.extend([0, bytes.len()]);
    cuts.sort_unstable();
    cuts.dedup();
    let borders: Vec<_> = cuts.windows(2).map(|pair| (pair[0], pair[1])).collect();
    borders.into_iter().map(|(from, to)| &bytes[from..to])
}

/// `TEST_RANDOM_STREAMS` says how many.
#[test]
fn random_streams_pass_byte_for_byte() {
    const CLIENTS: u64 = 4;
    let count = env::var("TEST_RANDOM_STREAMS").map_or(500, |n| n.parse().expect("a number"));
    let up = Upstream::start(Plan::serve);
    let proxy = Arc::new(Proxy::start(&up));
    let clients: Vec<_> = (0..CLIENTS)
        .map(|lane| {
            let proxy = proxy.clone();
            thread::spawn(move || {
                let mut client = Client::connect(proxy.addr);
                for seed in (lane..count).step_by(CLIENTS as usize) {
                    let plan = Plan::of(seed);
                    let response = client.ask(plan.request());
                    assert_eq!(response.head.start_line(), "HTTP/1.1 200 OK", "seed {seed}");
                    assert_eq!(response.end, Some(End::Whole), "seed {seed}");
                    assert!(
                        response.body.bytes == plan.answer,
                        "seed {seed}: the bytes differ"
                    );
                    if plan.closes {
                        client = Client::connect(proxy.addr); // the answer ended with the connection
                    }
                }
            })
        })
        .collect();
    for client in clients {
        client.join().expect("each stream passes");
    }
    for record in proxy.records(count as usize) {
        let path = record["request"]["path"].as_str().unwrap();
        let plan = Plan::of(path.trim_start_matches("/random/").parse().unwrap());
        let seed = plan.seed;
        assert_eq!(record["request"]["bytes"], plan.upload.len(), "seed {seed}");
        assert_eq!(record["counts"]["bytes"], plan.answer.len(), "seed {seed}");
        let hash = format!("{:032x}", xxh3_128(&plan.answer));
        assert_eq!(record["response"]["body_hash"], hash, "seed {seed}");
    }
}
