//! did, or the other tests prove nothing.

mod support;

use support::*;

#[test]
fn each_framing_reads_as_whole_and_the_next_request_follows() {
    let up = Upstream::start(|x| {
        let body = x.request();
        match x.head().get("x-framing").as_deref() {
            Some("chunked") => x.send([STREAM.as_bytes(), &chunk(&body), LAST.as_bytes()].concat()),
            Some("length") => x.send(
                format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len())
                    + &String::from_utf8_lossy(&body),
            ),
            _ => {
                x.send([b"HTTP/1.0 200 OK\r\n\r\n", &*body].concat());
                x.fin();
            }
        }
    });
    let mut client = Client::connect(up.addr);
    for framing in ["chunked", "length", "close"] {
        let response = client.ask(post("/", &format!("X-Framing: {framing}\r\n"), b"hello"));
        assert_eq!(
            (response.text().as_str(), response.end),
            ("hello", Some(End::Whole)),
            "{framing}"
        );
    }
    assert_eq!(up.connections(), 1);
    assert_eq!(up.requests()[2].body, b"hello");
}

#[test]
fn cuts_are_told_from_ends() {
    let up = Upstream::start(|x| {
        let how = String::from_utf8(x.request()).unwrap();
        x.send(STREAM);
        x.send(chunk("half"));
        x.wait(30);
        match how.as_str() {
            "fin" => x.fin(),
            _ => x.rst(),
        }
    });
    for (how, end) in [("fin", End::Cut), ("rst", End::Reset)] {
        let response = Client::connect(up.addr).ask(post("/", "", how.as_bytes()));
        assert_eq!(
            (response.text().as_str(), response.end),
            ("half", Some(end)),
            "{how}"
        );
    }
}

#[test]
fn the_upstream_sees_at_once_how_a_client_leaves() {
    let up = Upstream::start(|x| {
        x.request();
        x.send(STREAM);
        x.wait(60_000);
    });
    for (i, how) in [upstream::How::Fin, upstream::How::Reset]
        .into_iter()
        .enumerate()
    {
        let mut client = Client::connect(up.addr);
        client.send(chat_request(""));
        client.head("POST");
        let left = if i == 0 {
            client.leave()
        } else {
            client.reset()
        };
        let (at, seen) = up.closed(i).expect("it left");
        assert_eq!(seen, how);
        assert!(at - left < ms(200), "seen after {:?}", at - left);
    }
}

#[test]
fn interim_heads_uploads_in_pieces_and_chunked_requests_are_kept() {
    let up = Upstream::start(|x| {
        x.send("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n");
        x.request();
        x.send("HTTP/1.1 204 No Content\r\n\r\n");
    });
    let mut client = Client::connect(up.addr);
    let request = b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\nab\r\n1\r\nc\r\n0\r\nT: 1\r\n\r\n";
    client.send_pieces(request.chunks(1), 1);
    let response = client.response("POST");
    assert_eq!(response.interim.len(), 2);
    assert_eq!((response.status(), response.end), (204, Some(End::Whole)));
    assert_eq!(up.requests()[0].body, b"abc");
    assert_eq!(up.received(0), request);
}

#[test]
fn a_server_that_stops_reading_blocks_its_client_and_a_slow_client_blocks_its_server() {
    let up = Upstream::start_reading(64 * 1024, |x| {
        x.read_body(32 * 1024);
        x.send("HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig");
        x.until_closed();
    });
    let mut client = Client::connect(up.addr);
    let mut writer = client.writer();
    let upload = std::thread::spawn(move || {
        use std::io::Write;
        writer
            .write_all(&post("/", "", &vec![b'x'; 34 << 20]))
            .is_ok()
    });
    let response = client.response("POST");
    assert_eq!((response.status(), response.text().as_str()), (413, "big"));
    assert!(!upload.is_finished(), "34 MiB went into kernel buffers");
    client.reset();

    let up = Upstream::start(|x| {
        x.request();
        x.send(STREAM);
        let start = now();
        x.send(chunk(vec![b'x'; 300_000]));
        x.send(chunk(format!("{}", (now() - start).as_millis())));
        x.send(LAST);
    });
    let mut client = Client::with_small_buffers(up.addr);
    client.send(chat_request(""));
    let mut response = client.head("POST");
    pause(300);
    client.finish(&mut response);
    let blocked: u64 = response.text()[300_000..].parse().unwrap();
    assert!(blocked > 200, "the server wrote 300 kB within {blocked} ms");
}
