//! How requests end: clients that leave, upstreams that fail. Whatever happens, each request leaves
//! exactly one record.

mod support;

use std::net::{SocketAddr, TcpStream};

use socket2::{Domain, Socket, Type};
use support::upstream::How;
use support::*;

/// Far below the time after which a failed write would tell the same.
const AT_ONCE: u64 = 500;

#[test]
fn a_client_that_leaves_closes_the_upstream_at_once() {
    for phase in ["before the head", "before the first token", "in the middle"] {
        for how in [How::Fin, How::Reset] {
            let up = Upstream::start(move |x| {
                x.request();
                if phase != "before the head" {
                    x.send(STREAM);
                }
                if phase == "in the middle" {
                    x.send(chunk(event("a")));
                }
                x.wait(8_000);
                x.send(chunk(DONE));
            });
            let proxy = Proxy::start(&up);
            let mut client = Client::connect(proxy.addr);
            client.send(chat_request(""));
            if phase == "before the head" {
                assert!(up.wait_for_requests(1));
                pause(50);
            } else {
                let mut response = client.head("POST");
                let tokens = if phase == "in the middle" { 1 } else { 0 };
                client.read_until(&mut response, tokens);
            }
            let left = if how == How::Fin {
                client.leave()
            } else {
                client.reset()
            };
            let case = format!("{phase}, {how:?}");
            let (closed, _) = up.closed(0).unwrap_or_else(|| panic!("{case}: kept open"));
            assert!(closed - left < ms(AT_ONCE), "{case}: {:?}", closed - left);
            let record = proxy.record();
            assert_eq!(record["end"], "client_gone", "{case}");
            assert_eq!(
                record["ttft_ms"].is_number(),
                phase == "in the middle",
                "{case}"
            );
            assert_eq!(proxy.stop().records.len(), 1, "{case}");
        }
    }
}

#[test]
fn a_client_that_leaves_while_it_does_not_read_closes_the_upstream() {
    for how in [How::Fin, How::Reset] {
        let up = Upstream::start(|x| {
            x.request();
            x.send(STREAM);
            for _ in 0..100 {
                x.send(chunk(vec![b'x'; 100_000]));
            }
            x.until_closed();
        });
        let proxy = Proxy::start(&up);
        let mut client = Client::with_small_buffers(proxy.addr);
        client.send(chat_request(""));
        client.head("POST");
        pause(300); // all queues are full by now
        let left = if how == How::Fin {
            client.leave()
        } else {
            client.reset()
        };
        let (closed, _) = up.closed(0).unwrap_or_else(|| panic!("{how:?}: kept open"));
        assert!(closed - left < ms(AT_ONCE), "{how:?}: {:?}", closed - left);
        assert_eq!(proxy.record()["end"], "client_gone");
    }
}

#[test]
fn a_client_that_leaves_while_it_uploads_closes_the_upstream() {
    let up = Upstream::start(|x| {
        x.request();
    });
    let proxy = Proxy::start(&up);
    let mut client = Client::connect(proxy.addr);
    client.send("POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nhalf");
    assert!(up.wait_for_requests(1));
    pause(50);
    let left = client.leave();
    let (closed, _) = up.closed(0).expect("kept open");
    assert!(closed - left < ms(AT_ONCE), "{:?}", closed - left);
    assert_eq!(proxy.record()["end"], "client_gone");
}

#[test]
fn a_client_that_pipelined_and_left_is_noticed() {
    let up = Upstream::start(|x| {
        x.request();
        x.send(STREAM);
        x.wait(8_000);
    });
    let proxy = Proxy::start(&up);
    let mut client = Client::connect(proxy.addr);
    client.send([chat_request(""), b"POST /next".to_vec()].concat());
    client.head("POST");
    pause(50);
    let left = client.leave();
    let (closed, _) = up.closed(0).expect("kept open");
    assert!(closed - left < ms(AT_ONCE), "{:?}", closed - left);
    assert_eq!(proxy.record()["end"], "client_gone");
}

#[test]
fn a_half_closed_client_is_answered_where_that_is_allowed() {
    for (args, end) in [
        (&["--allow-half-close"][..], "complete"),
        (&[], "client_gone"),
    ] {
        let up = Upstream::start(|x| {
            x.request();
            x.send(STREAM);
            x.wait(400);
            x.send([chunk(event("a")), chunk(DONE), LAST.into()].concat());
        });
        let proxy = Proxy::with(&up.url(), args);
        let mut client = Client::connect(proxy.addr);
        client.send(chat_request(""));
        client.half_close();
        let response = client.response("POST");
        assert_eq!(
            response.end == Some(End::Whole),
            end == "complete",
            "{:?}",
            response.end
        );
        assert_eq!(proxy.record()["end"], end);
    }
}

#[test]
fn an_upstream_that_cannot_be_reached_is_a_502_that_names_the_cause() {
    let nobody = Nobody::new();
    let cases = [
        (format!("http://{}", nobody.addr), "refused"),
        ("http://no-such-host.invalid:9".to_owned(), "resolve"),
    ];
    for (url, cause) in cases {
        let proxy = Proxy::with(&url, &[]);
        let error = own_502(&Client::connect(proxy.addr).ask(chat_request("")));
        assert!(
            error["message"].as_str().unwrap().contains(cause),
            "{error}"
        );
        let record = proxy.record();
        assert_eq!(record["end"], "upstream_unreachable");
        assert_eq!(record["response"]["origin"], "dripline");
        assert_eq!(
            (&record["response"]["status"], &record["ttft_null"]),
            (&502.into(), &"upstream_failed".into())
        );
    }
}

