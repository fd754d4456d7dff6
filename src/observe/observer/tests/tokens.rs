//! What counts as the first token, and what does not.

use super::support::*;
use crate::observe::record::{Api, End, Flag, Timing, TtftNull};

#[test]
fn a_role_long_before_the_text_is_no_token() {
    let record = chat()
        .at(900.0, role())
        .every(2_200.0, 20.0, 21, |_| word())
        .at(2_620.0, finish())
        .at(2_620.0, done())
        .end(2_620.0);
    assert_eq!(
        (record.at.first_byte_ms, record.at.first_event_ms),
        (Some(900.0), Some(900.0))
    );
    assert_eq!(
        (record.ttft_ms, record.ttfa_ms),
        (Some(2_200.0), Some(2_200.0))
    );
    assert_eq!(
        (record.gaps.token.n, record.gaps.token.max_ms),
        (20, Some(20.0))
    );
    assert_eq!(
        (record.end, timing(&record)),
        (End::Complete, Timing::Steady)
    );
    assert!(record.flags.is_empty() && record.error.is_none() && record.ttft_null.is_none());
}

#[test]
fn prompt_progress_is_life_and_no_output() {
    let progress = |i: u32| {
        let processed = i * 100;
        event(&format!(
            "{{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":null}}}}],\
             \"prompt_progress\":{{\"total\":400,\"cache\":0,\"processed\":{processed},\"time_ms\":1}}}}"
        ))
    };
    let record = chat()
        .at(20.0, role())
        .every(100.0, 400.0, 5, progress)
        .every(2_100.0, 30.0, 20, |_| word())
        .at(2_700.0, joined([finish(), done()]))
        .end(2_700.0);
    assert_eq!(record.ttft_ms, Some(2_100.0));
    assert_eq!(
        (record.silence.longest_ms, record.gaps.token.max_ms),
        (Some(400.0), Some(30.0))
    );
    assert_eq!(record.counts.empty_deltas.unwrap(), 0);
}

