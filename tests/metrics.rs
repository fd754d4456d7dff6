//! What is written about the metrics is true: the page, the dashboard and the alert rules.
//!
//! That Prometheus reads them all is shown in `tests/peers/test_prometheus.py`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use dripline::sink::metrics;

const BEGIN: &str = "<!-- table: UPDATE=1 cargo test --test metrics -->\n";
const END: &str = "<!-- end of table -->\n";

fn shipped(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn read(path: &str) -> String {
    std::fs::read_to_string(shipped(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn the_table_is_what_is_written() {
    let page = read("docs/metrics.md");
    let (before, rest) = page.split_once(BEGIN).expect("the table begins");
    let (table, after) = rest.split_once(END).expect("the table ends");
    let current = format!("\n{}\n", metrics::table());
    if std::env::var_os("UPDATE").is_some() {
        let page = format!("{before}{BEGIN}{current}{END}{after}");
        std::fs::write(shipped("docs/metrics.md"), page).unwrap();
        return;
    }
    assert!(
        table == current,
        "docs/metrics.md is out of date: UPDATE=1 cargo test --test metrics"
    );
}

/// The words of `text` that are names of metrics of ours, without the endings of histograms.
fn named(text: &str) -> BTreeSet<&str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let of_histogram = |name| {
        let endings = ["_bucket", "_sum", "_count"];
        endings
            .iter()
            .find_map(|ending| str::strip_suffix(name, ending))
            .unwrap_or(name)
    };
    text.split(|c| !is_part(c))
        .filter(|word| word.starts_with("dripline_") || word.starts_with("gen_ai_client_"))
        .map(of_histogram)
        .filter(|name| !name.ends_with('_')) // a family, as `dripline_*`
        .collect()
}

#[test]
fn the_dashboard_and_the_rules_ask_for_what_there_is() {
    let table = metrics::table();
    let known = named(&table);
    for file in [
        "docs/metrics.md",
        "config/alerts.yml",
        "tests/metrics/alerts_test.yml",
    ] {
        let unknown: Vec<_> = named(&read(file))
            .difference(&known)
            .copied()
            .map(str::to_owned)
            .collect();
        assert!(unknown.is_empty(), "{file}: {unknown:?}");
    }
    let dashboard = read("config/grafana-dashboard.json");
    let shown = named(&dashboard);
    let unknown: Vec<_> = shown.difference(&known).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
    // The dashboard leaves out what is the same under another name, or for other tools.
    let left: Vec<_> = known.difference(&shown).copied().collect();
    assert_eq!(
        left,
        [
            "dripline_build_info",
            "dripline_chunk_gap_seconds",
            "dripline_event_gap_seconds",
            "gen_ai_client_operation_time_per_output_chunk_seconds",
            "gen_ai_client_operation_time_to_first_chunk_seconds",
        ]
    );
}
