//! Every way to frame a body passes: nothing is held, and no message becomes two
//! (RFC 9112 sections 6 and 7).

mod support;

use std::sync::{Arc, Mutex};

use support::*;

/// Sends `pieces` one at a time, each only when the client has the one before: what is held stops
/// the exchange. That the pieces come without delay is asked of the middle one, as machines are noisy.
fn nothing_is_held(request: &[u8], head: &str, pieces: &[String]) -> Response {
    let (had, sent) = (Gate::default(), Arc::new(Mutex::new(vec![])));
    let chunked = head.contains("chunked");
    let up = Upstream::start({
        let (had, sent, head) = (had.clone(), sent.clone(), head.to_owned());
        let pieces = pieces.to_vec();
        move |x| {
            x.request();
            x.send(&head);
            for piece in &pieces {
                if !had.pass() {
                    return;
                }
                let framed = if chunked {
                    chunk(piece)
                } else {
                    piece.clone().into_bytes()
                };
                sent.lock().unwrap().push(x.send_at(framed));
            }
            match chunked {
                true => x.send(LAST),
                false if head.contains("Length") => {}
                false => x.fin(),
            }
        }
    });
    let proxy = Proxy::start(&up);
    let mut client = Client::connect(proxy.addr);
    client.send(request);
    let mut response = client.head("POST");
    assert_eq!(response.status(), 200, "the head was held: {response:?}");
    let (mut total, mut delays) = (0, vec![]);
    for (i, piece) in pieces.iter().enumerate() {
        had.open();
        total += piece.len();
        assert!(
            client.read_until(&mut response, total),
            "piece {i} was held: {:?}",
            response.end
        );
        delays.push(response.had(total).unwrap() - sent.lock().unwrap()[i]);
    }
    client.finish(&mut response);
    assert_eq!(response.end, Some(End::Whole));
    assert_eq!(response.text(), pieces.concat());
    assert!(
        median(delays.clone()) < ms(20),
        "pieces came late: {delays:?}"
    );
    assert_eq!(proxy.record()["end"], "complete");
    response
}

/// Enough of them to leave the quick acknowledgements at the start of a connection behind: a small
/// piece that waits for one (Nagle) is late from then on.
fn events() -> Vec<String> {
    let words = (0..40).map(|i| event(&format!("w{i} ")));
    words.chain([finish(), DONE.to_owned()]).collect()
}

fn stream_with(head: &str) -> Response {
    nothing_is_held(&chat_request(""), head, &events())
}

#[test]
fn a_chunked_event_stream_is_not_held() {
    let response = stream_with(STREAM);
    assert_eq!(
        response.body.chunks.len(),
        events().len(),
        "each piece left as the chunk that it came as"
    );
}

#[test]
fn an_event_stream_with_a_length_is_not_held() {
    let length = events().concat().len();
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: {length}\r\n\r\n"
    );
    let response = stream_with(&head);
    assert_eq!(
        response.head.get("content-length"),
        Some(length.to_string())
    );
    assert_eq!(response.head.get("transfer-encoding"), None);
}

#[test]
fn an_event_stream_that_ends_with_the_connection_is_not_held() {
    for connection in ["Connection: close\r\n", ""] {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n";
        let response = stream_with(&format!("{head}{connection}\r\n"));
        let told = response.head.get("connection");
        assert!(
            response.head.chunked() || told.as_deref() == Some("close"),
            "{told:?}"
        );
    }
}

#[test]
fn an_http_1_0_upstream_is_not_held() {
    let response = stream_with("HTTP/1.0 200 OK\r\nContent-Type: text/event-stream\r\n\r\n");
    assert!(
        response.head.start_line().starts_with("HTTP/1.1 "),
        "each leg has its own version"
    );
}

#[test]
fn an_http_1_0_client_gets_no_chunks_and_is_not_held() {
    let request = String::from_utf8(chat_request(""))
        .unwrap()
        .replace("HTTP/1.1", "HTTP/1.0");
    for head in [
        STREAM,
        "HTTP/1.0 200 OK\r\nContent-Type: text/event-stream\r\n\r\n",
    ] {
        let response = nothing_is_held(request.as_bytes(), head, &events());
        assert_eq!(response.head.get("transfer-encoding"), None);
        assert!(response.body.ends_with_connection());
    }
}

#[test]
fn comments_and_parts_of_events_go_out_at_once() {
    let whole = event("word");
    let (first, rest) = whole.split_at(9);
    let (middle, last) = rest.split_at(rest.len() - 1);
    let pieces = [
        ": ping\n\n",
        ":",
        " half\n",
        "\n",
        first,
        middle,
        last,
        DONE,
    ];
    nothing_is_held(&chat_request(""), STREAM, &pieces.map(str::to_owned));
}

