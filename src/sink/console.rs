//! One aligned line per request, to read while it happens.
//!
//! Colour only where it can be seen (a terminal, no `NO_COLOR`): anstream takes it out elsewhere. A
//! model's name comes from the client and may hold anything, terminal escapes included: it is shown
//! escaped and cut.

use std::fmt::Write as _;
use std::io::{self, Write as _};

use anstyle::{AnsiColor, Style};
use jiff::{Timestamp, tz::TimeZone};
use serde::Serialize;
use unicode_width::UnicodeWidthChar;

use crate::observe::record::{End, RequestRecord, Timing};

/// Columns that a model's name, or a method and path, may take.
const NAME_WIDTH: usize = 24;
/// Stands for what was not measured.
const NONE: &str = "–";

/// Which stream lines go to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output {
    /// Standard output.
    Stdout,
    /// Standard error: when the log has standard output.
    Stderr,
}

/// Lines for a person.
#[derive(Debug)]
pub struct Console {
    output: Output,
    zone: TimeZone,
    /// The columns have been named.
    begun: bool,
    failed: bool,
}

impl Console {
    /// The first record comes with a line that names the columns. Times of day are local.
    pub fn new(output: Output) -> Self {
        Console {
            output,
            zone: TimeZone::system(),
            begun: false,
            failed: false,
        }
    }

    /// Prints one record; whether it got there.
    pub(super) fn write(&mut self, record: &RequestRecord) -> bool {
        if !self.begun {
            self.begun = self.print(&header());
        }
        self.print(&line(record, &self.zone))
    }

    fn print(&mut self, line: &str) -> bool {
        let result = match self.output {
            Output::Stdout => writeln!(anstream::stdout().lock(), "{line}"),
            Output::Stderr => writeln!(anstream::stderr().lock(), "{line}"),
        };
        self.told(result)
    }

    fn told(&mut self, result: io::Result<()>) -> bool {
        if let Err(error) = &result
            && !self.failed
        {
            tracing::warn!(
                "lines for the terminal cannot be written ({error}); requests and log are not affected"
            );
        }
        self.failed = result.is_err();
        !self.failed
    }
}

/// The names of the columns of [`line()`]. Gaps are those between token events.
pub fn header() -> String {
    let dim = Style::new().dimmed();
    let columns = row(
        "time",
        "code",
        "model",
        ["ttft", "gap p50", "gap p99", "gap max", "max at"].map(str::to_owned),
        ["events", "chunks"].map(str::to_owned),
    );
    format!("{dim}{columns}  end, verdict{dim:#}")
}

/// One record as a line, with colours.
pub fn line(record: &RequestRecord, zone: &TimeZone) -> String {
    let gaps = &record.gaps.token;
    let columns = row(
        &time_of_day(&record.started_at, zone),
        &record
            .response
            .status
            .map_or(NONE.to_owned(), |status| status.to_string()),
        &name(record),
        [
            record.ttft_ms,
            gaps.p50_ms,
            gaps.p99_ms,
            gaps.max_ms,
            gaps.max_at_ms,
        ]
        .map(duration),
        [record.counts.events, Some(record.counts.chunks)]
            .map(|n| n.map_or(NONE.to_owned(), |n| n.to_string())),
    );
    let colour = |colour: AnsiColor| colour.on_default();
    let end_style = match record.end {
        End::Complete | End::Upgraded => colour(AnsiColor::Green),
        End::ClientGone | End::NotAStream | End::EndedWithoutDone | End::ProxyStopped => {
            colour(AnsiColor::Yellow)
        }
        _ => colour(AnsiColor::Red),
    };
    let end = word(&record.end);
    let mut line = format!("{columns}  {end_style}{end}{end_style:#}");
    if let Some(server_type) = record
        .error
        .as_ref()
        .and_then(|error| error.server_type.as_deref())
    {
        line += &format!(" ({})", shown(server_type, NAME_WIDTH));
    }
    if let Some(verdict) = &record.verdict {
        let style = match verdict.timing {
            Timing::Steady => colour(AnsiColor::Green),
            Timing::Unmeasurable => Style::new().dimmed(),
            _ => colour(AnsiColor::Yellow),
        };
        let timing = word(&verdict.timing);
        line += &format!(", {style}{timing}{style:#}");
        if let Some(side) = &verdict.side {
            line += &format!(" ({})", word(side));
        }
    }
    line
}

/// The columns that are aligned. Widths are counted in characters, which `NONE` is one of.
fn row(time: &str, code: &str, name: &str, times: [String; 5], counts: [String; 2]) -> String {
    let mut row = format!("{time:<8} {code:>4}  {}", padded(name));
    for time in times {
        let _ = write!(row, " {time:>7}");
    }
    for count in counts {
        let _ = write!(row, " {count:>6}");
    }
    row
}

/// The model, or for a request without one its method and path.
fn name(record: &RequestRecord) -> String {
    let request = &record.request;
    match (&request.model, &request.method, &request.path) {
        (Some(model), ..) => shown(model, NAME_WIDTH),
        (None, Some(method), Some(path)) => shown(&format!("{method} {path}"), NAME_WIDTH),
        _ => NONE.to_owned(),
    }
}

/// Text of others made safe for a terminal: no control or invisible characters, at most `width`
/// columns.
fn shown(text: &str, width: usize) -> String {
    let mut shown = String::new();
    let mut used = 0;
    for c in text.chars() {
        let piece = if matches!(c, '"' | '\'' | '\\') {
            c.to_string()
        } else {
            c.escape_debug().to_string()
        };
        used += columns(&piece);
        if used > width {
            // Makes room for the mark.
            while columns(&shown) > width - 1 {
                shown.pop();
            }
            shown.push('…');
            break;
        }
        shown += &piece;
    }
    shown
}

