//! What passes unchanged, and the whole list of what does not. A longer list fails here.

mod support;

use support::http::Head;
use support::*;

/// The field lines of a head with the white space around their values taken off, which has no
/// meaning (RFC 9110 section 5.5) and is not kept.
fn fields(head: &Head) -> Vec<String> {
    let field = |line: &String| match line.split_once(':') {
        Some((name, value)) => format!("{name}: {}", value.trim()),
        None => line.clone(),
    };
    head.fields().iter().map(field).collect()
}

/// Sends `request` through a proxy to a server that answers `answer`; the head that the upstream got,
/// and the response.
fn through(args: &[&str], request: &[u8], answer: &[u8]) -> (Head, Response) {
    let answer = answer.to_vec();
    let up = Upstream::start(move |x| {
        x.request();
        x.send(&answer);
    });
    let proxy = Proxy::with(&up.url(), args);
    let response = Client::connect(proxy.addr).ask(request);
    let request = up
        .requests()
        .into_iter()
        .next()
        .expect("the request passed");
    let head = String::from_utf8_lossy(&request.head.0).replace(&up.addr.to_string(), "UPSTREAM");
    (
        if head.contains("UPSTREAM") {
            Head(head.into_bytes())
        } else {
            request.head
        },
        response,
    )
}

const REQUEST_FIELDS: [&str; 18] = [
    "X-First: 1",
    "hOsT: client.test:80",
    "aCCept: text/event-stream, */*;q=0.1",
    "X-Twice: a",
    "x-twice: b",
    "User-Agent: OpenAI/Python 1.2.3",
    "X-Empty:",
    "X-Inner: a  b\tc",
    "Accept-Encoding: br, gzip;q=0",
    "Authorization: Bearer sk-none",
    "Cookie: a=b; c=\"d\"",
    "Cookie: e=f",
    "X-Forwarded-For: 192.0.2.1",
    "Via: 1.1 other",
    "Forwarded: for=192.0.2.1",
    "X-Request-Id: r-1",
    "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    "content-type: application/json; charset=utf-8",
];

fn request(target: &str, fields: &[&str]) -> Vec<u8> {
    let fields = fields.join("\r\n");
    format!("POST {target} HTTP/1.1\r\n{fields}\r\nContent-Length: 2\r\n\r\n{{}}").into_bytes()
}

#[test]
fn a_request_head_passes_in_order_and_only_host_names_the_upstream() {
    let sent = request("/v1/chat/completions", &REQUEST_FIELDS);
    let expected = |host: &str| {
        let mut lines = REQUEST_FIELDS.map(str::to_owned).to_vec();
        lines[1] = format!("hOsT: {host}");
        lines[6] = "X-Empty: ".to_owned();
        lines.push("Content-Length: 2".to_owned());
        lines
    };
    let (head, _) = through(&[], &sent, OK.as_bytes());
    assert_eq!(fields(&head), expected("UPSTREAM"));
    assert_eq!(head.start_line(), "POST /v1/chat/completions HTTP/1.1");
    let (head, _) = through(&["--preserve-host"], &sent, OK.as_bytes());
    assert_eq!(fields(&head), expected("client.test:80"));
}

#[test]
fn values_that_are_no_text_pass() {
    let mut sent = request("/v1/x", &["Host: a", "X-Bytes: caf@ ~~~"]);
    let answer = OK.replace("\r\n\r\n", "\r\nX-Bytes: caf@ ~~~\r\n\r\n");
    let raw = |bytes: &mut [u8]| {
        for byte in bytes {
            *byte = match *byte {
                b'@' => 0xe9,
                b'~' => 0xff,
                other => other,
            }
        }
    };
    let mut answer = answer.into_bytes();
    raw(&mut sent);
    raw(&mut answer);
    let (head, response) = through(&["--preserve-host", "--log-level", "trace"], &sent, &answer);
    for head in [head, response.head] {
        assert_eq!(
            head.get("x-bytes").as_deref(),
            Some("caf\u{e9} \u{ff}\u{ff}\u{ff}")
        );
    }
}

#[test]
fn request_targets_and_methods_pass_as_they_are_written() {
    for target in [
        "/",
        "//v1//x/",
        "/v1/x?",
        "/v1/x?a=b&&c=%7B%2f+d&=",
        "/v1/%2e%2E/./../x;p=1",
        "/v1/x?q={[a]}|^`\\",
        "/v1/models/org%2Fname:free",
    ] {
        let (head, _) = through(&[], &request(target, &["Host: a"]), OK.as_bytes());
        assert_eq!(head.start_line(), format!("POST {target} HTTP/1.1"));
    }
    for method in ["GET", "PUT", "PATCH", "DELETE", "OPTIONS", "PURGE"] {
        let sent = String::from_utf8(request("/v1/x", &["Host: a"])).unwrap();
        let (head, _) = through(&[], sent.replace("POST", method).as_bytes(), OK.as_bytes());
        assert_eq!(head.method(), method);
    }
}

