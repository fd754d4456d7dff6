//! The admin side over real sockets: what has ended, what is open, what happens, and who may see it.

mod support;

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::Command;

use serde_json::Value;
use support::*;

const TOKEN: &str = "0123456789abcdef0123456789abcdef";

/// An answer of the admin side: status, head, body.
fn get_with(admin: SocketAddr, path: &str, fields: &str) -> (u16, String, String) {
    let mut client = Client::connect(admin);
    client.send(format!(
        "GET {path} HTTP/1.1\r\n{fields}Connection: close\r\n\r\n"
    ));
    let response = client.response("GET");
    let head = String::from_utf8(response.head.0.clone()).unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (
        status,
        head,
        String::from_utf8(response.body.bytes.clone()).unwrap(),
    )
}

fn get(admin: SocketAddr, path: &str) -> (u16, String, String) {
    get_with(admin, path, &format!("Host: {admin}\r\n"))
}

fn json(admin: SocketAddr, path: &str) -> Value {
    let (status, _, body) = get(admin, path);
    assert_eq!(status, 200, "{body}");
    serde_json::from_str(&body).unwrap()
}

/// Ten tokens at 20 ms, then a pause that ends with the process.
fn hangs() -> Upstream {
    Upstream::start(|x| {
        x.request();
        x.send(STREAM);
        for _ in 0..10 {
            x.send(chunk(event("a")));
            x.wait(20);
        }
        x.wait(60_000);
    })
}

fn ask(proxy: &Proxy) {
    let mut client = Client::connect(proxy.addr);
    client.send(chat_request(""));
    assert_eq!(client.response("POST").end, Some(End::Whole));
}

/// The events of a stream, one by one.
struct Events(BufReader<TcpStream>);

impl Events {
    fn open(admin: SocketAddr, fields: &str) -> Events {
        let mut socket = TcpStream::connect(admin).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        write!(
            socket,
            "GET /api/events HTTP/1.1\r\nHost: {admin}\r\n{fields}\r\n"
        )
        .unwrap();
        Events(BufReader::new(socket))
    }

    /// The next one of that name: its id and its data.
    fn next(&mut self, name: &str) -> (String, Value) {
        let (mut event, mut id, mut data) = (String::new(), String::new(), String::new());
        loop {
            let mut line = String::new();
            let read = self.0.read_line(&mut line).unwrap();
            assert!(read > 0, "the stream ended before {name}");
            match line.trim_end().split_once(": ") {
                Some(("event", found)) => event = found.to_owned(),
                Some(("id", found)) => id = found.to_owned(),
                Some(("data", found)) => data = found.to_owned(),
                _ if line.trim_end().is_empty() && event == name => {
                    return (id, serde_json::from_str(&data).unwrap());
                }
                _ => {}
            }
        }
    }
}

#[test]
fn what_has_ended_is_listed_and_each_is_there_in_full() {
    let upstream = Upstream::streaming();
    let mut proxy = Proxy::start(&upstream);
    let admin = proxy.admin();
    (0..3).for_each(|_| ask(&proxy));
    let records = proxy.records(3);
    let page = json(admin, "/api/requests?ticks=true");
    let rows = page["requests"].as_array().unwrap();
    for ((row, record), number) in rows.iter().zip(&records).zip(1..) {
        assert_eq!(row["number"], number);
        for key in ["id", "ttft_ms", "end", "started_at"] {
            assert_eq!(row[key], record[key], "{key}");
        }
        assert_eq!(row["gap_p99_ms"], record["gaps"]["token"]["p99_ms"]);
        assert_eq!(row["timing"], record["verdict"]["timing"]);
        let ticks = row["ticks"].as_array().unwrap();
        assert_eq!(
            ticks.len() as u64,
            record["counts"]["chunks"].as_u64().unwrap()
        );
    }
    assert_eq!((&page["next"], &page["forgotten"]), (&3.into(), &0.into()));
    let rest = json(admin, "/api/requests?after=1&limit=1");
    assert_eq!(rest["requests"][0]["id"], records[1]["id"]);
    assert_eq!(rest["next"], 2);
    assert!(rest["requests"][0]["ticks"].is_null());

    let id = records[2]["id"].as_str().unwrap();
    let whole = json(admin, &format!("/api/requests/{id}"));
    assert_eq!(whole["record"], records[2]);
    assert_eq!(get(admin, "/api/requests/none").0, 404);
    assert_eq!(get(admin, "/api/requests?after=x").0, 400);
    let none = json(admin, &format!("/api/requests?after={}", u64::MAX));
    assert_eq!(none["requests"].as_array().unwrap().len(), 0);
    assert_eq!(get(admin, "/no/such").0, 404);
    let about = json(admin, "/api/about");
    assert_eq!(
        (&about["latest"], &about["in_flight"]),
        (&3.into(), &0.into())
    );
}

