//! A record as a line whose columns are aligned under their header.
//!
//! Where a terminal is too narrow for a line, parts of it are left out, in a fixed order, until it fits.
//! The verdict always stays.

use anstyle::{AnsiColor, Style};
use jiff::tz::TimeZone;

use super::text::{NONE, columns, duration, shown, time_of_day, word};
use crate::observe::record::{End, GapStats, RequestRecord, Timing};

/// Parts of a line that can be left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Time,
    Code,
    Name,
    Ttft,
    P50,
    P99,
    Max,
    MaxAt,
    Events,
    Chunks,
    /// A name in all its length.
    LongName,
    /// The end where it is the usual one, and a verdict follows.
    Complete,
    /// What the server called its error.
    ErrorType,
}

/// The order in which they are: what tells least goes first.
const LEFT_OUT: [Part; 13] = [
    Part::MaxAt,
    Part::Chunks,
    Part::Complete,
    Part::LongName,
    Part::P99,
    Part::Code,
    Part::Events,
    Part::P50,
    Part::Time,
    Part::ErrorType,
    Part::Name,
    Part::Max,
    Part::Ttft,
];

/// The aligned ones from left to right: title, width.
const COLUMNS: [(Part, &str, usize); 10] = [
    (Part::Time, "time", 8),
    (Part::Code, "code", 4),
    (Part::Name, "model", 0),
    (Part::Ttft, "ttft", 7),
    (Part::P50, "gap p50", 7),
    (Part::P99, "gap p99", 7),
    (Part::Max, "gap max", 7),
    (Part::MaxAt, "max at", 7),
    (Part::Events, "events", 6),
    (Part::Chunks, "chunks", 6),
];

/// Columns that a model's name, or a method and path, may take.
const NAME_WIDTH: usize = 24;
/// The same where there is little room.
const SHORT_NAME_WIDTH: usize = 12;

/// Between the aligned columns and the end.
const SPACE: &str = "  ";
/// A long verdict. Lines with a longer one, or an unusual end, may leave out more than the header does.
const USUAL: &str = "transport_coalesced (upstream)";

/// The names of the columns of [`line()`], as far as they fit into `width`.
pub fn header(width: Option<usize>) -> String {
    let dim = Style::new().dimmed();
    let columns = Layout::of(width).row(|part| {
        let column = COLUMNS.iter().find(|(column, ..)| *column == part);
        column.map_or(String::new(), |(_, title, _)| (*title).to_owned())
    });
    format!("{dim}{columns}{SPACE}end, verdict{dim:#}")
}

/// One record as a line, with colours, that fits into `width`. Gaps are those between token events; the
/// line says so where they are others.
pub fn line(record: &RequestRecord, zone: &TimeZone, width: Option<usize>) -> String {
    let mut layout = Layout::of(width);
    loop {
        let line = layout.line(record, zone);
        let fits = width
            .is_none_or(|width| columns(&anstream::adapter::strip_str(&line).to_string()) <= width);
        if fits || layout.left_out == LEFT_OUT.len() {
            return line;
        }
        layout.left_out += 1;
    }
}

/// Which parts a line has.
#[derive(Debug, Clone, Copy)]
struct Layout {
    /// How many of [`LEFT_OUT`] it has not.
    left_out: usize,
}

impl Layout {
    /// The same for every line, so that they are aligned.
    fn of(width: Option<usize>) -> Self {
        let fits = |&left_out: &usize| {
            width.is_none_or(|width| Layout { left_out }.usual_width() <= width)
        };
        let left_out = (0..LEFT_OUT.len()).find(fits);
        Layout {
            left_out: left_out.unwrap_or(LEFT_OUT.len()),
        }
    }

    fn has(self, part: Part) -> bool {
        !LEFT_OUT[..self.left_out].contains(&part)
    }

    fn name_width(self) -> usize {
        match self.has(Part::LongName) {
            true => NAME_WIDTH,
            false => SHORT_NAME_WIDTH,
        }
    }