#[test]
fn a_path_in_the_upstream_url_is_a_prefix() {
    let up = Upstream::start(|x| {
        x.request();
        x.send(OK);
    });
    for (base, expected) in [
        ("/base", "/base/v1/x?q=1"),
        ("/base/", "/base/v1/x?q=1"),
        ("/", "/v1/x?q=1"),
    ] {
        let proxy = Proxy::with(&(up.url() + base), &[]);
        Client::connect(proxy.addr).ask(request("/v1/x?q=1", &["Host: a"]));
        let head = up.requests().pop().expect("it passed").head;
        assert_eq!(head.start_line(), format!("POST {expected} HTTP/1.1"));
    }
}

#[test]
fn fields_of_one_connection_do_not_pass_and_no_others_are_lost() {
    let hop = [
        "Host: a",
        "Connection: keep-alive, X-Mine, close",
        "X-Mine: 1",
        "Keep-Alive: timeout=5",
        "Proxy-Connection: keep-alive",
        "TE: trailers",
        "Upgrade: h2c",
        "X-Kept: 1",
    ];
    let (head, _) = through(&["--preserve-host"], &request("/", &hop), OK.as_bytes());
    assert_eq!(fields(&head), ["Host: a", "X-Kept: 1", "Content-Length: 2"]);

    let answer = "HTTP/1.1 200 OK\r\nConnection: X-Its, keep-alive\r\nX-Its: 1\r\nKeep-Alive: timeout=5\r\nX-Kept: 1\r\nContent-Length: 0\r\n\r\n";
    let (_, response) = through(&[], &chat_request(""), answer.as_bytes());
    let left = fields(&response.head);
    assert!(left.contains(&"X-Kept: 1".to_owned()), "{left:?}");
    for gone in ["x-its", "keep-alive"] {
        assert_eq!(response.head.get(gone), None, "{left:?}");
    }
}

const RESPONSE_FIELDS: [&str; 13] = [
    "Content-Type: text/event-stream; charset=utf-8",
    "sErVeR: uvicorn",
    "Set-Cookie: a=1; Path=/",
    "set-cookie: b=2",
    "X-Accel-Buffering: no",
    "Cache-Control: no-cache, no-transform",
    "openai-processing-ms: 12",
    "X-Empty: ",
    "x-request-id: req_1",
    "Retry-After: 7",
    "Alt-Svc: h3=\":443\"",
    "Via: 1.1 edge",
    "Content-Length: 2",
];

/// What is different in the response head that the client got: lines that went, lines that came. The
/// lines that stayed must be in their old order.
fn changes(sent: &[String], got: &[String]) -> (Vec<String>, Vec<String>) {
    let missing = |from: &[String], of: &[String]| {
        of.iter()
            .filter(|line| !from.contains(line))
            .cloned()
            .collect::<Vec<_>>()
    };
    let kept = |of: &[String], other: &[String]| {
        of.iter()
            .filter(|line| other.contains(line))
            .cloned()
            .collect::<Vec<_>>()
    };
    assert_eq!(kept(sent, got), kept(got, sent), "the order changed");
    (missing(got, sent), missing(sent, got))
}

#[test]
fn a_response_head_passes_in_order_but_for_what_is_listed() {
    let date = "Date: Tue, 15 Nov 1994 08:12:31 GMT";
    let mut sent: Vec<_> = RESPONSE_FIELDS.map(str::to_owned).to_vec();
    for with_date in [true, false] {
        if with_date {
            sent.insert(1, date.to_owned());
        }
        let answer = format!("HTTP/1.1 200 OK\r\n{}\r\n\r\n{{}}", sent.join("\r\n"));
        let (_, response) = through(&[], &chat_request(""), answer.as_bytes());
        let (went, came) = changes(&sent, &fields(&response.head));
        let names: Vec<_> = came
            .iter()
            .filter_map(|line| line.split(':').next())
            .collect();
        assert_eq!(names, ["Date", "Connection"]);
        assert!(
            came.contains(&"Connection: keep-alive".to_owned()),
            "{came:?}"
        );
        sent.retain(|line| line != date);
        assert_eq!(
            went,
            if with_date {
                vec![date.to_owned()]
            } else {
                vec![]
            }
        );
    }
}

