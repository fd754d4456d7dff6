//! The page and the pictures, each to its place, and a line that says what was written.

use std::io::Write;
use std::path::Path;

use anyhow::Context;

use super::file::{Kind, Output};
use super::summary::Summary;
use super::{facts, html, svg};
use crate::observe::verdict::words::bytes;
use crate::sink::console::text::shown;

/// Columns of a file's name.
const NAME: usize = 120;

/// Where they go; each at most once to standard output.
#[derive(Debug)]
pub(super) struct Pages {
    html: Option<Place>,
    svg: Option<Place>,
}

/// What is written.
type Form = fn(&Summary) -> String;

#[derive(Debug)]
enum Place {
    StandardOutput,
    File(Output, String),
}

impl Place {
    fn of(path: &Path, kind: Kind) -> anyhow::Result<Place> {
        Ok(match path.as_os_str() == "-" {
            true => Place::StandardOutput,
            false => Place::File(
                Output::begin(path, kind)?,
                shown(&path.display().to_string(), NAME),
            ),
        })
    }
}

impl Pages {
    /// Looks at the places, before any log is read.
    ///
    /// # Errors
    ///
    /// Nothing can be written to one.
    pub fn of(html: Option<&Path>, svg: Option<&Path>) -> anyhow::Result<Pages> {
        Ok(Pages {
            html: html.map(|path| Place::of(path, html::KIND)).transpose()?,
            svg: svg.map(|path| Place::of(path, svg::KIND)).transpose()?,
        })
    }

    /// Writes them, and a line for each file: to `out`, or to `notes` if `out` gets one of them.
    ///
    /// # Errors
    ///
    /// One cannot be written.
    pub fn write(
        self,
        summary: &Summary,
        out: &mut dyn Write,
        notes: &mut dyn Write,
    ) -> anyhow::Result<()> {
        const FAILED: &str = "cannot print it";
        let forms: [(_, Form); 2] = [(self.html, html::text), (self.svg, svg::text)];
        let mut lines = Vec::new();
        let mut is_taken = false;
        for (place, text) in forms {
            match place {
                None => {}
                Some(Place::StandardOutput) => {
                    is_taken = true;
                    out.write_all(text(summary).as_bytes()).context(FAILED)?;
                }
                Some(Place::File(mut output, name)) => {
                    let text = text(summary);
                    let written = output.write_all(text.as_bytes());
                    let written = written.and_then(|()| output.finish());
                    written.with_context(|| format!("cannot write {name}"))?;
                    lines.push(format!(
                        "{name}: {}, {}",
                        facts::counted(summary.tally.records, "record"),
                        bytes(text.len() as f64)
                    ));
                }
            }
        }
        for line in lines {
            match is_taken {
                true => drop(writeln!(notes, "{line}")), // who does not read it does not want it
                false => writeln!(out, "{line}").context(FAILED)?,
            }
        }
        out.flush().context(FAILED)
    }
}
