//! Both directions at once: interim answers, answers before the upload is done, upgrades, waits.

mod support;

use std::io::Write;
use std::thread;

use support::*;

fn expecting(length: usize) -> String {
    format!(
        "POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: {length}\r\n\r\n"
    )
}

#[test]
fn interim_answers_go_out_when_they_come() {
    let had = Gate::default();
    let gate = had.clone();
    let up = Upstream::start(move |x| {
        x.request();
        for head in [
            "HTTP/1.1 102 Processing\r\n\r\n",
            "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n",
        ] {
            x.send(head);
            gate.pass();
        }
        x.send(short_stream(1));
    });
    let proxy = Proxy::start(&up);
    let mut client = Client::connect(proxy.addr);
    client.send(chat_request(""));
    assert_eq!(client.interim().expect("it was held").status(), 102);
    had.open();
    let hints = client.interim().expect("it was held");
    assert_eq!(
        (hints.status(), hints.get("link").as_deref()),
        (103, Some("</a>"))
    );
    had.open();
    let response = client.response("POST");
    assert_eq!((response.status(), response.end), (200, Some(End::Whole)));
    assert_eq!(proxy.record()["response"]["status"], 200);
}

#[test]
fn a_client_that_knows_no_interim_answers_gets_none() {
    let up = Upstream::start(|x| {
        x.request();
        x.send("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n");
        x.send(OK);
    });
    let proxy = Proxy::start(&up);
    let request = String::from_utf8(chat_request(""))
        .unwrap()
        .replace("HTTP/1.1", "HTTP/1.0");
    let response = Client::connect(proxy.addr).ask(request);
    assert_eq!((response.status(), response.interim.len()), (200, 0));
    assert_eq!(response.text(), "{}");
}

#[test]
fn an_expected_continue_is_relayed() {
    let up = Upstream::start(|x| {
        x.send("HTTP/1.1 100 Continue\r\n\r\n");
        x.request();
        x.send(short_stream(1));
    });
    let proxy = Proxy::start(&up);
    let body = vec![b' '; 300_000];
    let mut client = Client::connect(proxy.addr);
    client.send(expecting(body.len()));
    assert_eq!(client.interim().expect("100 was held").status(), 100);
    client.send(&body);
    let response = client.response("POST");
    assert_eq!((response.status(), response.interim.len()), (200, 0));
    let request = up.requests().remove(0);
    assert_eq!(request.head.get("expect").as_deref(), Some("100-continue"));
    assert!(request.body == body);
    let record = proxy.record();
    assert!(flags(&record).contains(&"expect_continue"), "{record}");
    assert_eq!(record["response"]["status"], 200);
}

#[test]
fn nobody_but_the_upstream_says_continue() {
    let up = Upstream::start(|x| {
        x.request();
        x.send(short_stream(1));
    });
    let proxy = Proxy::start(&up);
    let mut client = Client::connect(proxy.addr);
    client.send(expecting(CHAT.len()));
    assert!(up.wait_for_requests(1), "the head waits for the body");
    pause(400);
    client.send(CHAT);
    let response = client.response("POST");
    assert_eq!((response.status(), response.interim.len()), (200, 0));
    let upload = proxy.record()["at"]["request_end_ms"].as_f64().unwrap();
    assert!(
        upload >= 390.0,
        "the client's own wait is the upload's: {upload} ms"
    );
}

#[test]
fn an_answer_instead_of_continue_does_not_wait_for_the_body() {
    for status in [417, 401] {
        let up = Upstream::start(move |x| match x.number {
            0 => {
                x.send(format!(
                    "HTTP/1.1 {status} No\r\nContent-Length: 2\r\n\r\nno"
                ));
                x.until_closed();
            }
            _ => {
                x.request();
                x.send(OK);
            }
        });
        let proxy = Proxy::start(&up);
        let mut client = Client::connect(proxy.addr);
        client.send(expecting(300_000));
        let response = client.response("POST");
        assert_eq!(
            (response.status(), response.text().as_str()),
            (status, "no")
        );
        // The unsent body must not swallow what comes next.
        let next = Client::connect(proxy.addr).ask(chat_request(""));
        assert_eq!(next.status(), 200);
        assert_eq!(up.requests()[1].body, CHAT.as_bytes());
        drop(client);
        assert_eq!(
            proxy
                .records(2)
                .iter()
                .filter(|r| r["end"] == "http_error")
                .count(),
            1
        );
    }
}

/// A server that takes the start of an upload, answers 413 and reads no more.
fn refusing(answer: String, closes: bool) -> Upstream {
    Upstream::start_reading(256 * 1024, move |x| {
        x.read_body(64 * 1024);
        let length = answer.len();
        x.send(format!(
            "HTTP/1.1 413 Content Too Large\r\nContent-Length: {length}\r\n\r\n"
        ));
        x.send(&answer);
        if closes {
            x.fin();
        }
        x.until_closed();
    })
}