#[test]
fn fields_of_one_name_that_stand_apart_come_together() {
    let apart = ["Host: a", "X-Twice: 1", "X-Other: 2", "x-twice: 3"];
    let together = ["Host: a", "X-Twice: 1", "x-twice: 3", "X-Other: 2"];
    let answer = format!(
        "HTTP/1.1 200 OK\r\n{}\r\nContent-Length: 0\r\n\r\n",
        apart.join("\r\n")
    );
    let (head, response) = through(
        &["--preserve-host"],
        &request("/", &apart),
        answer.as_bytes(),
    );
    assert_eq!(fields(&head)[..4], together);
    assert_eq!(fields(&response.head)[..4], together);
}

#[test]
fn a_target_that_is_no_uri_is_refused_and_a_fragment_does_not_pass() {
    let up = Upstream::start(|x| {
        x.request();
        x.send(OK);
    });
    let proxy = Proxy::start(&up);
    for target in ["/v1/x?q=\"a\"", "/v1/x?q=<a>"] {
        let response = Client::connect(proxy.addr).ask(request(target, &["Host: a"]));
        assert_eq!(response.status(), 400, "{target}");
    }
    assert_eq!(up.requests().len(), 0);
    Client::connect(proxy.addr).ask(request("/v1/x#part", &["Host: a"]));
    assert_eq!(up.requests()[0].head.start_line(), "POST /v1/x HTTP/1.1");
}

#[test]
fn status_lines_pass() {
    for line in [
        "200 OK",
        "200 Fine by me",
        "201 Created",
        "299 Odd",
        "404 ",
        "418 I'm a teapot",
        "599 X",
    ] {
        let answer = format!("HTTP/1.1 {line}\r\nContent-Length: 2\r\n\r\n{{}}");
        let (_, response) = through(&[], &chat_request(""), answer.as_bytes());
        assert_eq!(response.head.start_line(), format!("HTTP/1.1 {line}"));
    }
}

#[test]
fn a_reason_phrase_that_is_not_ascii_is_lost() {
    let answer = "HTTP/1.1 503 caf\u{e9}\r\nContent-Length: 2\r\n\r\n{}";
    let (_, response) = through(&[], &chat_request(""), answer.as_bytes());
    assert_eq!(response.head.start_line(), "HTTP/1.1 503 ");
    assert_eq!(response.text(), "{}");
}

#[test]
fn errors_pass_as_they_are() {
    let body = r#"{"error":{"message":"slow down","type":"rate_limit_error","code":null}}"#;
    let answer = format!(
        "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 7\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let (_, response) = through(&[], &chat_request(""), answer.as_bytes());
    assert_eq!((response.status(), response.text().as_str()), (429, body));
    assert_eq!(response.head.get("retry-after").as_deref(), Some("7"));
}

#[test]
fn trailers_do_not_pass_and_the_body_ends_well() {
    let answer = [
        STREAM
            .replace("\r\n\r\n", "\r\nTrailer: X-Sum\r\n\r\n")
            .as_bytes(),
        &chunk(DONE),
        b"0\r\nX-Sum: 1\r\n\r\n",
    ]
    .concat();
    let (_, response) = through(&[], &chat_request(""), &answer);
    assert_eq!(
        (response.text().as_str(), response.end),
        (DONE, Some(End::Whole))
    );
    assert_eq!(response.body.trailers, Vec::<String>::new());
}

#[test]
fn bodies_of_any_bytes_and_sizes_pass_both_ways() {
    let up = Upstream::start(|x| {
        let body = x.request();
        match x.head().get("x-framing").as_deref() {
            Some("length") => x.send(format!(
                "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n",
                body.len()
            )),
            _ => x.send(STREAM),
        };
        if x.head().get("x-framing").as_deref() == Some("length") {
            x.send(&body);
        } else {
            for piece in body.chunks(40_000) {
                x.send(chunk(piece));
            }
            x.send(LAST);
        }
    });
    let proxy = Proxy::start(&up);
    let mut client = Client::connect(proxy.addr);
    for framing in ["length", "chunked"] {
        for size in [0, 1, 255, 4096, 65_535, 65_536, 65_537, 1 << 20] {
            let body = Random(size as u64).bytes(size);
            let response = client.ask(post("/v1/x", &format!("X-Framing: {framing}\r\n"), &body));
            assert_eq!(response.end, Some(End::Whole), "{framing} {size}");
            assert!(
                response.body.bytes == body,
                "{framing} {size}: the bytes differ"
            );
        }
    }
}