fn columns(text: &str) -> usize {
    text.chars().filter_map(UnicodeWidthChar::width).sum()
}

fn padded(name: &str) -> String {
    format!(
        "{name}{}",
        " ".repeat(NAME_WIDTH.saturating_sub(columns(name)))
    )
}

fn time_of_day(started_at: &str, zone: &TimeZone) -> String {
    match started_at.parse::<Timestamp>() {
        Ok(at) => zone.to_datetime(at).strftime("%H:%M:%S").to_string(),
        Err(_) => NONE.to_owned(),
    }
}

/// Three digits and a unit: `3.21ms`, `412ms`, `1.32s`, `125s`.
fn duration(ms: Option<f64>) -> String {
    let Some(ms) = ms else { return NONE.to_owned() };
    let (value, unit) = if ms < 999.5 {
        (ms, "ms")
    } else {
        (ms / 1000.0, "s")
    };
    let digits = match value {
        v if v < 9.995 => 2,
        v if v < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.digits$}{unit}")
}

/// The word that a record has for an enum's value.
fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => NONE.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::record::{ErrorInfo, ErrorKind, GapStats, Request, Response, Side};
    use crate::sink::sample::sample;

    fn plain(line: &str) -> String {
        anstream::adapter::strip_str(line).to_string()
    }

    fn lines(records: &[RequestRecord]) -> String {
        let mut all = vec![plain(&header())];
        all.extend(
            records
                .iter()
                .map(|record| plain(&line(record, &TimeZone::UTC))),
        );
        format!("\n{}\n", all.join("\n"))
    }

    #[test]
    fn lines_are_aligned_under_their_header() {
        let mut stall = sample();
        stall.request.model = Some("meta-llama/Llama-3.3-70B-Instruct".into());
        stall.ttft_ms = Some(61_240.0);
        stall.verdict.as_mut().unwrap().timing = Timing::StallNoCatchUp;
        stall.verdict.as_mut().unwrap().side = Some(Side::Upstream);

        let mut refused = sample();
        refused.request.model = Some("日本語モデル".into());
        refused.response.status = Some(429);
        refused.ttft_ms = None;
        refused.gaps.token = GapStats::default();
        refused.end = End::HttpError;
        refused.error = Some(ErrorInfo {
            kind: ErrorKind::HttpError,
            server_type: Some("rate_limit_exceeded".into()),
        });
        refused.verdict = None;

        let mut unreachable = refused.clone();
        unreachable.request = Request {
            method: Some("GET".into()),
            path: Some("/v1/models".into()),
            ..Request::default()
        };
        unreachable.response = Response::default();
        unreachable.end = End::UpstreamUnreachable;
        unreachable.error = None;

        insta::assert_snapshot!(lines(&[sample(), stall, refused, unreachable]), @r#"
        time     code  model                       ttft gap p50 gap p99 gap max  max at events chunks  end, verdict
        12:03:44  200  gpt-4o-mini                412ms  21.0ms  48.2ms   1.32s   3.40s     64     63  complete, steady
        12:03:44  200  meta-llama/Llama-3.3-70…   61.2s  21.0ms  48.2ms   1.32s   3.40s     64     63  complete, stall_no_catch_up (upstream)
        12:03:44  429  日本語モデル                   –       –       –       –       –     64     63  http_error (rate_limit_exceeded)
        12:03:44    –  GET /v1/models                 –       –       –       –       –     64     63  upstream_unreachable
        "#);
    }

    #[test]
    fn a_hostile_name_moves_no_cursor_and_no_column() {
        let mut record = sample();
        for name in [
            "\u{1b}[2J\u{1b}]0;owned\u{7}",
            "a\r\nb\tc",
            "\u{202e}gnp.exe",
            "x\u{200b}y\u{0301}",
            &"w".repeat(5000),
            &"語".repeat(50),
        ] {
            record.request.model = Some(name.into());
            record.error = Some(ErrorInfo {
                kind: ErrorKind::InBandError,
                server_type: Some(name.into()),
            });
            let coloured = line(&record, &TimeZone::UTC);
            let line = plain(&coloured);
            assert!(
                !line
                    .chars()
                    .any(|c| c.is_control() || matches!(c, '\u{202e}' | '\u{200b}')),
                "{line:?}"
            );
            let ttft = line.find("  412ms").map(|at| columns(&line[..at]));
            assert_eq!(ttft, Some(8 + 1 + 4 + 2 + NAME_WIDTH + 1), "{line:?}");
            assert!(
                !coloured.contains("[2J") || coloured.contains(r"\u{1b}[2J"),
                "{coloured:?}"
            );
        }
    }

    #[test]
    fn durations_have_three_digits() {
        let shown = [
            0.0, 0.004, 3.2149, 9.996, 99.96, 412.3, 999.4, 999.6, 1320.5, 61_240.0, 125_000.0,
        ];
        assert_eq!(
            shown.map(|ms| duration(Some(ms))).join(" "),
            "0.00ms 0.00ms 3.21ms 10.0ms 100ms 412ms 999ms 1.00s 1.32s 61.2s 125s"
        );
        assert_eq!(duration(None), "–");
    }

    #[test]
    fn colour_is_there_to_be_taken_out() {
        let coloured = line(&sample(), &TimeZone::UTC);
        assert!(coloured.contains("\u{1b}[32mcomplete\u{1b}[0m"));
        assert!(!plain(&coloured).contains('\u{1b}'));
    }
}
