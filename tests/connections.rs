//! Connections that serve more than one request, on either side: kept alive, pipelined, closed.

mod support;

use support::*;

#[test]
fn a_pipelined_request_does_not_disturb_the_running_one() {
    for late in [false, true] {
        let had = Gate::default();
        let gate = had.clone();
        let up = Upstream::start(move |x| {
            x.request();
            x.send(STREAM);
            x.send(chunk(event("a")));
            if x.number == 0 {
                gate.pass();
                x.wait(100);
            }
            x.send([chunk(event("b")), chunk(DONE), LAST.into()].concat());
        });
        let proxy = Proxy::start(&up);
        let mut client = Client::connect(proxy.addr);
        let request = chat_request("");
        let body = event("a") + &event("b") + DONE;
        client.send(if late {
            request.clone()
        } else {
            request.repeat(2)
        });
        let mut response = client.head("POST");
        assert!(client.read_until(&mut response, event("a").len()));
        if late {
            client.send(&request);
        }
        had.open();
        client.finish(&mut response);
        assert_eq!(
            (response.text(), response.end),
            (body.clone(), Some(End::Whole)),
            "late: {late}"
        );
        // The second is answered too, or the connection ends after the first; never half of it.
        let second = client.response("POST");
        if second.end == Some(End::Whole) {
            assert_eq!(second.text(), body);
        } else {
            assert!(
                second.head.0.is_empty() && second.end != Some(End::Silent),
                "{second:?}"
            );
        }
    }
}

#[test]
fn requests_on_one_connection_share_one_upstream_connection() {
    const MANY: usize = 100;
    let up = Upstream::start(|x| {
        x.request();
        if x.number == 1 {
            x.send(OK)
        } else {
            x.send(short_stream(3))
        };
    });
    let proxy = Proxy::start(&up);
    let mut client = Client::connect(proxy.addr);
    // Many and without a pause: the connection must be back before the next request comes.
    for i in 0..MANY {
        let response = client.ask(chat_request(""));
        assert_eq!(response.end, Some(End::Whole), "request {i}");
    }
    // The pool is the proxy's: the next client finds the connection too.
    assert_eq!(
        Client::connect(proxy.addr).ask(chat_request("")).status(),
        200
    );
    assert_eq!(up.connections(), 1);
    let records = proxy.records(MANY + 1);
    let reused = |i: usize| records[i]["upstream"]["reused"] == true;
    assert!(!reused(0) && (1..=MANY).all(reused));
    assert!(records[0]["upstream"]["connect_ms"].is_number());
    assert!(
        records[1]["upstream"]["connect_ms"].is_null(),
        "nothing was connected"
    );
}

#[test]
fn an_upstream_that_closes_after_each_answer_does_not_close_the_client() {
    let up = Upstream::start(|x| {
        x.request();
        x.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}");
        x.fin();
    });
    let proxy = Proxy::start(&up);
    let mut client = Client::connect(proxy.addr);
    for i in 0..3 {
        let response = client.ask(chat_request(""));
        assert_eq!(
            (response.status(), response.end),
            (200, Some(End::Whole)),
            "request {i}"
        );
        assert_ne!(response.head.get("connection").as_deref(), Some("close"));
    }
    assert_eq!(up.connections(), 3);
}

#[test]
fn bytes_behind_an_answer_never_answer_the_next_request() {
    let up = Upstream::start(|x| {
        x.request();
        let behind = "HTTP/1.1 200 OK\r\nX-Stray: 1\r\nContent-Length: 2\r\n\r\nno";
        x.send([OK, if x.number == 0 { behind } else { "" }].concat());
    });
    let proxy = Proxy::start(&up);
    let mut client = Client::connect(proxy.addr);
    for i in 0..2 {
        let response = client.ask(chat_request(""));
        assert_eq!(
            (response.status(), response.text().as_str()),
            (200, "{}"),
            "request {i}"
        );
        assert_eq!(client.unread(), b"", "request {i}");
        pause(20);
    }
    assert_eq!(up.connections(), 2, "such a connection cannot be trusted");
}

#[test]
fn a_farewell_on_an_idle_connection_does_not_answer_the_next_request() {
    // Some servers tell an idle client `408` before they close.
    let up = Upstream::start(|x| {
        x.request();
        x.send(OK);
        x.wait(50);
        x.send("HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
        x.fin();
    });
    let proxy = Proxy::start(&up);
    let mut client = Client::connect(proxy.addr);
    for i in 0..3 {
        assert_eq!(client.ask(chat_request("")).status(), 200, "request {i}");
        pause(200);
    }
}

#[test]
fn a_client_that_asks_to_close_is_closed_and_the_upstream_is_kept() {
    let up = Upstream::start(|x| {
        x.request();
        x.send(short_stream(1));
    });
    let proxy = Proxy::start(&up);
    for _ in 0..2 {
        let mut client = Client::connect(proxy.addr);
        assert_eq!(
            client.ask(chat_request("Connection: close\r\n")).end,
            Some(End::Whole)
        );
        assert_eq!(client.until_closed(), End::Cut);
        pause(50); // the client may hear of its end before the other connection is put back
    }
    assert_eq!(up.connections(), 1);
}

#[test]
fn localhost_is_found_where_only_ipv4_listens() {
    let up = Upstream::start(|x| {
        x.request();
        x.send(OK);
    });
    let proxy = Proxy::with(&format!("http://localhost:{}", up.addr.port()), &[]);
    assert_eq!(
        Client::connect(proxy.addr).ask(chat_request("")).status(),
        200
    );
    let head = up.requests().remove(0).head;
    assert_eq!(
        head.get("host"),
        Some(format!("localhost:{}", up.addr.port()))
    );
    assert_eq!(proxy.record()["upstream"]["addr"], up.addr.to_string());
}
