//! The command line: what can be typed, its help, what a mistake is told, and diagnostics.

mod announce;
mod compare;
mod diagnostics;
mod probe;

use std::error::Error as _;
use std::ffi::OsString;
use std::path::PathBuf;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Args, Command, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};

use crate::config::{DEFAULTS, ListenAddr, Settings};

pub use announce::announcement;
pub use compare::Compare;
pub use diagnostics::Diagnostics;
pub use probe::Probe;

/// A whole command line.
#[derive(Debug, Parser)]
#[command(
    name = "dripline",
    version,
    about = "A transparent timing reverse proxy for LLM servers",
    long_about = "A transparent timing reverse proxy for LLM servers.\n\nPoint an app's base URL at it: every byte \
        passes unchanged, and each request leaves one record with the time to the first token, the gaps between \
        tokens, stalls, and a verdict on who held the stream back.",
    after_help = "Examples:\n  \
        dripline demo                                      see it work, with a simulated server\n  \
        dripline proxy --upstream http://127.0.0.1:8000    measure a server of your own\n  \
        dripline probe http://127.0.0.1:8000               ask it a few times, with no app\n  \
        OPENAI_BASE_URL=http://127.0.0.1:8080/v1 my-app    point an app at it",
    arg_required_else_help = true,
    max_term_width = 100
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Job,
}

/// What `dripline` can do.
#[derive(Debug, Subcommand)]
pub enum Job {
    /// Stand between apps and a server, pass everything on and record its timing
    #[command(after_help = "Examples:\n  \
        dripline proxy --upstream http://127.0.0.1:8000\n  \
        dripline proxy --upstream https://api.openai.com --label 'hosted, from the office'\n  \
        dripline proxy --upstream http://gpu-1:8000 --listen 0.0.0.0:8080 --log /var/log/dripline.jsonl\n  \
        dripline proxy --upstream http://127.0.0.1:8000 --log - | jq .ttft_ms\n  \
        dripline proxy --config dripline.toml\n\n\
        Then point the app at it: OPENAI_BASE_URL=http://127.0.0.1:8080/v1\n\n\
        Durations are written 500ms, 30s or 1m30s. A flag wins over its variable, that over the file of --config, \
        that over the default. Prompts, answers, keys and query strings are never recorded.")]
    Proxy(Box<Settings>),

    /// Run a simulated OpenAI-style server that streams by a script, to try things on
    #[command(after_help = "Examples:\n  \
        dripline simulate                        each request chooses a scenario by its model name\n  \
        dripline simulate --scenario stall       what a model name that is none gets\n  \
        dripline simulate --scenario mine.toml   the same, a script of your own\n\n\
        In another terminal:\n  \
        dripline proxy --upstream http://127.0.0.1:8000\n\n\
        No model runs here: its words are made up, its timing is the script's.")]
    Simulate(Simulate),

    /// Show it all in 20 seconds: simulated server, proxy, requests, records and plots
    #[command(after_help = "Examples:\n  \
        dripline demo           runs, shows its plots and ends\n  \
        dripline demo --keep    stays up, to be tried with curl or an app\n\n\
        Everything runs in this one process on free ports; the server is simulated.")]
    Demo(Demo),

    /// Ask a server a few times and show each run's timing: rows, gaps, scatter, verdicts
    #[command(after_help = probe::EXAMPLES)]
    Probe(Box<Probe>),

    /// Read logs: what their requests say together, a line for each, or one request's verdict in full
    #[command(after_help = "Examples:\n  \
        dripline report dripline.jsonl                    table, limits found, pictures\n  \
        dripline report 'logs/*' --by hour --since 1d     rotated and packed logs too (.gz, .zst)\n  \
        dripline report dripline.jsonl --where 'model=llama*' --where verdict!=steady\n  \
        dripline report dripline.jsonl --list             a line for each request, its id first\n  \
        dripline report dripline.jsonl --follow           the summary, redrawn as the log grows\n  \
        dripline report dripline.jsonl --follow --list --since 1m --where verdict!=steady\n  \
        dripline report dripline.jsonl --csv > requests.csv\n  \
        dripline report dripline.jsonl --parquet requests.parquet\n  \
        dripline report dripline.jsonl --trace trace.json --since 1h\n  \
        dripline report dripline.jsonl --json | jq .p99_ttft_ms\n  \
        dripline report dripline.jsonl --html report.html --svg report.svg\n  \
        dripline report dripline.jsonl --explain 01JE2    why that one was judged as it was\n  \
        dripline report - < dripline.jsonl\n\n\
        Keys of --where: model, path, upstream, verdict, end, label, instance; * stands for any text, nothing for what is \
        not there, and of several all must fit. Times are 2026-12-02T16:00:00Z, 2026-12-02 or how long ago, such as 2h.\n\n\
        An id is the record's, or the x-request-id that the client sent; its beginning will do. The picture of the \
        arrivals needs a log of `dripline proxy --timeline`. A log may be one that is still being written; lines that \
        cannot be read are counted and named.")]
    Report(Report),

