//! TOML to [`Scenario`]. The format is told at the head of `scenario.rs`.

use std::time::Duration;

use super::toml::{Source, Table, Value};
use super::{
    Coding, Compression, End, Framing, Hold, Pause, Piece, Scenario, ScenarioError, Split, Step,
    Write,
};

/// A script may not write more bytes than this, by a rough count: it is rendered whole before it is played.
const MAX_BYTES: usize = 256 << 20;
/// Longer than any word of the endless text.
const WORD_BYTES: usize = 16;
/// What an event weighs beside its text in that count.
const EVENT_BYTES: usize = 256;

/// The longest single wait, so that sums of them stay far from what a clock can hold.
const MAX_WAIT: Duration = Duration::from_secs(365 * 24 * 3600);

const TOP: &[&str] = &[
    "about", "status", "framing", "headers", "gzip", "deflate", "br", "zstd", "hold", "steps",
];
const STEPS: &[&str] = &["wait", "interim", "head", "write", "each", "end"];
const WRITE_KEYS: &[&str] = &["write", "each", "times", "every", "split", "pad", "cut"];
const PIECES: &[&str] = &[
    "content",
    "reasoning",
    "tool",
    "arguments",
    "finish",
    "comment",
    "error",
    "words",
    "data",
    "text",
    "hex",
];

type Result<T> = std::result::Result<T, ScenarioError>;

/// Reads the text of a scenario; `file` is what errors call it.
pub(super) fn scenario(name: &str, file: &str, text: &str) -> Result<Scenario> {
    let source = Source { file, text };
    let document = source.parse()?;
    let top = source.root(&document);
    top.allow(TOP)?;
    let (steps, end) = steps(&top)?;
    Ok(Scenario {
        name: name.to_owned(),
        about: top
            .get("about")
            .map_or(Ok(""), |value| value.text())?
            .to_owned(),
        status: top.get("status").map_or(Ok(200), |value| status(&value))?,
        framing: top
            .get("framing")
            .map_or(Ok(Framing::Chunked), |value| framing(&value))?,
        headers: top
            .get("headers")
            .map_or(Ok(Vec::new()), |value| headers(&value))?,
        compression: compression(&top)?,
        hold: top.get("hold").map(|value| hold(&value)).transpose()?,
        steps,
        end,
    })
}

fn status(value: &Value) -> Result<u16> {
    let fix = "write a status code from 200 to 599";
    match value.number(fix)? {
        status @ (204 | 205 | 304) => {
            let problem = format!("= {status} has no body to script");
            Err(value.wrong(problem, "write a status code that has one".to_owned()))
        }
        status @ 200..=599 => Ok(status),
        other => Err(value.wrong(format!("= {other} is no final status code"), fix.to_owned())),
    }
}

fn framing(value: &Value) -> Result<Framing> {
    value.word(&[
        ("chunked", Framing::Chunked),
        ("length", Framing::Length),
        ("close", Framing::Close),
        ("http10", Framing::Http10),
    ])
}

fn compression(top: &Table) -> Result<Option<Compression>> {
    let mut found = None;
    for coding in Coding::ALL {
        let Some(value) = top.get(coding.name()) else {
            continue;
        };
        if found.is_some() {
            let problem = "is a second compression".to_owned();
            return Err(value.wrong(problem, "leave one".to_owned()));
        }
        let flush = value.word(&[("flush", true), ("no-flush", false)])?;
        found = Some(Compression { coding, flush });
    }
    Ok(found)
}

fn headers(value: &Value) -> Result<Vec<(String, String)>> {
    let fix = "write headers as [\"Name: value\", \"Other: value\"]";
    let fields = value.list().ok_or_else(|| value.wanted("a list", fix))?;
    let field = |field: &Value| {
        let text = field.text()?;
        let (name, value) = text.split_once(':').unwrap_or_default();
        let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        if name.is_empty() || !name.bytes().all(token) || value.contains(['\r', '\n', '\0']) {
            return Err(field.wrong(format!("= {text:?} is no header field"), fix.to_owned()));
        }
        Ok((name.to_owned(), value.trim().to_owned()))
    };
    fields.iter().map(field).collect()
}

