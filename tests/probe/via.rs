use super::*;

#[test]
fn a_proxy_on_the_way_is_measured_pair_by_pair() {
    let server = simulated(SCENARIO);
    let proxy = Proxy::with(&url(server), &[]);
    let (direct, through) = (url(server), url(proxy.addr));
    let rows = rows(&[&direct, "--model", "t", "--via", &through, "--runs", "3"]);
    let order: Vec<_> = rows
        .iter()
        .map(|row| (row["run"].as_u64(), row["side"].as_str().unwrap()))
        .collect();
    assert_eq!(
        order,
        [
            (None, "direct"),
            (None, "through"),
            (Some(1), "direct"),
            (Some(1), "through"),
            (Some(2), "through"),
            (Some(2), "direct"),
            (Some(3), "direct"),
            (Some(3), "through"),
        ]
    );
    let names: Vec<_> = rows
        .iter()
        .map(|row| row["record"]["upstream"]["name"].as_str())
        .collect();
    assert_eq!(names[0], Some(server.to_string().as_str()));
    assert_eq!(names[1], Some(proxy.addr.to_string().as_str()));
    // what went through carries its own id, so that both records can be joined
    let ids: Vec<_> = proxy
        .records(4)
        .iter()
        .map(|record| record["request"]["request_id"].clone())
        .collect();
    let sent: Vec<_> = rows
        .iter()
        .filter(|row| row["side"] == "through")
        .map(|row| row["record"]["id"].clone())
        .collect();
    assert_eq!(ids, sent);
}

#[test]
fn what_the_path_between_adds_is_told() {
    let server = url(simulated(SCENARIO));
    // a second server stands for a proxy that holds everything
    let slow = simulated(&SCENARIO.replace("30ms", "300ms"));
    let output = probe(&[
        &server,
        "--model",
        "t",
        "--via",
        &url(slow),
        "--runs",
        "3",
        "--label",
        "mine",
    ]);
    assert!(output.status.success(), "{output:?}");
    let text = stdout(&output);
    for part in [
        "direct, 3 warm runs",
        "through, 3 warm runs",
        &format!("what the path through {slow} adds, 3 pairs"),
        "d direct, mine",
        "t through, mine",
    ] {
        assert!(text.contains(part), "no {part}:\n{text}");
    }
    let ttft = text.lines().find(|line| line.starts_with("TTFT ")).unwrap();
    let median = ttft.split_whitespace().nth(1).unwrap();
    let added: f64 = median.trim_matches(['+', 'm', 's']).parse().unwrap();
    assert!((200.0..400.0).contains(&added), "{ttft}");
}
