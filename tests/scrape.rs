//! `GET /metrics` over real sockets.

mod support;

use std::collections::BTreeMap;
use std::net::SocketAddr;

use serde_json::json;
use support::*;

/// A scrape: its type and its text.
fn scrape(admin: SocketAddr, accept: &str) -> (String, String) {
    let mut client = Client::connect(admin);
    client.send(format!(
        "GET /metrics HTTP/1.1\r\nHost: {admin}\r\n{accept}Connection: close\r\n\r\n"
    ));
    let response = client.response("GET");
    assert_eq!(response.status(), 200);
    let kind = response.head.get("content-type").unwrap();
    (kind, response.text())
}

/// The values of a page by series.
fn values(page: &str) -> BTreeMap<&str, f64> {
    let samples = page.lines().filter(|line| !line.starts_with('#'));
    samples
        .map(|line| {
            let line = line.split_once(" # {").map_or(line, |(line, _)| line);
            let (series, value) = line.rsplit_once(' ').unwrap();
            (series, value.parse().unwrap())
        })
        .collect()
}

/// Asks until `is_there` holds for the page: a record is counted a moment after its request has ended.
fn wait_for(admin: SocketAddr, is_there: impl Fn(&BTreeMap<&str, f64>) -> bool) -> String {
    let deadline = now() + PATIENCE;
    loop {
        let (_, page) = scrape(admin, "");
        if is_there(&values(&page)) {
            return page;
        }
        assert!(now() < deadline, "{page}");
        pause(5);
    }
}

fn ask(addr: SocketAddr, model: &str) {
    let mut client = Client::connect(addr);
    let body = json!({"model": model, "stream": true, "messages": []}).to_string();
    client.send(post("/v1/chat/completions", "", body.as_bytes()));
    assert_eq!(client.response("POST").end, Some(End::Whole));
}

#[test]
fn a_scrape_gets_the_text_that_it_asks_for() {
    let upstream = Upstream::streaming();
    let mut proxy = Proxy::start(&upstream);
    let admin = proxy.admin();
    ask(proxy.addr, "m");
    proxy.record();
    wait_for(admin, |page| {
        page.contains_key("dripline_hold_seconds_count")
    });

    let (kind, page) = scrape(admin, "");
    assert_eq!(kind, "text/plain; version=0.0.4; charset=utf-8");
    assert!(page.contains("# TYPE dripline_requests_total counter\n") && !page.contains("# EOF"));
    let open = "Accept: application/openmetrics-text;version=1.0.0, */*;q=0.1\r\n";
    let (kind, page) = scrape(admin, open);
    assert_eq!(
        kind,
        "application/openmetrics-text; version=1.0.0; charset=utf-8"
    );
    assert!(page.contains("# TYPE dripline_requests counter\n") && page.ends_with("# EOF\n"));
    // Two fields are one list.
    let (kind, _) = scrape(
        admin,
        "Accept: text/plain;q=0.2\r\nAccept: application/openmetrics-text\r\n",
    );
    assert!(kind.starts_with("application/openmetrics-text"));
}

#[test]
fn what_is_open_is_in_flight_and_what_has_ended_is_counted() {
    let upstream = Upstream::start(|x| {
        x.request();
        x.send(STREAM);
        x.send(chunk(event("a")));
        x.wait(60_000);
    });
    let mut proxy = Proxy::start(&upstream);
    let admin = proxy.admin();
    let in_flight = format!(
        "dripline_requests_in_flight{{upstream=\"{}\"}}",
        upstream.addr
    );
    assert_eq!(values(&scrape(admin, "").1)[in_flight.as_str()], 0.0);
    let mut clients: Vec<Client> = (0..2).map(|_| Client::connect(proxy.addr)).collect();
    for client in &mut clients {
        client.send(chat_request(""));
        let _ = client.head("POST");
    }
    let page = scrape(admin, "").1;
    assert_eq!(values(&page)[in_flight.as_str()], 2.0);
    assert!(!page.contains("client_gone"), "{page}");
    clients.pop();
    let page = wait_for(admin, |page| {
        page.iter()
            .any(|(series, n)| series.contains("client_gone") && *n == 1.0)
    });
    assert_eq!(values(&page)[in_flight.as_str()], 1.0);
}

