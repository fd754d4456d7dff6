//! Faults that people reported of real servers and proxies, replayed: the simulated server plays a script of
//! `tests/cases/`, the proxy's binary stands before it, and a raw client compares every byte and its time with what the
//! server wrote. Each test carries the number of its case, and so do its scripts: `dripline simulate --scenario FILE`
//! plays one. (A71, the wall clock that is set, is `tests/clock.rs`.)

mod support;

/// One file for each kind of fault.
mod cases {
    mod hop;
    mod pauses;
    mod rig;
    mod rig_itself;

    mod k01_whole_body;
    mod k02_block_buffer;
    mod k03_timer;
    mod k05_held_header;
    mod k06_compression;
    mod k07_producer_bursts;
    mod k08_engine_stall;
    mod k09_tool_hold_back;
    mod k10_many_tokens;
    mod k11_cold_load;
    mod k12_added_latency;
    mod k13_tail;
    mod k14_not_a_token;
    mod k15_reasoning;
    mod k16_choices;
    mod k17_azure_filter;
    mod k18_several_choices;
    mod k19_cuts_inside;
    mod k20_line_ends;
    mod k21_grammar;
    mod k22_end_marker;
    mod k23_keepalives;
    mod k24_large_events;
    mod k25_error_in_200;
    mod k26_formats;
    mod k27_http_framing;
    mod k28_request_side;
    mod k29_client_side;
    mod k30_upstream_drop;
    mod k31_timer_cuts;
    mod k32_reuse;
    mod k33_http_errors;
    mod k37_controls;
}
