//! Clients that leave.

use super::rig::{at, near, number};
use crate::support::upstream::How;
use crate::support::{
    Client, DONE, LAST, Proxy, STREAM, Upstream, chat_request, chunk, event, flags, ms, now,
};

/// When the client leaves.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Phase {
    BeforeTheHeader,
    BeforeTheFirstToken,
    AmongTokens,
}

/// Far below the time at which a write would fail, for machines that are busy.
const AT_ONCE: u64 = 600;

#[test]
fn a63_a_client_that_leaves_takes_the_upstreams_request_with_it() {
    use Phase::*;
    std::thread::scope(|scope| {
        for phase in [BeforeTheHeader, BeforeTheFirstToken, AmongTokens] {
            for how in [How::Fin, How::Reset] {
                scope.spawn(move || leaves(phase, how));
            }
        }
    });
}

fn leaves(phase: Phase, how: How) {
    let up = Upstream::start(move |x| {
        x.request();
        x.wait(10);
        if phase != Phase::BeforeTheHeader {
            x.send([STREAM.as_bytes(), &chunk(event(""))].concat());
        }
        let tokens = if phase == Phase::AmongTokens { 150 } else { 0 };
        for _ in 0..tokens {
            x.wait(40);
            x.send(chunk(event("word ")));
        }
        x.wait(5000);
        x.send([chunk(event("word ")), chunk(DONE), LAST.into()].concat());
    });
    let proxy = Proxy::start(&up);
    let mut client = Client::connect(proxy.addr);
    let start = now();
    client.send(chat_request(""));
    if phase != Phase::BeforeTheHeader {
        let mut response = client.head("POST");
        let read = if phase == Phase::AmongTokens { 900 } else { 1 };
        assert!(client.read_until(&mut response, read));
    }
    std::thread::sleep((start + ms(500)).saturating_duration_since(now()));
    let left = match how {
        How::Fin => client.leave(),
        How::Reset => client.reset(),
    };

    let case = format!("{phase:?}, {how:?}");
    let (closed, _) = up.closed(0).unwrap_or_else(|| panic!("{case}: kept open"));
    let after = closed.saturating_duration_since(left);
    assert!(after < ms(AT_ONCE), "{case}: noticed after {after:?}");

    let record = proxy.record();
    assert_eq!(at(&record, "/end"), "client_gone", "{case}");
    near(
        &record,
        "/at/end_ms",
        (left - start).as_secs_f64() * 1000.0,
        ms(100),
    );
    assert!(!flags(&record).contains(&"client_closed_after_done"));
    if phase == Phase::AmongTokens {
        let sends = up.sends();
        let first = (sends[1] - start).as_secs_f64() * 1000.0;
        near(&record, "/ttft_ms", first, ms(50));
        assert!(at(&record, "/ttft_null").is_null());
        near(&record, "/gaps/token/p50_ms", 40.0, ms(10));
        assert!(number(&record, "/counts/bytes") > 900.0);
    } else {
        assert!(at(&record, "/ttft_ms").is_null(), "{case}: {record:#}");
        assert_eq!(at(&record, "/ttft_null"), "client_gone", "{case}");
    }
    if phase == Phase::BeforeTheFirstToken {
        assert_eq!(at(&record, "/counts/bytes"), event("").len(), "{case}");
        near(&record, "/silence/before_end_ms", 490.0, ms(100));
    }
    // whoever left, it was not the upstream
    assert!(at(&record, "/error").is_null(), "{case}: {record:#}");
    let blamed = &record["verdict"]["where"];
    assert_ne!(blamed, "upstream", "{case}: {record:#}");
}
