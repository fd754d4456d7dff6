use std::io::Read;
use std::net::TcpListener;

use super::*;

const KEY: &str = "sk-planted-0123456789abcdef";

/// A probe that fails, and what it says.
fn fails(args: &[&str]) -> String {
    let output = probe(args);
    assert_eq!(output.status.code(), Some(1), "{args:?}: {output:?}");
    let told = stderr(&output);
    assert!(told.starts_with("error: "), "{told}");
    told
}

#[test]
fn a_server_that_is_not_there_is_told_once_and_at_once() {
    let nobody = Nobody::new();
    let told = fails(&[&url(nobody.addr)]);
    assert!(
        told.contains(&format!(
            "the warm-up failed, so nothing was measured: {} refused the connection",
            nobody.addr
        )),
        "{told}"
    );
    let told = fails(&[
        "http://no-such-name.invalid",
        "--warmup",
        "0",
        "--runs",
        "2",
    ]);
    assert!(told.contains("2 of 2 runs failed; runs 1, 2: no-such-name.invalid has a name that could not be resolved"), "{told}");
    let told = fails(&[&format!("https://{}", nobody.addr), "--runs", "1"]);
    assert!(told.contains("nothing listens there"), "{told}");
}

#[test]
fn each_way_to_fail_has_its_sentence() {
    let server = url(simulated(SCENARIO));
    let told = fails(&[&server, "--model", "truncated", "--runs", "2"]);
    assert!(
        told.contains("2 of 2 runs failed; runs 1, 2: ") && told.contains("cut the answer off"),
        "{told}"
    );
    let told = fails(&[&server, "--model", "error_in_200", "--runs", "1"]);
    assert!(
        told.contains("sent an error") && told.contains("status 200"),
        "{told}"
    );

    let answers = |head: &'static str, body: &'static str| {
        let up = Upstream::start(move |x| {
            x.request();
            x.send(
                [
                    head,
                    "\r\nContent-Length: ",
                    &body.len().to_string(),
                    "\r\n\r\n",
                    body,
                ]
                .concat(),
            );
        });
        fails(&[&up.url(), "--runs", "1"])
    };
    let told = answers(
        "HTTP/1.1 500 Oh\r\nContent-Type: application/json",
        r#"{"error":{"type":"boom","message":"secret"}}"#,
    );
    assert!(
        told.contains("status 500 (boom); its own log") && !told.contains("secret"),
        "{told}"
    );
    assert!(answers("HTTP/1.1 401 No", "{}").contains("set API_TOKEN"));
    assert!(answers("HTTP/1.1 404 No", "{}").contains("--model"));
    let told = answers(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json",
        r#"{"choices":[]}"#,
    );
    assert!(
        told.contains("in one piece though a stream was asked for"),
        "{told}"
    );
    assert!(answers("SSH-2.0", "").contains("no HTTP/1.1"));
}

#[test]
fn a_server_that_never_answers_is_given_up_on() {
    let up = Upstream::start(|x| {
        x.request();
        pause(5_000);
    });
    let told = fails(&[
        &up.url(),
        "--runs",
        "1",
        "--warmup",
        "0",
        "--timeout",
        "200ms",
    ]);
    assert!(
        told.contains("had not finished in time; --timeout"),
        "{told}"
    );
}

#[test]
fn an_early_answer_to_a_long_prompt_is_read() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        use std::io::Write;
        for mut client in listener.incoming().flatten() {
            let mut some = [0; 1024];
            let _ = client.read(&mut some);
            let _ = client.write_all(b"HTTP/1.1 413 Too Much\r\nContent-Length: 0\r\n\r\n");
            pause(500); // and reads no more
        }
    });
    let output = probe_with(
        &[&url(addr), "--runs", "1", "--json", &"long ".repeat(20_000)],
        |_| {},
    );
    assert!(
        stderr(&output).contains("status 413; the prompt is too long"),
        "{}",
        stderr(&output)
    );
    assert!(stdout(&output).contains(r#""end":"http_error""#));
}

#[test]
fn the_key_goes_to_this_machine_and_is_never_printed() {
    let up = Upstream::start(|x| {
        x.request();
        match x.number {
            0..2 => x.send(short_stream(3)),
            _ => {
                let body = format!(r#"{{"error":{{"message":"bad key {KEY}"}}}}"#);
                let length = body.len();
                x.send(format!(
                    "HTTP/1.1 401 {KEY}\r\nX-Key: {KEY}\r\nContent-Length: {length}\r\n\r\n{body}"
                ));
            }
        }
    });
    let link = format!("{}/v1?key={KEY}", up.url());
    let header = format!("X-Other: {KEY}");
    for args in [
        &[][..],
        &["--json", "--timeline"],
        &["--junit", "/dev/stderr"],
    ] {
        let args = [
            &[
                &link,
                KEY,
                "-H",
                &header,
                "--runs",
                "1",
                "--fail-if",
                "stalls>0",
            ],
            args,
        ]
        .concat();
        let output = probe_with(&args, |command| {
            command
                .env("API_TOKEN", KEY)
                .env("OPENAI_API_KEY", "sk-other");
        });
        let all = stdout(&output) + &stderr(&output);
        assert!(all.len() > 100 && !all.contains(&KEY[..12]), "{all}");
    }
    for request in up.requests() {
        let head = &request.head;
        assert_eq!(head.get("authorization"), Some(format!("Bearer {KEY}")));
        assert_eq!(head.get("x-other"), Some(KEY.to_owned()));
    }
    // nor where the command line is wrong
    for args in [
        &["http://me:sk-planted-0@h"][..],
        &["http://h", "-H", "sk-planted-0"],
        &["http://h", "-H", "X-A: sk-planted-0\u{1}"],
        &["https://h:x/?sk-planted-0"],
    ] {
        let output = probe(args);
        assert_eq!(output.status.code(), Some(2));
        assert!(
            !stderr(&output).contains("sk-planted"),
            "{}",
            stderr(&output)
        );
    }
}

#[test]
fn what_fits_together_and_what_does_not() {
    for (args, told) in [
        (
            &["http://h/v1/messages", "--api", "chat"][..],
            "is --api messages",
        ),
        (
            &["http://127.0.0.1:1", "--via", "http://127.0.0.1:1"],
            "the server itself",
        ),
        (&["http://h", "--json", "--csv"], "--csv"),
        (
            &["http://h", "--rate", "2", "--concurrency", "3"],
            "--concurrency",
        ),
        (&["http://h", "--rate", "0"], "no number above 0"),
        (&["http://h", "--runs", "0"], "--runs"),
        (&["http://h", "--timeout", "5"], "5s for seconds"),
        (&["localhost:8000"], "http://localhost:8000"),
    ] {
        let output = probe(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(
            stderr(&output).contains(told),
            "{args:?}: {}",
            stderr(&output)
        );
    }
}