fn hold(value: &Value) -> Result<Hold> {
    let fix = "write { bytes = 4096 }, { every = \"250ms\" } or { until = \"end\" }";
    let table = value.table().ok_or_else(|| value.wanted("a table", fix))?;
    let keys = &["bytes", "every", "until"];
    table.allow(keys)?;
    match table.only_one(keys)? {
        ("bytes", value) => match value.number(fix)? {
            0 => Err(value.wrong("= 0 holds nothing".to_owned(), fix.to_owned())),
            bytes => Ok(Hold::Bytes(bytes)),
        },
        ("every", value) => match duration(&value, value.text()?)? {
            Duration::ZERO => Err(value.wrong("is no time at all".to_owned(), fix.to_owned())),
            time => Ok(Hold::Every(time)),
        },
        (_, value) => value.word(&[("end", Hold::End)]),
    }
}

fn steps(top: &Table) -> Result<(Vec<Step>, End)> {
    let fix =
        "write steps = [{ write = \"word\", times = 20, every = \"25ms\" }, { write = \"done\" }]";
    let value = top
        .get("steps")
        .ok_or_else(|| top.error("has no steps".to_owned(), fix.to_owned()))?;
    let list = value
        .list()
        .ok_or_else(|| value.wanted("a list of tables", fix))?;
    let mut steps = Vec::with_capacity(list.len());
    let mut bytes = 0_usize;
    for (index, value) in list.iter().enumerate() {
        let table = value.table().ok_or_else(|| value.wanted("a table", fix))?;
        table.allow(&[STEPS, WRITE_KEYS].concat())?;
        match table.only_one(STEPS)? {
            ("end", end) => {
                table.allow(&["end"])?;
                let end = end.word(&[
                    ("whole", End::Whole),
                    ("close", End::Close),
                    ("reset", End::Reset),
                ])?;
                if index + 1 < list.len() {
                    let problem = "ends the script, but steps follow it".to_owned();
                    return Err(value.wrong(problem, "make it the last step".to_owned()));
                }
                return Ok((steps, end));
            }
            ("wait", wait) => {
                table.allow(&["wait"])?;
                steps.push(Step::Wait(pause(&wait)?));
            }
            ("interim", interim) => {
                table.allow(&["interim"])?;
                let fix = "write { interim = 103 } before { head = true } and before the body";
                let late = |step: &Step| !matches!(step, Step::Wait(_) | Step::Interim(_));
                match interim.number(fix)? {
                    status @ (100 | 102..=199) if !steps.iter().any(late) => {
                        steps.push(Step::Interim(status));
                    }
                    _ => {
                        let problem = "comes too late or is no interim status".to_owned();
                        return Err(interim.wrong(problem, fix.to_owned()));
                    }
                }
            }
            ("head", head) => {
                table.allow(&["head"])?;
                let early = |step: &Step| matches!(step, Step::Wait(_) | Step::Interim(_));
                if !head.is_true() || !steps.iter().all(early) {
                    let fix = "write { head = true } once, before anything is written".to_owned();
                    return Err(head.wrong("comes too late or is not true".to_owned(), fix));
                }
                steps.push(Step::Head);
            }
            (key, pieces) => {
                table.allow(WRITE_KEYS)?;
                let write = write(&table, key, &pieces)?;
                bytes = bytes.saturating_add(size(&write));
                if bytes > MAX_BYTES {
                    let problem = format!("makes the script longer than {} MiB", MAX_BYTES >> 20);
                    return Err(value.wrong(problem, "repeat it less often".to_owned()));
                }
                steps.push(Step::Write(write));
            }
        }
    }
    Ok((steps, End::Whole))
}