#[test]
fn an_early_answer_comes_whole_while_the_upload_is_stuck() {
    let body = "{\"error\":{\"message\":\"too large\"}}".repeat(300);
    for closes in [false, true] {
        let up = refusing(body.clone(), closes);
        let proxy = Proxy::start(&up);
        let mut client = Client::connect(proxy.addr);
        let mut writer = client.writer();
        let request = post("/v1/x", "", &vec![b'x'; 34 << 20]);
        let upload = thread::spawn(move || writer.write_all(&request));
        let start = now();
        let response = client.response("POST");
        let whole = (413, Some(End::Whole));
        assert_eq!((response.status(), response.end), whole, "closes: {closes}");
        assert_eq!(response.text(), body);
        assert!(now() - start < ms(5000), "after {:?}", now() - start);
        client.half_close(); // wakes the writer, if it is still stuck
        let _ = upload.join().unwrap();
        let record = proxy.record();
        assert_eq!(record["end"], "http_error");
        assert_eq!(record["response"]["status"], 413);
    }
}

#[test]
fn an_early_answer_reaches_a_client_that_first_sends_all() {
    let up = refusing("too large".to_owned(), true);
    let proxy = Proxy::start(&up);
    let response = Client::connect(proxy.addr).ask(post("/v1/x", "", &vec![b'x'; 34 << 20]));
    assert_eq!(
        (response.status(), response.text().as_str()),
        (413, "too large")
    );
}

#[test]
fn a_large_upload_passes_as_it_comes() {
    const LENGTH: usize = 34 << 20;
    let up = Upstream::start(|x| {
        x.read_body(1);
        x.send("HTTP/1.1 103 Early Hints\r\nX-Saw: the first byte\r\n\r\n");
        x.request();
        x.send(short_stream(1));
    });
    let proxy = Proxy::start(&up);
    let body = Random(34).bytes(LENGTH);
    let request = post("/v1/chat/completions", "", &body);
    let mut client = Client::connect(proxy.addr);
    let (first, rest) = request.split_at(1 << 20);
    client.send(first);
    assert_eq!(
        client
            .interim()
            .expect("the upload was gathered first")
            .status(),
        103
    );
    client.send(rest);
    assert_eq!(client.response("POST").status(), 200);
    assert!(up.requests()[0].body == body, "the upload was changed");
    assert_eq!(proxy.record()["request"]["bytes"], LENGTH);
}

#[test]
fn an_upgrade_passes_both_ways() {
    let up = Upstream::start(|x| {
        // The first frame may come right behind the head.
        x.send("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: x\r\n\r\nfirst");
        for round in 1..=3 {
            let got = x.received_after(4 * round);
            x.send(&got[4 * (round - 1)..]);
        }
        x.fin();
    });
    let proxy = Proxy::start(&up);
    let mut client = Client::connect(proxy.addr);
    client.send("GET /v1/realtime HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: k\r\n\r\n");
    let mut response = client.head("GET");
    assert_eq!(response.status(), 101);
    assert_eq!(response.head.get("upgrade").as_deref(), Some("websocket"));
    assert!(
        client.read_until(&mut response, 5),
        "the first frame was lost"
    );
    for (round, frame) in [b"\x81\x01a\n", b"\0\xff\r\n", b"0\r\n\r"]
        .into_iter()
        .enumerate()
    {
        client.send(frame);
        assert!(
            client.read_until(&mut response, 5 + 4 * (round + 1)),
            "round {round}"
        );
    }
    assert_eq!(response.body.bytes, b"first\x81\x01a\n\0\xff\r\n0\r\n\r");
    client.finish(&mut response);
    assert_eq!(
        response.end,
        Some(End::Whole),
        "the upstream's end did not pass"
    );
    let head = up.requests()[0].head.clone();
    assert_eq!(head.get("upgrade").as_deref(), Some("websocket"));
    assert!(
        head.get("connection")
            .is_some_and(|value| value.to_lowercase().contains("upgrade"))
    );
    client.leave();
    let record = proxy.record();
    assert_eq!(
        (&record["end"], &record["api"]),
        (&"upgraded".into(), &"websocket".into())
    );
    assert_eq!(record["response"]["status"], 101);
}

#[test]
fn leaving_an_upgraded_connection_closes_the_upstream() {
    let up = Upstream::start(|x| {
        x.send(
            "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
        );
        x.until_closed();
    });
    let proxy = Proxy::start(&up);
    let mut client = Client::connect(proxy.addr);
    client.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
    assert_eq!(client.head("GET").status(), 101);
    let left = client.leave();
    let (closed, _) = up.closed(0).expect("the upstream is kept open");
    assert!(closed - left < ms(500), "{:?}", closed - left);
    proxy.record();
}

#[test]
fn a_silent_upstream_and_a_silent_client_are_waited_for() {
    let up = Upstream::start(|x| {
        x.request();
        x.wait(1500);
        x.send(OK);
    });
    let proxy = Proxy::start(&up);
    let mut client = Client::connect(proxy.addr);
    let request = chat_request("");
    client.send_pieces(request.chunks(request.len() - 20), 700);
    assert_eq!(client.response("POST").status(), 200);
}
