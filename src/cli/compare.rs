//! What can be typed after `dripline compare`.

use std::path::PathBuf;

use clap::Args;

use crate::config::threshold::Condition;

/// The examples under the help.
pub(super) const EXAMPLES: &str = "Examples:\n  \
    dripline probe http://gpu-1:8000 --runs 20 --json > before.jsonl   (then after.jsonl)\n  \
    dripline compare before.jsonl after.jsonl\n  \
    dripline compare 'logs/mon*' 'logs/tue*' --where 'model=llama*'\n  \
    dripline compare all.jsonl all.jsonl --where-before label=off --where-after label=on\n  \
    dripline compare main.jsonl branch.jsonl --fail-if 'ttft_p50>+10%' --fail-if 'errors>+2pp'\n  \
    dripline compare main.jsonl branch.jsonl --markdown >> \"$GITHUB_STEP_SUMMARY\"\n  \
    dripline compare before.jsonl after.jsonl --json | jq .figures.ttft_p50.difference\n\n\
    Keys of --where are those of `dripline report`: model, path, upstream, verdict, end, label, instance.\n\n\
    --fail-if takes what that of `dripline probe` takes, of the run after: 'ttft_p95>2s', 'errors>1%', \
    'verdict=stall_no_catch_up'. And changes from the run before: 'ttft_p95>+10%', 'gap_p99>+20ms' (of the median stream; \
    gap_p99_p95 is of the 95th percentile), 'tps<-10%', 'errors>+2pp', 'stalled>+5pp'. A change holds if it is that large \
    and its 95 % interval excludes zero. What could not be measured, or is of too few requests to be told from chance, is \
    a failure of its own. Exit code: 0 done, 1 failed or a --fail-if could not be told, 2 used wrongly, 3 a --fail-if \
    holds.";

/// `dripline compare`
#[derive(Debug, Args)]
pub struct Compare {
    /// Log of the run before: JSON Lines, packed or not, or a pattern in quotes; - is standard input
    #[arg(value_name = "BEFORE")]
    pub before: PathBuf,

    /// Log of the run after
    #[arg(value_name = "AFTER")]
    pub after: PathBuf,

    /// Only requests that are so, or with != that are not, of both; may be repeated
    #[arg(long = "where", value_name = "KEY=PATTERN")]
    pub wanted: Vec<String>,

    /// The same of the run before alone
    #[arg(long = "where-before", value_name = "KEY=PATTERN")]
    pub wanted_before: Vec<String>,

    /// The same of the run after alone
    #[arg(long = "where-after", value_name = "KEY=PATTERN")]
    pub wanted_after: Vec<String>,

    /// Exit with 3 if this holds, such as 'ttft_p95>+10%' or 'gap_p99>200ms'; may be repeated
    #[arg(long, value_name = "CONDITION")]
    pub fail_if: Vec<Condition>,

    /// Seed of the intervals: the same one draws the same
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,

    /// A table for a pull request
    #[arg(long, group = "form")]
    pub markdown: bool,

    /// One JSON object
    #[arg(long, group = "form")]
    pub json: bool,
}