#[test]
fn a_stream_that_hangs_is_seen_to_hang() {
    let upstream = hangs();
    let mut proxy = Proxy::start(&upstream);
    let admin = proxy.admin();
    let mut client = Client::connect(proxy.addr);
    client.send(chat_request(""));
    let look = || json(admin, "/api/running")[0].clone();
    let deadline = now() + PATIENCE;
    while look()["token_events"] != 10 {
        assert!(now() < deadline, "{}", look());
        pause(10);
    }
    let (one, _) = (look(), pause(300));
    let two = look();
    assert_eq!(two["waits_for"], "stream");
    assert_eq!(two["token_events"], 10);
    let ticks = two["ticks"].as_array().unwrap().len();
    assert_eq!(two["chunks"], ticks);
    let more = |key: &str| two[key].as_f64().unwrap() - one[key].as_f64().unwrap();
    assert!(
        more("silence_ms") >= 299.0 && more("age_ms") >= 299.0,
        "{one} {two}"
    );
    let events = |events: &Value| {
        events
            .as_array()
            .unwrap()
            .iter()
            .map(|t| t[1].as_u64().unwrap())
            .sum::<u64>()
    };
    assert_eq!(events(&two["ticks"]), 10);

    let mut feed = Events::open(admin, "");
    let (_, first) = feed.next("open");
    assert_eq!(
        (
            first[0]["ticks_before"].as_u64(),
            events(&first[0]["ticks"])
        ),
        (Some(0), 10)
    );
    let (_, later) = feed.next("open");
    assert_eq!(later[0]["ticks_before"], ticks, "only new ticks are given");
    assert_eq!(later[0]["ticks"].as_array().unwrap().len(), 0);
    drop(client);
    assert_eq!(feed.next("ended").1["end"], "client_gone");
    loop {
        if feed.next("open").1.as_array().unwrap().is_empty() {
            break;
        }
    }
}

#[test]
fn an_interim_answer_is_a_sign_of_life() {
    let upstream = Upstream::start(|x| {
        x.request();
        x.wait(400);
        x.send("HTTP/1.1 102 Processing\r\n\r\n");
        x.wait(60_000);
    });
    let mut proxy = Proxy::start(&upstream);
    let admin = proxy.admin();
    let mut client = Client::connect(proxy.addr);
    client.send(chat_request(""));
    assert!(client.interim().is_some());
    let deadline = now() + PATIENCE;
    loop {
        let row = json(admin, "/api/running")[0].clone();
        let [silence, age] = ["silence_ms", "age_ms"].map(|key| row[key].as_f64().unwrap());
        if silence < age - 300.0 {
            assert_eq!(row["waits_for"], "header");
            break;
        }
        assert!(now() < deadline, "{row}");
        pause(10);
    }
}

/// What the admin side takes of them is missing where the relay accepts and connects.
#[test]
fn connections_that_ask_for_nothing_leave_descriptors_to_the_relay() {
    let upstream = Upstream::streaming();
    let mut proxy = Proxy::start(&upstream);
    let admin = proxy.admin();
    assert_eq!(get(admin, "/healthz").0, 200);
    let Some(before) = proxy.descriptors() else {
        return; // only Linux tells
    };
    let idle: Vec<_> = (0..200)
        .map(|_| TcpStream::connect(admin).unwrap())
        .collect();
    ask(&proxy);
    pause(300);
    let taken = proxy.descriptors().unwrap().saturating_sub(before);
    assert!((100..=140).contains(&taken), "{taken} of {}", idle.len());
    drop(idle);
    assert_eq!(get(admin, "/healthz").0, 200);
}

