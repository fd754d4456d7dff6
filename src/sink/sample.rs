//! A record for the tests of this room.

use crate::observe::record::*;

/// A record of a steady chat stream.
pub(crate) fn sample() -> RequestRecord {
    let gaps = GapStats {
        n: 60,
        mean_ms: Some(22.5),
        p50_ms: Some(21.034),
        p90_ms: Some(25.0),
        p99_ms: Some(48.2),
        max_ms: Some(1320.5),
        max_at_ms: Some(3402.0),
        exact: true,
    };
    RequestRecord {
        schema: SCHEMA,
        id: "01JE2X3Y4Z".into(),
        started_at: "2026-12-02T12:03:44.125Z".into(),
        label: None,
        instance: "edge-1".into(),
        request: Request {
            method: Some("POST".into()),
            path: Some("/v1/chat/completions".into()),
            model: Some("gpt-4o-mini".into()),
            stream: Some(true),
            ..Request::default()
        },
        upstream: Upstream::default(),
        response: Response {
            status: Some(200),
            origin: Some(Origin::Upstream),
            ..Response::default()
        },
        api: Some(Api::Chat),
        at: Marks::default(),
        ttft_ms: Some(412.25),
        ttft_after_request_ms: None,
        ttfa_ms: None,
        ttft_null: None,
        gaps: Gaps {
            token: gaps,
            ..Gaps::default()
        },
        stalls: Vec::new(),
        silence: Silence::default(),
        tail_ms: None,
        counts: Counts {
            chunks: 63,
            events: Some(64),
            token_events: Some(61),
            ..Counts::default()
        },
        coalescing: Coalescing::default(),
        tokens: Tokens::default(),
        rates: Rates::default(),
        stamps: Some(Stamps::Kernel),
        hold: Hold::default(),
        load: Load::default(),
        server_says: ServerSays::default(),
        end: End::Complete,
        flags: Vec::new(),
        error: None,
        verdict: Some(Verdict {
            timing: Timing::Steady,
            side: None,
            confidence: 0.9,
            summary: String::new(),
            evidence: Default::default(),
            cut: None,
            findings: Vec::new(),
        }),
        timeline: None,
        distributions: None,
    }
}
