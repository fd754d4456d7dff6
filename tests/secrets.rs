//! No key, cookie, query or text is ever written: not in records, not at `--log-level trace`, not when
//! a message is malformed and somebody would like to print it.

mod support;

use support::proxy::Stopped;
use support::*;

const KEY: &str = "sk-planted-0123456789abcdef";
const TRACE: [&str; 3] = ["--log-level", "trace", "--timeline"];

/// Asserts that nothing the program wrote has the key, as text or as a list of bytes.
fn assert_clean(stopped: &Stopped) {
    let as_numbers = format!("{:?}", &KEY.as_bytes()[..8]);
    let as_numbers = as_numbers.trim_matches(['[', ']']);
    for (name, text) in [
        ("log", &stopped.log),
        ("stdout", &stopped.stdout),
        ("stderr", &stopped.stderr),
    ] {
        for needle in [KEY, &KEY[..16], as_numbers] {
            if let Some(at) = text.find(needle) {
                let from = text[..at].rfind('\n').map_or(0, |end| end + 1);
                panic!(
                    "the key is in the {name}: {}",
                    text[from..].lines().next().unwrap()
                );
            }
        }
        assert!(!text.contains("panicked"), "{name}: {text}");
    }
    assert!(
        !stopped.stderr.is_empty(),
        "nothing was said, so this proves nothing"
    );
    assert_eq!(stopped.status.code(), Some(0), "{}", stopped.stderr);
}

/// A request with the key wherever a client may put one.
fn planted() -> Vec<u8> {
    let fields = format!(
        "Authorization: Bearer {KEY}\r\nX-Api-Key: {KEY}\r\napi-key: {KEY}\r\nCookie: session={KEY}\r\nReferer: http://a/?k={KEY}\r\n"
    );
    let body = format!(
        r#"{{"model":"m","stream":true,"user":"{KEY}","messages":[{{"role":"user","content":"{KEY}"}}]}}"#
    );
    post(
        &format!("/v1/chat/completions?api_key={KEY}"),
        &fields,
        body.as_bytes(),
    )
}

