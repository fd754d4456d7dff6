//! The proxy's own end: streams may finish, idle connections do not hold it up, no record is lost.

mod support;

use std::io::Write;
use std::net::TcpStream;

use support::*;

fn endless() -> Upstream {
    Upstream::start(|x| {
        x.request();
        x.send(STREAM);
        for _ in 0..600 {
            x.send(chunk(event("a")));
            x.wait(50);
        }
    })
}

fn quick() -> Upstream {
    Upstream::start(|x| {
        x.request();
        x.send(OK);
    })
}

/// A client in the middle of a stream.
fn streaming(proxy: &Proxy) -> (Client, Response) {
    let mut client = Client::connect(proxy.addr);
    client.send(chat_request(""));
    let mut response = client.head("POST");
    assert!(client.read_until(&mut response, 1));
    (client, response)
}

#[test]
fn a_stream_finishes_after_the_signal_and_no_new_one_starts() {
    for signal in ["TERM", "INT"] {
        let up = Upstream::start(|x| {
            x.request();
            x.send(STREAM);
            for _ in 0..10 {
                x.send(chunk(event("a")));
                x.wait(100);
            }
            x.send([chunk(DONE), LAST.into()].concat());
        });
        let mut proxy = Proxy::start(&up);
        let (mut client, mut response) = streaming(&proxy);
        proxy.signal(signal);
        pause(300);
        assert!(proxy.runs(), "SIG{signal}: ended under an open stream");
        assert!(
            TcpStream::connect(proxy.addr).is_err(),
            "SIG{signal}: still accepts"
        );
        client.finish(&mut response);
        assert_eq!(response.end, Some(End::Whole), "SIG{signal}");
        let over = now();
        let stopped = proxy.ended();
        assert!(
            now() - over < ms(2000),
            "SIG{signal}: the last stream was over"
        );
        assert_eq!(
            stopped.status.code(),
            Some(0),
            "SIG{signal}: {}",
            stopped.stderr
        );
        assert_eq!(stopped.records.len(), 1);
        assert_eq!(stopped.records[0]["end"], "complete");
    }
}

#[test]
fn after_the_drain_time_streams_are_cut() {
    let up = endless();
    let proxy = Proxy::with(&up.url(), &["--drain", "1s"]);
    let (mut client, mut response) = streaming(&proxy);
    let (mut other, mut others) = streaming(&proxy);
    let start = now();
    proxy.signal("TERM");
    client.finish(&mut response);
    let drained = now() - start;
    other.finish(&mut others);
    for response in [response, others] {
        assert!(
            matches!(response.end, Some(End::Cut | End::Reset)),
            "{:?}",
            response.end
        );
    }
    assert!(drained > ms(900) && drained < ms(4000), "{drained:?}");
    let stopped = proxy.ended();
    assert_eq!(stopped.status.code(), Some(0), "{}", stopped.stderr);
    let ends: Vec<_> = stopped
        .records
        .iter()
        .map(|record| record["end"].clone())
        .collect();
    assert_eq!(ends, ["proxy_stopped", "proxy_stopped"]);
}

#[test]
fn a_second_signal_ends_at_once() {
    let up = endless();
    let proxy = Proxy::with(&up.url(), &["--drain", "60s"]);
    let (mut client, mut response) = streaming(&proxy);
    proxy.signal("TERM");
    pause(300);
    let start = now();
    proxy.signal("TERM");
    client.finish(&mut response);
    assert!(
        matches!(response.end, Some(End::Cut | End::Reset)),
        "{:?}",
        response.end
    );
    let stopped = proxy.ended();
    assert!(now() - start < ms(2000), "{:?}", now() - start);
    assert_eq!(stopped.status.code(), Some(0), "{}", stopped.stderr);
    assert_eq!(stopped.records.len(), 1);
    assert_eq!(stopped.records[0]["end"], "proxy_stopped");
}

#[test]
fn idle_connections_close_at_once() {
    let up = quick();
    let proxy = Proxy::with(&up.url(), &["--drain", "60s"]);
    let mut used = Client::connect(proxy.addr);
    assert_eq!(used.ask(chat_request("")).status(), 200);
    let mut unused = Client::connect(proxy.addr);
    pause(50);
    let start = now();
    proxy.signal("TERM");
    assert_ne!(used.until_closed(), End::Silent);
    assert_ne!(unused.until_closed(), End::Silent);
    let stopped = proxy.ended();
    assert!(now() - start < ms(3000), "{:?}", now() - start);
    assert_eq!(stopped.status.code(), Some(0), "{}", stopped.stderr);
    assert_eq!(stopped.records.len(), 1);
}

