//! Kept-alive connections that the server has just closed: one resend where nothing was answered and
//! the body can be sent again, and never a second generation.

mod support;

use support::upstream::How;
use support::*;

#[test]
fn a_stale_connection_does_not_fail_a_post() {
    for how in [How::Fin, How::Reset] {
        // Answers once on each connection, and closes when the next request comes.
        let up = Upstream::start(move |x| match (x.on_connection(), how) {
            (0, _) => {
                x.request();
                x.send(short_stream(2));
            }
            (_, How::Fin) => x.fin(),
            (_, How::Reset) => x.rst(),
        });
        let proxy = Proxy::start(&up);
        let mut client = Client::connect(proxy.addr);
        for i in 0..3 {
            let response = client.ask(chat_request(""));
            assert_eq!(
                (response.status(), response.end),
                (200, Some(End::Whole)),
                "{how:?} {i}"
            );
        }
        assert!(
            up.requests()
                .iter()
                .all(|request| request.body.is_empty() || request.body == CHAT.as_bytes())
        );
        let records = proxy.records(3);
        assert!(!flags(&records[0]).contains(&"retried"));
        for record in &records[1..] {
            assert!(flags(record).contains(&"retried"), "{how:?}: {record}");
            assert_eq!(record["upstream"]["attempts"], 2);
            assert_eq!(
                record["upstream"]["reused"], false,
                "the attempt that counted was fresh"
            );
            assert!(record["upstream"]["retry_ms"].is_number());
        }
    }
}

#[test]
fn a_stale_connection_is_replaced_while_the_body_is_still_coming() {
    let up = Upstream::start(|x| {
        if x.on_connection() > 0 {
            return x.fin();
        }
        x.request();
        x.send(OK);
    });
    let proxy = Proxy::start(&up);
    let mut client = Client::connect(proxy.addr);
    assert_eq!(client.ask(chat_request("")).status(), 200);
    let request = chat_request("");
    client.send_pieces(request.chunks(request.len() / 3), 100);
    assert_eq!(client.response("POST").status(), 200);
    let requests = up.requests();
    assert_eq!(requests.len(), 3);
    assert_eq!(requests[2].body, CHAT.as_bytes());
    assert!(flags(&proxy.records(2)[1]).contains(&"retried"));
}

#[test]
fn a_server_that_closes_right_after_its_answer_never_fails_a_post() {
    for delay in [0, 1, 5, 30] {
        let up = Upstream::start(move |x| {
            x.request();
            x.send(short_stream(1));
            x.wait(delay);
            x.fin();
        });
        let proxy = Proxy::start(&up);
        for i in 0..30 {
            let status = Client::connect(proxy.addr).ask(chat_request("")).status();
            assert_eq!(status, 200, "request {i}, closed after {delay} ms");
        }
        assert_eq!(proxy.records(30).len(), proxy.stop().records.len());
    }
}

#[test]
fn nothing_is_sent_twice_once_an_answer_began() {
    let up = Upstream::start(|x| {
        x.request();
        match x.number {
            0 => x.send(OK),
            _ => {
                x.send("HTTP/1.1 2");
                x.wait(50);
                x.fin();
            }
        }
    });
    let proxy = Proxy::start(&up);
    let mut client = Client::connect(proxy.addr);
    assert_eq!(client.ask(chat_request("")).status(), 200);
    own_502(&client.ask(chat_request("")));
    assert_eq!(
        up.requests().len(),
        2,
        "the server may have begun to generate"
    );
}

#[test]
fn a_body_that_cannot_be_sent_again_goes_on_a_fresh_connection() {
    // Closes when a second request comes on a connection.
    let up = Upstream::start(|x| {
        if x.on_connection() > 0 {
            return x.fin();
        }
        x.request();
        x.send(OK);
    });
    let proxy = Proxy::start(&up);
    let large = post("/v1/chat/completions", "", &vec![b' '; 100_000]);
    let chunked = b"POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n";
    for request in [&large[..], chunked] {
        let mut client = Client::connect(proxy.addr);
        assert_eq!(client.ask(chat_request("")).status(), 200);
        let before = up.requests().len();
        assert_eq!(client.ask(request).status(), 200);
        assert_eq!(
            up.requests().len(),
            before + 1,
            "it went on the pooled connection first"
        );
    }
}