    /// Compare two runs by their logs: what changed, whether it is more than chance, what is not alike
    #[command(after_help = compare::EXAMPLES)]
    Compare(Compare),

    /// Compare the logs of two driplines, one on each side of a hop, and say what the hop does
    #[command(
        after_help = "Where they stand:  app → OUTER dripline → hop → INNER dripline → server\n\n\
        Examples:\n  \
        dripline proxy --upstream http://gpu-1:8000 --listen 127.0.0.1:8081 --log inner.jsonl --timeline\n  \
        dripline proxy --upstream http://gateway:4000 --log outer.jsonl --timeline\n  \
        dripline hops inner.jsonl outer.jsonl\n  \
        dripline hops inner.jsonl outer.jsonl --json | jq -r '[.verdict, .ttft_added_ms] | @tsv'\n\n\
        Requests are joined by trace id, the client's request id, the answer's id or the body's hash, the first that \
        both have and no other. Only durations are compared, so the clocks of the two machines may differ. With \
        --timeline on both sides each byte's wait in the hop is known.\n\n\
        Verdicts: passed, held_whole_body, held_blocks, held_ticks, held_counts, coalesced, one_behind, held_header, \
        constant_delay, cut, changed_bytes, unknown."
    )]
    Hops(Hops),
}

/// `dripline simulate`
#[derive(Debug, Args)]
pub struct Simulate {
    /// Address to listen on; port 0 for a free one
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:8000")]
    pub listen: ListenAddr,

    /// Ready scenario by its name, or a file with one, for models that name none
    #[arg(long, value_name = "NAME|FILE")]
    pub scenario: Option<String>,
}

/// `dripline demo`
#[derive(Debug, Args)]
pub struct Demo {
    /// Stay up after the plots and print how to send requests of your own
    #[arg(long)]
    pub keep: bool,
}

/// `dripline report`
#[derive(Debug, Args)]
pub struct Report {
    /// Logs, JSON Lines, packed or not, or patterns for such; - is standard input
    #[arg(value_name = "LOG", required = true)]
    pub logs: Vec<PathBuf>,

    /// What the rows of the summary are
    #[arg(long, value_enum, default_value_t)]
    pub by: By,

    /// Only requests that started then or later
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub since: Option<String>,

    /// Only requests that started before
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub until: Option<String>,

    /// Only requests that are so, or with != that are not; may be repeated
    #[arg(long = "where", value_name = "KEY=PATTERN")]
    pub wanted: Vec<String>,

    /// Go on as the logs grow: redraw the summary, or print new lines of --list and rows of --csv; rotated
    /// logs are followed by their names
    #[arg(long, short = 'f')]
    pub follow: bool,

    /// A line for each request instead of the summary
    #[arg(long, group = "form")]
    pub list: bool,

    /// A row for each request, for spreadsheets
    #[arg(long, group = "form")]
    pub csv: bool,

    /// Write the same rows, typed, for DuckDB and its like
    #[arg(long, value_name = "FILE", group = "form")]
    pub parquet: Option<PathBuf>,

    /// Write the requests on a time line, for Perfetto (ui.perfetto.dev); - is standard output
    #[arg(long, value_name = "FILE", group = "form")]
    pub trace: Option<PathBuf>,

    /// The summary as one JSON object, also with the keys of vLLM's benchmark
    #[arg(long, group = "form")]
    pub json: bool,

    /// Write the summary as a page with pictures: one file, no network; - is standard output
    #[arg(long, value_name = "FILE", conflicts_with = "form")]
    pub html: Option<PathBuf>,

    /// Write its pictures as one SVG file; - is standard output
    #[arg(long, value_name = "FILE", conflicts_with = "form")]
    pub svg: Option<PathBuf>,

    /// Explain this request's verdict: all findings, the arrivals, the rules that did and did not fire
    #[arg(long, value_name = "ID", group = "form")]
    pub explain: Option<String>,
}

/// What the rows of a summary are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum By {
    /// The model asked for
    #[default]
    Model,
    /// The path asked for
    Path,
    /// The upstream asked
    Upstream,
    /// How the stream came
    Verdict,
    /// The hour of the start
    Hour,
    /// The label of the run
    Label,
}

