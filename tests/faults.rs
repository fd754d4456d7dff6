//! Faults of either side that must not become something else: a broken request no second one, an unread upload no client that never leaves, a cut no clean end.

mod support;

use support::{
    CHAT, Client, End, OK, Proxy, STREAM, Upstream, chat_request, chunk, event, pause, post,
};

#[test]
fn what_follows_broken_chunks_is_no_request() {
    for broken in ["ZZ\r\nx\r\n", "3\r\nabcXX"] {
        let up = Upstream::start(|x| {
            x.request();
            x.send(OK);
        });
        let proxy = Proxy::start(&up);
        let mut client = Client::connect(proxy.addr);
        client.send(
            "POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n",
        );
        client.send(broken);
        let refused = client.response("POST");
        assert_eq!(refused.status(), 400, "{broken:?}");
        assert_eq!(refused.head.get("connection").as_deref(), Some("close"));
        client.send("GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n");
        client.until_closed();
        assert!(
            up.requests()
                .iter()
                .all(|request| !request.head.start_line().contains("smuggled"))
        );
        assert_eq!(proxy.record()["end"], "refused");
    }
}

#[test]
fn a_client_that_leaves_behind_unread_bytes_is_seen_to_leave() {
    let up = Upstream::start(|x| {
        x.request();
        x.until_closed();
    });
    let proxy = Proxy::start(&up);
    let mut client = Client::connect(proxy.addr);
    client.send(chat_request(""));
    pause(100);
    client.send(post(
        "/v1/chat/completions",
        "",
        "z".repeat(80_000).as_bytes(),
    ));
    pause(100);
    let left = client.leave();
    assert_eq!(proxy.record()["end"], "client_gone");
    let (closed, _) = up.closed(0).expect("the upstream is told");
    assert!(closed - left < support::ms(1000), "{:?}", closed - left);
}

#[test]
fn the_users_limit_on_silence_is_not_the_clients_pause() {
    let up = Upstream::start(|x| {
        x.request();
        x.send(OK);
    });
    let proxy = Proxy::with(&up.url(), &["--read-timeout", "300ms"]);
    let mut client = Client::connect(proxy.addr);
    let request = post("/v1/chat/completions", "", CHAT.as_bytes());
    let (first, rest) = request.split_at(request.len() - 10);
    client.send(first);
    pause(900);
    client.send(rest);
    assert_eq!(client.response("POST").status(), 200);
}

#[test]
fn an_upstream_that_is_silent_beyond_the_users_limit_is_cut_and_recorded_so() {
    for answers in [false, true] {
        let up = Upstream::start(move |x| {
            x.request();
            if answers {
                x.send(STREAM);
                x.send(chunk(event("a")));
            }
            x.until_closed();
        });
        let proxy = Proxy::with(&up.url(), &["--read-timeout", "300ms"]);
        let response = Client::connect(proxy.addr).ask(chat_request(""));
        let record = proxy.record();
        assert_eq!(record["end"], "upstream_timeout", "{record:#}");
        assert_eq!(record["error"]["kind"], "upstream_timeout");
        if answers {
            assert_ne!(response.end, Some(End::Whole), "a cut stays a cut");
            assert!(record["ttft_ms"].is_number() && record["ttft_null"].is_null());
        } else {
            assert_eq!(response.status(), 504);
            assert_eq!(record["ttft_null"], "upstream_failed");
        }
    }
}

#[test]
fn a_body_whose_last_coding_is_not_chunked_ends_with_its_connection_and_its_cut_is_one() {
    let up = Upstream::start(|x| {
        x.request();
        x.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: identity\r\n\r\n");
        x.send(event("a"));
        x.wait(50);
        x.rst();
    });
    let proxy = Proxy::start(&up);
    let response = Client::connect(proxy.addr).ask(chat_request(""));
    assert_eq!(response.end, Some(End::Reset));
    let record = proxy.record();
    assert_eq!(record["response"]["framing"], "close");
    assert_eq!(record["end"], "upstream_reset");
}

#[test]
fn a_switch_of_protocols_that_nobody_asked_for_is_a_502() {
    let up = Upstream::start(|x| {
        x.request();
        x.send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n");
        x.until_closed();
    });
    let proxy = Proxy::start(&up);
    let response = Client::connect(proxy.addr).ask(chat_request(""));
    assert_eq!(response.status(), 502);
    assert_eq!(proxy.record()["end"], "upstream_invalid");
}

#[test]
fn a_stream_that_was_whole_before_its_framing_broke_is_complete() {
    let up = Upstream::start(|x| {
        x.request();
        x.send(STREAM);
        x.send(chunk(event("a")));
        x.send(chunk(support::DONE));
        x.send("zz\r\n");
        x.fin();
    });
    let proxy = Proxy::start(&up);
    let response = Client::connect(proxy.addr).ask(chat_request(""));
    assert_eq!(response.end, Some(End::Cut));
    let record = proxy.record();
    assert_eq!(record["end"], "complete", "{record}");
    assert!(
        record["flags"]
            .to_string()
            .contains("http_body_unterminated"),
        "{record}"
    );
}