#[test]
fn heads_without_a_body_leave_the_connection_usable() {
    let up = Upstream::start(|x| {
        x.request();
        match x.head().start_line().split(' ').nth(1).unwrap() {
            "/length" => x.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"),
            "/chunked" => x.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
            "/204" => x.send("HTTP/1.1 204 No Content\r\nX-A: 1\r\n\r\n"),
            "/304" => {
                x.send("HTTP/1.1 304 Not Modified\r\nETag: \"e\"\r\nContent-Length: 5\r\n\r\n")
            }
            _ => x.send(OK),
        };
    });
    let proxy = Proxy::start(&up);
    let mut client = Client::connect(proxy.addr);
    let paths = [
        "HEAD /length",
        "HEAD /chunked",
        "GET /204",
        "GET /304",
        "GET /ok",
    ];
    for (path, status) in paths.into_iter().zip([200, 200, 204, 304, 200]) {
        let response = client.ask(format!("{path} HTTP/1.1\r\nHost: a\r\n\r\n"));
        assert_eq!(
            (response.status(), response.end),
            (status, Some(End::Whole)),
            "{path}"
        );
        let length = response.head.get("content-length");
        match path {
            "HEAD /length" | "GET /304" => assert_eq!(length.as_deref(), Some("5"), "{path}"),
            "GET /204" => assert_eq!((length, response.head.chunked()), (None, false), "{path}"),
            _ => {}
        }
    }
    assert_eq!(client.unread(), b"");
    assert_eq!(
        up.connections(),
        1,
        "such an answer leaves the upstream's connection usable too"
    );
    assert!(
        proxy
            .records(5)
            .iter()
            .all(|record| record["end"] == "complete")
    );
}

#[test]
fn a_chunked_upload_may_be_cut_anywhere() {
    let head =
        "POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
    let body =
        "4\r\nWiki\r\n00c;name=\"v\"\r\npedia in\r\n\r\n\r\n10\r\n0123456789abcdef\r\n0\r\n\r\n";
    let request = [head, body].concat();
    let up = Upstream::start(|x| {
        x.request();
        x.send(OK);
    });
    let proxy = Proxy::start(&up);
    let mut client = Client::connect(proxy.addr);
    let cuts = head.len() - 2..request.len();
    for at in cuts.clone() {
        let (left, right) = request.as_bytes().split_at(at);
        client.send_pieces([left, right], 3);
        assert_eq!(client.response("POST").status(), 200, "cut at {at}");
    }
    client.send_pieces(request.as_bytes().chunks(1), 1);
    assert_eq!(client.response("POST").status(), 200, "byte by byte");
    let requests = up.requests();
    assert_eq!(
        requests.len(),
        cuts.len() + 1,
        "an upload became more than one request"
    );
    for (i, request) in requests.iter().enumerate() {
        assert_eq!(
            request.body,
            b"Wikipedia in\r\n\r\n0123456789abcdef"[..].to_vec(),
            "request {i}"
        );
    }
}

#[test]
fn a_chunked_answer_may_be_cut_anywhere() {
    let answer = Arc::new(short_stream(2));
    let body = [event("w0 "), event("w1 "), finish(), DONE.to_owned()].concat();
    let (sending, gap) = (answer.clone(), 2);
    let up = Upstream::start(move |x| {
        let at: usize = String::from_utf8(x.request()).unwrap().parse().unwrap();
        x.send(&sending[..at]);
        x.wait(gap);
        x.send(&sending[at..]);
    });
    let proxy = Proxy::start(&up);
    let mut client = Client::connect(proxy.addr);
    // Each border between framing and data, with the bytes around it.
    let cuts: Vec<_> = (1..answer.len())
        .filter(|at| {
            let near = &answer[at.saturating_sub(5)..(at + 5).min(answer.len())];
            near.windows(2).any(|pair| pair == b"\r\n")
        })
        .collect();
    for at in &cuts {
        let response = client.ask(post("/v1/chat/completions", "", at.to_string().as_bytes()));
        assert_eq!(response.end, Some(End::Whole), "cut at {at}");
        assert_eq!(response.text(), body, "cut at {at}");
    }
    assert_eq!(up.connections(), 1);
    assert!(
        proxy
            .records(cuts.len())
            .iter()
            .all(|record| record["counts"]["events"] == 4)
    );
}

#[test]
fn a_request_with_two_framings_never_becomes_two_requests() {
    let chunks = "5\r\nhello\r\n0\r\n\r\n";
    let up = Upstream::start(|x| {
        x.request();
        x.send(OK);
    });
    let proxy = Proxy::start(&up);
    for fields in [
        "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 15\r\n",
        "Transfer-Encoding : chunked\r\nContent-Length: 15\r\n",
        "Transfer-Encoding: xchunked\r\nContent-Length: 15\r\n",
        "Content-Length: 3\r\nContent-Length: 15\r\n",
    ] {
        let before = up.requests().len();
        let request = format!("POST /v1/x HTTP/1.1\r\nHost: a\r\n{fields}\r\n{chunks}");
        let response = Client::connect(proxy.addr).ask(request);
        let passed = up.requests().split_off(before);
        match response.status() {
            400 => assert!(passed.is_empty(), "{fields}: refused, yet sent on"),
            200 => {
                let [request] = &passed[..] else {
                    panic!("{fields}: {passed:?}")
                };
                assert_eq!(request.body, b"hello", "{fields}");
                let length = request.head.get("content-length");
                assert!(
                    request.head.chunked() && length.is_none(),
                    "{fields}: {:?}",
                    request.head
                );
            }
            status => panic!("{fields}: {status}"),
        }
    }
}

#[test]
fn an_answer_with_two_framings_leaves_with_one() {
    let up = Upstream::start(|x| {
        x.request();
        x.send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n");
        x.send([chunk("hello"), LAST.into()].concat());
    });
    let proxy = Proxy::start(&up);
    let response = Client::connect(proxy.addr).ask(chat_request(""));
    if response.status() == 200 {
        assert_eq!(response.text(), "hello");
        assert!(response.head.chunked() && response.head.get("content-length").is_none());
    }
    assert!([200, 502].contains(&response.status()));
}