#[test]
fn a_client_cannot_break_the_page_nor_grow_it() {
    let upstream = Upstream::streaming();
    let mut proxy = Proxy::with(&upstream.url(), &["--metrics-models", "2"]);
    let admin = proxy.admin();
    let models = ["good", "a\"} 1\n# EOF", "c", "d\\", "e"];
    models.iter().for_each(|model| ask(proxy.addr, model));
    let total = |page: &BTreeMap<&str, f64>| {
        let requests = page
            .iter()
            .filter(|(series, _)| series.starts_with("dripline_requests_total"));
        requests.map(|(_, n)| n).sum::<f64>()
    };
    let page = wait_for(admin, |page| total(page) == 5.0);
    let of = |model: &str| {
        let label = format!("model=\"{model}\",end=");
        let found = values(&page).into_iter().find(|(series, _)| {
            series.starts_with("dripline_requests_total") && series.contains(&label)
        });
        found.map(|(_, n)| n)
    };
    // The record has no control characters in its names.
    assert_eq!(
        (of("good"), of("a\\\"} 1# EOF"), of("other")),
        (Some(1.0), Some(1.0), Some(3.0))
    );
    assert_eq!((of("c"), of("d\\\\"), of("e")), (None, None, None));
}

#[test]
fn records_that_are_lost_are_counted() {
    if !std::path::Path::new("/dev/full").exists() {
        return; // only Linux has one
    }
    let upstream = Upstream::streaming();
    let mut proxy = Proxy::with(&upstream.url(), &["--log", "/dev/full", "--quiet"]);
    let admin = proxy.admin();
    (0..3).for_each(|_| ask(proxy.addr, "m"));
    let page = wait_for(admin, |page| {
        page.get("dripline_records_dropped_total{sink=\"log\"}") == Some(&3.0)
    });
    let values = values(&page);
    assert_eq!(values["dripline_records_written_total{sink=\"log\"}"], 0.0);
    assert_eq!(
        values["dripline_records_dropped_total{sink=\"metrics\"}"],
        0.0
    );
    assert!(!values.contains_key("dripline_records_written_total{sink=\"terminal\"}"));
}

#[test]
fn what_passes_is_not_on_the_page() {
    const KEY: &str = "sk-planted-0123456789abcdef";
    let upstream = Upstream::start(|x| {
        x.request();
        let error =
            format!("data: {{\"error\":{{\"message\":\"bad key {KEY}\",\"type\":\"{KEY}\"}}}}\n\n");
        let head = STREAM.replace("\r\n\r\n", &format!("\r\nX-Key: {KEY}\r\n\r\n"));
        x.send([head.into(), chunk(event(KEY)), chunk(error), LAST.into()].concat());
    });
    let mut proxy = Proxy::start(&upstream);
    let admin = proxy.admin();
    let fields =
        format!("Authorization: Bearer {KEY}\r\nX-Request-Id: {KEY}\r\nCookie: session={KEY}\r\n");
    let body = json!({"model": "m", "stream": true, "user": KEY, "messages": [KEY]}).to_string();
    let path = format!("/v1/chat/completions?api_key={KEY}");
    Client::connect(proxy.addr).ask(post(&path, &fields, body.as_bytes()));
    let is_counted =
        |page: &BTreeMap<&str, f64>| page.keys().any(|series| series.contains("in_band_error"));
    let page = wait_for(admin, is_counted);
    let (_, open) = scrape(admin, "Accept: application/openmetrics-text\r\n");
    assert!(open.contains("record_id") && !(page + &open).contains(KEY));
}