#[test]
fn who_comes_back_gets_what_was_missed_and_all_after_a_restart() {
    let upstream = Upstream::streaming();
    let mut proxy = Proxy::with(&upstream.url(), &["--admin-recent", "3"]);
    let admin = proxy.admin();
    ask(&proxy);
    let mut feed = Events::open(admin, "");
    let boot = feed.next("about").1["boot"].clone();
    let (first, row) = feed.next("ended");
    assert_eq!(first, format!("{}-1", boot.as_str().unwrap()));
    assert_eq!(row["number"], 1);
    drop(feed);
    ask(&proxy);
    ask(&proxy);
    let numbers = |feed: &mut Events, n: usize| -> Vec<u64> {
        let next = |_| feed.next("ended").1["number"].as_u64().unwrap();
        (0..n).map(next).collect()
    };
    let mut feed = Events::open(admin, &format!("Last-Event-ID: {first}\r\n"));
    assert_eq!(numbers(&mut feed, 2), [2, 3]);
    ask(&proxy);
    assert_eq!(numbers(&mut feed, 1), [4], "as it happens");
    drop(feed);
    let mut feed = Events::open(admin, "Last-Event-ID: 01BEFORE-99\r\n");
    assert_eq!(feed.next("missed").1, 1);
    assert_eq!(numbers(&mut feed, 3), [2, 3, 4]);
}

#[test]
fn only_those_who_may_see_it_do() {
    let upstream = Upstream::streaming();
    let mut proxy = Proxy::start(&upstream);
    let admin = proxy.admin();
    let (status, head, body) = get_with(admin, "/api/about", "Host: evil.example\r\n");
    assert_eq!(status, 421, "{body}");
    assert!(!body.contains("127.0.0.1"), "{body}");
    for (field, value) in [
        ("content-security-policy", "default-src 'none'"),
        ("x-content-type-options", "nosniff"),
        ("cross-origin-resource-policy", "same-origin"),
    ] {
        assert!(head.contains(&format!("{field}: {value}")), "{head}");
    }
    assert!(!head.contains("access-control"), "{head}");
    assert_eq!(get_with(admin, "/healthz", "Host: evil.example\r\n").0, 200);

    let mut proxy = Proxy::with(&upstream.url(), &["--admin-token", TOKEN]);
    let admin = proxy.admin();
    for path in [
        "/api/about",
        "/api/requests",
        "/api/running",
        "/api/events",
        "/api/requests/x",
        "/metrics",
    ] {
        let (status, head, _) = get(admin, path);
        assert_eq!(status, 401, "{path}");
        assert!(head.contains("www-authenticate: Bearer"), "{head}");
    }
    let with = format!("Host: {admin}\r\nAuthorization: Bearer {TOKEN}\r\n");
    assert_eq!(get_with(admin, "/api/about", &with).0, 200);
    assert_eq!(get(admin, "/readyz").0, 200);
    let stopped = proxy.stop();
    assert!(!(stopped.stdout + &stopped.stderr + &stopped.log).contains(TOKEN));
}

#[test]
fn an_address_that_others_reach_needs_a_token_or_a_word() {
    let start = |args: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_dripline"))
            .args([
                "proxy",
                "--upstream",
                "http://127.0.0.1:9",
                "--listen",
                "127.0.0.1:0",
                "--log",
                "off",
            ])
            .args(args)
            .output()
            .unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    let (code, told) = start(&["--admin", "0.0.0.0:0"]);
    assert_eq!(code, Some(2), "{told}");
    assert!(
        told.contains("--admin-token") && told.contains("--admin-open"),
        "{told}"
    );
    let (code, told) = start(&["--admin-token", "secret"]);
    assert!(
        code == Some(2) && told.contains("too short") && !told.contains("secret"),
        "{told}"
    );

    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = taken.local_addr().unwrap().to_string();
    let (code, told) = start(&["--admin", &addr]);
    assert_eq!(code, Some(1), "{told}");
    assert!(told.contains(&addr) && told.contains("--admin"), "{told}");
}

#[test]
fn while_it_drains_it_is_not_ready_and_still_shows_what_is_open() {
    let upstream = hangs();
    let mut proxy = Proxy::with(&upstream.url(), &["--drain", "20s"]);
    let admin = proxy.admin();
    let mut client = Client::connect(proxy.addr);
    client.send(chat_request(""));
    let _ = client.head("POST");
    assert_eq!(get(admin, "/readyz").0, 200);
    proxy.signal("TERM");
    let deadline = now() + PATIENCE;
    while get(admin, "/readyz").0 != 503 {
        assert!(now() < deadline, "still ready");
        pause(10);
    }
    assert_eq!(get(admin, "/healthz").0, 200);
    assert_eq!(json(admin, "/api/running").as_array().unwrap().len(), 1);
    drop(client);
    proxy.ended();
}
