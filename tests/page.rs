//! The page as it is served, and that it says and shows what the report does. What it does in a browser is tested in
//! `tests/browser`.

mod support;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use dripline::observe::record::{End as RecordEnd, Timing};
use dripline::tools::chart::marks::Look;
use dripline::tools::report::meaning;
use serde_json::Value;
use support::*;

const THEME: &str = include_str!("../src/live/page/theme.css");
const WORDS: &str = include_str!("../src/live/page/words.js");
const CHART: &str = include_str!("../src/tools/chart/chart.css");

fn get(admin: std::net::SocketAddr, path: &str) -> (String, String) {
    let mut client = Client::connect(admin);
    client.send(format!(
        "GET {path} HTTP/1.1\r\nHost: {admin}\r\nConnection: close\r\n\r\n"
    ));
    let response = client.response("GET");
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (text(&response.head.0), text(&response.body.bytes))
}

#[test]
fn the_page_is_served_to_anyone_and_what_it_shows_is_not() {
    let upstream = Upstream::start(|x| {
        x.request();
    });
    let token = "0123456789abcdef";
    let mut proxy = Proxy::with(&upstream.url(), &["--admin-token", token]);
    let admin = proxy.admin();
    let (head, page) = get(admin, "/");
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    for field in [
        "content-type: text/html; charset=utf-8",
        "x-content-type-options: nosniff",
        "content-security-policy: default-src 'none'; script-src 'self'; style-src 'self';",
    ] {
        assert!(head.contains(field), "{field}: {head}");
    }
    assert!(!head.contains("unsafe") && !head.contains("set-cookie"));
    let named = page.split("\"page/").skip(1);
    let files: BTreeSet<_> = named
        .map(|rest| rest.split('"').next().unwrap())
        .chain(["scatter.js", "vendor/uplot.LICENSE"])
        .collect();
    assert!(files.len() > 7, "{files:?}");
    for file in files {
        let (head, text) = get(admin, &format!("/page/{file}"));
        let kind = match Path::new(file).extension().unwrap().to_str().unwrap() {
            "js" => "text/javascript",
            "css" => "text/css",
            "svg" => "image/svg+xml",
            _ => "text/plain",
        };
        assert!(head.starts_with("HTTP/1.1 200"), "{file}: {head}");
        assert!(head.contains(&format!("content-type: {kind}")), "{head}");
        assert!(!text.is_empty());
    }
    for path in ["/page/none.js", "/page/../about", "/page/"] {
        assert!(get(admin, path).0.starts_with("HTTP/1.1 4"), "{path}");
    }
    let (head, text) = get(admin, "/api/about");
    assert!(head.starts_with("HTTP/1.1 401"), "{head}");
    assert!(!text.contains("upstream") && !page.contains(&upstream.url()));
}

#[test]
fn a_request_comes_with_its_phases_and_as_a_trace() {
    let upstream = Upstream::start(|x| {
        x.request();
        x.send(STREAM);
        for _ in 0..3 {
            x.send(chunk(event("a")));
            x.wait(20);
        }
        x.send([chunk(DONE), LAST.into()].concat());
    });
    let mut proxy = Proxy::start(&upstream);
    let admin = proxy.admin();
    let mut client = Client::connect(proxy.addr);
    client.send(chat_request(""));
    assert_eq!(client.response("POST").end, Some(End::Whole));
    let record = proxy.record();
    let id = record["id"].as_str().unwrap();
    let json = |path: &str| -> Value { serde_json::from_str(&get(admin, path).1).unwrap() };

    let whole = json(&format!("/api/requests/{id}"));
    let phases = whole["phases"].as_array().unwrap();
    let time = |phase: &Value, key: &str| phase[key].as_f64().unwrap();
    assert!(phases.iter().any(|phase| phase["name"] == "streaming"));
    for pair in phases.windows(2) {
        assert!(time(&pair[0], "to_ms") <= time(&pair[1], "from_ms"));
    }
    let last = phases.last().unwrap();
    assert_eq!(last["to_ms"], record["at"]["end_ms"]);

    let trace = json(&format!("/api/requests/{id}/trace"));
    let events = trace["traceEvents"].as_array().unwrap();
    let names: Vec<_> = events.iter().map(|event| &event["name"]).collect();
    for phase in phases {
        assert!(names.contains(&&phase["name"]), "{phase}");
    }
    assert!(
        get(admin, "/api/requests/none/trace")
            .0
            .starts_with("HTTP/1.1 404")
    );
}

#[test]
fn verdicts_look_and_are_explained_as_in_the_report() {
    let word = |value: Value| value.as_str().unwrap().to_owned();
    let typographic = |text: &str| text.replace('\'', "’");
    for timing in Timing::ALL {
        let look = Look::of(timing);
        let row = format!(
            "  ['{}', '{}', '{}', '{}'],\n",
            word(serde_json::json!(timing)),
            look.hue,
            look.path((0.0, 0.0)),
            typographic(meaning::of_timing(timing)),
        );
        assert!(WORDS.contains(&row), "words.js lacks {row}");
    }
    for end in RecordEnd::ALL {
        let row = format!(
            "  ['{}', '{}'],\n",
            word(serde_json::json!(end)),
            typographic(meaning::of_end(end))
        );
        assert!(WORDS.contains(&row), "words.js lacks {row}");
    }
    let (light, dark) = CHART.split_once("@media screen").unwrap();
    for timing in Timing::ALL {
        let hue = Look::of(timing).hue;
        let color = |style: &str| -> String {
            let (_, rest) = style.split_once(&format!("\n.{hue} {{ color: ")).unwrap();
            rest.split(';').next().unwrap().to_owned()
        };
        let line = format!("--{hue}: light-dark({}, {});", color(light), color(dark));
        assert!(THEME.contains(&line), "theme.css lacks {line}");
    }
}

#[test]
fn every_route_is_documented() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let docs = fs::read_to_string(root.join("docs/api.md")).unwrap();
    let server = fs::read_to_string(root.join("src/live/server.rs")).unwrap();
    let routes: Vec<_> = server
        .split(".route(\"")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap())
        .collect();
    assert!(routes.len() > 8);
    for route in routes {
        let route = route.replace("{*name}", "…");
        assert!(docs.contains(&format!("`{route}`")), "{route}");
    }
}
