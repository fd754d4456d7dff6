//! What a collector is told of requests.

use serde_json::{Value, json};

use crate::collector::{Collector, histograms, numbers, object, plain};
use crate::support::*;
use crate::{ask, hex, ns, proxy, request_and_phases, streams};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT: &str = "00f067aa0ba902b7";

#[test]
fn a_log_a_span_and_metrics_say_what_the_record_says() {
    let (upstream, collector) = (streams(), Collector::start());
    let resource = "service.name=edge,k8s.pod.name=llm%2D0";
    let args = ["--otlp-resource", resource, "--timeline", "--instance", "a"];
    let proxy = proxy(&upstream, &collector.url(), &args);
    ask(&proxy, "");
    let record = proxy.record();

    let (who, log) = collector.wait("a log", |collector| collector.logs().pop());
    assert_eq!(
        object(&log.attributes),
        record,
        "all fields, under their names"
    );
    let end = record["at"]["end_ms"].clone();
    assert_eq!(log.event_name, "dripline.request");
    assert_eq!(
        (log.severity_number, log.severity_text.as_str()),
        (9, "INFO")
    );
    let line = plain(log.body.as_ref());
    let line = line.as_str().unwrap();
    assert!(
        line.starts_with("POST /v1/chat/completions m: complete"),
        "{line}"
    );
    let who = object(&who.attributes);
    assert_eq!(
        (
            &who["service.name"],
            &who["k8s.pod.name"],
            &who["dripline.instance"]
        ),
        (&json!("edge"), &json!("llm-0"), &json!("a"))
    );
    assert!(who["service.version"].is_string() && who["service.instance.id"].is_string());

    let spans = collector.wait("spans", |collector| {
        Some(collector.spans()).filter(|spans| !spans.is_empty())
    });
    let (request, phases) = request_and_phases(spans);
    assert_eq!(request.name, "chat m");
    let started: jiff::Timestamp = record["started_at"].as_str().unwrap().parse().unwrap();
    assert_eq!(
        i128::from(request.start_time_unix_nano),
        started.as_nanosecond()
    );
    assert_eq!(
        request.end_time_unix_nano - request.start_time_unix_nano,
        ns(&end)
    );
    assert!(request.parent_span_id.is_empty() && request.trace_state.is_empty());
    assert_eq!(
        (&request.trace_id, &request.span_id),
        (&log.trace_id, &log.span_id)
    );
    let attributes = object(&request.attributes);
    assert_eq!(attributes["dripline.id"], record["id"]);
    assert_eq!(
        attributes["dripline.gaps.token.p99_ms"],
        record["gaps"]["token"]["p99_ms"]
    );
    assert_eq!(attributes["gen_ai.request.model"], "m");
    assert!(request.status.is_none() && attributes.get("error.type").is_none());
    let names: Vec<&str> = phases.iter().map(|span| span.name.as_str()).collect();
    assert!(
        names.ends_with(&["first token wait", "streaming", "tail"]),
        "{names:?}"
    );
    for phase in &phases {
        assert_eq!(
            (&phase.trace_id, &phase.parent_span_id),
            (&request.trace_id, &request.span_id)
        );
    }
    let streaming = &phases[names.len() - 2];
    let at = |mark: &str| request.start_time_unix_nano + ns(&record["at"][mark]);
    assert_eq!(
        (streaming.start_time_unix_nano, streaming.end_time_unix_nano),
        (at("first_token_ms"), at("last_token_ms"))
    );
    let [token] = &request.events[..] else {
        panic!("{:?}", request.events);
    };
    assert_eq!(
        (token.name.as_str(), token.time_unix_nano),
        ("dripline.first_token", at("first_token_ms"))
    );

    let metrics = collector.wait("metrics of it", |collector| {
        let metrics = collector.metrics();
        (!numbers(&metrics, "dripline.requests").is_empty()).then_some(metrics)
    });
    let upstream = upstream.addr.to_string();
    let requests = json!({"upstream": upstream, "model": "m", "end": "complete"});
    assert_eq!(numbers(&metrics, "dripline.requests"), [(requests, 1.0)]);
    let near = |seconds: Option<f64>, ms: &Value| {
        let (seconds, expected) = (seconds.expect("a sum"), ms.as_f64().unwrap() / 1e3);
        assert!(
            (seconds - expected).abs() < 1e-9,
            "{seconds} for {expected}"
        );
    };
    let [ttft] = histograms(&metrics, "dripline.ttft") else {
        panic!("one series of TTFT");
    };
    near(ttft.sum, &record["ttft_ms"]);
    let [duration] = histograms(&metrics, "gen_ai.client.operation.duration") else {
        panic!("one series of durations");
    };
    near(duration.sum, &end);
    assert_eq!(duration.bucket_counts.iter().sum::<u64>(), 1);
    assert_eq!(duration.exemplars[0].span_id, request.span_id);
    let [gaps] = histograms(&metrics, "dripline.token_gap") else {
        panic!("one series of gaps");
    };
    assert_eq!(Some(gaps.count), record["gaps"]["token"]["n"].as_u64());
}

