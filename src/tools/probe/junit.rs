//! A JUnit report, as CI systems read it: a case for each run, and one for each `--fail-if`.
//!
//! The shape is that of Ant's and Maven's reports, of which all readers take the same few parts.

use std::fmt::Write as _;

use super::failure::failure;
use super::limits::Checked;
use super::run::{Run, seconds};
use crate::sink::console::text::word;

/// The report.
pub(super) fn junit(name: &str, runs: &[Run], checked: &[Checked]) -> String {
    let failed: Vec<Option<String>> = runs.iter().map(judged).collect();
    let errors = failed.iter().flatten().count();
    let failures = checked.iter().filter(|checked| checked.crossed).count();
    let time = |run: &Run| seconds(run.record.at.end_ms).unwrap_or_default();
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    // writing to a String cannot fail
    let _ = writeln!(
        text,
        "<testsuites>\n  <testsuite name=\"{}\" tests=\"{}\" errors=\"{errors}\" failures=\"{failures}\" time=\"{:.6}\">",
        escaped(name),
        runs.len() + checked.len(),
        runs.iter().map(time).sum::<f64>(),
    );
    for (run, failed) in runs.iter().zip(&failed) {
        let _ = write!(
            text,
            "    <testcase classname=\"{}\" name=\"run {}\" time=\"{:.6}\"",
            run.side.name(),
            run.name(),
            time(run)
        );
        let inner = failed
            .as_ref()
            .map(|told| ("error", word(&run.record.end), told.clone()));
        close(&mut text, inner);
    }
    for checked in checked {
        let _ = write!(
            text,
            "    <testcase classname=\"fail-if\" name=\"{}\" time=\"0\"",
            escaped(&checked.condition)
        );
        let told = format!("it is {}", checked.found);
        let inner = checked
            .crossed
            .then(|| ("failure", "crossed".to_owned(), told));
        close(&mut text, inner);
    }
    text += "  </testsuite>\n</testsuites>\n";
    text
}

/// A warm-up that fails is no failure.
fn judged(run: &Run) -> Option<String> {
    run.number.and_then(|_| failure(&run.record))
}

fn close(text: &mut String, inner: Option<(&str, String, String)>) {
    *text += &match inner {
        None => "/>\n".to_owned(),
        Some((element, kind, message)) => format!(
            ">\n      <{element} type=\"{kind}\" message=\"{}\"/>\n    </testcase>\n",
            escaped(&message)
        ),
    };
}

/// Text as XML 1.0 takes it in an attribute.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            c if c.is_control() => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::super::run::sample;
    use super::*;
    use crate::observe::record::End;

    #[test]
    fn runs_and_conditions_are_cases() {
        let mut cut = sample(Some(2), 80.89);
        cut.record.end = End::Truncated;
        let runs = [sample(None, 900.0), sample(Some(1), 80.89), cut];
        let checked = [
            Checked {
                condition: "ttft_p95>50ms".to_owned(),
                found: "80.9ms".to_owned(),
                crossed: true,
            },
            Checked {
                condition: "stalls>9".to_owned(),
                found: "2".to_owned(),
                crossed: false,
            },
        ];
        assert_snapshot!(junit("probe \"a&b\"", &runs, &checked), @r#"
        <?xml version="1.0" encoding="UTF-8"?>
        <testsuites>
          <testsuite name="probe &quot;a&amp;b&quot;" tests="5" errors="1" failures="1" time="6.464099">
            <testcase classname="direct" name="run warm-up" time="2.700773"/>
            <testcase classname="direct" name="run 1" time="1.881663"/>
            <testcase classname="direct" name="run 2" time="1.881663">
              <error type="truncated" message="127.0.0.1:8000 cut the answer off; look for a limit of time or size on the way"/>
            </testcase>
            <testcase classname="fail-if" name="ttft_p95&gt;50ms" time="0">
              <failure type="crossed" message="it is 80.9ms"/>
            </testcase>
            <testcase classname="fail-if" name="stalls&gt;9" time="0"/>
          </testsuite>
        </testsuites>
        "#);
    }
}