#[test]
fn an_upstream_that_speaks_no_http_is_a_502() {
    for answer in [
        "SSH-2.0-OpenSSH_9.9\r\n\r\n",
        "HTTP/1.1 abc\r\n\r\n",
        "HTTP/1.1 200 OK\r\nno colon here\r\n\r\n",
    ] {
        let up = Upstream::start(move |x| {
            x.request();
            x.send(answer);
            x.fin();
        });
        let proxy = Proxy::start(&up);
        own_502(&Client::connect(proxy.addr).ask(chat_request("")));
        assert_eq!(proxy.record()["end"], "upstream_invalid", "{answer:?}");
        assert_eq!(
            up.requests().len(),
            1,
            "{answer:?}: asked again after an answer"
        );
    }
}

#[test]
fn an_upstream_that_closes_without_an_answer_is_asked_once() {
    for how in [How::Fin, How::Reset] {
        let up = Upstream::start(move |x| {
            x.request();
            if how == How::Fin { x.fin() } else { x.rst() }
        });
        let proxy = Proxy::start(&up);
        own_502(&Client::connect(proxy.addr).ask(chat_request("")));
        assert_eq!(
            up.requests().len(),
            1,
            "{how:?}: a request was sent twice on a fresh connection"
        );
        let record = proxy.record();
        assert_eq!(record["response"]["origin"], "dripline");
        assert!(
            ["upstream_reset", "upstream_invalid", "truncated"]
                .iter()
                .any(|end| record["end"] == *end),
            "{record}"
        );
    }
}

#[test]
fn every_request_leaves_exactly_one_record() {
    let up = Upstream::start(|x| {
        x.request();
        match x.head().get("x-case").unwrap().as_str() {
            "whole" => x.send(short_stream(2)),
            "error" => x.send("HTTP/1.1 429 Too Many Requests\r\nContent-Length: 2\r\n\r\n{}"),
            "reset" => x.rst(),
            "cut" => {
                x.send(STREAM);
                x.fin();
            }
            _ => {
                x.send(STREAM);
                x.until_closed();
            }
        }
    });
    let proxy = Proxy::start(&up);
    let ask = |case: &str| {
        let mut client = Client::connect(proxy.addr);
        client.send(chat_request(&format!("X-Case: {case}\r\n")));
        let response = client.head("POST");
        (client, response)
    };
    for case in ["whole", "error", "reset", "cut", "left"].repeat(4) {
        let (mut client, mut response) = ask(case);
        if case != "left" {
            client.finish(&mut response);
        }
    }
    let _open = ask("open"); // until the proxy stops
    proxy.records(20);
    proxy.insist();
    let stopped = proxy.ended();
    let mut ids: Vec<_> = stopped
        .records
        .iter()
        .map(|record| record["id"].to_string())
        .collect();
    assert_eq!(ids.len(), 21);
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 21, "ids are unique");
}

#[test]
fn a_request_that_cannot_be_read_is_refused_and_leaves_the_upstream_cold() {
    let up = Upstream::start(|x| {
        x.request();
        x.send("HTTP/1.0 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}");
    });
    let proxy = Proxy::start(&up);
    let mut client = Client::connect(proxy.addr);
    client.send("NONSENSE\r\n\r\n");
    let refused = client.response("GET");
    assert_eq!(refused.status(), 400);
    client.until_closed();
    Client::connect(proxy.addr).ask(chat_request(""));
    let records = proxy.records(2);
    assert_eq!(records[0]["end"], "refused");
    assert_eq!(records[0]["request"]["method"], serde_json::Value::Null);
    assert_eq!(records[1]["load"]["cold"], true, "{}", records[1]["load"]);
    assert_eq!(records[1]["upstream"]["http"], "1.0");
}

/// A client that has sent more than is read ahead is seen to leave while the upstream takes its time to
/// accept the connection.
#[cfg(target_os = "linux")]
#[test]
fn a_client_that_leaves_while_we_connect_is_seen_to_leave() {
    // A backlog of none that is full: the next SYN is dropped, and sent again for minutes.
    let up = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    up.bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into())
        .unwrap();
    up.listen(0).unwrap();
    let addr = up.local_addr().unwrap().as_socket().unwrap();
    let fillers: Vec<_> = (0..4)
        .map(|_| TcpStream::connect_timeout(&addr, ms(100)))
        .collect();
    assert!(fillers.last().unwrap().is_err(), "the backlog is not full");

    let proxy = Proxy::with(&format!("http://{addr}"), &[]);
    for sent in [10, 70_000, 100_000] {
        let mut client = Client::connect(proxy.addr);
        client.send(&post("/v1/chat/completions", "", &[b' '; 200_000])[..sent + 200]);
        pause(300);
        client.leave();
    }
    for record in proxy.records(3) {
        assert_eq!(record["end"], "client_gone");
    }
}