    fn usual_width(self) -> usize {
        let complete = if self.has(Part::Complete) {
            "complete, "
        } else {
            ""
        };
        [&self.row(|_| String::new()), SPACE, complete, USUAL]
            .iter()
            .map(|text| columns(text))
            .sum()
    }

    /// The aligned columns: names to the left, all else to the right.
    fn row(self, cell: impl Fn(Part) -> String) -> String {
        let mut row = String::new();
        for (part, _, width) in COLUMNS.into_iter().filter(|(part, ..)| self.has(*part)) {
            let is_name = part == Part::Name;
            let width = if is_name { self.name_width() } else { width };
            let text = cell(part);
            let padding = " ".repeat(width.saturating_sub(columns(&text)));
            row += match (row.is_empty(), is_name) {
                (true, _) => "",
                (false, true) => "  ",
                (false, false) => " ",
            };
            row += &match is_name || part == Part::Time {
                true => text + &padding,
                false => padding + &text,
            };
        }
        row
    }

    fn line(self, record: &RequestRecord, zone: &TimeZone) -> String {
        let (gaps, note) = gaps(record);
        let row = self.row(|part| match part {
            Part::Time => time_of_day(&record.started_at, zone),
            Part::Code => record
                .response
                .status
                .map_or(NONE.to_owned(), |status| status.to_string()),
            Part::Name => name(record, self.name_width()),
            Part::Ttft => duration(record.ttft_ms),
            Part::P50 => duration(gaps.p50_ms),
            Part::P99 => duration(gaps.p99_ms),
            Part::Max => duration(gaps.max_ms),
            Part::MaxAt => duration(gaps.max_at_ms),
            Part::Events => (record.counts.events).map_or(NONE.to_owned(), |n| n.to_string()),
            Part::Chunks => record.counts.chunks.to_string(),
            Part::LongName | Part::Complete | Part::ErrorType => String::new(), // no columns
        });
        let mut tail = Vec::new();
        if self.has(Part::Complete) || record.end != End::Complete || record.verdict.is_none() {
            tail.push(self.end(record));
        }
        tail.extend(verdict(record));
        tail.extend(note.filter(|_| self.has(Part::Max)).map(str::to_owned));
        let space = if row.is_empty() { "" } else { SPACE };
        format!("{row}{space}{}", tail.join(", "))
    }

    fn end(self, record: &RequestRecord) -> String {
        let style = match record.end {
            End::Complete | End::Upgraded => AnsiColor::Green,
            End::ClientGone | End::NotAStream | End::EndedWithoutDone | End::ProxyStopped => {
                AnsiColor::Yellow
            }
            _ => AnsiColor::Red,
        }
        .on_default();
        let mut end = format!("{style}{}{style:#}", word(&record.end));
        // It is what such a line is about, also where there is no room for its column.
        let status = record.response.status.filter(|_| !self.has(Part::Code));
        if let Some(status) = status.filter(|_| record.end == End::HttpError) {
            end += &format!(" {status}");
        }
        let error = record.error.as_ref().filter(|_| self.has(Part::ErrorType));
        let said = error.and_then(|error| match (&error.server_type, record.end) {
            (Some(server_type), _) => Some(shown(server_type, NAME_WIDTH)),
            (None, End::UpstreamUnreachable) => Some(word(&error.kind)),
            _ => None,
        });
        match said {
            Some(said) => format!("{end} ({said})"),
            None => end,
        }
    }
}

fn verdict(record: &RequestRecord) -> Option<String> {
    let verdict = record.verdict.as_ref()?;
    let style = match verdict.timing {
        // Even to where it broke off is no good news.
        Timing::Steady if record.end == End::Complete => AnsiColor::Green.on_default(),
        Timing::Steady => Style::new(),
        Timing::Unmeasurable => Style::new().dimmed(),
        _ => AnsiColor::Yellow.on_default(),
    };
    let timing = format!("{style}{}{style:#}", word(&verdict.timing));
    let mut text = match &verdict.side {
        Some(side) => format!("{timing} ({})", word(side)),
        None => timing,
    };
    if let Some(cut) = &verdict.cut {
        let limit = duration(Some(cut.after_ms));
        text += &format!(", {}_cut at {limit} ({})", word(&cut.kind), word(&cut.side));
    }
    Some(text)
}

