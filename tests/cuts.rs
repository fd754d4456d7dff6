//! An end stays an end and a cut stays a cut (RFC 9112 section 8): a half answer must never look whole
//! to the client.

mod support;

use support::*;

#[test]
fn a_cut_stays_a_cut() {
    let sent = event("a") + "data: {\"cho";
    let length =
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 900\r\n\r\n";
    let close = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
    for (head, how, end) in [
        (STREAM, "fin", "truncated"),
        (STREAM, "rst", "upstream_reset"),
        (length, "fin", "truncated"),
        (length, "rst", "upstream_reset"),
        (close, "rst", "upstream_reset"),
    ] {
        let case = format!("{how} in {head}");
        let had = Gate::default();
        let (gate, piece) = (had.clone(), sent.clone());
        let up = Upstream::start(move |x| {
            x.request();
            x.send(head);
            x.send(if head == STREAM {
                chunk(&piece)
            } else {
                piece.clone().into_bytes()
            });
            gate.pass();
            if how == "fin" { x.fin() } else { x.rst() }
        });
        let proxy = Proxy::start(&up);
        let mut client = Client::connect(proxy.addr);
        client.send(chat_request(""));
        let mut response = client.head("POST");
        assert!(client.read_until(&mut response, sent.len()), "{case}");
        had.open();
        client.finish(&mut response);
        assert_eq!(response.text(), sent, "{case}");
        assert!(
            matches!(response.end, Some(End::Cut | End::Reset)),
            "{case}: {:?}",
            response.end
        );
        assert_eq!(proxy.record()["end"], end, "{case}");
    }
}

#[test]
fn a_cut_in_the_middle_of_a_chunk_stays_a_cut() {
    let up = Upstream::start(|x| {
        x.request();
        x.send(STREAM);
        x.send("40\r\ndata: half a chunk");
        x.fin();
    });
    let proxy = Proxy::start(&up);
    let response = Client::connect(proxy.addr).ask(chat_request(""));
    assert_eq!(response.text(), "data: half a chunk");
    assert_eq!(response.end, Some(End::Cut));
    assert_eq!(proxy.record()["end"], "truncated");
}

#[test]
fn a_client_that_knows_no_chunks_sees_a_cut_as_a_reset() {
    for how in ["fin", "rst"] {
        let had = Gate::default();
        let gate = had.clone();
        let up = Upstream::start(move |x| {
            x.request();
            x.send(STREAM);
            x.send(chunk(event("a")));
            gate.pass();
            if how == "fin" { x.fin() } else { x.rst() }
        });
        let proxy = Proxy::start(&up);
        let mut client = Client::connect(proxy.addr);
        client.send(
            String::from_utf8(chat_request(""))
                .unwrap()
                .replace("HTTP/1.1", "HTTP/1.0"),
        );
        let mut response = client.head("POST");
        assert!(client.read_until(&mut response, event("a").len()), "{how}");
        had.open();
        client.finish(&mut response);
        assert_eq!(
            (response.text(), response.end),
            (event("a"), Some(End::Reset)),
            "{how}"
        );
    }
}

#[test]
fn a_body_that_ends_with_the_connection_ends_so_and_the_record_knows_better() {
    let up = Upstream::start(|x| {
        x.request();
        x.send("HTTP/1.0 200 OK\r\nContent-Type: text/event-stream\r\n\r\n");
        x.send(event("a") + "data: {\"cho");
        x.fin();
    });
    let proxy = Proxy::start(&up);
    let response = Client::connect(proxy.addr).ask(chat_request(""));
    assert_eq!(response.end, Some(End::Whole));
    assert_eq!(proxy.record()["end"], "truncated");
}

#[test]
fn broken_framing_in_the_middle_is_a_cut() {
    let up = Upstream::start(|x| {
        x.request();
        x.send(STREAM);
        x.send(chunk(event("a")));
        x.wait(50);
        x.send("zz\r\nrubbish\r\n");
        x.until_closed();
    });
    let proxy = Proxy::start(&up);
    let response = Client::connect(proxy.addr).ask(chat_request(""));
    assert_eq!(response.text(), event("a"));
    assert!(
        matches!(response.end, Some(End::Cut | End::Reset)),
        "{:?}",
        response.end
    );
    assert_eq!(proxy.record()["end"], "upstream_invalid");
}
