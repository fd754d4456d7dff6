//! An https upstream: its certificate is checked against the right authority and the right name, and
//! streams pass as they do without TLS.

mod support;

use std::io::{Read, Write};
use std::path::PathBuf;

use serde_json::Value;
use support::{
    Client, DONE, End, LAST, Proxy, STREAM, TlsServer, chat_request, chunk, event, pause,
};

/// A server that streams three tokens to each request; its certificate is for `name`.
fn server(name: &str) -> TlsServer {
    TlsServer::named(name, serve)
}

fn serve(mut client: impl Read + Write) {
    let mut head = [0; 4096];
    while client.read(&mut head).is_ok_and(|n| n > 0) {
        let mut send = |bytes: &[u8]| client.write_all(bytes).and_then(|()| client.flush());
        let sent = send(STREAM.as_bytes()).and_then(|()| {
            for _ in 0..3 {
                pause(30);
                send(&chunk(event("word ")))?;
            }
            send(&[chunk(DONE), LAST.into()].concat())
        });
        if sent.is_err() {
            return; // a handshake that the proxy refused
        }
    }
}

/// Asks once through a proxy with `args`; the response and the record.
fn ask(server: &TlsServer, args: &[&str]) -> (support::Response, Value) {
    let proxy = Proxy::with(&server.url(), args);
    let response = Client::connect(proxy.addr).ask(chat_request(""));
    (response, proxy.record())
}

#[test]
fn a_stream_over_tls_passes_and_is_measured() {
    let server = server("localhost");
    let ca = server.ca().display().to_string();
    let (response, record) = ask(&server, &["--upstream-ca", &ca]);
    assert_eq!(response.end, Some(End::Whole));
    assert_eq!(
        response.body.bytes,
        [event("word ").repeat(3), DONE.to_owned()]
            .concat()
            .into_bytes()
    );
    assert_eq!(record["end"], "complete", "{record}");
    assert_eq!(record["upstream"]["tls"], true);
    assert!(
        record["upstream"]["tls_ms"]
            .as_f64()
            .is_some_and(|ms| ms > 0.0),
        "{record}"
    );
    assert_eq!(
        record["stamps"], "read",
        "the kernel stamps segments, not records"
    );
    assert_eq!(record["counts"]["token_events"], 3);
    assert!(
        record["ttft_ms"].as_f64().is_some_and(|ms| ms >= 29.0),
        "{record}"
    );
}

#[test]
fn a_certificate_of_an_unknown_authority_or_another_name_is_refused() {
    let (other, server) = (server("localhost"), server("elsewhere.example"));
    let others_ca = other.ca().display().to_string();
    let own_ca = server.ca().display().to_string();
    for args in [
        &["--upstream-ca", &others_ca][..],
        &["--upstream-ca", &own_ca],
        &[],
    ] {
        let (response, record) = ask(&server, args);
        assert_eq!(response.status(), 502, "{args:?}");
        let text = String::from_utf8_lossy(&response.body.bytes).into_owned();
        assert!(
            text.contains("certificate is not trusted"),
            "{args:?}: {text}"
        );
        assert_eq!(record["end"], "upstream_unreachable", "{args:?}");
        assert_eq!(record["error"]["kind"], "tls", "{args:?}: {record}");
    }
}

#[test]
fn a_probe_times_the_handshake_apart_and_checks_the_certificate() {
    let (server, other) = (server("localhost"), server("localhost"));
    let probe = |ca: PathBuf| {
        std::process::Command::new(env!("CARGO_BIN_EXE_dripline"))
            .args([
                "probe",
                &server.url(),
                "--runs",
                "1",
                "--warmup",
                "0",
                "--json",
                "--ca",
            ])
            .arg(ca)
            .output()
            .expect("the binary runs")
    };
    let output = probe(server.ca());
    let row: Value = serde_json::from_slice(&output.stdout).expect("one row");
    let (upstream, stamps) = (&row["record"]["upstream"], &row["record"]["stamps"]);
    for step in ["dns_ms", "connect_ms", "tls_ms"] {
        assert!(
            upstream[step].as_f64().is_some_and(|ms| ms > 0.0),
            "{step}: {row}"
        );
    }
    assert_eq!(
        (&upstream["tls"], stamps.as_str()),
        (&true.into(), Some("read"))
    );
    assert_eq!(row["chunks"], 3);
    assert!(row["ttft_s"].as_f64().is_some_and(|s| s >= 0.029), "{row}");

    let refused = probe(other.ca());
    assert_eq!(refused.status.code(), Some(1));
    let told = String::from_utf8_lossy(&refused.stderr);
    assert!(
        told.contains("certificate is not trusted (see --ca)"),
        "{told}"
    );
}