impl By {
    /// Its name, as it is typed.
    pub fn name(self) -> &'static str {
        match self {
            By::Model => "model",
            By::Path => "path",
            By::Upstream => "upstream",
            By::Verdict => "verdict",
            By::Hour => "hour",
            By::Label => "label",
        }
    }
}

/// `dripline hops`
#[derive(Debug, Args)]
pub struct Hops {
    /// Log of the dripline between hop and server; - is standard input
    #[arg(value_name = "INNER.jsonl")]
    pub inner: PathBuf,

    /// Log of the dripline between app and hop; - is standard input
    #[arg(value_name = "OUTER.jsonl")]
    pub outer: PathBuf,

    /// Only this request, in full: a record's id, trace id, request id or answer's id
    #[arg(long, value_name = "ID")]
    pub id: Option<String>,

    /// All requests, not only the worst 10
    #[arg(long)]
    pub all: bool,

    /// One JSON object for each request, worst first; the rest goes to standard error
    #[arg(long)]
    pub json: bool,
}

/// Reads a command line, its first argument the program's name, and `DRIPLINE_*` variables. Help
/// and version are errors too, as clap has it: [`clap::Error::exit`] prints each where it belongs
/// and ends with its code (0, or 2 for a mistake).
pub fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Cli, clap::Error> {
    let args: Vec<OsString> = args.into_iter().collect();
    command()
        .try_get_matches_from(&args)
        .and_then(|matches| Cli::from_arg_matches(&matches))
        .and_then(one_of_each_standard)
        .and_then(probe_of_one_mind)
        .map_err(|error| explained(error, &args))
}

const TWO_INPUTS: &str =
    "only one of the two logs can be standard input; name a file for the other\n";

/// There is one standard input, which cannot be two logs, and one standard output.
fn one_of_each_standard(cli: Cli) -> Result<Cli, clap::Error> {
    let is_input = |log: &PathBuf| log.as_os_str() == "-";
    let conflict = match &cli.command {
        Job::Hops(hops) if is_input(&hops.inner) && is_input(&hops.outer) => TWO_INPUTS,
        Job::Compare(compare) if is_input(&compare.before) && is_input(&compare.after) => {
            TWO_INPUTS
        }
        Job::Report(report) if is_standard(&report.html) && is_standard(&report.svg) => {
            "only one of page and pictures can be standard output; name a file for the other\n"
        }
        _ => return Ok(cli),
    };
    Err(clap::Error::raw(ErrorKind::ArgumentConflict, conflict))
}

fn is_standard(file: &Option<PathBuf>) -> bool {
    file.as_ref().is_some_and(|file| file.as_os_str() == "-")
}

/// What the values of `dripline probe` say together.
fn probe_of_one_mind(cli: Cli) -> Result<Cli, clap::Error> {
    match &cli.command {
        Job::Probe(probe) => match probe.mistake() {
            Some(mistake) => Err(clap::Error::raw(
                ErrorKind::ArgumentConflict,
                format!("{mistake}\n"),
            )),
            None => Ok(cli),
        },
        _ => Ok(cli),
    }
}

/// The whole command. The settings have no defaults for clap, which would let none of the file's
/// values through: here the help learns them, and the flags of booleans become switches.
pub fn command() -> Command {
    let defaults: toml::Table = DEFAULTS
        .parse()
        .expect("DEFAULTS is valid, as every start and test shows");
    Cli::command().mut_subcommand("proxy", |proxy| {
        proxy.mut_args(
            |arg| match arg.get_long().and_then(|key| defaults.get(key)) {
                Some(toml::Value::Boolean(_)) => switch(arg),
                Some(toml::Value::String(default)) => {
                    let help = format!(
                        "{} [default: {default}]",
                        arg.get_help().map(ToString::to_string).unwrap_or_default()
                    );
                    arg.help(help).hide_env_values(true)
                }
                _ => arg.hide_env_values(true),
            },
        )
    })
}

/// Makes `--flag` and `--flag=false` of a boolean.
fn switch(arg: Arg) -> Arg {
    arg.num_args(0..=1)
        .require_equals(true)
        .default_missing_value("true")
        .value_parser(boolean)
        .hide_env_values(true)
}

/// Also the words that variables have for booleans elsewhere.
fn boolean(text: &str) -> Result<bool, String> {
    match text {
        "true" | "1" | "yes" | "on" => Ok(true),
        "false" | "0" | "no" | "off" => Ok(false),
        _ => Err(format!("'{text}' is neither; write true or false")),
    }
}