fn write(table: &Table, key: &str, value: &Value) -> Result<Write> {
    let writes = match (key, value.list()) {
        ("each", Some(writes)) => writes.iter().map(pieces).collect::<Result<_>>()?,
        ("each", None) => return Err(value.wanted("a list", "write each = [\"word\", \"finish\"]")),
        _ => vec![pieces(value)?],
    };
    let times = "write how often, as in times = 20";
    Ok(Write {
        writes,
        times: table
            .get("times")
            .map_or(Ok(1), |value| value.number(times))?,
        every: table
            .get("every")
            .map_or(Ok(Pause::exactly(Duration::ZERO)), |value| pause(&value))?,
        split: table
            .get("split")
            .map_or(Ok(Split::At(Vec::new())), |value| split(&value))?,
        pad: table
            .get("pad")
            .map(|value| length(&value, "write how long it becomes, as in pad = 247"))
            .transpose()?,
        cut: table
            .get("cut")
            .map(|value| value.number("write how many bytes are sent, as in cut = 40"))
            .transpose()?,
    })
}

/// `[2, -1]`, or a number of bytes.
fn split(value: &Value) -> Result<Split> {
    let fix = "write the places in bytes, as in split = [2, -1], or the size, as in split = 4096";
    match value.list() {
        Some(list) => {
            let offsets = list.iter().map(|offset| offset.number(fix));
            Ok(Split::At(offsets.collect::<Result<_>>()?))
        }
        None => match value.number(fix)? {
            0 => Err(value.wrong("= 0 never ends".to_owned(), fix.to_owned())),
            size => Ok(Split::Each(size)),
        },
    }
}

/// A number of bytes that a script may write.
fn length(value: &Value, fix: &str) -> Result<usize> {
    match value.number(fix)? {
        length if length <= MAX_BYTES => Ok(length),
        _ => {
            let problem = format!("is more than {} MiB", MAX_BYTES >> 20);
            Err(value.wrong(problem, fix.to_owned()))
        }
    }
}

/// Roughly how many bytes a step writes; an empty one counts too, since it is gone through as often.
fn size(write: &Write) -> usize {
    fn text(piece: &Piece) -> usize {
        match piece {
            Piece::Content(text) | Piece::Reasoning(text) | Piece::Arguments(text) => text.len(),
            Piece::Comment(text) | Piece::Error(text) | Piece::Data { data: text, .. } => {
                text.len()
            }
            Piece::Words(_, max) => max.saturating_mul(WORD_BYTES),
            Piece::Raw(bytes) => bytes.len(),
            Piece::Choice(_, piece) => text(piece),
            _ => 0,
        }
    }
    let once = |pieces: &Vec<Piece>| {
        let all: usize = pieces.iter().map(|piece| EVENT_BYTES + text(piece)).sum();
        all.max(write.pad.unwrap_or(0))
    };
    let once: usize = write.writes.iter().map(once).sum();
    once.max(EVENT_BYTES).saturating_mul(write.times as usize)
}

/// The pieces of one write: a list, or one alone.
fn pieces(value: &Value) -> Result<Vec<Piece>> {
    match value.list() {
        Some(list) => list.iter().map(piece).collect(),
        None => Ok(vec![piece(value)?]),
    }
}