#[test]
fn null_empty_and_absent_all_mean_none() {
    let record = chat()
        .at(30.0, role())
        .at(
            31.0,
            delta(r#"{"content":null,"reasoning_content":null}"#, None),
        )
        .at(700.0, text("A"))
        .at(720.0, text(""))
        .at(740.0, text("B"))
        .at(760.0, joined([finish(), done()]))
        .end(760.0);
    assert_eq!(
        (record.ttft_ms, record.gaps.token.p50_ms),
        (Some(700.0), Some(40.0))
    );
    assert_eq!((record.gaps.token.n, record.gaps.event.n), (1, 6));
    assert_eq!(
        (
            record.counts.parse_errors.unwrap(),
            record.counts.empty_deltas.unwrap()
        ),
        (0, 2)
    );
}

#[test]
fn a_tool_call_counts_from_its_name_on() {
    let call = |index: u32, name: &str| {
        delta(
            &format!(
                "{{\"tool_calls\":[{{\"index\":{index},\"id\":\"c\",\"type\":\"function\",\
                 \"function\":{{\"name\":\"{name}\",\"arguments\":\"\"}}}}]}}"
            ),
            None,
        )
    };
    let piece = |_| {
        delta(
            r#"{"tool_calls":[{"index":0,"function":{"arguments":"{\"a\""}}]}"#,
            None,
        )
    };
    let record = chat()
        .at(40.0, delta(r#"{"role":"assistant","content":null}"#, None))
        .at(600.0, call(0, "f"))
        .every(615.0, 15.0, 20, piece)
        .at(950.0, call(1, "g"))
        .every(965.0, 15.0, 20, piece)
        .at(1_300.0, joined([delta("{}", Some("tool_calls")), done()]))
        .end(1_300.0);
    assert_eq!(
        (record.ttft_ms, record.at.first_tool_ms),
        (Some(600.0), Some(600.0))
    );
    assert_eq!((record.ttfa_ms, record.at.first_content_ms), (None, None));
    assert_eq!(
        (
            record.counts.token_events.unwrap(),
            record.gaps.token.p50_ms
        ),
        (42, Some(15.0))
    );
    assert_eq!((timing(&record), record.stalls.len()), (Timing::Steady, 0));
}

#[test]
fn empty_texts_before_an_emoji_are_counted_apart() {
    let record = chat()
        .at(10.0, role())
        .every(500.0, 20.0, 3, |_| text(""))
        .at(560.0, text("🌍"))
        .at(580.0, text("!"))
        .at(600.0, joined([finish(), done()]))
        .end(600.0);
    assert_eq!(
        (
            record.ttft_ms,
            record.counts.empty_deltas.unwrap(),
            record.counts.chars.unwrap()
        ),
        (Some(560.0), 3, 2)
    );
}

#[test]
fn thoughts_and_answers_have_two_figures_under_every_name() {
    for name in ["reasoning", "reasoning_content", "thinking"] {
        for with_null in [false, true] {
            let thought = format!(
                "{{\"{name}\":\"w \"{}}}",
                if with_null { ",\"content\":null" } else { "" }
            );
            let answer = format!(
                "{{\"content\":\"w \"{}}}",
                if with_null { ",\"reasoning\":null" } else { "" }
            );
            let record = chat()
                .at(50.0, role())
                .every(300.0, 20.0, 60, |_| delta(&thought, None))
                .every(1_500.0, 20.0, 20, |_| delta(&answer, None))
                .at(1_900.0, joined([finish(), done()]))
                .end(1_900.0);
            assert_eq!(
                (record.ttft_ms, record.ttfa_ms),
                (Some(300.0), Some(1_500.0)),
                "{name}"
            );
            assert_eq!(record.at.first_reasoning_ms, Some(300.0));
            assert_eq!(
                (
                    record.counts.token_events.unwrap(),
                    record.counts.chars.unwrap()
                ),
                (80, 160)
            );
            assert_eq!(timing(&record), Timing::Steady);
        }
    }
}

#[test]
fn usage_without_choices_comes_after_the_tokens() {
    let record = chat()
        .at(50.0, role())
        .every(100.0, 20.0, 5, |_| word())
        .at(200.0, finish())
        .at(500.0, usage(5))
        .at(500.5, done())
        .end(500.5);
    assert_eq!(
        (
            record.tokens.prompt,
            record.tokens.completion,
            record.tokens.cached
        ),
        (Some(7), Some(5), None)
    );
    assert_eq!((record.tail_ms, record.gaps.token.n), (Some(320.5), 4));
    assert_eq!(record.rates.tokens_per_s_after_first, Some(50.0));
    assert_eq!(
        (record.end, timing(&record)),
        (End::Complete, Timing::Steady)
    );
}

#[test]
fn choices_null_or_missing_are_no_error() {
    let record = chat()
        .at(
            10.0,
            event(r#"{"id":"x","object":"chat.completion.chunk"}"#),
        )
        .at(100.0, word())
        .at(120.0, event(r#"{"id":"x","choices":null}"#))
        .at(140.0, word())
        .at(160.0, joined([finish(), done()]))
        .end(160.0);
    assert_eq!(
        (
            record.ttft_ms,
            record.counts.parse_errors.unwrap(),
            record.end
        ),
        (Some(100.0), 0, End::Complete)
    );
    assert_eq!(record.response.id.as_deref(), Some("x"));
}

#[test]
fn azure_s_filter_events_are_no_output() {
    let prompt = r#"{"choices":[],"created":0,"id":"","model":"","object":"","prompt_filter_results":[{"prompt_index":0,"content_filter_results":{}}]}"#;
    let late = r#"{"choices":[{"index":0,"finish_reason":null,"content_filter_results":{},"content_filter_offsets":{"check_offset":10,"start_offset":10,"end_offset":60}}]}"#;
    let record = chat()
        .typed(Some("text/event-stream; charset=utf-8"))
        .at(180.0, event(prompt))
        .at(420.0, role())
        .every(450.0, 30.0, 10, |_| word())
        .at(735.0, event(late))
        .at(750.0, finish())
        .at(1_550.0, event(late))
        .at(1_551.0, done())
        .end(1_551.0);
    assert_eq!(
        (record.at.first_event_ms, record.ttft_ms),
        (Some(180.0), Some(450.0))
    );
    assert_eq!(record.response.model.as_deref(), Some("m"));
    assert_eq!(
        (record.counts.token_events.unwrap(), record.tail_ms),
        (10, Some(831.0))
    );
    assert_eq!(
        (record.end, record.flags),
        (End::Complete, vec![Flag::AzureFilter])
    );
}

#[test]
fn choices_side_by_side_are_one_stream() {
    let record = chat()
        .every(100.0, 20.0, 6, |_| choice(0, r#"{"content":"a"}"#, None))
        .every(220.0, 10.0, 28, |i| {
            choice((i + 1) % 2, r#"{"content":"b"}"#, None)
        })
        .at(500.0, choice(0, "{}", Some("stop")))
        .every(510.0, 20.0, 20, |_| choice(1, r#"{"content":"c"}"#, None))
        .at(910.0, choice(1, "{}", Some("stop")))
        .at(911.0, done())
        .end(911.0);
    assert_eq!(
        (record.ttft_ms, record.counts.token_events.unwrap()),
        (Some(100.0), 54)
    );
    assert_eq!(
        (record.end, timing(&record)),
        (End::Complete, Timing::Steady)
    );
    assert_eq!(record.flags, [Flag::MultiChoice]);
}

#[test]
fn two_choices_in_each_read_are_steady_too() {
    let pair = |_| joined([0, 1].map(|index| choice(index, r#"{"content":"a"}"#, None)));
    let record = chat()
        .every(100.0, 25.0, 40, pair)
        .at(1_100.0, done())
        .end(1_100.0);
    assert_eq!(
        (
            record.coalescing.events_per_chunk_max.unwrap(),
            timing(&record)
        ),
        (2, Timing::Steady)
    );
}

#[test]
fn texts_that_repeat_all_so_far() {
    let record = chat()
        .path("/generate")
        .every(100.0, 30.0, 50, |i| {
            event(&format!(
                "{{\"text\":\"{}\"}}",
                "Alpha ".repeat(i as usize + 1)
            ))
        })
        .at(1_600.0, done())
        .end(1_600.0);
    assert_eq!((record.api, record.ttft_ms), (Some(Api::Sse), Some(100.0)));
    assert_eq!(
        (record.counts.chars.unwrap(), timing(&record)),
        (300, Timing::Steady)
    );
}

#[test]
fn a_slow_upload_is_not_the_model_s() {
    let mut script = chat()
        .at(1_950.0, role())
        .every(2_000.0, 20.0, 20, |_| word())
        .at(2_400.0, done());
    script.request_end_ms = 1_900.0;
    let record = script.end(2_400.0);
    assert_eq!(
        (record.ttft_ms, record.ttft_after_request_ms),
        (Some(2_000.0), Some(100.0))
    );
    assert_eq!(
        (record.silence.longest_ms, timing(&record)),
        (Some(50.0), Timing::Steady)
    );
}

#[test]
fn a_stream_without_output_says_so() {
    let record = chat()
        .at(50.0, role())
        .at(100.0, finish())
        .at(100.0, done())
        .end(100.0);
    assert_eq!(
        (record.ttft_ms, record.ttft_null),
        (None, Some(TtftNull::NoToken))
    );
    assert_eq!(
        (record.end, timing(&record)),
        (End::Complete, Timing::Unmeasurable)
    );

    let record = chat()
        .every(50.0, 10.0, 5, |_| event("plain words"))
        .end(100.0);
    assert_eq!(
        (record.ttft_null, record.counts.parse_errors.unwrap()),
        (Some(TtftNull::Unparsable), 5)
    );
}