/// Its client has seen it accepted and does not know of the signal.
#[test]
fn a_new_connection_may_still_bring_a_request() {
    let up = quick();
    let proxy = Proxy::with(&up.url(), &["--drain", "60s"]);
    let mut client = Client::connect(proxy.addr);
    pause(50);
    proxy.signal("TERM");
    pause(100);
    assert_eq!(client.ask(chat_request("")).status(), 200);
    assert_eq!(proxy.ended().records.len(), 1);
}

/// The kernel accepts for a program that is busy; to their clients these connections are like any other.
#[test]
fn connections_that_wait_in_the_listener_are_served() {
    let up = quick();
    let proxy = Proxy::with(&up.url(), &["--drain", "60s"]);
    proxy.signal("STOP");
    let mut clients: Vec<Client> = (0..10).map(|_| Client::connect(proxy.addr)).collect();
    for client in &mut clients {
        client.send(chat_request(""));
    }
    proxy.signal("TERM");
    proxy.signal("CONT");
    for client in &mut clients {
        assert_eq!(client.response("POST").status(), 200);
    }
    assert_eq!(proxy.ended().records.len(), 10);
}

#[test]
fn a_connection_is_not_kept_alive_while_draining() {
    let up = Upstream::start(|x| {
        x.request();
        x.wait(500);
        x.send(OK);
    });
    let proxy = Proxy::with(&up.url(), &["--drain", "60s"]);
    let mut client = Client::connect(proxy.addr);
    client.send(chat_request(""));
    assert!(up.wait_for_requests(1));
    proxy.signal("TERM");
    let response = client.response("POST");
    assert_eq!((response.status(), response.end), (200, Some(End::Whole)));
    assert_eq!(
        response.head.get("connection").as_deref(),
        Some("close"),
        "the client is told"
    );
    assert_ne!(client.until_closed(), End::Silent);
    assert_eq!(proxy.ended().status.code(), Some(0));
}

#[test]
fn an_upload_that_stalls_does_not_outlive_the_drain_time() {
    let up = Upstream::start(|x| {
        x.request();
    });
    let proxy = Proxy::with(&up.url(), &["--drain", "500ms"]);
    let mut client = Client::connect(proxy.addr);
    client.send("POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nhalf");
    assert!(up.wait_for_requests(1));
    let start = now();
    let stopped = proxy.stop();
    assert!(now() - start < ms(4000), "{:?}", now() - start);
    assert_eq!(stopped.status.code(), Some(0), "{}", stopped.stderr);
    assert_eq!(stopped.records.len(), 1);
    assert_eq!(stopped.records[0]["end"], "proxy_stopped");
}

#[test]
fn a_standard_error_that_nobody_reads_holds_up_no_request_and_no_end() {
    let up = Upstream::start(|x| {
        x.request();
        x.send(OK);
    });
    let (_nobody_reads, mut filler) = std::io::pipe().unwrap();
    let stderr = filler.try_clone().unwrap();
    // Full, and kept so: this thread is stuck in there until the test program ends.
    std::thread::spawn(move || while filler.write_all(&[b'x'; 4096]).is_ok() {});
    pause(100);
    let proxy = Proxy::launch(&up.url(), &["--log-level", "debug"], |command| {
        command.stderr(stderr);
    });
    let mut client = Client::connect(proxy.addr);
    for i in 0..200 {
        let response = client.ask(chat_request(""));
        assert_eq!(
            (response.status(), response.end),
            (200, Some(End::Whole)),
            "request {i}"
        );
    }
    drop(client);
    let start = now();
    let stopped = proxy.stop();
    assert!(now() - start < ms(5000), "{:?}", now() - start);
    assert_eq!(stopped.status.code(), Some(0));
    assert_eq!(stopped.records.len(), 200);
}

#[test]
fn what_was_said_last_is_there_when_the_program_has_ended() {
    let up = endless();
    let proxy = Proxy::with(&up.url(), &["--log-level", "debug"]);
    let (_client, _response) = streaming(&proxy);
    proxy.insist();
    let stopped = proxy.ended();
    let ended = stopped.stderr.lines().last().unwrap_or_default();
    assert!(ended.contains("the request ended"), "{}", stopped.stderr);
}