#[test]
fn the_client_s_trace_goes_on_and_its_headers_pass_unchanged() {
    let (upstream, collector) = (streams(), Collector::start());
    let proxy = proxy(&upstream, &collector.url(), &[]);
    let place = |flags: &str| format!("traceparent: 00-{TRACE}-{PARENT}-{flags}");
    let state = "TraceState: vendor=a:b,other=1";
    ask(&proxy, &format!("{}\r\n{state}\r\n", place("01")));
    ask(&proxy, &format!("{}\r\n", place("00")));
    let logs = collector.wait("two logs", |collector| {
        Some(collector.logs()).filter(|logs| logs.len() == 2)
    });
    for ((_, log), flags) in logs.iter().zip([1, 0]) {
        assert_eq!((hex(&log.trace_id).as_str(), log.flags), (TRACE, flags));
    }
    // What is not sampled has no span: the one that comes last shows that none is still on its way.
    ask(&proxy, "");
    let spans = collector.wait("the last span", |collector| {
        let spans = collector.spans();
        spans
            .iter()
            .any(|span| hex(&span.trace_id) != TRACE)
            .then_some(spans)
    });
    let (of_client, own): (Vec<_>, Vec<_>) = spans
        .into_iter()
        .partition(|span| hex(&span.trace_id) == TRACE);
    let (request, phases) = request_and_phases(of_client);
    assert_eq!(hex(&request.parent_span_id), PARENT);
    assert_eq!(request.span_id, logs[0].1.span_id);
    assert_eq!(request.flags & 0xff, 1);
    for span in phases.iter().chain([&request]) {
        assert_eq!(span.trace_state, "vendor=a:b,other=1");
        assert_eq!(
            span.kind == 3,
            span.span_id == request.span_id,
            "one request alone"
        );
    }
    assert!(request_and_phases(own).0.parent_span_id.is_empty());

    let requests = upstream.requests();
    let traced = |n: usize| {
        let mut fields = requests[n].head.fields();
        fields.retain(|field| field.to_ascii_lowercase().starts_with("trace"));
        fields
    };
    assert_eq!(traced(0), [place("01"), state.to_owned()]);
    assert_eq!(traced(1), [place("00")]);
    assert!(traced(2).is_empty(), "none is added");
    assert_eq!(proxy.stop().records.len(), 3);
}