/// The pieces that need no words of the user's.
fn ready_pieces() -> [(&'static str, Piece); 7] {
    [
        ("role", Piece::Role),
        ("word", Piece::Word),
        ("reasoning", Piece::ReasoningWord),
        ("finish", Piece::Finish("stop".to_owned())),
        ("usage", Piece::Usage),
        ("done", Piece::Done),
        ("comment", Piece::Comment("keep-alive".to_owned())),
    ]
}

fn piece(value: &Value) -> Result<Piece> {
    let Some(table) = value.table() else {
        return value.word(&ready_pieces());
    };
    table.allow(&[PIECES, &["event", "repeat", "choice"]].concat())?;
    let (key, value) = table.only_one(PIECES)?;
    let piece = if key == "words" {
        let (min, max) = words(&value)?;
        Piece::Words(min, max)
    } else {
        with_text(&table, key, &value)?
    };
    match table.get("choice") {
        None => Ok(piece),
        Some(choice) if matches!(key, "content" | "finish" | "words") => {
            let fix = "write its index, as in choice = 1";
            Ok(Piece::Choice(
                choice.number::<u8>(fix)?.into(),
                piece.into(),
            ))
        }
        Some(choice) => Err(choice.wrong(
            "stands beside what belongs to no choice".to_owned(),
            "write it beside content, finish or words".to_owned(),
        )),
    }
}

fn with_text(table: &Table, key: &str, value: &Value) -> Result<Piece> {
    let repeat = table.get("repeat").map_or(Ok(1), |n| {
        n.number::<usize>("write how often, as in repeat = 1000")
    })?;
    let written = value.text()?;
    if written.len().saturating_mul(repeat) > MAX_BYTES {
        return Err(value.wrong(
            format!("is longer than {} MiB", MAX_BYTES >> 20),
            "repeat it less often".to_owned(),
        ));
    }
    if key != "data" && table.get("event").is_some() {
        return Err(value.wrong(
            "has no event name of its own".to_owned(),
            "write { data = \"…\", event = \"…\" }".to_owned(),
        ));
    }
    let text = written.repeat(repeat);
    Ok(match key {
        "content" => Piece::Content(text),
        "reasoning" => Piece::Reasoning(text),
        "tool" => Piece::Tool(text),
        "arguments" => Piece::Arguments(text),
        "finish" => Piece::Finish(text),
        "comment" => Piece::Comment(text),
        "error" => Piece::Error(text),
        "data" => Piece::Data {
            event: table.get("event").map_or(Ok(""), |e| e.text())?.to_owned(),
            data: text,
        },
        "text" => Piece::Raw(text.into_bytes()),
        _ => Piece::Raw(hex(&text).ok_or_else(|| {
            value.wrong(
                "is not hexadecimal".to_owned(),
                "write two digits for each byte, as in hex = \"E9 82 A3\"".to_owned(),
            )
        })?),
    })
}

/// `5`, or a range, `"1..5"`.
fn words(value: &Value) -> Result<(usize, usize)> {
    let fix = "write how many, as in words = 5 or words = \"1..5\"";
    let Ok(text) = value.text() else {
        let words = length(value, fix)?;
        return Ok((words, words));
    };
    let range = text
        .split_once("..")
        .and_then(|(min, max)| Some((min.parse().ok()?, max.parse().ok()?)));
    range
        .filter(|&(min, max): &(usize, usize)| min <= max && max <= MAX_BYTES)
        .ok_or_else(|| value.wrong(format!("= \"{text}\" is no range"), fix.to_owned()))
}

fn hex(text: &str) -> Option<Vec<u8>> {
    let digits = text
        .chars()
        .filter(|c| !c.is_whitespace())
        .map(|c| c.to_digit(16))
        .collect::<Option<Vec<u32>>>()?;
    // each digit is below 16, so two of them fit a byte
    digits
        .chunks(2)
        .map(|pair| Some((pair[0] * 16 + pair.get(1)?) as u8))
        .collect()
}

/// `"20ms"`, or a range, `"18ms..32ms"`.
fn pause(value: &Value) -> Result<Pause> {
    let text = value.text()?;
    let (min, max) = text.split_once("..").unwrap_or((text, text));
    let pause = Pause {
        min: duration(value, min)?,
        max: duration(value, max)?,
    };
    if pause.min > pause.max {
        return Err(value.wrong(
            format!("= \"{text}\" runs backwards"),
            format!("write \"{max}..{min}\""),
        ));
    }
    Ok(pause)
}

fn duration(value: &Value, text: &str) -> Result<Duration> {
    let signed = text.parse::<jiff::SignedDuration>().ok();
    match signed.and_then(|time| Duration::try_from(time).ok()) {
        Some(time) if time <= MAX_WAIT => Ok(time),
        Some(_) => Err(value.wrong(
            format!("= \"{text}\" is longer than a year"),
            "write less".to_owned(),
        )),
        None => {
            let fix = "write a number with its unit, as in \"20ms\", \"1.5s\" or \"2m\"".to_owned();
            Err(value.wrong(format!("= \"{text}\" is not a duration"), fix))
        }
    }
}

#[cfg(test)]
mod tests;