#[test]
fn what_passes_is_not_written() {
    let up = Upstream::start(|x| {
        x.request();
        let head = |status: &str| {
            format!(
                "HTTP/1.1 {status}\r\nContent-Type: text/event-stream\r\nSet-Cookie: s={KEY}\r\nX-Key: {KEY}\r\nLocation: /?k={KEY}\r\nTransfer-Encoding: chunked\r\n\r\n"
            )
        };
        let error =
            format!(r#"data: {{"error":{{"message":"bad key {KEY}","type":"auth"}}}}"#) + "\n\n";
        let number = x.number;
        let mut stream = |status: &str, body: &str| {
            x.send([head(status).as_bytes(), &chunk(body), LAST.as_bytes()].concat());
        };
        match number {
            0 => stream("200 OK", &(event(KEY) + DONE)),
            1 => stream(&format!("401 {KEY}"), &error),
            2 => stream("200 OK", &error),
            3 => stream(
                "200 OK",
                &format!("data: {KEY}\n\nevent: {KEY}\ndata: x\n\n"),
            ),
            4 => {
                x.send([head("200 OK").into(), chunk(format!("data: {{\"{KEY}"))].concat());
                x.fin();
            }
            _ => x.rst(),
        }
    });
    let proxy = Proxy::with(&up.url(), &TRACE);
    for _ in 0..6 {
        Client::connect(proxy.addr).ask(planted());
    }
    proxy.records(6);
    assert_clean(&proxy.stop());
}

#[test]
fn a_failure_to_connect_is_not_told_with_the_request() {
    let nobody = Nobody::new();
    let proxy = Proxy::with(&format!("http://{}", nobody.addr), &TRACE);
    let response = Client::connect(proxy.addr).ask(planted());
    assert_eq!(response.status(), 502);
    assert!(!response.text().contains(KEY));
    assert_clean(&proxy.stop());
}

#[test]
fn malformed_requests_are_refused_without_being_printed() {
    let up = Upstream::start(|x| {
        x.request();
        x.send(OK);
    });
    let proxy = Proxy::with(&up.url(), &TRACE);
    let long = format!("X-Long: {}{KEY}\r\n", "a".repeat(1 << 20));
    for bad in [
        format!("{KEY}\r\n\r\n"),
        format!("GET /?k={KEY}\r\n\r\n"),
        format!("GET /?k={KEY} HTTP/9.9\r\nHost: a\r\n\r\n"),
        format!("GET /a b?k={KEY} HTTP/1.1\r\nHost: a\r\n\r\n"),
        format!("GET http://user:{KEY}@a/v1/x?k={KEY}#{KEY} HTTP/1.1\r\nHost: a\r\n\r\n"),
        format!("CONNECT {KEY}:443 HTTP/1.1\r\nHost: a\r\n\r\n"),
        format!("GET / HTTP/1.1\r\nHost: a\r\nAuthorization Bearer {KEY}\r\n\r\n"),
        format!("GET / HTTP/1.1\r\nHost: a\r\nAuthorization : Bearer {KEY}\r\n\r\n"),
        format!("GET / HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \0{KEY}\r\n\r\n"),
        format!("GET / HTTP/1.1\r\nHost: a\r\nBad({KEY}): 1\r\n\r\n"),
        format!("GET / HTTP/1.1\r\nHost: a\r\n Authorization: {KEY}\r\n\r\n"),
        format!("POST /v1/x HTTP/1.1\r\nHost: a\r\nContent-Length: {KEY}\r\n\r\n"),
        format!("POST /v1/x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: {KEY}\r\n\r\n"),
        format!(
            "POST /v1/x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n{KEY}\r\n\r\n"
        ),
        format!(
            "POST /v1/x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{KEY}\r\n"
        ),
        format!("GET / HTTP/1.1\r\nHost: a\r\n{long}\r\n"),
        format!(
            "GET / HTTP/1.1\r\nHost: a\r\n{}\r\n",
            format!("X: {KEY}\r\n").repeat(300)
        ),
        format!("GET / HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {KEY}"),
    ] {
        let mut client = Client::connect(proxy.addr);
        client.send(&bad);
        client.half_close();
        let response = client.response("GET");
        assert!(
            !response.text().contains(KEY),
            "told back: {}",
            &bad[..60.min(bad.len())]
        );
        assert_ne!(
            response.end,
            Some(End::Silent),
            "no end: {}",
            &bad[..60.min(bad.len())]
        );
    }
    // Bytes that are no UTF-8, for whoever unwraps.
    let mut raw =
        format!("GET / HTTP/1.1\r\nHost: a\r\nX-Key: ~ {KEY}\r\nConnection: close, ~\r\n\r\n")
            .into_bytes();
    raw.iter_mut()
        .filter(|byte| **byte == b'~')
        .for_each(|byte| *byte = 0xff);
    Client::connect(proxy.addr).ask(raw);
    assert_eq!(
        Client::connect(proxy.addr).ask(planted()).status(),
        200,
        "it still serves"
    );
    assert_clean(&proxy.stop());
}

#[test]
fn malformed_answers_are_not_printed() {
    let answers = [
        format!("{KEY}\r\n\r\n"),
        format!("HTTP/1.1 {KEY}\r\n\r\n"),
        format!("HTTP/1.1 200 OK\r\n{KEY}\r\n\r\n"),
        format!("HTTP/1.1 200 OK\r\nSet-Cookie : {KEY}\r\n\r\n"),
        format!("HTTP/1.1 200 OK\r\nSet-Cookie: \0{KEY}\r\n\r\n"),
        format!("HTTP/1.1 200 OK\r\nContent-Length: {KEY}\r\n\r\n"),
        format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: {KEY}\r\n\r\n"),
        format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{KEY}\r\n"),
        format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{KEY}\r\n"),
        format!("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{{}}{KEY}"),
        format!("HTTP/1.1 200 OK\r\nX: {}{KEY}\r\n\r\n", "a".repeat(2 << 20)),
        format!(
            "HTTP/1.1 200 OK\r\n{}\r\n",
            format!("X: {KEY}\r\n").repeat(300)
        ),
        format!("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n{KEY}"),
        format!("HTTP/1.1 200 OK\r\nX-Key: {KEY}"),
    ];
    let count = answers.len();
    let up = Upstream::start(move |x| {
        let Some(answer) = answers.get(x.number) else {
            return x.send(OK);
        };
        x.request();
        x.send(answer);
        x.fin();
    });
    let proxy = Proxy::with(&up.url(), &TRACE);
    for i in 0..count {
        let response = Client::connect(proxy.addr).ask(chat_request("Connection: close\r\n"));
        assert_ne!(response.end, Some(End::Silent), "answer {i}");
        if response.status() == 502 {
            assert!(
                !response.text().contains(KEY),
                "answer {i}: {}",
                response.text()
            );
        }
    }
    assert_eq!(proxy.records(count).len(), count);
    assert_clean(&proxy.stop());
}