/// clap's error, or for a wrong value one that names the variable where it came from there, and
/// that repeats nothing of the value but what its setting finds fit: a URL may hold a key.
fn explained(error: clap::Error, args: &[OsString]) -> clap::Error {
    let Some(ContextValue::String(arg)) = error.get(ContextKind::InvalidArg) else {
        return error;
    };
    let told = |kind, message: String| {
        clap::Error::raw(
            kind,
            format!("{message}\n\nFor more information, try '--help'.\n"),
        )
    };
    match error.kind() {
        ErrorKind::UnknownArgument if arg.contains("://") => told(
            ErrorKind::UnknownArgument,
            "a URL stands alone; write dripline proxy --upstream URL, for example --upstream http://127.0.0.1:8000".to_owned(),
        ),
        kind @ (ErrorKind::ValueValidation | ErrorKind::InvalidValue) => {
            let flag = arg.split(['=', ' ', '[']).next().unwrap_or_default();
            let typed = args.iter().filter_map(|arg| arg.to_str()).any(|arg| arg.split('=').next() == Some(flag));
            match (variable(flag).filter(|_| !typed), error.source()) {
                (Some(variable), Some(problem)) => told(kind, format!("environment variable {variable}: {problem}")),
                (Some(variable), None) => told(kind, format!("environment variable {variable} is empty; set it, or unset it")),
                (None, Some(problem)) => told(kind, format!("{flag}: {problem}")),
                (None, None) => error,
            }
        }
        _ => error,
    }
}

/// The variable of a setting's flag.
fn variable(flag: &str) -> Option<String> {
    let proxy = Settings::augment_args(Command::new(""));
    let arg = proxy
        .get_arguments()
        .find(|arg| arg.get_long() == flag.strip_prefix("--"))?;
    Some(arg.get_env()?.to_str()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(args: &str) -> Settings {
        match parse(args.split(' ').map(OsString::from)).unwrap().command {
            Job::Proxy(settings) => *settings,
            job => panic!("{job:?}"),
        }
    }

    fn error(args: &[&str]) -> String {
        parse(args.iter().map(OsString::from))
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn the_definition_is_sound() {
        command().debug_assert();
    }

    #[test]
    fn every_setting_has_the_variable_and_the_key_of_its_flag() {
        for arg in Settings::augment_args(Command::new("")).get_arguments() {
            let long = arg.get_long().unwrap();
            let variable = format!("DRIPLINE_{}", long.to_uppercase().replace('-', "_"));
            assert_eq!(arg.get_env(), Some(variable.as_ref()), "{long}");
        }
    }

    #[test]
    fn switches_go_both_ways() {
        assert_eq!(settings("dripline proxy").quiet, None);
        assert_eq!(settings("dripline proxy --quiet").quiet, Some(true));
        assert_eq!(
            settings("dripline proxy --quiet=false --timeline").quiet,
            Some(false)
        );
    }

    #[test]
    fn a_wrong_value_is_told_by_its_flag_with_a_fix() {
        let error = error(&["dripline", "proxy", "--drain", "30"]);
        assert!(
            error.starts_with("error: --drain: '30' has no unit; write 30s for seconds"),
            "{error}"
        );
    }

    #[test]
    fn a_bare_url_is_led_to_its_flag_and_no_key_in_one_is_repeated() {
        for args in [
            &["dripline", "proxy", "http://me:sk-planted@h"][..],
            &["dripline", "proxy", "--upstream", "http://me:sk-planted@h"],
            &["dripline", "proxy", "--upstream=http://h/?key=sk-planted"],
        ] {
            let error = error(args);
            assert!(
                error.contains("http://127.0.0.1:8000") && !error.contains("sk-planted"),
                "{error}"
            );
        }
    }

    #[test]
    fn help_and_version_are_no_mistakes() {
        for (args, code) in [
            (&["dripline", "--help"][..], 0),
            (&["dripline", "proxy", "--help"], 0),
            (&["dripline", "--version"], 0),
            (&["dripline", "proxi"], 2),
            (&["dripline"], 2),
            (&["dripline", "hops", "inner.jsonl"], 2),
            (&["dripline", "hops", "-", "-"], 2),
            (&["dripline", "compare", "a.jsonl"], 2),
            (&["dripline", "compare", "-", "-"], 2),
        ] {
            assert_eq!(
                parse(args.iter().map(OsString::from))
                    .unwrap_err()
                    .exit_code(),
                code,
                "{args:?}"
            );
        }
    }
}