/// The gaps that are shown, and what to say where they are not those of token events: a stream that is
/// not understood has gaps of events, a binary one only of chunks.
fn gaps(record: &RequestRecord) -> (&GapStats, Option<&'static str>) {
    let gaps = &record.gaps;
    if gaps.token.n > 0 {
        (&gaps.token, None)
    } else if gaps.event.n > 0 {
        (&gaps.event, Some("event gaps"))
    } else if gaps.chunk.n > 0 && record.verdict.is_some() {
        (&gaps.chunk, Some("chunk gaps"))
    } else {
        (&gaps.token, None)
    }
}

/// The model, or for a request without one its method and path.
fn name(record: &RequestRecord, width: usize) -> String {
    let request = &record.request;
    match (&request.model, &request.method, &request.path) {
        (Some(model), ..) => shown(model, width),
        (None, Some(method), Some(path)) => shown(&format!("{method} {path}"), width),
        _ => NONE.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::record::{
        Cut, CutKind, ErrorInfo, ErrorKind, GapStats, Request, Response, Side,
    };
    use crate::sink::sample::sample;

    fn plain(line: &str) -> String {
        anstream::adapter::strip_str(line).to_string()
    }

    fn lines(records: &[RequestRecord]) -> String {
        let mut all = vec![plain(&header(None))];
        all.extend(
            records
                .iter()
                .map(|record| plain(&line(record, &TimeZone::UTC, None))),
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
        refused.response.status = Some(429);
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
        unreachable.error = Some(ErrorInfo {
            kind: ErrorKind::ConnectRefused,
            server_type: None,
        });

        insta::assert_snapshot!(lines(&[sample(), stall, refused, unreachable]), @r#"
        time     code  model                       ttft gap p50 gap p99 gap max  max at events chunks  end, verdict
        12:03:44  200  gpt-4o-mini                412ms  21.0ms  48.2ms   1.32s   3.40s     64     63  complete, steady
        12:03:44  200  meta-llama/Llama-3.3-70…   61.2s  21.0ms  48.2ms   1.32s   3.40s     64     63  complete, stall_no_catch_up (upstream)
        12:03:44  429  日本語モデル                   –       –       –       –       –     64     63  http_error (rate_limit_exceeded)
        12:03:44    –  GET /v1/models                 –       –       –       –       –     64     63  upstream_unreachable (connect_refused)
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
            let coloured = line(&record, &TimeZone::UTC, None);
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
    fn colour_is_there_to_be_taken_out() {
        let coloured = line(&sample(), &TimeZone::UTC, None);
        assert!(coloured.contains("\u{1b}[32mcomplete\u{1b}[0m"));
        assert!(!plain(&coloured).contains('\u{1b}'));
    }

    /// Lines of many kinds, in a terminal of that width.
    fn in_a_terminal(width: usize) -> String {
        let mut stall = sample();
        stall.request.model = Some("meta-llama/Llama-3.3-70B-Instruct".into());
        let verdict = stall.verdict.as_mut().unwrap();
        (verdict.timing, verdict.side) = (Timing::StallWithCatchUp, Some(Side::Upstream));
        let mut cut = stall.clone();
        cut.end = End::EndedWithoutDone;
        let mut messages = sample();
        messages.gaps.event = std::mem::take(&mut messages.gaps.token);
        messages.ttft_ms = None;
        let mut refused = sample();
        refused.end = End::HttpError;
        refused.response.status = Some(429);
        refused.error = Some(ErrorInfo {
            kind: ErrorKind::HttpError,
            server_type: Some("rate_limit_exceeded".into()),
        });
        refused.verdict = None;
        let mut text = format!("\n{}", plain(&header(Some(width))));
        for record in [sample(), stall, cut, messages, refused] {
            let line = plain(&line(&record, &TimeZone::UTC, Some(width)));
            assert!(columns(&line) <= width, "{width}: {line}");
            if let Some(verdict) = &record.verdict {
                assert!(line.contains(&word(&verdict.timing)), "{width}: {line}");
            }
            text += &format!("\n{line}");
        }
        text + "\n"
    }

    #[test]
    fn a_line_fits_the_terminal_and_keeps_its_verdict() {
        insta::assert_snapshot!(in_a_terminal(80), @r"
        time      model           ttft gap p50 gap max  end, verdict
        12:03:44  gpt-4o-mini    412ms  21.0ms   1.32s  steady
        12:03:44  meta-llama/…   412ms  21.0ms   1.32s  stall_with_catch_up (upstream)
        meta-llama/…   412ms   1.32s  ended_without_done, stall_with_catch_up (upstream)
        12:03:44  gpt-4o-mini        –  21.0ms   1.32s  steady, event gaps
        12:03:44  gpt-4o-mini    412ms   1.32s  http_error 429 (rate_limit_exceeded)
        ");
        insta::assert_snapshot!(in_a_terminal(120), @r"
        time     code  model                       ttft gap p50 gap p99 gap max events  end, verdict
        12:03:44  200  gpt-4o-mini                412ms  21.0ms  48.2ms   1.32s     64  complete, steady
        12:03:44  200  meta-llama/Llama-3.3-70…   412ms  21.0ms  48.2ms   1.32s     64  complete, stall_with_catch_up (upstream)
        12:03:44  200  meta-llama/…   412ms  21.0ms  48.2ms   1.32s     64  ended_without_done, stall_with_catch_up (upstream)
        12:03:44  200  gpt-4o-mini                    –  21.0ms  48.2ms   1.32s     64  complete, steady, event gaps
        12:03:44  429  gpt-4o-mini                412ms  21.0ms  48.2ms   1.32s     64  http_error (rate_limit_exceeded)
        ");
        insta::assert_snapshot!(in_a_terminal(50), @r"
           ttft gap max  end, verdict
          412ms   1.32s  steady
          412ms   1.32s  stall_with_catch_up (upstream)
        ended_without_done, stall_with_catch_up (upstream)
              –   1.32s  steady, event gaps
          412ms   1.32s  http_error 429
        ");
        (50..200).for_each(|width| drop(in_a_terminal(width)));
    }

    #[test]
    fn nothing_is_left_out_where_there_is_room_or_no_terminal() {
        let whole = line(&sample(), &TimeZone::UTC, None);
        assert_eq!(line(&sample(), &TimeZone::UTC, Some(135)), whole);
        assert_ne!(line(&sample(), &TimeZone::UTC, Some(134)), whole);
    }

    #[test]
    fn gaps_that_are_not_those_of_token_events_are_called_by_their_name() {
        let of = |record: &RequestRecord| plain(&line(record, &TimeZone::UTC, None));
        let mut record = sample();
        assert!(of(&record).ends_with("complete, steady"));
        record.verdict.as_mut().unwrap().cut = Some(Cut {
            kind: CutKind::Idle,
            after_ms: 60_000.0,
            side: Side::Upstream,
        });
        let cut = of(&record);
        assert!(
            cut.ends_with("steady, idle_cut at 60.0s (upstream)"),
            "{cut}"
        );
        record.verdict.as_mut().unwrap().cut = None;
        record.gaps.event = std::mem::take(&mut record.gaps.token);
        let events = of(&record);
        assert!(events.ends_with("complete, steady, event gaps") && events.contains("48.2ms"));
        record.gaps.chunk = std::mem::take(&mut record.gaps.event);
        let chunks = of(&record);
        assert!(chunks.ends_with("complete, steady, chunk gaps") && chunks.contains("48.2ms"));
        // No stream: how a whole reply was cut into chunks tells nothing.
        record.verdict = None;
        assert!(of(&record).ends_with("complete") && !of(&record).contains("48.2ms"));
    }
}