#[test]
fn names_from_outside_are_bounded() {
    let (upstream, collector) = (streams(), Collector::start());
    let proxy = proxy(&upstream, &collector.url(), &["--metrics-models", "2"]);
    let models = (0..6).map(|n| format!("{n}\u{1b}\n{}", "x".repeat(200 + 10_000 * (n % 2))));
    for model in models {
        let body = json!({"model": model, "stream": true, "messages": []}).to_string();
        Client::connect(proxy.addr).ask(post("/v1/chat/completions", "", body.as_bytes()));
    }
    let spans = collector.wait("six spans", |collector| {
        let spans = collector.spans();
        (spans.iter().filter(|span| span.kind == 3).count() == 6).then_some(spans)
    });
    for span in spans {
        assert!(
            span.name.len() < 600 && !span.name.contains(char::is_control),
            "{}",
            span.name
        );
        let attributes = object(&span.attributes).to_string();
        assert!(attributes.len() < 4000, "{attributes}");
    }
    let requests = collector.wait("six requests", |collector| {
        let requests = numbers(&collector.metrics(), "dripline.requests");
        (requests.iter().map(|(_, n)| n).sum::<f64>() == 6.0).then_some(requests)
    });
    assert!(
        requests.len() <= 3,
        "two models and the others: {requests:?}"
    );
    for (_, log) in collector.logs() {
        let line = plain(log.body.as_ref());
        assert!(line.as_str().unwrap().len() < 600, "{line}");
    }
}

#[test]
fn no_key_is_sent_or_told_but_the_collector_s_own_to_itself() {
    const KEY: &str = "sk-planted-0123456789abcdef";
    const OTHER: &str = "collector-key-0123456789";
    let upstream = Upstream::start(|x| {
        x.request();
        let error =
            format!("data: {{\"error\":{{\"message\":\"bad key {KEY}\",\"type\":\"auth\"}}}}\n\n");
        let head = STREAM.replace("\r\n\r\n", &format!("\r\nX-Key: {KEY}\r\n\r\n"));
        x.send([head.into(), chunk(event(KEY)), chunk(error), LAST.into()].concat());
    });
    let collector = Collector::start();
    let headers = format!("authorization=Bearer%20{OTHER},x-tenant=7");
    let dress = |command: &mut std::process::Command| {
        command.env("DRIPLINE_OTLP_HEADERS", &headers);
    };
    let url = collector.url();
    let args = [
        "--otlp",
        &url,
        "--otlp-interval",
        "100ms",
        "--log-level",
        "trace",
    ];
    let proxy = Proxy::launch(&upstream.url(), &args, dress);
    let fields =
        format!("Authorization: Bearer {KEY}\r\nCookie: session={KEY}\r\nX-Api-Key: {KEY}\r\n");
    let path = format!("/v1/chat/completions?api_key={KEY}");
    let body = json!({"model": "m", "stream": true, "user": KEY, "messages": [KEY]}).to_string();
    Client::connect(proxy.addr).ask(post(&path, &fields, body.as_bytes()));
    collector.wait("an error in metrics", |collector| {
        let requests = numbers(&collector.metrics(), "dripline.requests");
        requests
            .iter()
            .any(|(of, _)| of["end"] == "in_band_error")
            .then_some(())
    });
    let (_, log) = collector.wait("a log", |collector| collector.logs().pop());
    assert_eq!(log.severity_text, "ERROR");
    let spans = collector.wait("spans", |collector| {
        Some(collector.spans()).filter(|spans| !spans.is_empty())
    });
    let sent = format!("{log:?} {spans:?} {:?}", collector.metrics());
    assert!(
        sent.contains("in_band_error") && !sent.contains(KEY),
        "{sent}"
    );
    for path in ["/v1/logs", "/v1/traces", "/v1/metrics"] {
        let head = &collector.posts(path)[0].head;
        assert_eq!(head.get("authorization"), Some(format!("Bearer {OTHER}")));
        assert_eq!(head.get("x-tenant").as_deref(), Some("7"));
        assert!(head.get("user-agent").unwrap().starts_with("dripline/"));
    }
    let stopped = proxy.stop();
    let told = stopped.stdout + &stopped.stderr;
    assert!(!told.contains(KEY) && !told.contains(OTHER), "{told}");
}
