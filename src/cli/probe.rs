//! What can be typed after `dripline probe`.

use std::num::{NonZeroU32, NonZeroU64};
use std::path::PathBuf;

use clap::Args;

use crate::config::probe::{Field, Http, ProbeApi, ProbeUrl};
use crate::config::threshold::Threshold;
use crate::config::{Limit, Span, UpstreamUrl};

/// The examples under the help.
pub(super) const EXAMPLES: &str = "Examples:\n  \
    dripline probe http://127.0.0.1:8000\n  \
    dripline probe https://api.openai.com/v1 --model gpt-4o-mini --runs 10\n  \
    dripline probe http://127.0.0.1:8000 --via http://127.0.0.1:8080 --model llama-3.1-8b\n  \
    dripline probe http://gpu-1:8000 --rate 2 --duration 1m --json >> probe.jsonl\n  \
    dripline probe http://gpu-1:8000 --fail-if 'ttft_p95>2s' --fail-if 'stalls>0' --junit probe.xml\n\n\
    The first runs are cold, --warmup of them: they are shown and marked, and are in no figure beside the warm ones. \
    Nothing is averaged. TTFT counts from when the last byte of the request was sent; DNS, connect and TLS are apart. \
    Every run has a connection of its own.\n\n\
    The key is taken from API_TOKEN, else from OPENAI_API_KEY. It is never printed, and sent over https and to this \
    machine only, unless --send-key is given.\n\n\
    What --fail-if can look at: ttft, ttfa and total with _p50, _p95 (any percentile) or _max, over the runs; gap_p50, \
    gap_p90, gap_p99 and gap_max, of the worst run, or with _p50, _p95 and so on after that over the runs; stalls, of all \
    runs together; tps, of the slowest run (or tps_p50); errors and stalled, shares of the runs; verdict, of any run. Exit code: 0 done, 1 a run failed, 2 used wrongly, 3 a --fail-if holds.";

/// `dripline probe`
#[derive(Debug, Args)]
pub struct Probe {
    /// Server, its base URL as apps have it, or the endpoint itself
    #[arg(value_name = "URL")]
    pub url: ProbeUrl,

    /// What to ask, the same in each run
    #[arg(value_name = "PROMPT", default_value = DEFAULT_PROMPT)]
    pub prompt: String,

    /// API to speak [default: the one of the URL's path, else chat]
    #[arg(long, value_enum, help_heading = "Request")]
    pub api: Option<ProbeApi>,

    /// Model to ask for; many servers want one
    #[arg(long, value_name = "NAME", help_heading = "Request")]
    pub model: Option<String>,

    /// Longest answer, in tokens
    #[arg(
        long,
        value_name = "N",
        default_value = "128",
        help_heading = "Request"
    )]
    pub max_tokens: NonZeroU32,

    /// Header field to add, or to put in place of dripline's; can be repeated
    #[arg(
        long = "header",
        short = 'H',
        value_name = "'NAME: VALUE'",
        help_heading = "Request"
    )]
    pub headers: Vec<Field>,

    /// Send the key also where others can read it on the way (http to another machine)
    #[arg(long, help_heading = "Request")]
    pub send_key: bool,

    /// Version of HTTP; 2 is agreed on by TLS (ALPN), over http the server is taken to speak it
    #[arg(
        long,
        value_enum,
        value_name = "VERSION",
        default_value = "1.1",
        help_heading = "Request"
    )]
    pub http: Http,

    /// PEM file of the certificates to trust in place of the system's
    #[arg(long, value_name = "FILE", help_heading = "Request")]
    pub ca: Option<PathBuf>,

    /// Give up a run that has not ended by then; off for never
    #[arg(
        long,
        value_name = "TIME",
        default_value = "10m",
        help_heading = "Request"
    )]
    pub timeout: Limit,

    /// Runs to measure [default: 5, or as many as --duration allows]
    #[arg(long, value_name = "N", help_heading = "Runs")]
    pub runs: Option<NonZeroU64>,

    /// Runs before those, one after the other, that count as cold
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Runs")]
    pub warmup: u64,

    /// Runs that are open at a time, the next as soon as one ends
    #[arg(long, value_name = "N", default_value = "1", help_heading = "Runs")]
    pub concurrency: NonZeroU32,

    /// Runs that begin per second on average, at random (Poisson), whether others have ended or not
    #[arg(long, value_name = "PER_SECOND", value_parser = rate, conflicts_with = "concurrency", help_heading = "Runs")]
    pub rate: Option<f64>,

    /// Seed of --rate: the same one makes the same pauses
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Runs")]
    pub seed: u64,

    /// Begin no run after this time
    #[arg(long, value_name = "TIME", help_heading = "Runs")]
    pub duration: Option<Span>,

    /// Send each prompt directly and through this proxy, in turn, and say what the path between adds
    #[arg(long, value_name = "PROXY_URL", help_heading = "Runs")]
    pub via: Option<UpstreamUrl>,

    /// Free text for every record and legend: what is different this time
    #[arg(long, value_name = "TEXT", help_heading = "Output")]
    pub label: Option<String>,

    /// One JSON object for each run, cold ones too; appended to a file they are a log
    #[arg(long, conflicts_with = "csv", help_heading = "Output")]
    pub json: bool,

    /// A line with the main figures for each run but the cold ones
    #[arg(long, conflicts_with = "via", help_heading = "Output")]
    pub csv: bool,

    /// Keep a row for each chunk in the records of --json
    #[arg(long, requires = "json", help_heading = "Output")]
    pub timeline: bool,

    /// Exit with 3 if this holds, such as 'ttft_p95>2s'; can be repeated
    #[arg(long, value_name = "CONDITION", help_heading = "Output")]
    pub fail_if: Vec<Threshold>,

    /// Write the runs and conditions as a JUnit report for CI
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub junit: Option<PathBuf>,
}

/// What is asked when nothing else is.
const DEFAULT_PROMPT: &str = "Tell me about rain, in a hundred words or so.";

fn rate(text: &str) -> Result<f64, String> {
    let rate: Option<f64> = text.parse().ok();
    rate.filter(|rate| rate.is_finite() && *rate > 0.0)
        .ok_or_else(|| {
            format!("'{text}' is no number above 0; write 0.5 for a run every two seconds")
        })
}

impl Probe {
    /// What single values cannot tell.
    pub(super) fn mistake(&self) -> Option<String> {
        if let Err(problem) = self.url.endpoint(self.api) {
            return Some(problem);
        }
        let via = self.via.as_ref()?;
        let (there, here) = (&self.url.server, via);
        ((&there.host, there.port) == (&here.host, here.port) && here.prefix.is_empty())
            .then(|| "--via is the server itself; name the proxy that stands before it".to_owned())
    }
}
